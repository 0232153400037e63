#include "codegen/emit/emitter.h"

#include <cstring>

#include "codegen/emit/llvm/llvm_emitter.h"
#include "codegen/emit/source_digest.h"
#include "codegen/kernel/verifier/verifier.h"
#include "primset/error.h"
#ifdef PRIMSET_HAS_SPIRV
#include "codegen/emit/spirv/spirv.h"
#endif

namespace primset::emit {
namespace {

bool is_spirv(kir::Format format) {
  return format == kir::Format::spirv_vulkan || format == kir::Format::spirv_kernel;
}

std::vector<uint32_t> spirv_words([[maybe_unused]] const kir::Kernel& kernel,
                                  [[maybe_unused]] const kir::TargetModel& target) {
#ifdef PRIMSET_HAS_SPIRV
  return emit_spirv(kernel, target);
#else
  throw Error(ErrorCode::not_implemented, "this build of Primset has no SPIR-V emitter");
#endif
}

std::string spirv_text([[maybe_unused]] const std::vector<uint32_t>& words) {
#ifdef PRIMSET_HAS_SPIRV
  return disassemble_spirv(words);
#else
  return {};
#endif
}

}  // namespace

Binary emit(const kir::Kernel& kernel, const kir::TargetModel& target) {
  kir::verify_or_throw(kernel, target);
  if (!is_spirv(target.format)) return emit_llvm(kernel, target);
  const std::vector<uint32_t> words = spirv_words(kernel, target);
  Binary binary{target.format, std::vector<uint8_t>(words.size() * sizeof(uint32_t))};
  std::memcpy(binary.bytes.data(), words.data(), binary.bytes.size());
  return binary;
}

std::string emit_text(const kir::Kernel& kernel, const kir::TargetModel& target) {
  kir::verify_or_throw(kernel, target);
  if (is_spirv(target.format)) return spirv_text(spirv_words(kernel, target));
  return llvm_text(kernel, target);
}

std::string emitter_version() {
  return std::string("emit-") + source_digest() + ";llvm-" + llvm_version();
}

std::string host_target_name() {
  return host_target();
}

}  // namespace primset::emit
