#include "backends/opencl/platforms.h"

#include "backends/opencl/device_info.h"

namespace primset_opencl {
namespace {

// The largest that OpenCL lets a program ask for everywhere: the size of its widest vector.
constexpr uint32_t kMemoryAlignment = 128;

// All that a compiled kernel depends on beside its text and the options.
std::string compiler_of(const DeviceInfo& info) {
  std::string text;
  for (const cl_device_info what :
       {CL_DEVICE_VENDOR, CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DRIVER_VERSION})
    text += info.text(what) + '\n';
  return text;
}

// Why a device cannot run our kernels; empty where it can.
std::string unusable(const DeviceInfo& info, Functions& cl, cl_platform_id platform) {
  if (!info.number<cl_bool>(CL_DEVICE_AVAILABLE)) return "it is not available";
  if (info.spirv_version() < 102) return "it takes no SPIR-V 1.2";
  if (info.number<cl_uint>(CL_DEVICE_ADDRESS_BITS) != 64) return "its addresses have not 64 bits";
  if (!info.has("cl_intel_unified_shared_memory") || !cl.load_memory(platform))
    return "it has no cl_intel_unified_shared_memory";
  return {};
}

template <typename Handle, typename Ask>
std::vector<Handle> all_of(Ask&& ask) {
  cl_uint count = 0;
  if (ask(cl_uint{0}, nullptr, &count) != CL_SUCCESS) return {};  // none is an error in OpenCL
  std::vector<Handle> handles(count);
  if (count == 0 || ask(count, handles.data(), nullptr) != CL_SUCCESS) return {};
  return handles;
}

}  // namespace

Platforms::Platforms(const primset_host* host) : DeviceList(host, "opencl") {
  Functions cl;
  if (!cl.load()) {
    tell("no libOpenCL.so.1 (2.1 or newer); no devices");
    return;
  }
  const auto platforms = all_of<cl_platform_id>(cl.clGetPlatformIDs);
  if (platforms.empty()) tell("no driver on this machine; no devices");
  for (cl_platform_id platform : platforms) {
    const auto ask = [&](cl_uint room, cl_device_id* out, cl_uint* count) {
      return cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, out, count);
    };
    for (cl_device_id handle : all_of<cl_device_id>(ask)) add_device(cl, platform, handle);
  }
}

void Platforms::add_device(const Functions& cl, cl_platform_id platform, cl_device_id handle) {
  const DeviceInfo info(cl, handle);
  PhysicalDevice device;
  device.cl = cl;
  device.handle = handle;
  if (const std::string why = unusable(info, device.cl, platform); !why.empty())
    return tell(info.text(CL_DEVICE_NAME) + " (" + info.text(CL_DEVICE_VERSION) +
                ") is passed over: " + why);
  const primset_backend::SpirvKernelDevice claims = info.claims();
  primset_backend::claim(claims, device.properties);
  device.properties.features |= PRIMSET_FEATURE_IN_ORDER;
  device.properties.memory_alignment = kMemoryAlignment;
  device.largest_allocation = info.number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  if (claims.exact_f32_division) device.build_options = "-cl-fp32-correctly-rounded-divide-sqrt";
  device.cache_target = compiler_of(info) + device.build_options;
  devices_.push_back(std::move(device));
}

}  // namespace primset_opencl
