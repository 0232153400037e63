#include "backends/level_zero/cpu_driver/kernel.h"

#include <level_zero/ze_ddi.h>

#include <algorithm>
#include <cstring>

#include "backends/level_zero/cpu_driver/device.h"
#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {

Kernel::Kernel(std::shared_ptr<Module> module, std::string name)
    : module_(std::move(module)),
      name_(std::move(name)),
      interface_(module_->kernels().at(name_)),
      kernel_(clCreateKernel(module_->program(), name_.c_str(), nullptr)),
      arguments_(interface_.parameters.size()) {
  const cl_bool yes = CL_TRUE;
  for (const int info : {CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
                         CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
                         CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL})
    if (kernel_)
      clSetKernelExecInfo(kernel_, static_cast<cl_kernel_exec_info>(info), sizeof(yes), &yes);
}

Kernel::~Kernel() {
  if (kernel_) clReleaseKernel(kernel_);
}

std::array<size_t, 3> Kernel::required_group() const {
  std::array<size_t, 3> group{};
  clGetKernelWorkGroupInfo(kernel_, cl().device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(group),
                           group.data(), nullptr);
  return group;
}

ze_result_t Kernel::set_group(uint32_t x, uint32_t y, uint32_t z) {
  const std::array<size_t, 3> wanted{x, y, z}, required = required_group();
  const uint64_t threads = uint64_t{x} * y * z;
  if (threads == 0 || threads > kMaxGroupThreads || (required[0] > 0 && wanted != required))
    return refuse(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, "%s: a group of %u x %u x %u",
                  name_.c_str(), x, y, z);
  group_ = wanted;
  return ZE_RESULT_SUCCESS;
}

ze_result_t Kernel::set_argument(uint32_t index, size_t bytes, const void* value) {
  if (index >= arguments_.size())
    return refuse(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "%s: argument %u of %zu",
                  name_.c_str(), index, arguments_.size());
  const Parameter kind = interface_.parameters[index];
  Argument argument;
  const bool fits = kind == Parameter::pointer ? bytes == sizeof(void*)
                    : kind == Parameter::workgroup_memory
                        ? bytes > 0 && !value
                        : bytes > 0 && value && bytes <= argument.value.size();
  if (!fits)
    return refuse(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "%s: argument %u of %zu bytes",
                  name_.c_str(), index, bytes);
  argument.bytes = bytes;
  if (value) std::memcpy(argument.value.data(), value, bytes);
  arguments_[index] = argument;
  return ZE_RESULT_SUCCESS;
}

cl_int Kernel::set_arguments(const std::vector<Argument>& arguments) {
  for (cl_uint i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    void* address = nullptr;
    cl_int error = CL_SUCCESS;
    switch (interface_.parameters[i]) {
      case Parameter::pointer:
        std::memcpy(&address, a.value.data(), sizeof(address));
        error = cl().set_pointer(kernel_, i, address);
        break;
      case Parameter::workgroup_memory:
        error = clSetKernelArg(kernel_, i, a.bytes, nullptr);
        break;
      case Parameter::value:
        error = clSetKernelArg(kernel_, i, a.bytes, a.value.data());
        break;
    }
    if (error != CL_SUCCESS) return error;
  }
  return CL_SUCCESS;
}

ze_result_t Kernel::launch(const ze_group_count_t& groups, Command& out) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].bytes == 0)
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s: argument %zu was never set",
                    name_.c_str(), i);
    if (interface_.parameters[i] != Parameter::pointer) continue;
    uint64_t address = 0;
    std::memcpy(&address, arguments_[i].value.data(), sizeof(address));
    if (address) out.touches.push_back({address, address + 1, Touch::Access::unknown});
  }
  const std::array<size_t, 3> group = group_,
                              total{groups.groupCountX * group[0], groups.groupCountY * group[1],
                                    groups.groupCountZ * group[2]};
  out.run = [self = shared_from_this(), arguments = arguments_, group, total](
                cl_command_queue queue, cl_event* event) {
    const std::lock_guard lock(self->mutex_);
    if (const cl_int error = self->set_arguments(arguments)) return error;
    return clEnqueueNDRangeKernel(queue, self->kernel_, 3, nullptr, total.data(), group.data(), 0,
                                  nullptr, event);
  };
  return ZE_RESULT_SUCCESS;
}

void Kernel::describe(ze_kernel_properties_t& p) const {
  const auto info = [&](cl_kernel_work_group_info what) {
    cl_ulong value = 0;
    clGetKernelWorkGroupInfo(kernel_, cl().device, what, sizeof(value), &value, nullptr);
    return static_cast<uint32_t>(value);
  };
  const std::array<size_t, 3> required = required_group();
  size_t subgroup = 0;
  clGetKernelSubGroupInfo(kernel_, cl().device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                          sizeof(group_), group_.data(), sizeof(subgroup), &subgroup, nullptr);
  const size_t threads = group_[0] * group_[1] * group_[2];
  p.numKernelArgs = static_cast<uint32_t>(arguments_.size());
  p.requiredGroupSizeX = static_cast<uint32_t>(required[0]);
  p.requiredGroupSizeY = static_cast<uint32_t>(required[1]);
  p.requiredGroupSizeZ = static_cast<uint32_t>(required[2]);
  p.maxSubgroupSize = static_cast<uint32_t>(subgroup);
  p.requiredSubgroupSize = interface_.required_subgroup;
  p.requiredNumSubGroups = 0;
  p.maxNumSubgroups = subgroup > 0 ? static_cast<uint32_t>((threads + subgroup - 1) / subgroup) : 0;
  p.localMemSize = info(CL_KERNEL_LOCAL_MEM_SIZE);
  p.privateMemSize = info(CL_KERNEL_PRIVATE_MEM_SIZE);
  p.spillMemSize = 0;
}

namespace {

ze_result_t ZE_APICALL kernel_create(ze_module_handle_t handle, const ze_kernel_desc_t* desc,
                                     ze_kernel_handle_t* out) {
  *out = nullptr;
  PRIMSET_CPU_DRIVER_FIND(Module, module, handle);
  if (!desc->pKernelName || !module->kernels().contains(desc->pKernelName))
    return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
  auto kernel = std::make_shared<Kernel>(module, desc->pKernelName);
  return kernel->exists() ? give_out(std::move(kernel), out) : ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
}

ze_result_t ZE_APICALL kernel_destroy(ze_kernel_handle_t kernel) {
  return destroy(kernel, "zeKernelDestroy");
}

ze_result_t ZE_APICALL kernel_set_group(ze_kernel_handle_t handle, uint32_t x, uint32_t y,
                                        uint32_t z) {
  PRIMSET_CPU_DRIVER_FIND(Kernel, kernel, handle);
  return kernel->set_group(x, y, z);
}

ze_result_t ZE_APICALL kernel_suggest_group(ze_kernel_handle_t, uint32_t total, uint32_t, uint32_t,
                                            uint32_t* x, uint32_t* y, uint32_t* z) {
  *x = std::clamp(total, 1u, 64u);
  *y = *z = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL kernel_set_argument(ze_kernel_handle_t handle, uint32_t index, size_t bytes,
                                           const void* value) {
  PRIMSET_CPU_DRIVER_FIND(Kernel, kernel, handle);
  return kernel->set_argument(index, bytes, value);
}

ze_result_t ZE_APICALL kernel_set_indirect(ze_kernel_handle_t handle,
                                           ze_kernel_indirect_access_flags_t flags) {
  PRIMSET_CPU_DRIVER_FIND(Kernel, kernel, handle);
  kernel->indirect = flags;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL kernel_get_indirect(ze_kernel_handle_t handle,
                                           ze_kernel_indirect_access_flags_t* out) {
  PRIMSET_CPU_DRIVER_FIND(Kernel, kernel, handle);
  *out = kernel->indirect;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL kernel_set_cache(ze_kernel_handle_t, ze_cache_config_flags_t) {
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL kernel_name(ze_kernel_handle_t handle, size_t* bytes, char* out) {
  PRIMSET_CPU_DRIVER_FIND(Kernel, kernel, handle);
  const size_t all = kernel->name().size() + 1;
  if (out) std::memcpy(out, kernel->name().c_str(), std::min(*bytes, all));
  *bytes = all;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL kernel_get_properties(ze_kernel_handle_t handle, ze_kernel_properties_t* p) {
  PRIMSET_CPU_DRIVER_FIND(Kernel, kernel, handle);
  kernel->describe(*p);
  return ZE_RESULT_SUCCESS;
}

}  // namespace
}  // namespace primset_cpu_driver

using namespace primset_cpu_driver;

PRIMSET_CPU_DRIVER_TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnCreate = kernel_create;
  t->pfnDestroy = kernel_destroy;
  t->pfnSetGroupSize = kernel_set_group;
  t->pfnSuggestGroupSize = kernel_suggest_group;
  t->pfnSetArgumentValue = kernel_set_argument;
  t->pfnSetIndirectAccess = kernel_set_indirect;
  t->pfnGetIndirectAccess = kernel_get_indirect;
  t->pfnSetCacheConfig = kernel_set_cache;
  t->pfnGetProperties = kernel_get_properties;
  t->pfnGetName = kernel_name;
  return ZE_RESULT_SUCCESS;
}
