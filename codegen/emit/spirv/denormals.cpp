// Devices that take f32 denormals for zeros in arithmetic still compare them and turn their signs:
// on the bits, as integers, a dozen of instructions for a comparison. Loads, stores and choices
// never look at a value.
//
// A device's own comparison is right where that makes no difference: beside a constant that is
// neither zero nor a denormal, and in asking whether a value is itself, which only NaN is not.
#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;

namespace {

constexpr uint64_t kSign = 0x80000000u, kMagnitude = 0x7fffffffu, kInfinity = 0x7f800000u;

}  // namespace

bool Lowering::by_bits(const Inst& inst) const {
  const bool compares = kir::info(inst.op).group == kir::Group::Compare;
  if (!compares && inst.op != Op::FNeg && inst.op != Op::FAbs) return false;
  if (!target_.flush_denormals_f32 || k_.type(inst.operands[0]).scalar != Scalar::f32) return false;
  if (!compares || (target_.float_controls_nan & 32) == 0) return true;
  const auto is_normal = [&](kir::Value v) { return known(v) && (*known(v) & kInfinity) != 0; };
  return inst.operands[0] != inst.operands[1] && !is_normal(inst.operands[0]) &&
         !is_normal(inst.operands[1]);
}

void Lowering::lower_sign_by_bits(const Inst& inst) {
  const kir::Type t = result_type(inst);
  const uint32_t lanes = piece_lanes(t);
  const Id bits = types_.vector(Scalar::i32, lanes);
  const bool negates = inst.op == Op::FNeg;
  const Id mask = types_.constant(Scalar::i32, lanes, negates ? kSign : kMagnitude);
  Ids pieces;
  for (Id x : get(inst.operands[0])) {
    const Id whole = bitcast(Scalar::f32, Scalar::i32, lanes, x);
    const Id turned =
        code_.op(negates ? spv::Op::OpBitwiseXor : spv::Op::OpBitwiseAnd, bits, {whole, mask});
    pieces.push_back(bitcast(Scalar::i32, Scalar::f32, lanes, turned));
  }
  set(inst, std::move(pieces));
}

// An integer that is ordered as the float is; both zeros are 0.
Id Lowering::order_of(Id bits, uint32_t lanes) {
  const Id type = types_.vector(Scalar::i32, lanes), boolean = types_.vector(Scalar::i1, lanes);
  const Id zero = types_.constant(Scalar::i32, lanes, 0);
  const Id negative = code_.op(spv::Op::OpSLessThan, boolean, {bits, zero});
  const Id mirrored =
      code_.op(spv::Op::OpISub, type, {types_.constant(Scalar::i32, lanes, kSign), bits});
  return code_.op(spv::Op::OpSelect, type, {negative, mirrored, bits});
}

void Lowering::lower_compare_by_bits(const Inst& inst) {
  const uint32_t lanes = piece_lanes(result_type(inst));
  const Id bits = types_.vector(Scalar::i32, lanes), boolean = types_.vector(Scalar::i1, lanes);
  const auto is_number = [&](Id x) {
    const Id magnitude =
        code_.op(spv::Op::OpBitwiseAnd, bits, {x, types_.constant(Scalar::i32, lanes, kMagnitude)});
    return code_.op(spv::Op::OpSLessThanEqual, boolean,
                    {magnitude, types_.constant(Scalar::i32, lanes, kInfinity)});
  };
  const spv::Op op = inst.op == Op::FLt   ? spv::Op::OpSLessThan
                     : inst.op == Op::FLe ? spv::Op::OpSLessThanEqual
                                          : spv::Op::OpIEqual;
  Ids pieces;
  for (uint32_t i = 0; i < get(inst.operands[0]).size(); ++i) {
    const Id x = bitcast(Scalar::f32, Scalar::i32, lanes, get(inst.operands[0])[i]);
    const Id y = bitcast(Scalar::f32, Scalar::i32, lanes, get(inst.operands[1])[i]);
    const Id numbers = code_.op(spv::Op::OpLogicalAnd, boolean, {is_number(x), is_number(y)});
    const Id ordered = code_.op(op, boolean, {order_of(x, lanes), order_of(y, lanes)});
    const Id both = code_.op(spv::Op::OpLogicalAnd, boolean, {numbers, ordered});
    pieces.push_back(inst.op == Op::FNe ? code_.op(spv::Op::OpLogicalNot, boolean, {both}) : both);
  }
  set(inst, std::move(pieces));
}

}  // namespace primset::emit::spirv
