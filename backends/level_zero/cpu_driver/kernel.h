// Kernels and the arguments that they were given.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_KERNEL_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_KERNEL_H_

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/level_zero/cpu_driver/command_queue.h"
#include "backends/level_zero/cpu_driver/module.h"

namespace primset_cpu_driver {

struct Argument {
  size_t bytes = 0;  // 0: it was not set
  std::array<unsigned char, 64> value{};
};

class Kernel : public Object, public std::enable_shared_from_this<Kernel> {
 public:
  Kernel(std::shared_ptr<Module> module, std::string name);
  ~Kernel() override;

  bool exists() const { return kernel_ != nullptr; }
  ze_result_t set_group(uint32_t x, uint32_t y, uint32_t z);
  ze_result_t set_argument(uint32_t index, size_t bytes, const void* value);
  // A launch with the arguments as they are now.
  ze_result_t launch(const ze_group_count_t& groups, Command& out);
  void describe(ze_kernel_properties_t& p) const;

  const std::string& name() const { return name_; }
  std::atomic<ze_kernel_indirect_access_flags_t> indirect = 0;

 private:
  cl_int set_arguments(const std::vector<Argument>& arguments);
  std::array<size_t, 3> required_group() const;

  const std::shared_ptr<Module> module_;
  const std::string name_;
  const KernelInterface& interface_;
  cl_kernel kernel_ = nullptr;
  std::mutex mutex_;  // of the arguments that OpenCL has
  std::vector<Argument> arguments_;
  std::array<size_t, 3> group_{1, 1, 1};
};

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_KERNEL_H_
