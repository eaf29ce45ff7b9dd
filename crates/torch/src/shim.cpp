// What libtorch has and its binding for Rust lacks: graphs of a device's work, a stream of one's own, and
// optimizers that do a step in one operation.

#include "shim.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>

#ifdef WITH_CUDA
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <optional>
#endif

extern "C" {

// w, v and g as in the formula of SGD with momentum; the rate is a number on the device.
int outflank_sgd(const at::Tensor *weights, const at::Tensor *gradient, const at::Tensor *velocity,
                 const at::Tensor *rate, double decay, double momentum, bool nesterov, char *why,
                 size_t room) {
  return guarded(why, room, [&] {
    const at::Tensor w[] = {*weights}, g[] = {*gradient}, v[] = {*velocity};
    // Without momentum there is nothing to remember, and libtorch wants it so.
    const at::TensorList moments = momentum > 0 ? at::TensorList(v) : at::TensorList();
    at::_fused_sgd_(w, g, moments, decay, momentum, *rate, 0.0, nesterov, false, false);
  });
}

// `step` is the number of this step, from 1, on the device.
int outflank_adamw(const at::Tensor *weights, const at::Tensor *gradient, const at::Tensor *mean,
                   const at::Tensor *square, const at::Tensor *rate, const at::Tensor *step,
                   double decay, double first, double second, char *why, size_t room) {
  return guarded(why, room, [&] {
    const at::Tensor w[] = {*weights}, g[] = {*gradient}, m[] = {*mean}, v[] = {*square};
    const at::Tensor steps[] = {*step};
    at::_fused_adamw_(w, g, m, v, {}, steps, *rate, first, second, decay, 1e-8, false, false);
  });
}

#ifdef WITH_CUDA

struct Graph {
  c10::cuda::CUDAStream own = c10::cuda::getStreamFromPool(false, 0);
  std::optional<c10::cuda::CUDAStream> before;
  std::unique_ptr<at::cuda::CUDAGraph> graph;
  at::cuda::MempoolId_t pool{0, 0};
  uint64_t seed = 0, offset = 0;
};

static void follow(c10::cuda::CUDAStream second, c10::cuda::CUDAStream first) {
  c10::Event event(c10::DeviceType::CUDA);
  event.record(first.unwrap());
  event.block(second.unwrap());
}

int outflank_graph_new(Graph **graph, char *why, size_t room) {
  return guarded(why, room, [&] { *graph = new Graph(); });
}

void outflank_graph_free(Graph *graph) {
  char why[256];
  guarded(why, sizeof why, [&] { delete graph; });
}

// What this thread asks of the device goes to the graph's stream from here on.
int outflank_graph_enter(Graph *graph, char *why, size_t room) {
  return guarded(why, room, [&] {
    graph->before = c10::cuda::getCurrentCUDAStream(0);
    follow(graph->own, *graph->before);
    c10::cuda::setCurrentCUDAStream(graph->own);
  });
}

// And to the one before again, which waits for the graph's.
int outflank_graph_leave(Graph *graph, char *why, size_t room) {
  return guarded(why, room, [&] {
    if (!graph->before)
      return;
    c10::cuda::setCurrentCUDAStream(*graph->before);
    follow(*graph->before, graph->own);
    graph->before.reset();
  });
}

// From here on work is recorded, not done.
int outflank_graph_begin(Graph *graph, char *why, size_t room) {
  return guarded(why, room, [&] {
    // What the steps so far have left unused is given back: the recording has memory of its own.
    c10::cuda::device_synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
    const auto &random = at::cuda::detail::getDefaultCUDAGenerator(0);
    graph->seed = random.current_seed();
    graph->offset = random.get_offset();
    graph->pool = at::cuda::graph_pool_handle();
    graph->graph = std::make_unique<at::cuda::CUDAGraph>();
    graph->graph->capture_begin(graph->pool);
  });
}

// Ends the recording; with `keep` it can be replayed.
int outflank_graph_end(Graph *graph, bool keep, char *why, size_t room) {
  const int ended = guarded(why, room, [&] { graph->graph->capture_end(); });
  if (ended == 0 && keep)
    return 0;
  // A recording that went wrong leaves the allocator and the random numbers as they were in it.
  char unheard[256];
  if (ended != 0) {
    guarded(unheard, sizeof unheard, [&] {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(0, graph->pool);
      c10::cuda::CUDACachingAllocator::releasePool(0, graph->pool);
    });
    guarded(unheard, sizeof unheard, [&] {
      auto fresh = at::cuda::detail::createCUDAGenerator(0);
      fresh.set_current_seed(graph->seed);
      fresh.set_offset(graph->offset);
      at::Generator random = at::cuda::detail::getDefaultCUDAGenerator(0);
      random.graphsafe_set_state(fresh.graphsafe_get_state());
    });
  }
  guarded(unheard, sizeof unheard, [&] { graph->graph.reset(); });
  return ended;
}

int outflank_graph_replay(Graph *graph, char *why, size_t room) {
  return guarded(why, room, [&] { graph->graph->replay(); });
}

#else

struct Graph;

int outflank_graph_new(Graph **, char *why, size_t room) { return missing(why, room); }
void outflank_graph_free(Graph *) {}
int outflank_graph_enter(Graph *, char *why, size_t room) { return missing(why, room); }
int outflank_graph_leave(Graph *, char *why, size_t room) { return missing(why, room); }
int outflank_graph_begin(Graph *, char *why, size_t room) { return missing(why, room); }
int outflank_graph_end(Graph *, bool, char *why, size_t room) { return missing(why, room); }
int outflank_graph_replay(Graph *, char *why, size_t room) { return missing(why, room); }

#endif
}
