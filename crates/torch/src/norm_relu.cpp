// The kernels of norm_relu.cu as an operation that libtorch can take the gradient of. They are compiled when
// the program first needs them, by the compiler that comes with libtorch, for the device that is there.

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

// Threads of a block that sums, and of one that writes.
constexpr int SUMMING = 512, WRITING = 256;

// The compiler and the driver are found where libtorch finds them, so that nothing is linked.
struct Libraries {
  at::DynamicLibrary both{"libcaffe2_nvrtc.so", nullptr, true};
#define FOUND(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(both.sym(#name))
  FOUND(nvrtcCreateProgram);
  FOUND(nvrtcCompileProgram);
  FOUND(nvrtcDestroyProgram);
  FOUND(nvrtcGetErrorString);
  FOUND(nvrtcGetProgramLogSize);
  FOUND(nvrtcGetProgramLog);
  FOUND(nvrtcGetCUBINSize);
  FOUND(nvrtcGetCUBIN);
  FOUND(nvrtcGetPTXSize);
  FOUND(nvrtcGetPTX);
  FOUND(cuGetErrorString);
  FOUND(cuCtxGetCurrent);
  FOUND(cuCtxSetCurrent);
  FOUND(cuDeviceGet);
  FOUND(cuDeviceGetAttribute);
  FOUND(cuDevicePrimaryCtxRetain);
  FOUND(cuModuleLoadData);
  FOUND(cuModuleGetFunction);
  FOUND(cuLaunchKernel);
#undef FOUND

  void check(CUresult result) const {
    if (result == CUDA_SUCCESS)
      return;
    const char *reason = nullptr;
    cuGetErrorString(result, &reason);
    throw std::runtime_error(reason ? reason : "an unknown error of the driver");
  }

  void check(nvrtcResult result) const {
    if (result != NVRTC_SUCCESS)
      throw std::runtime_error(nvrtcGetErrorString(result));
  }

  int device_has(CUdevice_attribute what) const {
    int many = 0;
    check(cuDeviceGetAttribute(&many, what, 0));
    return many;
  }

  // Threads that libtorch started may not have said yet which device they work on.
  void settle() const {
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

// Machine code where the compiler knows the device, else what the driver makes it from.
std::vector<char> compiled(const Libraries &with, const char *text, int capability) {
  const std::string exact = "sm_" + std::to_string(capability);
  for (const std::string &kind : {exact, std::string("compute_80")}) {
    nvrtcProgram program;
    with.check(with.nvrtcCreateProgram(&program, text, "norm_relu.cu", 0, nullptr, nullptr));
    const std::string options[] = {"--gpu-architecture=" + kind, "--std=c++17",
                                   "--define-macro=SUMMING=" + std::to_string(SUMMING),
                                   "--define-macro=WRITING=" + std::to_string(WRITING)};
    const char *given[4];
    std::transform(options, options + 4, given, [](const std::string &it) { return it.c_str(); });
    const nvrtcResult result = with.nvrtcCompileProgram(program, 4, given);
    const bool machine = kind == exact;
    size_t size = 0;
    std::vector<char> code;
    if (result == NVRTC_SUCCESS) {
      (machine ? with.nvrtcGetCUBINSize : with.nvrtcGetPTXSize)(program, &size);
      code.resize(size);
      (machine ? with.nvrtcGetCUBIN : with.nvrtcGetPTX)(program, code.data());
    } else {
      with.nvrtcGetProgramLogSize(program, &size);
      code.resize(size + 1);
      with.nvrtcGetProgramLog(program, code.data());
    }
    with.nvrtcDestroyProgram(&program);
    if (result == NVRTC_SUCCESS)
      return code;
    if (result != NVRTC_ERROR_INVALID_OPTION || !machine)
      throw std::runtime_error(std::string(with.nvrtcGetErrorString(result)) + ": " + code.data());
  }
  return {};
}

struct Kernels {
  Libraries with;
  CUmodule module;
  CUfunction statistics, rectified, gradients, passed_on;
  int processors;

  explicit Kernels(const char *text) {
    with.settle();
    processors = with.device_has(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    const int major = with.device_has(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    const int minor = with.device_has(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    const auto code = compiled(with, text, 10 * major + minor);
    with.check(with.cuModuleLoadData(&module, code.data()));
    with.check(with.cuModuleGetFunction(&statistics, module, "statistics"));
    with.check(with.cuModuleGetFunction(&rectified, module, "rectified"));
    with.check(with.cuModuleGetFunction(&gradients, module, "gradients"));
    with.check(with.cuModuleGetFunction(&passed_on, module, "passed_on"));
  }

  template <typename... Given>
  void launch(CUfunction kernel, unsigned slices, unsigned blocks, int threads,
              Given... given) const {
    void *places[] = {&given...};
    with.settle();
    with.check(with.cuLaunchKernel(kernel, slices, blocks, 1, threads, 1, 1, 0,
                                   c10::cuda::getCurrentCUDAStream(0).stream(), places, nullptr));
  }
};

// Made once and never taken down: the driver may be gone before this program's own ends are tied.
const Kernels *kernels = nullptr;
std::mutex making;

// How the work on an activation is laid out.
struct Layout {
  int rows, vectors, wide;
  unsigned slices, summing, writing;

  Layout(const at::Tensor &x, int processors) {
    rows = static_cast<int>(x.size(0) * x.size(2) * x.size(3));
    vectors = static_cast<int>(x.size(1) / 8);
    slices = (vectors + 7) / 8;
    wide = (vectors + slices - 1) / slices;
    // Blocks enough to keep the device busy, but none with fewer than four rows for a thread; and few
    // that sum, since one of them must read what all have found.
    const auto worth = [&](int threads) -> unsigned { return (rows - 1) / (threads / wide * 4) + 1; };
    const unsigned many = processors;
    summing = std::min({worth(SUMMING), many, std::max(1u, 2 * many / slices)});
    writing = std::min(worth(WRITING), std::max(1u, 8 * many / slices));
  }
};

void *data(const at::Tensor &tensor) { return tensor.mutable_data_ptr(); }

at::Tensor laid_out(const at::Tensor &x) {
  return x.contiguous(at::MemoryFormat::ChannelsLast);
}

struct NormRelu : torch::autograd::Function<NormRelu> {
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static at::Tensor forward(Context *context, const at::Tensor &given, const at::Tensor &scale,
                            const at::Tensor &shift, const at::Tensor &mean,
                            const at::Tensor &variance, const at::Tensor &tickets, double follow,
                            double epsilon) {
    const at::Tensor x = laid_out(given);
    const Layout layout(x, kernels->processors);
    const int channels = 8 * layout.vectors;
    const at::Tensor y = at::empty_like(x), terms = at::empty({4, channels}, scale.options());
    const at::Tensor parts = at::empty({layout.summing, channels, 2}, scale.options());
    kernels->launch(kernels->statistics, layout.slices, layout.summing, SUMMING, data(x),
                    layout.rows, layout.vectors, layout.wide, data(scale), data(shift),
                    data(mean), data(variance), static_cast<float>(follow),
                    static_cast<float>(epsilon), data(parts), data(tickets),
                    data(terms));
    kernels->launch(kernels->rectified, layout.slices, layout.writing, WRITING, data(x),
                    data(y), layout.rows, layout.vectors, layout.wide, data(terms));
    context->save_for_backward({x, terms, tickets});
    return y;
  }

  static Variables backward(Context *context, const Variables &gradients) {
    const Variables saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &terms = saved[1], &tickets = saved[2];
    const at::Tensor dy = laid_out(gradients[0]);
    const Layout layout(x, kernels->processors);
    const int channels = 8 * layout.vectors;
    const at::Tensor dx = at::empty_like(x), means = at::empty({2, channels}, terms.options());
    const at::Tensor dscale = at::empty({channels}, terms.options());
    const at::Tensor dshift = at::empty({channels}, terms.options());
    const at::Tensor parts = at::empty({layout.summing, channels, 2}, terms.options());
    kernels->launch(kernels->gradients, layout.slices, layout.summing, SUMMING, data(x),
                    data(dy), layout.rows, layout.vectors, layout.wide, data(terms),
                    data(parts), data(tickets), data(dscale), data(dshift),
                    data(means));
    kernels->launch(kernels->passed_on, layout.slices, layout.writing, WRITING, data(x),
                    data(dy), data(dx), layout.rows, layout.vectors, layout.wide,
                    data(terms), data(means));
    return {dx, dscale, dshift, {}, {}, {}, {}, {}};
  }
};

} // namespace

extern "C" {

// Compiles the kernels, once for the program.
int outflank_norm_relu_prepare(const char *text, char *why, size_t room) {
  return guarded(why, room, [&] {
    const std::lock_guard<std::mutex> guard(making);
    if (!kernels)
      kernels = new Kernels(text);
  });
}

// Normalises with the batch's own mean and variance, which the running ones follow, and rectifies. There are
// as many tickets as slices of 64 channels, all zero before and afterwards; of one engine, since two that
// worked at once would take each other's.
int outflank_norm_relu(const at::Tensor *x, const at::Tensor *scale, const at::Tensor *shift,
                       const at::Tensor *mean, const at::Tensor *variance,
                       const at::Tensor *tickets, double follow, double epsilon, at::Tensor **y,
                       char *why, size_t room) {
  return guarded(why, room, [&] {
    TORCH_CHECK(kernels, "the kernels were not prepared");
    TORCH_CHECK(x->dim() == 4 && x->is_cuda() && x->scalar_type() == at::kBFloat16 &&
                    x->size(1) % 8 == 0 && x->size(1) <= 64 * tickets->numel() &&
                    x->numel() > x->size(1) && x->numel() / 8 < (int64_t{1} << 30),
                "normalisation and ReLU in one are for maps in bfloat16, by eights");
    *y = new at::Tensor(
        NormRelu::apply(*x, *scale, *shift, *mean, *variance, *tickets, follow, epsilon));
  });
}
}

#else

extern "C" {
int outflank_norm_relu_prepare(const char *, char *why, size_t room) { return missing(why, room); }

int outflank_norm_relu(const at::Tensor *, const at::Tensor *, const at::Tensor *,
                       const at::Tensor *, const at::Tensor *, const at::Tensor *, double, double,
                       at::Tensor **, char *why, size_t room) {
  return missing(why, room);
}
}

#endif
