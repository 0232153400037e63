// Words of two 16-bit elements, where these are the upper halves of 32-bit numbers, as bf16 is of
// f32. A GPU takes such words apart and puts them together with one instruction an element or two;
// through vectors of 16-bit integers NVIDIA's compiler does not find it.

#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;

namespace {
constexpr uint64_t kHalf = 16;
}  // namespace

// Notes what `inst` makes of halves: a chain of two instructions ends in whole words.
void Lowering::note_halves(const Inst& inst) {
  if (!vulkan()) return;
  const kir::Value from = inst.operands[0], to = inst.results[0];
  const Scalar have = k_.type(from).scalar, want = k_.type(to).scalar;
  if (inst.op == Op::ZExt && have == Scalar::i16 && want == Scalar::i32) {
    if (auto words = words_.find(from.id); words != words_.end()) widened_[to.id] = words->second;
  } else if (inst.op == Op::LShr && want == Scalar::i32 && known(inst.operands[1]) == kHalf) {
    moved_down_.emplace(to.id, from);
  } else if (inst.op == Op::Trunc && have == Scalar::i32 && want == Scalar::i16) {
    if (auto whole = moved_down_.find(from.id); whole != moved_down_.end())
      upper_halves_.emplace(to.id, whole->second);
  }
}

// Both halves of each word as upper halves of numbers.
bool Lowering::lower_moved_up(const Inst& inst) {
  if (inst.op != Op::Shl || known(inst.operands[1]) != kHalf) return false;
  const auto words = widened_.find(inst.operands[0].id);
  if (words == widened_.end()) return false;
  const Id word = types_.scalar(Scalar::i32);
  Ids lanes;
  for (Id w : words->second) {
    lanes.push_back(code_.op(spv::Op::OpShiftLeftLogical, word, {w, u32(kHalf)}));
    lanes.push_back(code_.op(spv::Op::OpBitwiseAnd, word, {w, u32(0xffff0000)}));
  }
  set(inst, assemble(result_type(inst), lanes));
  return true;
}

// The words of a vector of upper halves; none: it is not known to be one.
Ids Lowering::words_of_upper_halves(kir::Value v) {
  const auto whole = upper_halves_.find(v.id);
  if (whole == upper_halves_.end()) return {};
  const Id word = types_.scalar(Scalar::i32);
  Ids words;
  for (uint32_t l = 0; l < k_.type(v).lanes; l += 2) {
    const Id low =
        code_.op(spv::Op::OpShiftRightLogical, word, {lane(whole->second, l), u32(kHalf)});
    const Id high =
        code_.op(spv::Op::OpBitwiseAnd, word, {lane(whole->second, l + 1), u32(0xffff0000)});
    words.push_back(code_.op(spv::Op::OpBitwiseOr, word, {low, high}));
  }
  return words;
}

}  // namespace primset::emit::spirv
