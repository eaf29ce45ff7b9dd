// Every function of these files catches what is thrown and answers 0, or -1 with the reason in `why`.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <stdexcept>

template <typename Work> int guarded(char *why, size_t room, Work work) {
  const char *reason = "an unknown error";
  try {
    work();
    return 0;
  } catch (const std::exception &error) {
    reason = error.what();
    std::strncpy(why, reason, room - 1);
  } catch (...) {
    std::strncpy(why, reason, room - 1);
  }
  why[room - 1] = 0;
  return -1;
}

inline int missing(char *why, size_t room) {
  return guarded(why, room, [] {
    throw std::runtime_error("this program was built where CUDA's headers are missing");
  });
}
