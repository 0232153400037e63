#include <limits>

#include "decomps/operators/scan.h"

#include <fmt/format.h>

#include "decomps/engine/complex/complex.h"
#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

// How two complex numbers become one: v is the parts of the first and of the second.
using Combine = std::vector<Val> (*)(const std::vector<Val>& v);

std::vector<Val> sum_of_two(const std::vector<Val>& v) {
  return {v[0] + v[2], v[1] + v[3]};
}

std::vector<Val> product_of_two(const std::vector<Val>& v) {
  return {v[0] * v[2] - v[1] * v[3], v[0] * v[3] + v[1] * v[2]};
}

// Both parts in one pass, from the real number `first` on.
Val complex_scan(const Val& x, int64_t dim, const Scalar& first, Combine combine) {
  Tracer& t = x.tracer();
  const Val z = wide_opmath(x);
  const DType part = real_type(z.dtype());
  std::vector<prims::Region> regions;
  regions.push_back(t.scalar_region({part, part, part, part}, combine));
  const auto parts =
      t.prim(Prim::scan, {real(z), imag(z), t.constant(first, part), t.constant(0, part)},
             {{"dim", dim}, {"ordered", false}}, std::move(regions));
  return convert(complex(parts[0], parts[1]), x.dtype());
}

// Where running sums are wide, they are of both parts at once. Others are split where they are
// long, part by part.
Val complex_sums(const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  if (t.device().fast_f64) return complex_scan(x, dim, 0, sum_of_two);
  const auto of = [&](const Val& part) { return t.prim1(Prim::scan_sum, {part}, {{"dim", dim}}); };
  return complex(of(real(x)), of(imag(x)));
}

Val scanned(Prim kind, const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  const int64_t d = wrap_dim(dim, x.rank());
  if (x.rank() == 0) return x;
  if (is_complex(x.dtype()) && kind == Prim::scan_prod)
    return complex_scan(x, d, 1, product_of_two);
  if (is_complex(x.dtype()) && kind == Prim::scan_sum) return complex_sums(x, d);
  return t.prim1(kind, {x}, {{"dim", d}});
}

std::tuple<Val, Val> extremes(Prim kind, const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  const int64_t d = wrap_dim(dim, x.rank());
  if (is_complex(x.dtype()))
    not_implemented_for(kind == Prim::scan_max ? "cummax_cpu" : "cummin_cpu", x.dtype());
  if (x.rank() == 0) return {x, t.constant(0, DType::i64)};
  const auto out = t.prim(kind, {x}, {{"dim", d}});
  return {out[0], out[1]};
}

}  // namespace

namespace {

// What is added up or multiplied; a bool that the call asks for is neither.
Val terms(const char* kernel, const Val& self, int64_t dim, const std::optional<DType>& dtype) {
  wrap_dim(dim, self.rank());  // ATen looks at it first
  if (dtype && is_bool(*dtype)) not_implemented_for(kernel, *dtype);
  return accumulated(self, dtype);
}

}  // namespace

Val cumsum::decompose(Tracer& t, const Val& self, int64_t dim, const std::optional<DType>& dtype) {
  return scanned(Prim::scan_sum, terms("cumsum_out_cpu", self, dim, dtype), dim);
}

Val cumprod::decompose(Tracer& t, const Val& self, int64_t dim, const std::optional<DType>& dtype) {
  return scanned(Prim::scan_prod, terms("cumprod_out_cpu", self, dim, dtype), dim);
}

std::tuple<Val, Val> cummax::decompose(Tracer& t, const Val& self, int64_t dim) {
  return extremes(Prim::scan_max, self, dim);
}

std::tuple<Val, Val> cummin::decompose(Tracer& t, const Val& self, int64_t dim) {
  return extremes(Prim::scan_min, self, dim);
}

Val logcumsumexp::decompose(Tracer& t, const Val& self, int64_t dim) {
  return scanned(Prim::scan_log_add_exp, self, dim);
}

// --- into given tensors ---

namespace {

std::tuple<Val, Val> extremes_into(Prim kind, const Val& self, const Val& values,
                                   const Val& indices, int64_t dim) {
  require(self.rank() > 0, ErrorCode::index,
          fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  const auto require_dtype = [](const Val& v, DType expected) {
    require(v.dtype() == expected, ErrorCode::runtime,
            fmt::format("expected scalar type {} but found {}", aten_name(expected),
                        aten_name(v.dtype())));
  };
  require_dtype(values, self.dtype());
  require_dtype(indices, DType::i64);
  for (const Val& v : {values, indices})
    require(v.rank() == self.rank() && equal_sizes(v.shape(), self.shape()), ErrorCode::runtime,
            fmt::format("values and indices are of shape {}, expected self's, {}",
                        shape_text(v.shape()), shape_text(self.shape())));
  return extremes(kind, self, dim);
}

}  // namespace

std::tuple<Val, Val> _cummax_helper::decompose(Tracer&, const Val& self, const Val& values,
                                               const Val& indices, int64_t dim) {
  return extremes_into(Prim::scan_max, self, values, indices, dim);
}

std::tuple<Val, Val> _cummin_helper::decompose(Tracer&, const Val& self, const Val& values,
                                               const Val& indices, int64_t dim) {
  return extremes_into(Prim::scan_min, self, values, indices, dim);
}

}  // namespace primset::decomps
