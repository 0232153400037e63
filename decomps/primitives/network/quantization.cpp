#include "decomps/primitives/quantization.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {

// All in floating numbers, which hold every q that matters exactly; NaN is below all. The
// reciprocal of the scale is rounded to its own dtype, which decides ties: 1 / 0.1f is 10.
std::tuple<Val, Val> fake_quantize::decompose(Tracer& t, const Val& x, const Val& scale,
                                              const Val& zero_point, int64_t low, int64_t high,
                                              bool round_sum) {
  const Val wide = opmath(x), zero = opmath(zero_point);
  const Val steps = wide * convert(Scalar(1.0) / scale, wide.dtype());
  const Val q =
      round_sum ? unary(Prim::round_even, steps + zero) : unary(Prim::round_even, steps) + zero;
  const Val usable = where(math::is_unordered(q), math::number(q, -math::kInfinity), q);
  const Val least = full_like(q, Scalar(low)), greatest = full_like(q, Scalar(high));
  const Val y = math::min(math::max(usable, least), greatest) - zero;
  return {convert(y * convert(scale, wide.dtype()), x.dtype()),
          ge(usable, least) & le(usable, greatest)};
}

}  // namespace primset::decomps::prim
