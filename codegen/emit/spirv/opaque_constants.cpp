// Zeros, and other constants, that a driver's compiler does not know.
//
// Gallivm (lavapipe, Mesa 22.3) simplifies float arithmetic with a constant zero whatever
// NoContraction and SignedZeroInfNanPreserve say: x + 0 and x - 0 become x, also where x is -0;
// 0 * x and 0 / x become 0 and x / 0 anything, also where x is NaN, infinite or zero. No other
// constant suffers. So zeros that are operands of float arithmetic, or that a loop's first
// iteration hands to it, are made at run time from a number that is zero in every running thread;
// and so is an operand of what would be computed from constants alone, as 1 - 1. Other compilers
// lose nothing: IEEE lets them simplify none of these.
//
// For the same reason loops that turn numbers into floats are not unrolled by the driver
// (control.cpp): the first iteration's float would be the constant zero.
//
// NVIDIA's compiler (580) takes f32 -> f16 -> f32 for nothing, although it rounds; an opaque zero
// between the two conversions keeps them. In large kernels it also computes (x + c) * y with a
// constant c as x * y + c * y, two roundings for which NoContraction leaves no room; so constants
// that are added are opaque to all.
#include <algorithm>

#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;
using kir::Type;

// Zero, as an integer of 16, 32 or 64 bits.
Id Lowering::opaque_zero(Scalar s) {
  Id& zero = opaque_zeros_[s];
  if (zero != 0) return zero;
  if (s != Scalar::i32) {
    const Id narrow = opaque_zero(Scalar::i32);
    Code::AtEntry at_entry(code_);
    return zero = code_.op(spv::Op::OpUConvert, types_.scalar(s), {narrow});
  }
  // A thread runs, so there is a group.
  const Id groups = builtin(Builtin::group_count, 0);
  Code::AtEntry at_entry(code_);
  const Id none = code_.op(spv::Op::OpIEqual, types_.scalar(Scalar::i1), {groups, u32(0)});
  return zero = from_bool(Scalar::i32, 1, 1, none);
}

// x of f16, as a value that the driver cannot follow.
Id Lowering::opaque_f16(Id x, uint32_t lanes) {
  const Id bits = types_.vector(Scalar::i16, lanes);
  Id zero = opaque_zero(Scalar::i16);
  if (lanes > 1) zero = code_.op(spv::Op::OpCompositeConstruct, bits, Ids(lanes, zero));
  const Id same =
      code_.op(spv::Op::OpBitwiseOr, bits, {bitcast(Scalar::f16, Scalar::i16, lanes, x), zero});
  return bitcast(Scalar::i16, Scalar::f16, lanes, same);
}

bool Lowering::is_float_zero(kir::Value v) const {
  const Type t = k_.type(v);
  const Scalar s = t.scalar;
  if (!vulkan() || t.is_matrix() || !kir::is_float(s) || !known(v)) return false;
  return (*known(v) << 1 << (63 - (kir::width(s) - 1))) == 0;  // of either sign
}

bool Lowering::takes_constants_only(const Inst& inst) const {
  return std::ranges::all_of(inst.operands, [&](kir::Value v) { return known(v).has_value(); });
}

// A piece of v; zeros of f32 and f64 are opaque.
Id Lowering::operand(kir::Value v, uint32_t piece) {
  return is_float_zero(v) ? opaque(v, piece) : get(v)[piece];
}

// A piece of a constant, which the driver cannot tell; of f16, integers and matrices as it is.
Id Lowering::opaque(kir::Value v, uint32_t piece) {
  const Type t = k_.type(v);
  const bool has_opaque = !t.is_matrix() && (t.scalar == Scalar::f32 || t.scalar == Scalar::f64);
  if (!vulkan() || !has_opaque) return get(v)[piece];
  Id& made = opaque_operands_[v.id];
  if (made != 0) return made;
  const Scalar word = t.scalar == Scalar::f64 ? Scalar::i64 : Scalar::i32;
  const Id zero = opaque_zero(word);
  Code::AtEntry at_entry(code_);
  const Id bits = *known(v) == 0 ? zero
                                 : code_.op(spv::Op::OpBitwiseOr, types_.scalar(word),
                                            {zero, types_.constant(word, *known(v))});
  const Id scalar = bitcast(word, t.scalar, 1, bits);
  if (t.lanes == 1) return made = scalar;
  return made =
             code_.op(spv::Op::OpCompositeConstruct, types_.piece(t), Ids(piece_lanes(t), scalar));
}

// Whether a float that a region works on may be made of an integer there.
bool Lowering::makes_floats(kir::BlockId block) const {
  for (kir::InstId i : k_.blocks[block].insts) {
    const Inst& inst = k_.insts[i];
    if (inst.op == Op::SIToFP || inst.op == Op::UIToFP) return true;
    if (inst.op == Op::Bitcast && kir::is_float(result_type(inst).scalar)) return true;
    for (kir::BlockId region : inst.regions) {
      if (makes_floats(region)) return true;
    }
  }
  return false;
}

}  // namespace primset::emit::spirv
