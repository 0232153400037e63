// sin(pi z) / (pi z).
#include <numbers>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/pointwise_unary.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

using math::abs;
using math::copysign;
using math::number;

constexpr double kZero = 1e-30;  // nearer to 0 it is 1

struct Turn {
  Val sine, cosine;
};

// sin and cos of pi x. What is left of x by its nearest half is exact; the greatest numbers are
// even.
Turn turn(const Val& x) {
  const Scalar even(x.dtype() == DType::f64 ? 0x1p53 : 0x1p24);
  const Val small = where(lt(abs(x), even), x, x * Scalar(0.0));
  const Val halves = unary(Prim::floor, small * Scalar(2.0) + Scalar(0.5));
  const Val rest = (small - halves * Scalar(0.5)) * Scalar(std::numbers::pi);
  const Val quarter = halves - unary(Prim::floor, halves * Scalar(0.25)) * Scalar(4.0);
  const Val s = math::sin(rest), c = math::cos(rest);
  const Val first = eq(quarter, Scalar(1.0)), second = eq(quarter, Scalar(2.0));
  const Val across = first | eq(quarter, Scalar(3.0));
  const Val sine = where(across, c, s), cosine = where(across, s, c);
  return {where(ge(quarter, Scalar(2.0)), -sine, sine), where(first | second, -cosine, cosine)};
}

// cosh and sinh of pi y, both to be multiplied by `rest` and then by `last`, which may overflow.
struct Growth {
  Val cosine, sine, rest, last;
};

Growth growth(const Val& all_y) {
  const bool wide = all_y.dtype() == DType::f64;
  const double limit = math::exp_split(all_y.dtype()).limit;
  // Beyond this the quotient is infinite, whatever it is divided by.
  const double most = 2 * limit / std::numbers::pi;
  const Val over = gt(abs(all_y), Scalar(most));
  const Val y = where(over, copysign(number(all_y, most), all_y), all_y);
  // pi y to twice the precision: its error is one of the exponential's digits.
  const double left =
      wide ? 1.2246467991473532e-16 : std::numbers::pi - double{std::numbers::pi_v<float>};
  const Val u = y * Scalar(std::numbers::pi),
            lost = math::fma(y, number(y, std::numbers::pi), -u) + y * Scalar(left);
  const Val usual = lt(abs(u), Scalar(limit)), one = number(u, 1.0), half = number(u, 0.5);
  const Val c = where(usual, math::cosh(u), half);
  const Val s = where(usual, math::sinh(u), copysign(half, u));
  const Val root = where(usual, one, math::exp(abs(u) * Scalar(0.5)));
  return {c + s * lost, s + c * lost, root, where(over, number(u, math::kInfinity), root)};
}

// The quotient is taken of the directions, so that it overflows where it is too great itself.
Val complex_sinc(const Val& z) {
  const Val x = real(z), y = imag(z), size = math::max(abs(x), abs(y));
  const Turn t = turn(x);
  const Growth g = growth(y);
  const Val re = t.sine * g.cosine, im = t.cosine * g.sine;
  const Val p = x / size, q = y / size, square = p * p + q * q;
  const Val scale = g.rest / size * Scalar(1 / std::numbers::pi);
  const auto grown = [&](const Val& part) {
    const Val most = part / square * scale;
    return where(eq(most, Scalar(0.0)), most, most * g.last);
  };
  const Val quotient = complex(grown(re * p + im * q), grown(im * p - re * q));
  return where(lt(size, Scalar(kZero)), number(z, 1.0), quotient);
}

Val real_sinc(const Val& x) {
  const Val turned = x * Scalar(std::numbers::pi);
  return where(lt(abs(x), Scalar(kZero)), number(x, 1.0), math::sin(turned) / turned);
}

}  // namespace

Val sinc::decompose(Tracer&, const Val& self) {
  const Val x = opmath(self);
  return convert(is_complex(x.dtype()) ? complex_sinc(x) : real_sinc(x), self.dtype());
}

}  // namespace primset::decomps
