// Error handling of the C functions: they return 0 on success, catch all exceptions, and return -1 with a message in
// `error`.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <stdexcept>

template <typename Work> int guarded(char *error, size_t len, Work work) {
  const char *reason = "an unknown error";
  try {
    work();
    return 0;
  } catch (const std::exception &thrown) {
    reason = thrown.what();
    std::strncpy(error, reason, len - 1);
  } catch (...) {
    std::strncpy(error, reason, len - 1);
  }
  error[len - 1] = 0;
  return -1;
}

inline int missing(char *error, size_t len) {
  return guarded(error, len, [] {
    throw std::runtime_error("built without CUDA headers; set CUDA_HOME and rebuild");
  });
}
