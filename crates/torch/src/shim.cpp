// Parts of libtorch that its Rust binding lacks: CUDA graphs, streams, and fused optimizers.

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

// A fused SGD step; the learning rate is a scalar on the device.
int outflank_sgd(const at::Tensor *weights, const at::Tensor *gradient, const at::Tensor *velocity,
                 const at::Tensor *learning_rate, double decay, double momentum, bool nesterov, char *error,
                 size_t len) {
  return guarded(error, len, [&] {
    const at::Tensor w[] = {*weights}, g[] = {*gradient}, v[] = {*velocity};
    // libtorch expects an empty list where there is no momentum.
    const at::TensorList moments = momentum > 0 ? at::TensorList(v) : at::TensorList();
    at::_fused_sgd_(w, g, moments, decay, momentum, *learning_rate, 0.0, nesterov, false, false);
  });
}

// A fused AdamW step; `step` is the step number, from 1, on the device.
int outflank_adamw(const at::Tensor *weights, const at::Tensor *gradient, const at::Tensor *mean,
                   const at::Tensor *square, const at::Tensor *learning_rate, const at::Tensor *step,
                   double decay, double beta1, double beta2, char *error, size_t len) {
  return guarded(error, len, [&] {
    const at::Tensor w[] = {*weights}, g[] = {*gradient}, m[] = {*mean}, v[] = {*square};
    const at::Tensor steps[] = {*step};
    at::_fused_adamw_(w, g, m, v, {}, steps, *learning_rate, beta1, beta2, decay, 1e-8, false, false);
  });
}

#ifdef WITH_CUDA

struct Graph {
  c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(false, 0);
  std::optional<c10::cuda::CUDAStream> previous;
  std::unique_ptr<at::cuda::CUDAGraph> graph;
  at::cuda::MempoolId_t pool{0, 0};
  uint64_t seed = 0, offset = 0;
};

// Makes `second` wait for the work queued on `first`.
static void wait_for(c10::cuda::CUDAStream second, c10::cuda::CUDAStream first) {
  c10::Event event(c10::DeviceType::CUDA);
  event.record(first.unwrap());
  event.block(second.unwrap());
}

int outflank_graph_new(Graph **graph, char *error, size_t len) {
  return guarded(error, len, [&] { *graph = new Graph(); });
}

void outflank_graph_free(Graph *graph) {
  char ignored[256];
  guarded(ignored, sizeof ignored, [&] { delete graph; });
}

// Makes the graph's stream the current stream of this thread.
int outflank_graph_enter(Graph *graph, char *error, size_t len) {
  return guarded(error, len, [&] {
    graph->previous = c10::cuda::getCurrentCUDAStream(0);
    wait_for(graph->stream, *graph->previous);
    c10::cuda::setCurrentCUDAStream(graph->stream);
  });
}

// Restores the previous stream, which waits for the graph's.
int outflank_graph_leave(Graph *graph, char *error, size_t len) {
  return guarded(error, len, [&] {
    if (!graph->previous)
      return;
    c10::cuda::setCurrentCUDAStream(*graph->previous);
    wait_for(*graph->previous, graph->stream);
    graph->previous.reset();
  });
}

// Begins the capture.
int outflank_graph_begin(Graph *graph, char *error, size_t len) {
  return guarded(error, len, [&] {
    // The graph has its own memory pool, so cached memory of the eager steps is released first.
    c10::cuda::device_synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
    const auto &generator = at::cuda::detail::getDefaultCUDAGenerator(0);
    graph->seed = generator.current_seed();
    graph->offset = generator.get_offset();
    graph->pool = at::cuda::graph_pool_handle();
    graph->graph = std::make_unique<at::cuda::CUDAGraph>();
    graph->graph->capture_begin(graph->pool);
  });
}

// Ends the capture; with `keep` the graph can be replayed.
int outflank_graph_end(Graph *graph, bool keep, char *error, size_t len) {
  const int ended = guarded(error, len, [&] { graph->graph->capture_end(); });
  if (ended == 0 && keep)
    return 0;
  // A failed capture leaves the allocator and the random generator in capture mode.
  char ignored[256];
  if (ended != 0) {
    guarded(ignored, sizeof ignored, [&] {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(0, graph->pool);
      c10::cuda::CUDACachingAllocator::releasePool(0, graph->pool);
    });
    guarded(ignored, sizeof ignored, [&] {
      auto fresh = at::cuda::detail::createCUDAGenerator(0);
      fresh.set_current_seed(graph->seed);
      fresh.set_offset(graph->offset);
      at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(0);
      generator.graphsafe_set_state(fresh.graphsafe_get_state());
    });
  }
  guarded(ignored, sizeof ignored, [&] { graph->graph.reset(); });
  return ended;
}

int outflank_graph_replay(Graph *graph, char *error, size_t len) {
  return guarded(error, len, [&] { graph->graph->replay(); });
}

#else

struct Graph;

int outflank_graph_new(Graph **, char *error, size_t len) { return missing(error, len); }
void outflank_graph_free(Graph *) {}
int outflank_graph_enter(Graph *, char *error, size_t len) { return missing(error, len); }
int outflank_graph_leave(Graph *, char *error, size_t len) { return missing(error, len); }
int outflank_graph_begin(Graph *, char *error, size_t len) { return missing(error, len); }
int outflank_graph_end(Graph *, bool, char *error, size_t len) { return missing(error, len); }
int outflank_graph_replay(Graph *, char *error, size_t len) { return missing(error, len); }

#endif
}
