// Atomic operations: relaxed, device scope. What SPIR-V has no instruction for, such as adding
// floats or anything on 8 and 16 bits, is a loop of compare-exchange on the word around the
// element.
#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Rmw;
using kir::Scalar;

namespace {

spv::Op word_op(Rmw rmw) {
  switch (rmw) {
    case Rmw::add:
      return spv::Op::OpAtomicIAdd;
    case Rmw::min_s:
      return spv::Op::OpAtomicSMin;
    case Rmw::max_s:
      return spv::Op::OpAtomicSMax;
    case Rmw::min_u:
      return spv::Op::OpAtomicUMin;
    case Rmw::max_u:
      return spv::Op::OpAtomicUMax;
    case Rmw::and_:
      return spv::Op::OpAtomicAnd;
    case Rmw::or_:
      return spv::Op::OpAtomicOr;
    case Rmw::xor_:
      return spv::Op::OpAtomicXor;
    case Rmw::exchange:
      return spv::Op::OpAtomicExchange;
    default:
      return spv::Op::OpNop;
  }
}

spv::Op less_op(Rmw rmw) {
  switch (rmw) {
    case Rmw::min_s:
    case Rmw::max_s:
      return spv::Op::OpSLessThan;
    default:
      return spv::Op::OpULessThan;
  }
}

bool is_min(Rmw rmw) {
  return rmw == Rmw::min_s || rmw == Rmw::min_u || rmw == Rmw::fmin;
}

Scalar word_for(Scalar elem) {
  return kir::width(elem) == 64 ? Scalar::i64 : Scalar::i32;
}

}  // namespace

void Lowering::lower_atomic(const Inst& inst) {
  const kir::Type t = result_type(inst);
  if (t.lanes != 1) fail(inst, "wants scalars");
  if (cooperative_) m_.capability(spv::Capability::VulkanMemoryModelDeviceScope);
  const Access a = access(inst, t.scalar, 0);
  set(inst, {kir::width(t.scalar) < 32 ? atomic_narrow(inst, a) : atomic_word(inst, a)});
}

// 32- and 64-bit elements.
Id Lowering::atomic_word(const Inst& inst, const Access& a) {
  const Scalar word = word_for(a.elem);
  if (word == Scalar::i64) m_.capability(spv::Capability::Int64Atomics);
  const Id type = types_.scalar(word);
  const Id scope = u32(static_cast<uint32_t>(spv::Scope::Device)), relaxed = u32(0);
  const Id value = get_scalar(inst.operands[2]);

  if (inst.op == Op::AtomicCas) {
    return compare_exchange(pointer(a, word, 0, 1), word, get_scalar(inst.operands[3]), value);
  }
  if (inst.imm.rmw == Rmw::fadd && a.elem == Scalar::f32 && a.space == kir::AddressSpace::global &&
      vulkan() && target_.atomic_f32_add) {
    m_.capability(spv::Capability::AtomicFloat32AddEXT);
    m_.extension("SPV_EXT_shader_atomic_float_add");
    return code_.op(spv::Op::OpAtomicFAddEXT, types_.scalar(Scalar::f32),
                    {pointer(a, Scalar::f32, 0, 1), scope, relaxed, value});
  }
  const Id at = pointer(a, word, 0, 1);
  if (const spv::Op op = word_op(inst.imm.rmw); op != spv::Op::OpNop) {
    const Id bits = bitcast(a.elem, word, 1, value);
    return bitcast(word, a.elem, 1, code_.op(op, type, {at, scope, relaxed, bits}));
  }
  const Id old = cas_loop(at, word, [&](Id bits) {
    return bitcast(a.elem, word, 1, updated(inst, a.elem, bitcast(word, a.elem, 1, bits)));
  });
  return bitcast(word, a.elem, 1, old);
}

// 8- and 16-bit elements.
Id Lowering::atomic_narrow(const Inst& inst, const Access& a) {
  const Id u32_type = types_.scalar(Scalar::i32);
  if (a.space != kir::AddressSpace::global) {
    // Such an array keeps a word for each element.
    const Id old = cas_loop(pointer(a, Scalar::i32, 0, 1), Scalar::i32, [&](Id word) {
      return to_stored(a, updated(inst, a.elem, from_stored(a, word)));
    });
    return from_stored(a, old);
  }
  const Id u64 = types_.scalar(Scalar::i64);
  const Id address = vulkan() ? a.base : code_.op(spv::Op::OpConvertPtrToU, u64, {a.base});
  const Id aligned = code_.op(spv::Op::OpBitwiseAnd, u64, {address, m_.constant64(~uint64_t{3})});
  const auto storage =
      vulkan() ? spv::StorageClass::PhysicalStorageBuffer : spv::StorageClass::CrossWorkgroup;
  const Id word_at =
      code_.op(spv::Op::OpConvertUToPtr, m_.type_pointer(storage, u32_type), {aligned});

  const Id low = code_.op(spv::Op::OpUConvert, u32_type, {address});
  const Id byte = code_.op(spv::Op::OpBitwiseAnd, u32_type, {low, u32(3)});
  const Id shift = code_.op(spv::Op::OpShiftLeftLogical, u32_type, {byte, u32(3)});
  const Id ones = u32((1u << kir::width(a.elem)) - 1);
  const Id field = code_.op(spv::Op::OpShiftLeftLogical, u32_type, {ones, shift});
  const Id rest = code_.op(spv::Op::OpNot, u32_type, {field});
  // The same view of a word as an array that keeps a word for each element.
  Access view = a;
  view.stored = Scalar::i32;
  const auto element = [&](Id word) {
    return from_stored(view, code_.op(spv::Op::OpShiftRightLogical, u32_type, {word, shift}));
  };
  const Id old = cas_loop(word_at, Scalar::i32, [&](Id word) {
    const Id narrow = to_stored(view, updated(inst, a.elem, element(word)));
    const Id placed = code_.op(spv::Op::OpShiftLeftLogical, u32_type, {narrow, shift});
    const Id kept = code_.op(spv::Op::OpBitwiseAnd, u32_type, {word, rest});
    return code_.op(spv::Op::OpBitwiseOr, u32_type, {kept, placed});
  });
  return element(old);
}

Id Lowering::cas_loop(Id pointer, Scalar word, const std::function<Id(Id)>& update) {
  const Id type = types_.scalar(word);
  const Id scope = u32(static_cast<uint32_t>(spv::Scope::Device));
  const Id first = code_.op(spv::Op::OpAtomicLoad, type, {pointer, scope, u32(0)});
  const Id before = code_.block();
  const Id header = code_.new_label(), body = code_.new_label(), next = code_.new_label(),
           merge = code_.new_label();
  code_.branch(header);
  code_.begin(header);
  const Code::LoopPhi old = code_.loop_phi(type, {first, before}, next);
  code_.loop_merge(merge, next);
  code_.branch(body);
  code_.begin(body);
  const Id seen = compare_exchange(pointer, word, update(old.id), old.id);
  const Id done = code_.op(spv::Op::OpIEqual, types_.scalar(Scalar::i1), {seen, old.id});
  code_.branch_if(done, merge, next);
  code_.begin(next);
  code_.close(old, seen);
  code_.branch(header);
  code_.begin(merge);
  return old.id;
}

Id Lowering::compare_exchange(Id pointer, Scalar word, Id desired, Id expected) {
  const Id scope = u32(static_cast<uint32_t>(spv::Scope::Device)), relaxed = u32(0);
  return code_.op(spv::Op::OpAtomicCompareExchange, types_.scalar(word),
                  {pointer, scope, relaxed, relaxed, desired, expected});
}

// The element's new value from its old one.
Id Lowering::updated(const Inst& inst, Scalar elem, Id old) {
  const Id type = types_.scalar(elem), boolean = types_.scalar(Scalar::i1);
  const Id value = get_scalar(inst.operands[2]);
  if (inst.op == Op::AtomicCas) {
    const Id same = code_.op(spv::Op::OpIEqual, boolean, {old, value});
    return code_.op(spv::Op::OpSelect, type, {same, get_scalar(inst.operands[3]), old});
  }
  const Rmw rmw = inst.imm.rmw;
  switch (rmw) {
    case Rmw::add:
      return code_.op(spv::Op::OpIAdd, type, {old, value});
    case Rmw::and_:
      return code_.op(spv::Op::OpBitwiseAnd, type, {old, value});
    case Rmw::or_:
      return code_.op(spv::Op::OpBitwiseOr, type, {old, value});
    case Rmw::xor_:
      return code_.op(spv::Op::OpBitwiseXor, type, {old, value});
    case Rmw::exchange:
      return value;
    case Rmw::fadd:
    case Rmw::fmin:
    case Rmw::fmax:
      return rmw_float(rmw, elem, old, value);
    default:
      break;
  }
  const Id less = code_.op(less_op(rmw), boolean, {old, value});
  return is_min(rmw) ? code_.op(spv::Op::OpSelect, type, {less, old, value})
                     : code_.op(spv::Op::OpSelect, type, {less, value, old});
}

Id Lowering::rmw_float(Rmw rmw, Scalar elem, Id old, Id value) {
  const Id boolean = types_.scalar(Scalar::i1), type = types_.scalar(elem);
  if (rmw == Rmw::fadd) return float_op(Op::FAdd, elem, 1, std::array{old, value});
  // The smaller or larger one; a NaN wins, the old one first: neither less-or-equal nor a NaN in
  // `old` leaves `value`, which covers the NaN in `value`.
  const auto better = is_min(rmw) ? spv::Op::OpFOrdLessThanEqual : spv::Op::OpFOrdGreaterThanEqual;
  const Id keeps = code_.op(better, boolean, {old, value});
  const Id nan = code_.op(spv::Op::OpFUnordNotEqual, boolean, {old, old});
  const Id keep = code_.op(spv::Op::OpLogicalOr, boolean, {keeps, nan});
  return code_.op(spv::Op::OpSelect, type, {keep, old, value});
}

}  // namespace primset::emit::spirv
