// Test only: the least of a Vulkan runtime that runs an emitted module and reads the results back.
// One device, one queue, host-visible buffers; every call waits. Not a model for a back end.
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_VULKAN_HARNESS_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_VULKAN_HARNESS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::emit::testing {

class VulkanHarness {
 public:
  // The first device that has bufferDeviceAddress and 64-bit integers (PRIMSET_TEST_VULKAN_DEVICE
  // picks another by number); null where there is none. Lives until the process ends.
  static VulkanHarness* get();

  struct Buffer {
    uint64_t address = 0;
    std::span<std::byte> bytes;
    template <typename T>
    std::span<T> as() const {
      return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
  };
  // Zeroed. Valid until free_buffers().
  Buffer buffer(size_t size);
  template <typename T>
  Buffer buffer_of(std::span<const T> data) {
    Buffer b = buffer(data.size_bytes());
    std::memcpy(b.bytes.data(), data.data(), data.size_bytes());
    return b;
  }
  void free_buffers();

  // Verifies, emits, validates with spirv-val, builds a pipeline and runs it to its end. `args` has
  // one bit pattern a parameter. Throws std::runtime_error.
  void launch(const kir::Kernel& kernel, std::span<const uint64_t> args,
              std::array<uint32_t, 3> groups = {1, 1, 1});
  void launch(const kir::Kernel& kernel, std::initializer_list<uint64_t> args,
              std::array<uint32_t, 3> groups = {1, 1, 1}) {
    launch(kernel, std::span(args.begin(), args.size()), groups);
  }
  // For another target than the device's own.
  void launch(const kir::Kernel& kernel, const kir::TargetModel& target,
              std::span<const uint64_t> args, std::array<uint32_t, 3> groups);
  // For kernels that the emitter takes and the verifier does not.
  void skip_verifier(bool skip) { skip_verifier_ = skip; }
  // What the last launch() took to emit, to create the pipeline, and to run it: lavapipe compiles
  // in the first run.
  struct Timing {
    double emit_ms = 0, pipeline_ms = 0, run_ms = 0;
  };
  const Timing& timing() const { return timing_; }

  const kir::TargetModel& target() const { return target_; }
  const std::string& device_name() const { return device_name_; }
  // VK_EXT_shader_atomic_float is enabled where the device has it.
  bool has_float_atomic_add() const { return has_float_atomic_add_; }
  bool is_lavapipe() const { return device_name_.find("llvmpipe") != std::string::npos; }

  ~VulkanHarness();

 private:
  struct Handles;
  VulkanHarness();
  bool open();
  void read_properties();
  void dispatch(const std::vector<uint32_t>& words, const std::string& entry,
                std::span<const std::byte> push, std::array<uint32_t, 3> groups);

  std::unique_ptr<Handles> h_;
  kir::TargetModel target_;
  std::string device_name_;
  Timing timing_;
  bool skip_verifier_ = false;
  bool has_float_atomic_add_ = false;
};

// All messages of spirv-val for the module, empty when it is valid.
std::string validate_spirv(std::span<const uint32_t> words, kir::Format format);

}  // namespace primset::emit::testing

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_VULKAN_HARNESS_H_
