#include "codegen/schedule/legalize/bitwise_extrema.h"

#include <limits>

#include "codegen/schedule/legalize/accumulation.h"

namespace primset::schedule {

using prims::Builder;
using prims::Prim;
using prims::Region;

namespace {

constexpr int64_t kInfinity = 0x7f800000, kSign = 0x80000000, kNan = 0x7fc00000;

// The greatest of the bits as signed numbers, and the least and the greatest as unsigned ones.
Region bits_region(Builder& b) {
  const prims::ValueType i32{DType::i32, {}}, u32{DType::u32, {}};
  return b.region({i32, u32, u32, i32, u32, u32}, [&](std::span<const ValueId> p) {
    return Values{b.binary(Prim::max, p[0], p[3]), b.binary(Prim::min, p[1], p[4]),
                  b.binary(Prim::max, p[2], p[5])};
  });
}

Values bits_of_rows(Builder& b, ValueId x, bool maximum, const Ints& dims) {
  // Of no elements it is the infinity that any other number beats.
  const int64_t none = maximum ? kInfinity | kSign : kInfinity;
  const ValueId falling = b.bitcast(x, DType::i32), rising = b.bitcast(x, DType::u32);
  const auto number = [&](int64_t v, DType type) { return b.constant(primset::Scalar(v), type); };
  return b.add(Prim::reduce,
               {falling, rising, rising, number(std::numeric_limits<int32_t>::min(), DType::i32),
                number(none, DType::u32), number(0, DType::u32)},
               {{"dims", dims}}, {bits_region(b)});
}

// The number that a row's bits say.
ValueId extremum_of_bits(Builder& b, const Values& found, bool maximum) {
  const auto number = [&](int64_t v, DType type) {
    return b.constant(primset::Scalar(v), type, b.shape(found[0]));
  };
  const ValueId is_nan =
      b.binary(Prim::bit_or, b.binary(Prim::lt, number(kInfinity, DType::i32), found[0]),
               b.binary(Prim::lt, number(kInfinity | kSign, DType::u32), found[2]));
  const ValueId least = b.bitcast(found[1], DType::i32), last = b.bitcast(found[2], DType::i32);
  // All numbers have a sign, or one at least.
  const ValueId falls = b.binary(Prim::lt, maximum ? found[0] : last, number(0, DType::i32));
  const ValueId best = maximum ? b.select(falls, least, found[0]) : b.select(falls, last, least);
  return b.bitcast(b.select(is_nan, number(kNan, DType::i32), best), DType::f32);
}

}  // namespace

std::optional<Values> reduce_bits(Legalizer& l, const Op& op) {
  const bool maximum = op.prim() == Prim::reduce_max;
  if (!maximum && op.prim() != Prim::reduce_min) return std::nullopt;
  Builder& b = l.builder();
  const DType dtype = b.dtype(op.operands[0]);
  const bool compared_in_f32 = dtype == DType::f32 || is_short_float(dtype);
  if (!l.target().flush_denormals_f32 || !compared_in_f32) return std::nullopt;
  const ValueId x = b.convert(op.operands[0], DType::f32);
  const Values found = bits_of_rows(b, x, maximum, op.attr<Ints>("dims"));
  return Values{b.convert(extremum_of_bits(b, found, maximum), dtype)};
}

}  // namespace primset::schedule
