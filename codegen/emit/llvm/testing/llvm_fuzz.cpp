// libFuzzer: what the verifier lets pass, through LLVM to machine code, bitcode and PTX. LLVM ends
// the process on what it cannot select: the verifier must have refused it before.
#include <array>
#include <cstdint>
#include <optional>

#include "codegen/emit/llvm/llvm_emitter.h"
#include "codegen/kernel/ir/testing/fuzz_targets.h"
#include "codegen/kernel/verifier/verifier.h"
#include "primset/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset;
  const std::optional<kir::Kernel> kernel = kir::kernel_of(data, size);
  if (!kernel) return 0;
  const std::array targets = {kir::cpu_target(kir::Format::native_image),
                              kir::cpu_target(kir::Format::llvm_bitcode),
                              kir::gpu_target(kir::Format::ptx)};
  for (const kir::TargetModel& target : targets) {
    if (!kir::verify(*kernel, target).empty()) continue;
    try {
      emit::emit_llvm(*kernel, target);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::not_implemented) throw;
    }
  }
  return 0;
}
