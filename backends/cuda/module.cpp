#include "backends/cuda/module.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/common/results.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

// The driver reads text up to its NUL: it must be there.
std::string_view ptx_of(const primset_module_desc& desc) {
  const auto* text = static_cast<const char*>(desc.data);
  if (desc.size == 0 || text[desc.size - 1] != '\0')
    throw BackendError(PRIMSET_LOAD_FAILED,
                       std::to_string(desc.size) + " bytes of PTX that do not end in NUL");
  return {text, desc.size};
}

// Compiles PTX in the driver.
class Linker {
 public:
  explicit Linker(const DriverApi& cu) : cu_(cu) {
    int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes};
    void* values[] = {log_, reinterpret_cast<void*>(sizeof(log_))};
    PRIMSET_CUDA(cu, cuLinkCreate_v2, 2, options, values, &state_);
  }
  ~Linker() { cu_.cuLinkDestroy(state_); }
  Linker(const Linker&) = delete;
  Linker& operator=(const Linker&) = delete;

  // Lives as long as this.
  std::string_view compile(std::string_view ptx, const char* name) {
    // The function takes the text as if it wrote to it, and does not.
    auto* text = const_cast<char*>(ptx.data());
    check(cu_.cuLinkAddData_v2(state_, kJitInputPtx, text, ptx.size(), name, 0, nullptr, nullptr),
          "cuLinkAddData");
    void* cubin = nullptr;
    size_t bytes = 0;
    check(cu_.cuLinkComplete(state_, &cubin, &bytes), "cuLinkComplete");
    return {static_cast<const char*>(cubin), bytes};
  }

 private:
  void check(Result result, const char* function) {
    if (result == kSuccess) return;
    primset_backend::refuse_module(status_code(result),
                                   std::string(function) + ": " + result_name(cu_, result) +
                                       (*log_ ? std::string(": ") + log_ : ""));
  }

  const DriverApi& cu_;
  LinkState state_ = nullptr;
  char log_[2048] = {};
};

// Where the last scalar ends: a kernel's parameters have no padding after them, a parameter block
// may.
size_t end_of_parameters(const primset_module_desc& desc) {
  size_t end = size_t{8} * desc.pointer_count;
  for (uint32_t i = 0; i < desc.scalar_count; ++i) {
    const size_t size = desc.scalar_sizes[i];
    end = (end + size - 1) / size * size + size;
  }
  return desc.scalar_count == 0 ? desc.param_bytes : end;
}

}  // namespace

Module load_ptx(primset_device_t& device, std::string_view ptx, const char* name) {
  const DriverApi& cu = device.cu;
  std::optional<Linker> linker;
  std::string_view cubin;  // that the linker has
  return primset_backend::compiled(
      device.cubins, ptx,
      [&](const std::vector<char>& cached) {
        Module module = nullptr;
        return cu.cuModuleLoadData(&module, cached.data()) == kSuccess ? module : nullptr;
      },
      [&] {
        cubin = linker.emplace(cu).compile(ptx, name);
        Module module = nullptr;
        PRIMSET_CUDA(cu, cuModuleLoadData, &module, cubin.data());
        return module;
      },
      [&](Module) { return cubin; });
}

}  // namespace primset_cuda

using namespace primset_cuda;

primset_module_t::primset_module_t(primset_device device, const primset_module_desc& desc)
    : kernel(desc), device_(*device) {
  const std::string_view ptx = ptx_of(desc);
  kernel.programmatic_dependent_launch = ptx.find("griddepcontrol.wait") != std::string_view::npos;
  handle_ = load_ptx(*device, ptx, desc.entry);
  try {
    find_kernel(desc);
  } catch (...) {
    device_.cu.cuModuleUnload(handle_);
    throw;
  }
}

primset_module_t::~primset_module_t() {
  device_.cu.cuModuleUnload(handle_);
}

void primset_module_t::find_kernel(const primset_module_desc& desc) {
  PRIMSET_CUDA(device_.cu, cuModuleGetFunction, &kernel.function, handle_, desc.entry);
  if (desc.group_memory > device_.properties().group_memory) take_extern_memory(desc.group_memory);
}

// More workgroup memory than a module may declare is brought by its launches, which the driver must
// be told before.
void primset_module_t::take_extern_memory(uint32_t bytes) {
  kernel.extern_memory = bytes;
  PRIMSET_CUDA(device_.cu, cuFuncSetAttribute, kernel.function, kMaxDynamicSharedSizeBytes,
               static_cast<int>(bytes));
}

primset_kernel_t::primset_kernel_t(const primset_module_desc& desc)
    : shape(desc), param_end(end_of_parameters(desc)) {
  std::copy_n(desc.group_size, 3, group_size);
}

void primset_kernel_t::launch(const primset_stream_t& stream, const primset_launch& launch) {
  alignas(8) unsigned char params[kMaxParamBytes];
  primset_backend::build_params(shape, launch, params);
  void* extra[] = {kLaunchParamBufferPointer, params, kLaunchParamBufferSize, &param_end,
                   kLaunchParamEnd};
  LaunchAttribute early{kProgrammaticStreamSerialization, {}};
  early.value.allowed = 1;
  LaunchConfig config{};
  std::copy_n(launch.groups, 3, config.groups);
  std::copy_n(group_size, 3, config.threads);
  config.shared_bytes = extern_memory;
  config.stream = stream.handle;
  config.attributes = &early;
  config.attribute_count = programmatic_dependent_launch ? 1 : 0;
  PRIMSET_CUDA(stream.cu, cuLaunchKernelEx, &config, function, nullptr, extra);
}
