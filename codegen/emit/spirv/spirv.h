// Kernel IR to SPIR-V words, written directly, in two flavours:
//
//   Format::spirv_vulkan: SPIR-V 1.5, GLCompute, PhysicalStorageBuffer64 addressing, GLSL450 memory
//   model: what Vulkan 1.2 with bufferDeviceAddress takes. No descriptor sets.
//
//   Format::spirv_kernel: SPIR-V 1.2 (1.3 with subgroup shuffles), OpenCL kernel, Physical64
//   addressing. Pointers and scalars are the kernel's arguments, in the order of Kernel::params. A
//   kernel that works on subgroups states their size, where the target has one.
//
// The entry point has the kernel's name; the group size is fixed in the module (LocalSize).
//
// The Vulkan flavour takes no arguments. Its parameters are the block that kir::param_layout()
// describes, pointers being 64-bit device addresses. A block of at most kMaxPushConstantBytes is
// itself the push constants; a larger one lies in a buffer whose 64-bit device address (8-byte
// aligned) is the only push constant. A kernel without parameters has no push constants.
//
// Loops run to their end on every driver but llvmpipe; see TargetModel::loop_limit. Arithmetic with
// constant zeros is kept from drivers that get it wrong; see opaque_constants.cpp.
//
// What a launch must guarantee beyond that:
// - an allocation's size is rounded up to 4 bytes, since 8- and 16-bit atomics (which the verifier
//   does not let pass so far) work on the 32-bit word around the element;
// - the device has every feature whose capability the module declares. Always: bufferDeviceAddress,
//   shaderInt64; as used: shaderInt8, shaderInt16, shaderFloat16, shaderFloat64,
//   storageBuffer8BitAccess, storageBuffer16BitAccess, shaderBufferInt64Atomics,
//   shaderSharedInt64Atomics, shaderBufferFloat32AtomicAdd, subgroup shuffle.
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_SPIRV_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_SPIRV_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::emit {

// The size of push constants that every Vulkan device has.
inline constexpr uint32_t kMaxPushConstantBytes = 128;

// Whether a Vulkan launch passes the parameter block itself as push constants (else: its address).
bool params_in_push_constants(const kir::ParamLayout& layout);

// The kernel must have passed kir::verify() for the target. Throws primset::Error{internal} for
// what SPIR-V has no form for, such as a workgroup pointer that is not the result of group_alloc
// itself. Thread safe.
std::vector<uint32_t> emit_spirv(const kir::Kernel& kernel, const kir::TargetModel& target);

// The module as a person reads it; in numbers where the SPIRV-Tools at hand do not know all of it.
// Throws primset::Error{corrupt} for words that are no module.
std::string disassemble_spirv(std::span<const uint32_t> words);

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_SPIRV_H_
