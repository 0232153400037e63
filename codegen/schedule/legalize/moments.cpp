#include "codegen/schedule/legalize/moments.h"

#include <algorithm>

#include "codegen/schedule/legalize/accumulation.h"

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

 private:
  DType dtype() const { return b_.dtype(x_); }
  const SymInts& shape() const { return b_.shape(x_); }
  SymInt length() const;
  Ints parallel_dims() const;
  ValueId along_rows(ValueId v) { return b_.broadcast_in_dim(v, shape(), parallel_dims()); }
  ValueId sum_of_products(ValueId a, ValueId b);

  Legalizer& l_;
  Builder& b_;
  const DType narrow_;
  const ValueId x_;
  const Ints& dims_;
  const primset::Scalar& correction_;
};

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

}  // namespace

std::optional<Values> expand_var_mean(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::var_mean) return std::nullopt;
  return Moments(l, op).var_mean();
}

}  // namespace primset::schedule
