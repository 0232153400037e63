#include "backends/cuda/module.h"

#include <algorithm>
#include <string_view>

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
    uint32_t code = status_code(result);
    if (code == PRIMSET_INTERNAL) code = PRIMSET_LOAD_FAILED;  // whatever the reason, it is refused
    throw BackendError(code, std::string(function) + ": " + result_name(cu_, result) +
                                 (*log_ ? std::string(": ") + log_ : ""));
  }

  const DriverApi& cu_;
  LinkState state_ = nullptr;
  char log_[2048] = {};
};

// Where the last scalar ends: a kernel's parameters have no padding after them, a parameter block
// may.
size_t param_end(const primset_module_desc& desc) {
  size_t end = size_t{8} * desc.pointer_count;
  for (uint32_t i = 0; i < desc.scalar_count; ++i) {
    const size_t size = desc.scalar_sizes[i];
    end = (end + size - 1) / size * size + size;
  }
  return desc.scalar_count == 0 ? desc.param_bytes : end;
}

// More workgroup memory than a module may declare is brought by its launches, which the driver must
// be told before.
void take_extern_memory(primset_device_t& device, primset_module_t& module, uint32_t bytes) {
  primset_kernel_t& kernel = module.kernel;
  kernel.extern_memory = bytes;
  const Result result = device.cu.cuFuncSetAttribute(kernel.function, kMaxDynamicSharedSizeBytes,
                                                     static_cast<int>(bytes));
  if (result == kSuccess) return;
  device.cu.cuModuleUnload(module.handle);
  fail(device.cu, result, "cuFuncSetAttribute");
}

}  // namespace

Module load_ptx(primset_device_t& device, std::string_view ptx, const char* name) {
  Module module = nullptr;
  if (const std::vector<char> cached = device.cubins.find(ptx); !cached.empty())
    if (device.cu.cuModuleLoadData(&module, cached.data()) == kSuccess) return module;
  Linker linker(device.cu);
  const std::string_view cubin = linker.compile(ptx, name);
  PRIMSET_CUDA(device.cu, cuModuleLoadData, &module, cubin.data());
  device.cubins.store(ptx, cubin);
  return module;
}

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module) {
  *out_module = nullptr;
  return guarded("module_load", [&] {
    const ContextScope scope(*device);
    auto module = std::make_unique<primset_module_t>();
    primset_kernel_t& kernel = module->kernel;
    kernel.shape = primset_backend::check_module(*desc, device->properties());
    kernel.param_end = param_end(*desc);
    for (int i = 0; i < 3; ++i) kernel.group_size[i] = desc->group_size[i];
    const std::string_view ptx = ptx_of(*desc);
    kernel.programmatic_dependent_launch =
        ptx.find("griddepcontrol.wait") != std::string_view::npos;
    module->handle = load_ptx(*device, ptx, desc->entry);
    const Result result =
        device->cu.cuModuleGetFunction(&kernel.function, module->handle, desc->entry);
    if (result != kSuccess) {
      device->cu.cuModuleUnload(module->handle);
      fail(device->cu, result, "cuModuleGetFunction");
    }
    if (desc->group_memory > device->properties().group_memory)
      take_extern_memory(*device, *module, desc->group_memory);
    *out_module = module.release();
  });
}

void module_unload(primset_device device, primset_module module) {
  const ContextScope scope(*device, std::nothrow);
  device->cu.cuModuleUnload(module->handle);
  delete module;
}

primset_status* module_kernel(primset_module module, primset_kernel* out_kernel) {
  *out_kernel = &module->kernel;
  return nullptr;
}

primset_status* launch(primset_stream stream, const primset_launch* launch) {
  return guarded("launch", [&] {
    primset_kernel_t& kernel = *launch->kernel;
    primset_backend::check_launch(kernel.shape, *launch);
    if (primset_backend::is_empty(*launch)) return;
    alignas(8) unsigned char params[kMaxParamBytes];
    primset_backend::build_params(
        kernel.shape, *launch, [](primset_buffer buffer) { return buffer->address; }, params);
    void* extra[] = {kLaunchParamBufferPointer, params, kLaunchParamBufferSize, &kernel.param_end,
                     kLaunchParamEnd};
    LaunchAttribute early{kProgrammaticStreamSerialization, {}};
    early.value.allowed = 1;
    LaunchConfig config{};
    std::copy_n(launch->groups, 3, config.groups);
    std::copy_n(kernel.group_size, 3, config.threads);
    config.shared_bytes = kernel.extern_memory;
    config.stream = stream->handle;
    config.attributes = &early;
    config.attribute_count = kernel.programmatic_dependent_launch ? 1 : 0;
    const ContextScope scope(*stream->device);
    PRIMSET_CUDA(stream->cu, cuLaunchKernelEx, &config, kernel.function, nullptr, extra);
  });
}

}  // namespace primset_cuda
