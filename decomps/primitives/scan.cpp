#include "decomps/primitives/scan.h"

#include "decomps/primitives/complex_sum.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// log(e^a + e^b), shifted by the greater one; equal infinities have the difference 0.
Val log_add_exp(const Val& a, const Val& b) {
  const Val high = math::max(a, b), low = math::min(a, b);
  const Val apart = where(eq(a, b), math::number(a, 0.0), low - high);
  return high + math::log1p(math::exp(apart));
}

// Where a sum cancels, what it was rounded to before shows: as in ATen, c128 where that is fast.
Val scan_complex(Tracer& t, const Val& x, int64_t dim) {
  const math::Parts z = math::parts(wide_opmath(x));
  const DType type = z.re.dtype();
  std::vector<Val> operands = exponential(z).values();
  std::vector<DType> types(4, type);
  types.push_back(DType::boolean);
  for (double v : {-math::kInfinity, 0.0, 0.0, 0.0})
    operands.push_back(t.constant(Scalar(v), type));
  operands.push_back(t.constant(Scalar(false), DType::boolean));
  types.insert(types.end(), types.begin(), types.begin() + 5);
  const auto combine = [](const std::vector<Val>& v) {
    return add(ComplexSum(std::span(v).first(5)), ComplexSum(std::span(v).last(5))).values();
  };
  const auto sums = t.prim(Prim::scan, operands, {{"dim", dim}, {"ordered", false}},
                           {t.scalar_region(types, combine)});
  return math::joined(logarithms_of_prefixes(ComplexSum(sums), z, dim));
}

}  // namespace

Val scan_log_add_exp::decompose(Tracer& t, const Val& x, int64_t dim) {
  if (is_complex(x.dtype())) return scan_complex(t, x, dim);
  const Val wide = opmath(x);
  const DType type = wide.dtype();
  const auto combine = [](const std::vector<Val>& v) {
    return std::vector<Val>{log_add_exp(v[0], v[1])};
  };
  const Val sums =
      t.prim(Prim::scan, {wide, t.constant(Scalar(-math::kInfinity), type)},
             {{"dim", dim}, {"ordered", false}}, {t.scalar_region({type, type}, combine)})[0];
  return convert(sums, x.dtype());
}

}  // namespace primset::decomps::prim
