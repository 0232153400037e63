#include "backends/opencl/device_info.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace primset_opencl {
namespace {

// cl_ext_float_atomics, which headers older than it lack.
constexpr cl_device_info kSingleFloatAtomics = 0x4231;
constexpr cl_bitfield kGlobalAtomicAdd = 1 << 1;

}  // namespace

std::string DeviceInfo::bytes(cl_device_info what) const {
  return all_bytes([&](size_t room, void* out, size_t* bytes) {
    return cl_.clGetDeviceInfo(device_, what, room, out, bytes);
  });
}

bool DeviceInfo::has(std::string_view extension) const {
  const std::string all = ' ' + text(CL_DEVICE_EXTENSIONS) + ' ';
  return all.find(' ' + std::string(extension) + ' ') != std::string::npos;
}

// "SPIR-V_1.0 SPIR-V_1.2"
uint32_t DeviceInfo::spirv_version() const {
  constexpr std::string_view kName = "SPIR-V_";
  const std::string text = this->text(CL_DEVICE_IL_VERSION);
  uint32_t highest = 0;
  for (size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at + 1)) {
    unsigned major = 0, minor = 0;
    if (std::sscanf(text.c_str() + at + kName.size(), "%u.%u", &major, &minor) == 2)
      highest = std::max(highest, 100 * major + minor);
  }
  return highest;
}

void DeviceInfo::read_arithmetic(primset_backend::SpirvKernelDevice& d) const {
  const auto half = number<cl_device_fp_config>(CL_DEVICE_HALF_FP_CONFIG),
             single = number<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG);
  d.f64 = number<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  // Else kernels convert halves with integers, which lose no denormal.
  d.f16 = has("cl_khr_fp16") && (half & CL_FP_DENORM);
  d.i64_atomics = has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics");
  d.f32_atomic_add =
      has("cl_ext_float_atomics") && (number<cl_bitfield>(kSingleFloatAtomics) & kGlobalAtomicAdd);
  d.keeps_f32_denormals = single & CL_FP_DENORM;
  d.exact_f32_division = single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  // In a full profile fma rounds once, by hardware or not.
  d.fused_fma = text(CL_DEVICE_PROFILE) == "FULL_PROFILE";
}

std::vector<uint32_t> DeviceInfo::subgroup_sizes() const {
  if (!has("cl_intel_required_subgroup_size")) return {};
  const std::string sizes = bytes(CL_DEVICE_SUB_GROUP_SIZES_INTEL);  // of type size_t
  std::vector<uint32_t> list;
  for (size_t at = 0, size = 0; at < sizes.size(); at += sizeof(size)) {
    std::memcpy(&size, &sizes[at], sizeof(size));
    list.push_back(static_cast<uint32_t>(size));
  }
  return list;
}

primset_backend::SpirvKernelDevice DeviceInfo::claims() const {
  primset_backend::SpirvKernelDevice d;
  d.name = text(CL_DEVICE_NAME);
  d.memory_bytes = number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
  d.cpu = number<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
  d.compute_units = number<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
  d.max_group_threads = number<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  d.group_memory = number<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
  d.max_param_bytes = number<size_t>(CL_DEVICE_MAX_PARAMETER_SIZE);
  read_arithmetic(d);
  // Ballots and shuffles are in SPIR-V's core from 1.3 on.
  d.ballot_and_shuffle =
      has("cl_khr_subgroup_ballot") && has("cl_khr_subgroup_shuffle") && spirv_version() >= 103;
  d.subgroup_sizes = subgroup_sizes();
  return d;
}

}  // namespace primset_opencl
