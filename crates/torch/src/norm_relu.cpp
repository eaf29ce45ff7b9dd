// The kernels of norm_relu.cu as a differentiable libtorch operation. They are compiled at run time by NVRTC, which
// comes with libtorch, for the device in use.

#include "shim.h"

#include <ATen/core/Tensor.h>

#ifdef WITH_CUDA
#include <ATen/DynamicLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <nvrtc.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

namespace {

// Threads per block of the reducing and of the elementwise kernels.
constexpr int REDUCE_THREADS = 512, ELEMENTWISE_THREADS = 256;

// NVRTC and the driver are loaded as libtorch loads them, so that nothing needs to be linked.
struct Libraries {
  at::DynamicLibrary library{"libcaffe2_nvrtc.so", nullptr, true};
#define LOAD_SYMBOL(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(library.sym(#name))
  LOAD_SYMBOL(nvrtcCreateProgram);
  LOAD_SYMBOL(nvrtcCompileProgram);
  LOAD_SYMBOL(nvrtcDestroyProgram);
  LOAD_SYMBOL(nvrtcGetErrorString);
  LOAD_SYMBOL(nvrtcGetProgramLogSize);
  LOAD_SYMBOL(nvrtcGetProgramLog);
  LOAD_SYMBOL(nvrtcGetCUBINSize);
  LOAD_SYMBOL(nvrtcGetCUBIN);
  LOAD_SYMBOL(nvrtcGetPTXSize);
  LOAD_SYMBOL(nvrtcGetPTX);
  LOAD_SYMBOL(cuGetErrorString);
  LOAD_SYMBOL(cuCtxGetCurrent);
  LOAD_SYMBOL(cuCtxSetCurrent);
  LOAD_SYMBOL(cuDeviceGet);
  LOAD_SYMBOL(cuDeviceGetAttribute);
  LOAD_SYMBOL(cuDevicePrimaryCtxRetain);
  LOAD_SYMBOL(cuModuleLoadData);
  LOAD_SYMBOL(cuModuleGetFunction);
  LOAD_SYMBOL(cuLaunchKernel);
#undef LOAD_SYMBOL

  void check(CUresult result) const {
    if (result == CUDA_SUCCESS)
      return;
    const char *reason = nullptr;
    cuGetErrorString(result, &reason);
    throw std::runtime_error(reason ? reason : "unknown CUDA driver error");
  }

  void check(nvrtcResult result) const {
    if (result != NVRTC_SUCCESS)
      throw std::runtime_error(nvrtcGetErrorString(result));
  }

  int attribute(CUdevice_attribute which) const {
    int value = 0;
    check(cuDeviceGetAttribute(&value, which, 0));
    return value;
  }

  // Sets the CUDA context of threads that have none yet, such as autograd threads of libtorch.
  void ensure_context() const {
    CUcontext context = nullptr;
    check(cuCtxGetCurrent(&context));
    if (context)
      return;
    CUdevice device;
    check(cuDeviceGet(&device, 0));
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxSetCurrent(context));
  }
};

// Compiles to machine code if NVRTC supports the device, otherwise to PTX.
std::vector<char> compile(const Libraries &libraries, const char *text, int capability) {
  const std::string exact = "sm_" + std::to_string(capability);
  for (const std::string &architecture : {exact, std::string("compute_80")}) {
    nvrtcProgram program;
    libraries.check(libraries.nvrtcCreateProgram(&program, text, "norm_relu.cu", 0, nullptr, nullptr));
    const std::string options[] = {"--gpu-architecture=" + architecture, "--std=c++17",
                                   "--define-macro=REDUCE_THREADS=" + std::to_string(REDUCE_THREADS),
                                   "--define-macro=ELEMENTWISE_THREADS=" + std::to_string(ELEMENTWISE_THREADS)};
    const char *arguments[4];
    std::transform(options, options + 4, arguments, [](const std::string &option) { return option.c_str(); });
    const nvrtcResult result = libraries.nvrtcCompileProgram(program, 4, arguments);
    const bool machine_code = architecture == exact;
    size_t size = 0;
    std::vector<char> code;
    if (result == NVRTC_SUCCESS) {
      (machine_code ? libraries.nvrtcGetCUBINSize : libraries.nvrtcGetPTXSize)(program, &size);
      code.resize(size);
      (machine_code ? libraries.nvrtcGetCUBIN : libraries.nvrtcGetPTX)(program, code.data());
    } else {
      libraries.nvrtcGetProgramLogSize(program, &size);
      code.resize(size + 1);
      libraries.nvrtcGetProgramLog(program, code.data());
    }
    libraries.nvrtcDestroyProgram(&program);
    if (result == NVRTC_SUCCESS)
      return code;
    if (result != NVRTC_ERROR_INVALID_OPTION || !machine_code)
      throw std::runtime_error(std::string(libraries.nvrtcGetErrorString(result)) + ": " + code.data());
  }
  return {};
}

struct Kernels {
  Libraries libraries;
  CUmodule module;
  CUfunction statistics, normalize_relu, reduce_gradients, input_gradient;
  int processors;

  explicit Kernels(const char *text) {
    libraries.ensure_context();
    processors = libraries.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    const int major = libraries.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    const int minor = libraries.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    const auto code = compile(libraries, text, 10 * major + minor);
    libraries.check(libraries.cuModuleLoadData(&module, code.data()));
    libraries.check(libraries.cuModuleGetFunction(&statistics, module, "statistics"));
    libraries.check(libraries.cuModuleGetFunction(&normalize_relu, module, "normalize_relu"));
    libraries.check(libraries.cuModuleGetFunction(&reduce_gradients, module, "reduce_gradients"));
    libraries.check(libraries.cuModuleGetFunction(&input_gradient, module, "input_gradient"));
  }

  template <typename... Args>
  void launch(CUfunction kernel, unsigned slices, unsigned blocks, int threads, Args... args) const {
    void *pointers[] = {&args...};
    libraries.ensure_context();
    libraries.check(libraries.cuLaunchKernel(kernel, slices, blocks, 1, threads, 1, 1, 0,
                                             c10::cuda::getCurrentCUDAStream(0).stream(), pointers, nullptr));
  }
};

// Created once and never destroyed, since the driver may shut down before static destructors run.
const Kernels *kernels = nullptr;
std::mutex kernels_mutex;

// The launch configuration for an activation.
struct Layout {
  int rows, vectors, slice_width;
  unsigned slices, reduce_blocks, elementwise_blocks;

  Layout(const at::Tensor &x, unsigned processors) {
    rows = static_cast<int>(x.size(0) * x.size(2) * x.size(3));
    vectors = static_cast<int>(x.size(1) / 8);
    slices = (vectors + 7) / 8;
    slice_width = (vectors + slices - 1) / slices;
    // Enough blocks to occupy the device, but at least four rows per thread. Reducing kernels use few blocks,
    // since the last one reads the partial results of all.
    const auto blocks_for = [&](int threads) -> unsigned { return (rows - 1) / (threads / slice_width * 4) + 1; };
    reduce_blocks = std::min({blocks_for(REDUCE_THREADS), processors, std::max(1u, 2 * processors / slices)});
    elementwise_blocks = std::min(blocks_for(ELEMENTWISE_THREADS), std::max(1u, 8 * processors / slices));
  }
};

void *data(const at::Tensor &tensor) { return tensor.mutable_data_ptr(); }

at::Tensor channels_last(const at::Tensor &x) {
  return x.contiguous(at::MemoryFormat::ChannelsLast);
}

struct NormRelu : torch::autograd::Function<NormRelu> {
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static at::Tensor forward(Context *context, const at::Tensor &input, const at::Tensor &scale,
                            const at::Tensor &shift, const at::Tensor &mean,
                            const at::Tensor &variance, const at::Tensor &tickets, double momentum,
                            double epsilon) {
    const at::Tensor x = channels_last(input);
    const Layout layout(x, kernels->processors);
    const int channels = 8 * layout.vectors;
    const at::Tensor y = at::empty_like(x), coefficients = at::empty({4, channels}, scale.options());
    const at::Tensor partials = at::empty({layout.reduce_blocks, channels, 2}, scale.options());
    kernels->launch(kernels->statistics, layout.slices, layout.reduce_blocks, REDUCE_THREADS, data(x),
                    layout.rows, layout.vectors, layout.slice_width, data(scale), data(shift),
                    data(mean), data(variance), static_cast<float>(momentum),
                    static_cast<float>(epsilon), data(partials), data(tickets),
                    data(coefficients));
    kernels->launch(kernels->normalize_relu, layout.slices, layout.elementwise_blocks, ELEMENTWISE_THREADS, data(x),
                    data(y), layout.rows, layout.vectors, layout.slice_width, data(coefficients));
    context->save_for_backward({x, coefficients, tickets});
    return y;
  }

  static Variables backward(Context *context, const Variables &gradients) {
    const Variables saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &coefficients = saved[1], &tickets = saved[2];
    const at::Tensor dy = channels_last(gradients[0]);
    const Layout layout(x, kernels->processors);
    const int channels = 8 * layout.vectors;
    const at::Tensor dx = at::empty_like(x), means = at::empty({2, channels}, coefficients.options());
    const at::Tensor dscale = at::empty({channels}, coefficients.options());
    const at::Tensor dshift = at::empty({channels}, coefficients.options());
    const at::Tensor partials = at::empty({layout.reduce_blocks, channels, 2}, coefficients.options());
    kernels->launch(kernels->reduce_gradients, layout.slices, layout.reduce_blocks, REDUCE_THREADS, data(x),
                    data(dy), layout.rows, layout.vectors, layout.slice_width, data(coefficients),
                    data(partials), data(tickets), data(dscale), data(dshift),
                    data(means));
    kernels->launch(kernels->input_gradient, layout.slices, layout.elementwise_blocks, ELEMENTWISE_THREADS, data(x),
                    data(dy), data(dx), layout.rows, layout.vectors, layout.slice_width,
                    data(coefficients), data(means));
    return {dx, dscale, dshift, {}, {}, {}, {}, {}};
  }
};

} // namespace

extern "C" {

// Compiles the kernels, once per process.
int outflank_norm_relu_prepare(const char *text, char *error, size_t len) {
  return guarded(error, len, [&] {
    const std::lock_guard<std::mutex> guard(kernels_mutex);
    if (!kernels)
      kernels = new Kernels(text);
  });
}

// Normalizes with the batch statistics, updates the running statistics and applies the ReLU. `tickets` has one
// counter per slice of 64 channels, all zero before and after the call. Engines must not share them.
int outflank_norm_relu(const at::Tensor *x, const at::Tensor *scale, const at::Tensor *shift,
                       const at::Tensor *mean, const at::Tensor *variance,
                       const at::Tensor *tickets, double momentum, double epsilon, at::Tensor **y,
                       char *error, size_t len) {
  return guarded(error, len, [&] {
    TORCH_CHECK(kernels, "the kernels were not prepared");
    TORCH_CHECK(x->dim() == 4 && x->is_cuda() && x->scalar_type() == at::kBFloat16 &&
                    x->size(1) % 8 == 0 && x->size(1) <= 64 * tickets->numel() &&
                    x->numel() > x->size(1) && x->numel() / 8 < (int64_t{1} << 30),
                "fused normalization and ReLU need bfloat16 activations with a multiple of 8 channels");
    *y = new at::Tensor(
        NormRelu::apply(*x, *scale, *shift, *mean, *variance, *tickets, momentum, epsilon));
  });
}
}

#else

extern "C" {
int outflank_norm_relu_prepare(const char *, char *error, size_t len) { return missing(error, len); }

int outflank_norm_relu(const at::Tensor *, const at::Tensor *, const at::Tensor *,
                       const at::Tensor *, const at::Tensor *, const at::Tensor *, double, double,
                       at::Tensor **, char *error, size_t len) {
  return missing(error, len);
}
}

#endif
