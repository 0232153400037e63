// From a kernel to bytes that a plugin loads. Each emitter is one function; emit() picks by format.
#ifndef PRIMSET_CODEGEN_EMIT_EMITTER_H_
#define PRIMSET_CODEGEN_EMIT_EMITTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::emit {

struct Binary {
  kir::Format format = kir::Format::native_image;
  std::vector<uint8_t> bytes;  // SPIR-V: words in host order
};

// Verifies, then emits. Throws primset::Error{internal} for a kernel that breaks a rule, and
// primset::Error{not_implemented} for a format this build has no emitter for. Thread safe.
Binary emit(const kir::Kernel& kernel, const kir::TargetModel& target);
// The same, as a person reads it: assembly for native images, disassembly for SPIR-V, PTX text.
std::string emit_text(const kir::Kernel& kernel, const kir::TargetModel& target);
// Changes with any line of the emitters and of what they are made of (source_digest.h): part of the
// disk cache's key.
std::string emitter_version();
// The triple, CPU and features that empty strings in a TargetModel stand for here: part of the disk
// cache's key too, since a cache may outlive its machine.
std::string host_target_name();

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_EMITTER_H_
