// Doubles to integers, of additions: drivers' own instructions cannot be relied on. llvmpipe on
// CPUs of 256-bit vectors converts doubles through 32-bit integers, so that a large number keeps
// its fraction and -0 its sign not.
#include <array>

#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Op;
using kir::Scalar;

namespace {

constexpr uint64_t kDoubleSign = uint64_t{1} << 63, kOne = 0x3ff0000000000000;
constexpr uint64_t kTwoTo52 = 0x4330000000000000;  // from there on all doubles are integers

}  // namespace

bool Lowering::rounds_by_adding(Op op, Scalar s) const {
  const bool rounds = op == Op::FFloor || op == Op::FCeil || op == Op::FTrunc || op == Op::FRint;
  return vulkan() && rounds && s == Scalar::f64;
}

// Between 2^52 and 2^53 doubles are one apart: |x| + 2^52 - 2^52 is |x| rounded to nearest even.
// One step down or up makes the other roundings of it. The sign is put back bit by bit, for zeros,
// and numbers from 2^52 on are integers already.
Id Lowering::rounded_by_adding(Op op, uint32_t lanes, Id x) {
  const Id number = types_.vector(Scalar::f64, lanes), word = types_.vector(Scalar::i64, lanes);
  const Id boolean = types_.vector(Scalar::i1, lanes);
  const auto constant = [&](Scalar s, uint64_t bits) { return types_.constant(s, lanes, bits); };
  const auto arithmetic = [&](spv::Op o, Id a, Id b) {
    const Id id = code_.op(o, number, {a, b});
    no_contraction(id);
    return id;
  };
  const auto choose = [&](Id condition, Id a, Id b) {
    return code_.op(spv::Op::OpSelect, number, {condition, a, b});
  };
  const auto less = [&](Id a, Id b) { return code_.op(spv::Op::OpFOrdLessThan, boolean, {a, b}); };
  const auto masked = [&](spv::Op o, Id bits, uint64_t mask) {
    return code_.op(o, word, {bits, constant(Scalar::i64, mask)});
  };
  const Id bits = bitcast(Scalar::f64, Scalar::i64, lanes, x);
  const Id sign = masked(spv::Op::OpBitwiseAnd, bits, kDoubleSign);
  const Id size =
      bitcast(Scalar::i64, Scalar::f64, lanes, masked(spv::Op::OpBitwiseAnd, bits, ~kDoubleSign));
  const Id whole = constant(Scalar::f64, kTwoTo52), one = constant(Scalar::f64, kOne);
  const Id nearest = arithmetic(spv::Op::OpFSub, arithmetic(spv::Op::OpFAdd, size, whole), whole);
  const auto down = [&] {
    return choose(less(size, nearest), arithmetic(spv::Op::OpFSub, nearest, one), nearest);
  };
  const auto up = [&] {
    return choose(less(nearest, size), arithmetic(spv::Op::OpFAdd, nearest, one), nearest);
  };
  const auto by_sign = [&](Id of_negative, Id of_positive) {
    const Id negative = code_.op(spv::Op::OpINotEqual, boolean, {sign, constant(Scalar::i64, 0)});
    return choose(negative, of_negative, of_positive);
  };
  const Id rounded = op == Op::FRint    ? nearest
                     : op == Op::FTrunc ? down()
                     : op == Op::FFloor ? by_sign(up(), down())
                                        : by_sign(down(), up());
  const Id signed_bits = code_.op(spv::Op::OpBitwiseOr, word,
                                  {bitcast(Scalar::f64, Scalar::i64, lanes, rounded), sign});
  return choose(less(size, whole), bitcast(Scalar::i64, Scalar::f64, lanes, signed_bits), x);
}

}  // namespace primset::emit::spirv
