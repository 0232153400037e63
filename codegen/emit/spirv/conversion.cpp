// Conversions between integers, floats and truth values.
#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;
using kir::Type;

void Lowering::lower_convert(const Inst& inst) {
  const Type to = result_type(inst);
  const Type from = k_.type(inst.operands[0]);
  note_halves(inst);
  Ids pieces;
  for (uint32_t i = 0; i < piece_count(to); ++i) {
    Id piece = operand(inst.operands[0], i);
    if (inst.op == Op::FPExt && rounded_.contains(inst.operands[0].id))
      piece = opaque_f16(piece, piece_lanes(to));
    pieces.push_back(from == to ? piece
                                : convert(inst, from.scalar, to.scalar, piece_lanes(to), piece));
  }
  if (vulkan() && inst.op == Op::FPTrunc && to.scalar == Scalar::f16)
    rounded_.insert(inst.results[0].id);
  set(inst, std::move(pieces));
}

Id Lowering::convert(const Inst& inst, Scalar from, Scalar to, uint32_t lanes, Id x) {
  const Id type = types_.vector(to, lanes);
  const auto op = [&](spv::Op o) { return code_.op(o, type, {x}); };
  switch (inst.op) {
    case Op::Trunc: {
      if (to != Scalar::i1) return op(spv::Op::OpUConvert);
      const Id one = types_.constant(from, lanes, 1);
      const Id bit = code_.op(spv::Op::OpBitwiseAnd, types_.vector(from, lanes), {x, one});
      return code_.op(spv::Op::OpINotEqual, type, {bit, types_.constant(from, lanes, 0)});
    }
    case Op::ZExt:
      return from == Scalar::i1 ? from_bool(to, lanes, 1, x) : op(spv::Op::OpUConvert);
    case Op::SExt:
      return from == Scalar::i1 ? from_bool(to, lanes, ~uint64_t{0}, x) : op(spv::Op::OpSConvert);
    case Op::SIToFP:
      return op(spv::Op::OpConvertSToF);
    case Op::UIToFP:
      return op(spv::Op::OpConvertUToF);
    case Op::FPToSI:
      return op(spv::Op::OpConvertFToS);
    case Op::FPToUI:
      return op(spv::Op::OpConvertFToU);
    case Op::FPExt:
    case Op::FPTrunc:
      return op(spv::Op::OpFConvert);
    case Op::Bitcast:
      return bitcast(from, to, lanes, x);
    default:
      fail(inst, "no such conversion");
  }
}

Id Lowering::from_bool(Scalar to, uint32_t lanes, uint64_t one, Id x) {
  return code_.op(spv::Op::OpSelect, types_.vector(to, lanes),
                  {x, types_.constant(to, lanes, one), types_.constant(to, lanes, 0)});
}

Id Lowering::bitcast(Scalar from, Scalar to, uint32_t lanes, Id x) {
  if (from == to) return x;
  return code_.op(spv::Op::OpBitcast, types_.vector(to, lanes), {x});
}

}  // namespace primset::emit::spirv
