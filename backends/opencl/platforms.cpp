#include "backends/opencl/platforms.h"

#include "backends/common/abi_boundary.h"
#include "backends/opencl/device_info.h"

namespace primset_opencl {
namespace {

// All that a compiled kernel depends on beside its text and the options.
std::string compiler_of(const DeviceInfo& info) {
  std::string text;
  for (const cl_device_info what :
       {CL_DEVICE_VENDOR, CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DRIVER_VERSION})
    text += info.text(what) + '\n';
  return text;
}

// Why a device cannot run our kernels; empty where it can.
std::string unusable(const DeviceInfo& info, const Functions& cl, PhysicalDevice& device) {
  if (!info.number<cl_bool>(CL_DEVICE_AVAILABLE)) return "it is not available";
  if (info.spirv_version() < 102) return "it takes no SPIR-V 1.2";
  if (info.number<cl_uint>(CL_DEVICE_ADDRESS_BITS) != 64) return "its addresses have not 64 bits";
  if (!info.has("cl_intel_unified_shared_memory") || !device.memory.load(cl, device.platform))
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

Platforms::Platforms(const primset_host* host) : host_(host) {
  if (!cl_.load()) {
    primset_backend::log(host, PRIMSET_LOG_INFO,
                         "opencl: no libOpenCL.so.1 (2.1 or newer); no devices");
    return;
  }
  const auto platforms = all_of<cl_platform_id>(cl_.clGetPlatformIDs);
  if (platforms.empty())
    primset_backend::log(host, PRIMSET_LOG_INFO, "opencl: no driver on this machine; no devices");
  for (cl_platform_id platform : platforms) add_devices(platform);
}

void Platforms::add_devices(cl_platform_id platform) {
  const auto ask = [&](cl_uint room, cl_device_id* out, cl_uint* count) {
    return cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, out, count);
  };
  for (cl_device_id handle : all_of<cl_device_id>(ask)) {
    const DeviceInfo info(cl_, handle);
    PhysicalDevice device;
    device.handle = handle;
    device.platform = platform;
    if (const std::string why = unusable(info, cl_, device); !why.empty()) {
      primset_backend::log(host_, PRIMSET_LOG_INFO,
                           "opencl: " + info.text(CL_DEVICE_NAME) + " (" +
                               info.text(CL_DEVICE_VERSION) + ") is passed over: " + why);
      continue;
    }
    device.claims = info.claims();
    device.max_allocation = info.number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    if (device.claims.exact_f32_division)
      device.build_options = "-cl-fp32-correctly-rounded-divide-sqrt";
    device.compiler = compiler_of(info) + device.build_options;
    devices_.push_back(std::move(device));
  }
}

}  // namespace primset_opencl
