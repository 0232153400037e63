// Integer and floating-point operations, comparisons, select.
#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;
using kir::Type;

namespace {

// OpNop: no single instruction.
spv::Op int_op(Op op) {
  switch (op) {
    case Op::Add:
      return spv::Op::OpIAdd;
    case Op::Sub:
      return spv::Op::OpISub;
    case Op::Mul:
      return spv::Op::OpIMul;
    case Op::SDiv:
      return spv::Op::OpSDiv;
    case Op::UDiv:
      return spv::Op::OpUDiv;
    case Op::SRem:
      return spv::Op::OpSRem;
    case Op::URem:
      return spv::Op::OpUMod;
    case Op::And:
      return spv::Op::OpBitwiseAnd;
    case Op::Or:
      return spv::Op::OpBitwiseOr;
    case Op::Xor:
      return spv::Op::OpBitwiseXor;
    case Op::Shl:
      return spv::Op::OpShiftLeftLogical;
    case Op::LShr:
      return spv::Op::OpShiftRightLogical;
    case Op::AShr:
      return spv::Op::OpShiftRightArithmetic;
    default:
      return spv::Op::OpNop;
  }
}

spv::Op bool_op(Op op) {
  switch (op) {
    case Op::And:
      return spv::Op::OpLogicalAnd;
    case Op::Or:
      return spv::Op::OpLogicalOr;
    case Op::Xor:
    case Op::INe:
      return spv::Op::OpLogicalNotEqual;
    case Op::IEq:
      return spv::Op::OpLogicalEqual;
    default:
      return spv::Op::OpNop;
  }
}

spv::Op compare_op(Op op) {
  switch (op) {
    case Op::IEq:
      return spv::Op::OpIEqual;
    case Op::INe:
      return spv::Op::OpINotEqual;
    case Op::SLt:
      return spv::Op::OpSLessThan;
    case Op::SLe:
      return spv::Op::OpSLessThanEqual;
    case Op::ULt:
      return spv::Op::OpULessThan;
    case Op::ULe:
      return spv::Op::OpULessThanEqual;
    case Op::FEq:
      return spv::Op::OpFOrdEqual;
    case Op::FNe:
      return spv::Op::OpFUnordNotEqual;
    case Op::FLt:
      return spv::Op::OpFOrdLessThan;
    case Op::FLe:
      return spv::Op::OpFOrdLessThanEqual;
    default:
      return spv::Op::OpNop;
  }
}

}  // namespace

void Lowering::each_piece(const Inst& inst, spv::Op op) {
  const Type t = result_type(inst);
  Ids pieces;
  for (uint32_t i = 0; i < piece_count(t); ++i) {
    Ids operands;
    for (kir::Value v : inst.operands) operands.push_back(get(v)[i]);
    pieces.push_back(code_.op(op, types_.piece(t), operands));
  }
  set(inst, std::move(pieces));
}

// --- integers ------------------------------------------------------------------------------------

void Lowering::lower_int_binary(const Inst& inst) {
  const Type t = result_type(inst);
  if (inst.op == Op::MulHiS || inst.op == Op::MulHiU) {
    Ids pieces;
    for (uint32_t i = 0; i < piece_count(t); ++i) {
      pieces.push_back(mul_high(inst, get(inst.operands[0])[i], get(inst.operands[1])[i]));
    }
    return set(inst, std::move(pieces));
  }
  if (inst.op == Op::SRem && vulkan()) return lower_remainder(inst);
  if (lower_moved_up(inst)) return;
  note_halves(inst);
  if (t.scalar == Scalar::i1) return lower_bools(inst);
  const spv::Op op = int_op(inst.op);
  if (op == spv::Op::OpNop) fail(inst, "not on " + kir::to_string(t));
  each_piece(inst, op);
}

// Intel's graphics compiler (IGC 1.0.12504) crashes on OpLogicalEqual, OpLogicalNotEqual and
// OpLogicalNot of vectors. So the Kernel flavour chooses between y and not y, which a choice
// between constants makes.
void Lowering::lower_bools(const Inst& inst) {
  const spv::Op op = bool_op(inst.op);
  if (op == spv::Op::OpNop) fail(inst, "not on i1");
  const bool equal = op == spv::Op::OpLogicalEqual, unequal = op == spv::Op::OpLogicalNotEqual;
  const Type t = k_.type(inst.operands[0]);
  if (vulkan() || t.lanes == 1 || !(equal || unequal)) return each_piece(inst, op);
  Ids pieces;
  for (uint32_t i = 0; i < piece_count(t); ++i) {
    const Id type = types_.piece(t), x = get(inst.operands[0])[i], y = get(inst.operands[1])[i];
    const Id yes = types_.constant(Scalar::i1, piece_lanes(t), 1),
             no = types_.constant(Scalar::i1, piece_lanes(t), 0);
    const Id not_y = code_.op(spv::Op::OpSelect, type, {y, no, yes});
    pieces.push_back(code_.op(spv::Op::OpSelect, type, {x, equal ? y : not_y, equal ? not_y : y}));
  }
  set(inst, std::move(pieces));
}

// x - x / y * y: Vulkan leaves OpSRem undefined where an operand is negative, and NVIDIA's driver
// does so on 64 bits.
void Lowering::lower_remainder(const Inst& inst) {
  const Type t = result_type(inst);
  const Id type = types_.piece(t);
  Ids pieces;
  for (uint32_t i = 0; i < piece_count(t); ++i) {
    const Id x = get(inst.operands[0])[i], y = get(inst.operands[1])[i];
    const Id whole = code_.op(spv::Op::OpSDiv, type, {x, y});
    const Id part = code_.op(spv::Op::OpIMul, type, {whole, y});
    pieces.push_back(code_.op(spv::Op::OpISub, type, {x, part}));
  }
  set(inst, std::move(pieces));
}

Id Lowering::mul_high(const Inst& inst, Id x, Id y) {
  const Type t = result_type(inst);
  const Id type = types_.piece(t);
  const bool sign = inst.op == Op::MulHiS;
  if (!vulkan()) {
    const auto which = sign ? OpenCLLIB::SMul_hi : OpenCLLIB::UMul_hi;
    return extended({GLSLstd450Bad, which}, type, std::array{x, y});
  }
  switch (t.scalar) {
    case Scalar::i64:
      return mul_high_64(type, piece_lanes(t), x, y, sign);
    // The widths that drivers really have are multiplied as twice as wide; all have i64.
    case Scalar::i32:
      return mul_high_wide(inst, x, y, Scalar::i64);
    default:
      return mul_high_wide(inst, x, y, Scalar::i32);
  }
}

Id Lowering::mul_high_wide(const Inst& inst, Id x, Id y, Scalar wide) {
  const Type t = result_type(inst);
  const uint32_t lanes = piece_lanes(t);
  const Id wide_type = types_.vector(wide, lanes);
  const auto widen = inst.op == Op::MulHiS ? spv::Op::OpSConvert : spv::Op::OpUConvert;
  const Id product = code_.op(spv::Op::OpIMul, wide_type,
                              {code_.op(widen, wide_type, {x}), code_.op(widen, wide_type, {y})});
  const Id shift = types_.constant(wide, lanes, static_cast<uint64_t>(kir::width(t.scalar)));
  const Id high = code_.op(spv::Op::OpShiftRightLogical, wide_type, {product, shift});
  return code_.op(spv::Op::OpUConvert, types_.piece(t), {high});
}

// From four products of halves: OpUMulExtended on 64 bits is not to be relied on in drivers.
Id Lowering::mul_high_64(Id type, uint32_t lanes, Id x, Id y, bool sign) {
  const auto op = [&](spv::Op o, Id a, Id b) { return code_.op(o, type, {a, b}); };
  const auto add = [&](Id a, Id b) { return op(spv::Op::OpIAdd, a, b); };
  const auto mul = [&](Id a, Id b) { return op(spv::Op::OpIMul, a, b); };
  const Id low_mask = types_.constant(Scalar::i64, lanes, 0xffffffff);
  const Id half = types_.constant(Scalar::i64, lanes, 32);
  const auto low = [&](Id a) { return op(spv::Op::OpBitwiseAnd, a, low_mask); };
  const auto high = [&](Id a) { return op(spv::Op::OpShiftRightLogical, a, half); };

  const Id x0 = low(x), x1 = high(x), y0 = low(y), y1 = high(y);
  const Id mid1 = add(mul(x1, y0), high(mul(x0, y0)));
  const Id mid2 = add(mul(x0, y1), low(mid1));
  Id result = add(mul(x1, y1), add(high(mid1), high(mid2)));
  if (!sign) return result;
  // As signed numbers: less y where x < 0, less x where y < 0.
  const Id sign_shift = types_.constant(Scalar::i64, lanes, 63);
  const auto when_negative = [&](Id test, Id value) {
    const Id mask = op(spv::Op::OpShiftRightArithmetic, test, sign_shift);
    return op(spv::Op::OpBitwiseAnd, mask, value);
  };
  result = op(spv::Op::OpISub, result, when_negative(x, y));
  return op(spv::Op::OpISub, result, when_negative(y, x));
}

// --- floating point ------------------------------------------------------------------------------

static bool is_sum(Op op) {
  return op == Op::FAdd || op == Op::FSub;
}

// Constants that a driver's compiler would compute with other than IEEE asks are opaque to it
// (opaque_constants.cpp).
void Lowering::lower_float(const Inst& inst) {
  if (by_bits(inst)) return lower_sign_by_bits(inst);
  const Type t = result_type(inst);
  const bool hides_constants = is_sum(inst.op) || takes_constants_only(inst);
  Ids pieces;
  for (uint32_t i = 0; i < piece_count(t); ++i) {
    Ids operands;
    for (kir::Value v : inst.operands) {
      operands.push_back(hides_constants && known(v) ? opaque(v, i) : operand(v, i));
    }
    pieces.push_back(float_op(inst.op, t.scalar, piece_lanes(t), operands));
  }
  set(inst, std::move(pieces));
}

Id Lowering::float_op(Op op, Scalar s, uint32_t lanes, std::span<const Id> operands) {
  if (rounds_by_adding(op, s)) return rounded_by_adding(op, lanes, operands[0]);
  const Id type = types_.vector(s, lanes);
  const auto core = [&](spv::Op o) {
    const Id id = code_.op(o, type, operands);
    no_contraction(id);
    return id;
  };
  switch (op) {
    case Op::FAdd:
      return core(spv::Op::OpFAdd);
    case Op::FSub:
      return core(spv::Op::OpFSub);
    case Op::FMul:
      return core(spv::Op::OpFMul);
    case Op::FDiv:
      return core(spv::Op::OpFDiv);
    case Op::FNeg:
      return core(spv::Op::OpFNegate);
    case Op::FAbs:
      return extended({GLSLstd450FAbs, OpenCLLIB::Fabs}, type, operands);
    case Op::FSqrt:
      return extended({GLSLstd450Sqrt, OpenCLLIB::Sqrt}, type, operands);
    case Op::FFloor:
      return extended({GLSLstd450Floor, OpenCLLIB::Floor}, type, operands);
    case Op::FCeil:
      return extended({GLSLstd450Ceil, OpenCLLIB::Ceil}, type, operands);
    case Op::FTrunc:
      return extended({GLSLstd450Trunc, OpenCLLIB::Trunc}, type, operands);
    case Op::FRint:
      return extended({GLSLstd450RoundEven, OpenCLLIB::Rint}, type, operands);
    case Op::FExp2:
      return extended({GLSLstd450Exp2, OpenCLLIB::Native_exp2}, type, operands);
    case Op::FRsqrt:
      return extended({GLSLstd450InverseSqrt, OpenCLLIB::Rsqrt}, type, operands);
    case Op::FReciprocal: {
      constexpr uint64_t kOne = 0x3f800000;
      const std::array of{types_.constant(s, lanes, kOne), operands[0]};
      const Id id = code_.op(spv::Op::OpFDiv, type, of);
      no_contraction(id);
      return id;
    }
    default:
      return extended({GLSLstd450Fma, OpenCLLIB::Fma}, type, operands);
  }
}

Id Lowering::extended(Extended which, Id type, std::span<const Id> operands) {
  if (extended_set_ == 0) extended_set_ = m_.import(vulkan() ? "GLSL.std.450" : "OpenCL.std");
  Words words{extended_set_,
              vulkan() ? static_cast<uint32_t>(which.glsl) : static_cast<uint32_t>(which.opencl)};
  words.insert(words.end(), operands.begin(), operands.end());
  const Id id = code_.op(spv::Op::OpExtInst, type, words);
  no_contraction(id);
  return id;
}

void Lowering::no_contraction(Id id) {
  // Without it drivers not only contract: lavapipe also reassociates. In the Kernel flavour the
  // entry point's ContractionOff says it for all.
  if (vulkan()) m_.decorate(id, spv::Decoration::NoContraction);
}

// --- comparisons and choice ----------------------------------------------------------------------

void Lowering::lower_compare(const Inst& inst) {
  if (by_bits(inst)) return lower_compare_by_bits(inst);
  if (k_.type(inst.operands[0]).scalar == Scalar::i1) return lower_bools(inst);
  const spv::Op op = compare_op(inst.op);
  if (op == spv::Op::OpNop) fail(inst, "not on i1");
  each_piece(inst, op);
}

void Lowering::lower_select(const Inst& inst) {
  const Type t = result_type(inst);
  const uint32_t condition_lanes = k_.type(inst.operands[0]).lanes;
  Ids pieces;
  for (uint32_t i = 0; i < piece_count(t); ++i) {
    const Id c = condition_lanes == 1 ? condition(get_scalar(inst.operands[0]), 1, piece_lanes(t))
                                      : get(inst.operands[0])[i];
    pieces.push_back(code_.op(spv::Op::OpSelect, types_.piece(t),
                              {c, get(inst.operands[1])[i], get(inst.operands[2])[i]}));
  }
  set(inst, std::move(pieces));
}

// Before SPIR-V 1.4 a vector is chosen lane by lane only.
Id Lowering::condition(Id bool_id, uint32_t from_lanes, uint32_t to_lanes) {
  if (from_lanes == to_lanes) return bool_id;
  return code_.op(spv::Op::OpCompositeConstruct, types_.vector(Scalar::i1, to_lanes),
                  Ids(to_lanes, bool_id));
}

}  // namespace primset::emit::spirv
