#include "decomps/primitives/elementwise_binary.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// Euclid's algorithm; both numbers may be negative on the way, as the remainder has the sign of the
// dividend.
std::vector<Val> gcd_of_numbers(Tracer& t, const Val& x, const Val& y) {
  const DType type = x.dtype();
  const auto more = [](const std::vector<Val>& v) { return std::vector<Val>{ne(v[1], Scalar(0))}; };
  const auto step = [](const std::vector<Val>& v) {
    return std::vector<Val>{v[1], binary(Prim::rem, v[0], v[1])};
  };
  const Val last =
      t.prim(Prim::while_loop, {x, y}, {},
             {t.scalar_region({type, type}, more), t.scalar_region({type, type}, step)})[0];
  return {unary(Prim::abs, last)};
}

}  // namespace

Val copysign::decompose(Tracer&, const Val& x, const Val& y) {
  return math::copysign(x, y);
}

Val hypot::decompose(Tracer&, const Val& x, const Val& y) {
  return convert(math::hypot(opmath(x), opmath(y)), x.dtype());
}

Val gcd::decompose(Tracer& t, const Val& x, const Val& y) {
  const auto body = [&](const std::vector<Val>& v) { return gcd_of_numbers(t, v[0], v[1]); };
  return t.prim(Prim::map, {x, y}, {}, {t.scalar_region({x.dtype(), y.dtype()}, body)})[0];
}

}  // namespace primset::decomps::prim
