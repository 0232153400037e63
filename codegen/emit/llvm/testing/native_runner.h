// For tests: compiles a kernel for this machine and runs it as a plugin would, by mapping the
// image.
#ifndef PRIMSET_CODEGEN_EMIT_LLVM_TESTING_NATIVE_RUNNER_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_TESTING_NATIVE_RUNNER_H_

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "codegen/emit/emitter.h"
#include "codegen/kernel/ir/ir.h"
#include "primset/plugin.h"

namespace primset::emit {

// Vectors of 64 bytes on every host: narrower machines split them.
inline kir::TargetModel native_model() {
  kir::TargetModel model;
  model.vector_bytes = 64;
  model.f16 = __builtin_cpu_supports("f16c") != 0;
  model.fused_fma = __builtin_cpu_supports("fma") != 0;
  return model;
}

class NativeRunner {
 public:
  explicit NativeRunner(const kir::Kernel& kernel, const kir::TargetModel& model = native_model())
      : layout_(kir::param_layout(kernel.params)) {
    const std::vector<uint8_t> image = emit(kernel, model).bytes;
    std::memcpy(&header_, image.data(), sizeof header_);
    if (std::memcmp(header_.magic, "PSIMAGE1", 8) != 0 || header_.image_size != image.size()) {
      throw std::runtime_error("no native image");
    }
    memory_ =
        mmap(nullptr, image.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory_, image.data(), image.size());
    mprotect(memory_, image.size(), PROT_READ | PROT_EXEC);
  }
  ~NativeRunner() { munmap(memory_, header_.image_size); }
  NativeRunner(const NativeRunner&) = delete;
  NativeRunner& operator=(const NativeRunner&) = delete;

  // Pointers, then scalars as bit patterns, in the order of the kernel's parameters.
  void run(const std::vector<const void*>& pointers, const std::vector<uint64_t>& scalars = {},
           uint64_t first = 0, uint64_t end = 1, uint64_t total = 1) const {
    std::vector<uint64_t> block(layout_.size / 8 + 1);
    auto* bytes = reinterpret_cast<std::byte*>(block.data());
    for (size_t i = 0; i < layout_.offsets.size(); ++i) {
      const bool pointer = i < layout_.pointers;
      const uint64_t v =
          pointer ? reinterpret_cast<uint64_t>(pointers.at(i)) : scalars.at(i - layout_.pointers);
      const size_t next = i + 1 < layout_.offsets.size() ? layout_.offsets[i + 1] : layout_.size;
      std::memcpy(bytes + layout_.offsets[i], &v, std::min<size_t>(8, next - layout_.offsets[i]));
    }
    entry()(block.data(), first, end, total);
  }

  uint64_t image_size() const { return header_.image_size; }

 private:
  primset_native_entry entry() const {
    return reinterpret_cast<primset_native_entry>(static_cast<std::byte*>(memory_) +
                                                  header_.entry_offset);
  }

  kir::ParamLayout layout_;
  primset_native_image header_{};
  void* memory_ = nullptr;
};

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_TESTING_NATIVE_RUNNER_H_
