#include "codegen/schedule/legalize/moments.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "codegen/schedule/legalize/accumulation.h"
#include "codegen/schedule/tuning/held_row.h"

namespace primset::schedule {

using prims::Builder;
using prims::Prim;
using prims::SymInt;
using prims::SymInts;

namespace {

class Moments {
 public:
  Moments(Legalizer& l, const Op& op)
      : l_(l),
        b_(l.builder()),
        narrow_(b_.dtype(op.operands[0])),
        x_(is_short_float(narrow_) ? b_.convert(op.operands[0], DType::f32) : op.operands[0]),
        dims_(op.attr<Ints>("dims")),
        correction_(op.attr<primset::Scalar>("correction")) {}

  Values var_mean();
  Values var_mean_in_f64();
  bool is_read_once() const;  // unlike a row that one workgroup holds

 private:
  DType dtype() const { return b_.dtype(x_); }
  const SymInts& shape() const { return b_.shape(x_); }
  SymInt length() const;
  Ints parallel_dims() const;
  ValueId along_rows(ValueId v) { return b_.broadcast_in_dim(v, shape(), parallel_dims()); }
  ValueId sum_of_products(ValueId a, ValueId b);
  ValueId first_of_rows();
  ValueId sum_in_parts(ValueId v);

  Legalizer& l_;
  Builder& b_;
  const DType narrow_;
  const ValueId x_;
  const Ints& dims_;
  const primset::Scalar& correction_;
};

bool Moments::is_read_once() const {
  return !l_.target().simt || !is_held_row(shape(), dims_);
}

SymInt Moments::length() const {
  SymInt length = 1;
  for (int64_t d : dims_) length *= shape()[static_cast<size_t>(d)];
  return length;
}

Ints Moments::parallel_dims() const {
  Ints dims;
  for (int64_t d = 0; d < static_cast<int64_t>(shape().size()); ++d) {
    if (std::ranges::find(dims_, d) == dims_.end()) dims.push_back(d);
  }
  return dims;
}

ValueId Moments::sum_of_products(ValueId a, ValueId b) {
  const ValueId product = b_.binary(Prim::mul, a, b);
  l_.note_contractible(product);
  return l_.reduce_sum(product, dims_);
}

Values Moments::var_mean() {
  const auto number = [&](primset::Scalar v) { return b_.constant(v, dtype()); };
  const ValueId count = b_.convert(b_.constant(length(), DType::i64), dtype());
  const ValueId reciprocal = b_.binary(Prim::div, number(1), count);
  // The corrected two-pass algorithm (Chan, Golub, LeVeque, 1983): deviations from a rounded mean,
  // whose error is the mean of the deviations.
  const ValueId approximate_mean =
      sum_of_products(x_, b_.broadcast_in_dim(reciprocal, shape(), {}));
  const ValueId deviation = b_.binary(Prim::sub, x_, along_rows(approximate_mean));
  const ValueId deviations = l_.reduce_sum(deviation, dims_);
  const ValueId squares = sum_of_products(deviation, deviation);
  const auto a_row = [&](ValueId v) {
    return b_.broadcast_in_dim(v, b_.shape(approximate_mean), {});
  };
  const ValueId mean_error = b_.binary(Prim::mul, deviations, a_row(reciprocal));
  // An infinite mean leaves no number.
  const ValueId mean =
      b_.select(b_.binary(Prim::eq, mean_error, mean_error),
                b_.binary(Prim::add, approximate_mean, mean_error), approximate_mean);
  const ValueId zero = number(0);
  const ValueId sum_of_squares = b_.binary(
      Prim::max, b_.binary(Prim::sub, squares, b_.binary(Prim::mul, deviations, mean_error)),
      a_row(zero));
  const ValueId divisor =
      b_.binary(Prim::max, b_.binary(Prim::sub, count, number(correction_)), zero);
  return {b_.convert(b_.binary(Prim::div, sum_of_squares, a_row(divisor)), narrow_),
          b_.convert(mean, narrow_)};
}

// The first element of each row in f64, or 0 where that is no finite number; dims are kept.
ValueId Moments::first_of_rows() {
  const size_t rank = shape().size();
  SymInts end = shape();
  for (int64_t d : dims_) end[static_cast<size_t>(d)] = 1;
  const ValueId first =
      b_.convert(b_.slice(x_, SymInts(rank, SymInt(0)), end, SymInts(rank, SymInt(1))), DType::f64);
  const ValueId nothing = b_.binary(Prim::sub, first, first);  // NaN of what is not finite
  const ValueId zero = b_.broadcast_in_dim(b_.constant(primset::Scalar(0.0), DType::f64), end, {});
  return b_.select(b_.binary(Prim::eq, nothing, zero), first, zero);
}

// Over the dims at the end first, along which memory runs, and then over the others.
ValueId Moments::sum_in_parts(ValueId v) {
  Ints last, others;
  int64_t next = static_cast<int64_t>(shape().size());
  Ints dims = dims_;
  std::ranges::sort(dims, std::greater());
  for (int64_t d : dims) {
    const bool at_end = d == next - 1;
    (at_end ? last : others).push_back(d);
    if (at_end) next = d;
  }
  std::ranges::reverse(last);
  std::ranges::reverse(others);
  if (!last.empty()) v = l_.reduce_sum(v, last);
  return others.empty() ? v : l_.reduce_sum(v, others);
}

// One pass over numbers of at most 24 bits: with the distances d from one of them, the sum of
// squares about the mean is sum d^2 - (sum d)^2 / n. As that one is in the sample itself, the
// difference is at least an n-th of the first sum, and f64 has bits enough for any n. An infinity
// makes both sums infinite, and so has no variance.
Values Moments::var_mean_in_f64() {
  const auto number = [&](primset::Scalar v) { return b_.constant(v, DType::f64); };
  const ValueId count = b_.convert(b_.constant(length(), DType::i64), DType::f64);
  const ValueId origin = first_of_rows();
  Ints all(shape().size());
  std::iota(all.begin(), all.end(), 0);
  const ValueId distance =
      b_.binary(Prim::sub, b_.convert(x_, DType::f64), b_.broadcast_in_dim(origin, shape(), all));
  const ValueId sum = sum_in_parts(distance);
  const ValueId product = b_.binary(Prim::mul, distance, distance);
  l_.note_contractible(product);
  const ValueId squares = sum_in_parts(product);
  const SymInts rows = b_.shape(sum);
  const auto a_row = [&](ValueId v) { return b_.broadcast_in_dim(v, rows, {}); };
  const ValueId mean = b_.binary(Prim::div, sum, a_row(count));
  const ValueId about_mean = b_.binary(
      Prim::max, b_.binary(Prim::sub, squares, b_.binary(Prim::mul, sum, mean)), a_row(number(0)));
  const ValueId divisor =
      b_.binary(Prim::max, b_.binary(Prim::sub, count, number(correction_)), number(0));
  return {b_.convert(b_.binary(Prim::div, about_mean, a_row(divisor)), narrow_),
          b_.convert(b_.binary(Prim::add, mean, b_.reshape(origin, rows)), narrow_)};
}

}  // namespace

std::optional<Values> expand_var_mean(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::var_mean) return std::nullopt;
  Moments moments(l, op);
  return moments.is_read_once() ? moments.var_mean_in_f64() : moments.var_mean();
}

}  // namespace primset::schedule
