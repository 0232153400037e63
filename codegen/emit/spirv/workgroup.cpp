// Barrier and subgroup operations.
#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;
using kir::Type;

// Execution and workgroup memory, for the whole group. spirv-val does not notice wrong semantics.
//
// Vulkan: AcquireRelease | WorkgroupMemory, the 264 of GLSL's barrier(). Kernel:
// SequentiallyConsistent | WorkgroupMemory, the barrier(CLK_LOCAL_MEM_FENCE) of OpenCL: 272. With
// global memory in it too, a thread waits for all of its loads that are under way.
void Lowering::lower_barrier() {
  using Semantics = spv::MemorySemanticsMask;
  const Semantics order = vulkan() ? Semantics::AcquireRelease : Semantics::SequentiallyConsistent;
  Semantics semantics = order | Semantics::WorkgroupMemory;
  // Vulkan's own memory model wants to be told.
  if (cooperative_) semantics = semantics | Semantics::MakeAvailable | Semantics::MakeVisible;
  const Id group = u32(static_cast<uint32_t>(spv::Scope::Workgroup));
  code_.stmt(spv::Op::OpControlBarrier, {group, group, u32(static_cast<uint32_t>(semantics))});
}

void Lowering::lower_subgroup(const Inst& inst) {
  if (vulkan()) m_.capability(spv::Capability::GroupNonUniform);
  has_subgroups_ = true;
  if (inst.op == Op::SubgroupSize) return set(inst, {builtin(Builtin::subgroup_size, 0)});
  if (inst.op == Op::SubgroupLane) return set(inst, {builtin(Builtin::subgroup_lane, 0)});
  if (inst.op == Op::SubgroupBallot) return set(inst, {ballot(inst)});
  const Type t = result_type(inst);
  const bool any_lane = inst.op == Op::SubgroupShuffle;
  const spv::Op how =
      any_lane ? spv::Op::OpGroupNonUniformShuffle : spv::Op::OpGroupNonUniformShuffleXor;
  const Id partner = any_lane ? get_scalar(inst.operands[1]) : u32(inst.imm.index);
  Ids lanes;
  for (uint32_t i = 0; i < t.lanes; ++i) {
    lanes.push_back(shuffle(how, t.scalar, lane(inst.operands[0], i), partner));
  }
  set(inst, assemble(t, lanes));
}

// A ballot has four words of 32 lanes each.
Id Lowering::ballot(const Inst& inst) {
  m_.capability(spv::Capability::GroupNonUniform);
  m_.capability(spv::Capability::GroupNonUniformBallot);
  m_.version(0x00010300);
  const Id words =
      code_.op(spv::Op::OpGroupNonUniformBallot, types_.vector(Scalar::i32, 4),
               {u32(static_cast<uint32_t>(spv::Scope::Subgroup)), get_scalar(inst.operands[0])});
  return code_.op(spv::Op::OpCompositeExtract, types_.scalar(Scalar::i32), {words, inst.imm.index});
}

// Devices shuffle 32 bits; other integers need a feature of their own
// (shaderSubgroupExtendedTypes), so everything goes as words of 32 bits in Vulkan. Pointers, which
// are numbers there, cannot be shuffled in the Kernel flavour.
Id Lowering::shuffle(spv::Op how, Scalar s, Id value, Id lane) {
  m_.capability(spv::Capability::GroupNonUniform);
  m_.capability(spv::Capability::GroupNonUniformShuffle);
  m_.version(0x00010300);
  const Id scope = u32(static_cast<uint32_t>(spv::Scope::Subgroup));
  const Id u32_type = types_.scalar(Scalar::i32);
  const auto word = [&](Id type, Id x) { return code_.op(how, type, {scope, x, lane}); };
  switch (s) {
    case Scalar::i32:
    case Scalar::f32:
      return word(types_.scalar(s), value);
    case Scalar::i1: {
      const Id result = word(u32_type, from_bool(Scalar::i32, 1, 1, value));
      return code_.op(spv::Op::OpINotEqual, types_.scalar(s), {result, u32(0)});
    }
    case Scalar::i8:
    case Scalar::i16:
    case Scalar::f16: {
      const Scalar narrow = s == Scalar::f16 ? Scalar::i16 : s;
      const Id wide = code_.op(spv::Op::OpUConvert, u32_type, {bitcast(s, narrow, 1, value)});
      const Id result =
          code_.op(spv::Op::OpUConvert, types_.scalar(narrow), {word(u32_type, wide)});
      return bitcast(narrow, s, 1, result);
    }
    default: {
      // OpenCL has built-in functions for scalars of 64 bits, and none for pairs.
      if (!vulkan()) return word(types_.scalar(s), value);
      const Id pair = types_.vector(Scalar::i32, 2);
      const Id words = code_.op(spv::Op::OpBitcast, pair, {value});
      return code_.op(spv::Op::OpBitcast, types_.scalar(s), {word(pair, words)});
    }
  }
}

}  // namespace primset::emit::spirv
