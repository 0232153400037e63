// libFuzzer: what the verifier lets pass, in both flavours of SPIR-V. The words are a module that
// SPIRV-Tools can read.
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/emit/spirv/spirv.h"
#include "codegen/kernel/ir/testing/fuzz_targets.h"
#include "codegen/kernel/verifier/verifier.h"
#include "primset/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset;
  const std::optional<kir::Kernel> kernel = kir::kernel_of(data, size);
  if (!kernel) return 0;
  for (const kir::Format format : {kir::Format::spirv_vulkan, kir::Format::spirv_kernel}) {
    const kir::TargetModel target = kir::gpu_target(format);
    if (!kir::verify(*kernel, target).empty()) continue;
    std::vector<uint32_t> words;
    try {
      words = emit::emit_spirv(*kernel, target);
    } catch (const Error&) {
      continue;  // SPIR-V has no form for it, and that was said
    }
    emit::disassemble_spirv(words);  // throws for words that are no module
  }
  return 0;
}
