// Modules: programs of OpenCL, with what their SPIR-V says of the kernels' parameters.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_MODULE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_MODULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/level_zero/cpu_driver/objects.h"
#include "backends/level_zero/cpu_driver/opencl_device.h"

namespace primset_cpu_driver {

enum class Parameter { value, pointer, workgroup_memory };

struct KernelInterface {
  std::vector<Parameter> parameters;
  uint32_t required_subgroup = 0;
};

// The entry points of a SPIR-V module; empty where it is none.
std::map<std::string, KernelInterface> entry_points(const std::vector<uint32_t>& spirv);

class Module : public Object {
 public:
  ~Module() override;

  // What the build said is added to log.
  ze_result_t build(const ze_module_desc_t& desc, std::string& log);
  // The SPIR-V and OpenCL's own binary.
  std::vector<uint8_t> native_binary() const;

  cl_program program() const { return program_; }
  const std::map<std::string, KernelInterface>& kernels() const { return kernels_; }

 private:
  ze_result_t create(const ze_module_desc_t& desc, std::string& log);
  ze_result_t create_from_native(const uint8_t* data, size_t bytes);

  cl_program program_ = nullptr;
  std::vector<uint32_t> spirv_;
  std::map<std::string, KernelInterface> kernels_;
};

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_MODULE_H_
