#include "codegen/schedule/legalize/extrema.h"

#include <limits>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/legalize/scans.h"
#include "prims/graph/run_sizes.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Builder;
using prims::Prim;
using prims::Region;

namespace {

struct Extremum {
  DType dtype;
  bool maximum = false;
  bool later_wins = false;  // of equal elements
};

// (value, index) pairs: the better value wins, NaN before all; of equals the first, or the later
// one.
Region pair_region(Builder& b, const Extremum& e) {
  const prims::ValueType value{e.dtype, {}}, index{DType::i64, {}};
  return b.region({value, index, value, index}, [&](std::span<const ValueId> p) {
    const ValueId a = p[0], ai = p[1], x = p[2], xi = p[3];
    ValueId a_better = e.maximum ? b.binary(Prim::lt, x, a) : b.binary(Prim::lt, a, x);
    ValueId equal = b.binary(Prim::eq, a, x);
    if (is_floating(e.dtype)) {
      const auto is_nan = [&](ValueId v) {
        return b.unary(Prim::bit_not, b.binary(Prim::eq, v, v));
      };
      const ValueId a_nan = is_nan(a), x_nan = is_nan(x);
      a_better = b.binary(Prim::bit_or, a_better,
                          b.binary(Prim::bit_and, a_nan, b.unary(Prim::bit_not, x_nan)));
      equal = b.binary(Prim::bit_or, equal, b.binary(Prim::bit_and, a_nan, x_nan));
    }
    const ValueId first = e.later_wins ? b.binary(Prim::lt, xi, ai) : b.binary(Prim::lt, ai, xi);
    const ValueId take_a = b.binary(Prim::bit_or, a_better, b.binary(Prim::bit_and, equal, first));
    return Values{b.select(take_a, a, x), b.select(take_a, ai, xi)};
  });
}

// The identity: loses against every element, by its index against equal ones too.
Values identity(Builder& b, const Extremum& e, int64_t index) {
  const Prim reduction = e.maximum ? Prim::reduce_max : Prim::reduce_min;
  return {b.constant(combine_identity(reduction, e.dtype), e.dtype),
          b.constant(primset::Scalar(index), DType::i64)};
}

int64_t behind_all_indices(const Legalizer& l) {
  return l.target().i64 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
}

// Numbers that an i32 orders, on a device for whose threads each instruction counts.
bool packs(Legalizer& l, DType t, const prims::SymInt& length) {
  if (!l.target().simt || !l.target().i64) return false;
  const bool fits = is_floating(t) ? bits(t) <= 32 : bits(t) < 32 || t == DType::i32;
  const prims::SymInt most(std::numeric_limits<int32_t>::max());
  if (!fits || is_complex(t) || prims::depends_on_run(l.builder().graph(), length)) return false;
  return !(length > most);
}

// An i32 that is the greater the better x is: NaN is best, and zeros are equal. By integers alone,
// for a device may compare denormals as zeros.
ValueId rank_of(Builder& b, ValueId x, bool maximum) {
  const auto number = [&](int64_t v) {
    return b.constant(primset::Scalar(v), DType::i32, b.shape(x));
  };
  const DType dtype = b.dtype(x);
  if (!is_floating(dtype)) {
    const ValueId i = b.convert(x, DType::i32);
    return maximum ? i : b.unary(Prim::bit_not, i);
  }
  constexpr int64_t kGreatest = std::numeric_limits<int32_t>::max(), kInfinity = 0x7f800000;
  const ValueId of_number = b.bitcast(b.convert(x, DType::f32), DType::i32);
  const ValueId magnitude = b.binary(Prim::bit_and, of_number, number(kGreatest));
  ValueId negative = b.binary(Prim::shift_right, of_number, number(31));
  if (!maximum) negative = b.unary(Prim::bit_not, negative);
  const ValueId signed_magnitude =
      b.binary(Prim::sub, b.binary(Prim::bit_xor, magnitude, negative), negative);
  return b.select(b.binary(Prim::lt, number(kInfinity), magnitude), number(kGreatest),
                  signed_magnitude);
}

// The rank above, the position below, from behind: one i64 whose maximum is the first of the best.
ValueId packed_arg_reduce(Legalizer& l, ValueId x, int64_t dim, bool maximum) {
  Builder& b = l.builder();
  const auto number = [&](int64_t v, ValueId like) {
    return b.constant(primset::Scalar(v), DType::i64, b.shape(like));
  };
  constexpr int64_t kLow = 0xffffffff;
  const ValueId rank = b.convert(rank_of(b, x, maximum), DType::i64);
  const ValueId above = b.binary(Prim::shift_left, rank, number(32, x));
  const ValueId behind = b.unary(Prim::bit_not, b.iota(b.shape(x), dim, DType::i32));
  const ValueId below = b.convert(b.bitcast(behind, DType::u32), DType::i64);
  const ValueId best =
      l.add(Prim::reduce_max, {b.binary(Prim::bit_or, above, below)}, {{"dims", Ints{dim}}})[0];
  return b.binary(Prim::bit_and, b.unary(Prim::bit_not, best), number(kLow, best));
}

}  // namespace

std::optional<Values> expand_arg_reduce(Legalizer& l, const Op& op) {
  const bool maximum = op.prim() == Prim::argmax;
  if (!maximum && op.prim() != Prim::argmin) return std::nullopt;
  Builder& b = l.builder();
  const ValueId x = op.operands[0];
  const auto dim = op.attr<int64_t>("dim");
  if (packs(l, b.dtype(x), b.shape(x)[static_cast<size_t>(dim)]))
    return Values{packed_arg_reduce(l, x, dim, maximum)};
  const Extremum extremum{b.dtype(x), maximum, false};
  const ValueId index = b.iota(b.shape(x), dim, DType::i64);
  const Values none = identity(b, extremum, behind_all_indices(l));
  return Values{l.add(Prim::reduce, {x, index, none[0], none[1]}, {{"dims", Ints{dim}}},
                      [&] { return pair_region(b, extremum); })[1]};
}

std::optional<Values> expand_extremum_scan(Legalizer& l, const Op& op) {
  const bool maximum = op.prim() == Prim::scan_max;
  if (!maximum && op.prim() != Prim::scan_min) return std::nullopt;
  Builder& b = l.builder();
  const ValueId x = op.operands[0];
  const auto dim = op.attr<int64_t>("dim");
  const Extremum extremum{b.dtype(x), maximum, true};
  const ValueId index = b.iota(b.shape(x), dim, DType::i64);
  const Scan scan{Prim::scan, identity(b, extremum, -1), [&] { return pair_region(b, extremum); }};
  return scan_in_chunks(l, scan, {x, index}, dim);
}

}  // namespace primset::schedule
