// Moving lanes about.
#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;
using kir::Type;

void Lowering::lower_vector(const Inst& inst) {
  const kir::Value source = inst.operands[0];
  const Type t = result_type(inst);
  switch (inst.op) {
    case Op::Splat: {
      if (auto bits = known(source)) {
        return set(inst, Ids(piece_count(t), types_.constant(t.scalar, piece_lanes(t), *bits)));
      }
      const Ids lanes(piece_lanes(t), get_scalar(source));
      const Id piece =
          t.lanes == 1 ? lanes[0] : code_.op(spv::Op::OpCompositeConstruct, types_.piece(t), lanes);
      return set(inst, Ids(piece_count(t), piece));
    }
    case Op::ActiveLaneMask:
      return lower_active_lane_mask(inst);
    case Op::Extract:
      return set(inst, {lane(source, inst.imm.index)});
    case Op::Insert: {
      Ids pieces = get(source);
      const uint32_t wide = piece_lanes(t);
      Id& piece = pieces[inst.imm.index / wide];
      const Id scalar = get_scalar(inst.operands[1]);
      piece = t.lanes == 1 ? scalar
                           : code_.op(spv::Op::OpCompositeInsert, types_.piece(t),
                                      {scalar, piece, inst.imm.index % wide});
      return set(inst, std::move(pieces));
    }
    case Op::Shuffle:
      return lower_shuffle(inst);
    case Op::Any:
    case Op::All:
      return lower_any_all(inst);
    default:
      fail(inst, "no such vector operation");
  }
}

void Lowering::lower_shuffle(const Inst& inst) {
  const Type t = result_type(inst);
  const kir::Value a = inst.operands[0], b = inst.operands[1];
  const uint32_t a_lanes = k_.type(a).lanes, b_lanes = k_.type(b).lanes;
  const auto native = [](uint32_t lanes) { return lanes > 1 && lanes <= kMaxPieceLanes; };
  if (native(a_lanes) && native(b_lanes) && native(t.lanes)) {
    Words operands{get_scalar(a), get_scalar(b)};
    operands.insert(operands.end(), inst.imm.lanes.begin(), inst.imm.lanes.end());
    return set(inst, {code_.op(spv::Op::OpVectorShuffle, types_.piece(t), operands)});
  }
  Ids lanes;
  for (uint32_t source : inst.imm.lanes) {
    lanes.push_back(source < a_lanes ? lane(a, source) : lane(b, source - a_lanes));
  }
  set(inst, assemble(t, lanes));
}

void Lowering::lower_active_lane_mask(const Inst& inst) {
  const Scalar index = k_.type(inst.operands[0]).scalar;
  const Id n = get_scalar(inst.operands[0]);
  Ids lanes;
  for (uint32_t i = 0; i < result_type(inst).lanes; ++i) {
    lanes.push_back(
        code_.op(spv::Op::OpSLessThan, types_.scalar(Scalar::i1), {types_.constant(index, i), n}));
  }
  set(inst, assemble(result_type(inst), lanes));
}

void Lowering::lower_any_all(const Inst& inst) {
  const bool any = inst.op == Op::Any;
  const Id type = types_.scalar(Scalar::i1);
  const Type source = k_.type(inst.operands[0]);
  Id result = 0;
  for (Id piece : get(inst.operands[0])) {
    const Id one =
        source.lanes == 1 ? piece : code_.op(any ? spv::Op::OpAny : spv::Op::OpAll, type, {piece});
    const auto join = any ? spv::Op::OpLogicalOr : spv::Op::OpLogicalAnd;
    result = result == 0 ? one : code_.op(join, type, {result, one});
  }
  set(inst, {result});
}

}  // namespace primset::emit::spirv
