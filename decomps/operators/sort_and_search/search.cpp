// Places in sorted sequences, and histograms, which are counts of such places.
#include <fmt/format.h>

#include <limits>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/sort_and_search.h"

namespace primset::decomps {
namespace {

struct Search {
  Val sequence;               // [n], or [..., n] with the values' leading dims
  Val values;                 // of the sequence's dtype
  std::optional<Val> sorter;  // where the elements stand in order
  bool right = false;         // behind equal ones
};

// The element at `place` of each row, in order.
Val element_at(Tracer& t, const Search& s, const Val& sequence, const std::optional<Val>& sorter,
               const Val& place) {
  const auto pick = [&](const Val& from, const Val& at) {
    if (from.rank() == 1)
      return t.wrap(t.builder().gather(from.id(), {at.id()}, {0}, true, "index"));
    return t.prim1(Prim::gather_along_dim, {from, at}, {{"dim", from.rank() - 1}});
  };
  return pick(sequence, sorter ? pick(*sorter, place) : place);
}

// ATen's binary search: whatever is not known to be at or behind the value lies before it, so that
// NaN comes last.
std::vector<Val> halved(Tracer& t, const Search& s, const std::vector<Val>& v) {
  const Val &low = v[1], &high = v[2], &values = v[3], &sequence = v[4];
  const std::optional<Val> sorter = v.size() > 5 ? std::optional(v[5]) : std::nullopt;
  const Val middle = low + binary(Prim::shift_right, high - low, full_like(low, 1));
  const Val last = full_like(middle, s.sequence.size(-1) - 1);
  const Val found = element_at(t, s, sequence, sorter, binary(Prim::min, middle, last));
  const Val behind = s.right ? gt(found, values) : ge(found, values);
  const Val open = lt(low, high);
  std::vector<Val> next(v.begin() + 1, v.end());
  next[0] = where(open & ~behind, middle + Scalar(1), low);
  next[1] = where(open & behind, middle, high);
  return next;
}

Val place_of(Tracer& t, const Search& s) {
  const SymInts shape = s.values.shape();
  const SymInt n = s.sequence.size(-1);
  const Val first = zeros(t, shape, DType::i64);
  if (n == SymInt(0) || s.values.is_empty()) return first;
  std::vector<Val> carried = {first, t.constant(n, DType::i64, shape), s.values, s.sequence};
  if (s.sorter) carried.push_back(*s.sorter);
  std::vector<prims::ValueType> params = {{DType::i64, {}}};
  for (const Val& v : carried) params.push_back({v.dtype(), v.shape()});
  const auto out =
      t.prim(Prim::for_loop, carried, {{"count", ceil_log2(n + 1)}, {"stacked", int64_t{0}}},
             {t.region(params, [&](const std::vector<Val>& v) { return halved(t, s, v); })});
  return out[0];
}

bool to_the_right(bool right, const std::optional<std::string>& side) {
  if (!side) return right;
  require(
      *side == "left" || *side == "right", ErrorCode::runtime,
      fmt::format("torch.searchsorted(): side can only be 'left' or 'right' but got {}", *side));
  require(*side == "right" || !right, ErrorCode::runtime,
          "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
          "right was True");
  return *side == "right";
}

void require_sorter(const Val& sequence, const std::optional<Val>& sorter) {
  if (!sorter) return;
  require(equal_sizes(sequence.shape(), sorter->shape()), ErrorCode::runtime,
          fmt::format("torch.searchsorted(): boundary and sorter must have the same size, but got "
                      "boundary tensor {}and got sorter tensor {}",
                      shape_text(sequence.shape()), shape_text(sorter->shape())));
  require(sorter->dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                      "{}",
                      aten_name(sorter->dtype())));
}

void require_sequence(const Val& sequence, const Val& values) {
  require(sequence.rank() > 0, ErrorCode::runtime,
          "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
          "dimension");
  require(values.rank() > 0 || sequence.rank() == 1, ErrorCode::runtime,
          fmt::format("torch.searchsorted(): input value can be a scalar only when boundaries "
                      "tensor dimension is 1, but we got boundaries tensor dim({}) and input "
                      "value's dim(0) numel(1)",
                      sequence.rank()));
  bool fits = sequence.rank() == 1 || sequence.rank() == values.rank();
  for (int64_t d = 0; fits && sequence.rank() > 1 && d + 1 < values.rank(); ++d)
    fits = sequence.size(d) == values.size(d);
  require(fits, ErrorCode::runtime,
          fmt::format("torch.searchsorted(): boundaries tensor should be 1 dimension or the first "
                      "N-1 dimensions of boundaries tensor and input value tensor must match, but "
                      "we got boundaries tensor {} and input value tensor {}",
                      shape_text(sequence.shape()), shape_text(values.shape())));
}

Val searched(Tracer& t, const Val& sequence, const Val& values, bool out_int32, bool right,
             const std::optional<Val>& sorter) {
  require_sequence(sequence, values);
  require_sorter(sequence, sorter);
  require_real("searchsorted_out_cpu", sequence);
  require_real("searchsorted_out_cpu", values);
  const DType common = [&] {
    using enum PromotionOperand::Category;
    const PromotionOperand operands[] = {{sequence.dtype(), dimensioned},
                                         {values.dtype(), values.rank() ? dimensioned : zero_dim}};
    return result_type(operands);
  }();
  if (sorter && !sorter->is_empty()) {
    const Val size = t.constant(sequence.size(-1), DType::i64);
    check(ge(*sorter, Scalar(0)) & lt(*sorter, size), *sorter, ErrorCode::runtime,
          "torch.searchsorted(): sorter index out of range");
  }
  const Val place =
      place_of(t, {convert(sequence, common), convert(values, common), sorter, right});
  return convert(place, out_int32 ? DType::i32 : DType::i64);
}

// A Scalar as ATen makes it a tensor beside the boundaries.
Val beside(Tracer& t, const ScalarArg& s, const Val& boundaries) {
  const PromotionOperand operands[] = {
      {boundaries.dtype(), PromotionOperand::Category::dimensioned},
      {s.value.dtype(), PromotionOperand::Category::number}};
  return t.scalar(s, result_type(operands));
}

void require_boundaries(const Val& boundaries) {
  require(boundaries.rank() == 1, ErrorCode::runtime,
          fmt::format("boundaries tensor must be 1 dimension, but got dim({})", boundaries.rank()));
}

}  // namespace

Val searchsorted::decompose(Tracer& t, const Val& sorted_sequence, const Val& self, bool out_int32,
                            bool right, const std::optional<std::string>& side,
                            const std::optional<Val>& sorter) {
  return searched(t, sorted_sequence, self, out_int32, to_the_right(right, side), sorter);
}

Val searchsorted_scalar::decompose(Tracer& t, const Val& sorted_sequence, const ScalarArg& self,
                                   bool out_int32, bool right,
                                   const std::optional<std::string>& side,
                                   const std::optional<Val>& sorter) {
  return searched(t, sorted_sequence, beside(t, self, sorted_sequence), out_int32,
                  to_the_right(right, side), sorter);
}

Val bucketize::decompose(Tracer& t, const Val& self, const Val& boundaries, bool out_int32,
                         bool right) {
  require_boundaries(boundaries);
  return searched(t, boundaries, self, out_int32, right, {});
}

Val bucketize_scalar::decompose(Tracer& t, const ScalarArg& self, const Val& boundaries,
                                bool out_int32, bool right) {
  require_boundaries(boundaries);
  return searched(t, boundaries, beside(t, self, boundaries), out_int32, right, {});
}

namespace {

// --- histograms ---

struct Bins {
  int64_t count;
  Val low, high;  // rank 0, of the values' dtype
};

// The bin of each value by its share of the range, as ATen computes it; -1 outside.
Val bin_of(const Val& x, const Bins& bins) {
  const Val share =
      (x - bins.low) * Scalar(static_cast<double>(bins.count)) / (bins.high - bins.low);
  const Val inside = ge(x, bins.low) & le(x, bins.high);
  const Val number = convert(where(inside, share, full_like(share, 0)), DType::i64);
  const Val last = full_like(number, bins.count - 1);
  return where(inside, binary(Prim::min, number, last), full_like(number, -1));
}

// How often each bin comes up; what lies outside goes to a bin of its own, cut off again.
Val counted(Tracer& t, const Val& bin, const Val& weights, int64_t count) {
  const Val all = zeros(t, {SymInt(count + 1)}, weights.dtype());
  const Val at = where(lt(bin, Scalar(0)), full_like(bin, count), bin);
  const Val sums = t.wrap(t.builder().scatter(Prim::scatter_add, all.id(), {at.id()}, weights.id(),
                                              {0}, true, false, "index"));
  return slice(sums, 0, 0, SymInt(count), 1);
}

// Equal bounds mean the values' own; when these are equal too, one more to both sides.
Bins bins_of(Tracer& t, const Val& x, int64_t count, const Val& min, const Val& max) {
  const Val given = ne(min, max);
  Val low = min, high = max;
  if (!x.is_empty()) {
    const std::vector<int64_t> dims = dims_from(0, x.rank());
    low = where(given, min, reduce(Prim::reduce_min, x, dims, false));
    high = where(given, max, reduce(Prim::reduce_max, x, dims, false));
  }
  const Val flat = eq(low, high);
  // Infinities and NaN alike give NaN. NOLINTNEXTLINE(misc-redundant-expression)
  check(~(is_nan(low - low) | is_nan(high - high)), t.constant(0, DType::i64), ErrorCode::runtime,
        "torch.histc: range of [min, max] is not finite");
  return {count, where(flat, low - Scalar(1.0), low), where(flat, high + Scalar(1.0), high)};
}

}  // namespace

Val histc::decompose(Tracer& t, const Val& self, int64_t bins, const ScalarArg& min,
                     const ScalarArg& max) {
  require(bins > 0, ErrorCode::runtime,
          fmt::format("torch.histogram(): bins must be > 0, but got {} for dimension 0", bins));
  require(bins < std::numeric_limits<int64_t>::max(), ErrorCode::value,
          fmt::format("histc: bins is {}, expected less than 2^63 - 1", bins));
  if (!is_floating(self.dtype())) not_implemented_for("histogram_cpu", self.dtype());
  const Val low = t.scalar(min, self.dtype()), high = t.scalar(max, self.dtype());
  check(le(low, high), t.constant(0, DType::i64), ErrorCode::runtime,
        "torch.histc: max must be larger than min");
  const Val x = flattened(self);
  const Val ones = full_like(x, 1);
  return counted(t, bin_of(x, bins_of(t, x, bins, low, high)), ones, bins);
}

Val bincount::decompose(Tracer& t, const Val& self, const std::optional<Val>& weights,
                        SymInt minlength) {
  require(minlength >= SymInt(0), ErrorCode::runtime, "minlength should be >= 0");
  require(self.rank() == 1, ErrorCode::runtime,
          "bincount only supports 1-d non-negative integral inputs.");
  require(!weights || (weights->rank() == 1 && weights->size(0) == self.size(0)),
          ErrorCode::runtime, "weights should be 1-d and have the same length as input");
  const DType sums = !weights                         ? DType::i64
                     : weights->dtype() == DType::f32 ? DType::f32
                                                      : DType::f64;
  const Val none = zeros(t, {minlength}, sums);
  if (self.is_empty()) return zeros(t, {minlength}, DType::i64);
  const Val bin = convert(self, DType::i64);
  check(ge(bin, Scalar(0)), bin, ErrorCode::runtime,
        "bincount only supports 1-d non-negative integral inputs.");
  // An eager call has read the greatest value; a graph has not.
  check(lt(bin, t.constant(minlength, DType::i64)), bin, ErrorCode::not_implemented,
        "bincount: in a graph minlength must be above the greatest value");
  const Val each = weights ? convert(*weights, sums) : full_like(bin, 1);
  return t.wrap(t.builder().scatter(Prim::scatter_add, none.id(), {bin.id()}, each.id(), {0}, false,
                                    false, "index"));
}

}  // namespace primset::decomps
