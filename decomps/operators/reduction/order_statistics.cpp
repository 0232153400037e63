// Medians, modes and quantiles: what stands at a place of the sorted row.
#include <fmt/format.h>

#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/reduction.h"
#include "decomps/primitives/index_type.h"

namespace primset::decomps {
namespace {

using Selected = std::tuple<Val, Val>;

// A value and an index for each row along dim.
Selected selected_along(Prim prim, const Val& x, int64_t dim, bool keepdim, const char* op,
                        std::vector<prims::Attr> attrs = {}) {
  Tracer& t = x.tracer();
  const int64_t d = wrap_dim(dim, x.rank());
  if (x.rank() == 0) return {x, t.constant(0, DType::i64)};
  require(!(x.size(d) == SymInt(0)), ErrorCode::index,
          fmt::format("{}(): Expected reduction dim {} to have non-zero size.", op, d));
  attrs.insert(attrs.begin(), {"dim", d});
  const auto out = t.prim(prim, {x}, std::move(attrs));
  if (!keepdim) return {out[0], out[1]};
  return {unsqueeze(out[0], d), unsqueeze(out[1], d)};
}

Selected median_of_rows(const Val& x, int64_t dim, bool keepdim, bool ignore_nan) {
  require_real("median_out", x);
  return selected_along(Prim::median, x, dim, keepdim, "median", {{"ignore_nan", ignore_nan}});
}

// Of nothing it is NaN, which becomes some integer as a conversion has it.
Val median_of_elements(const Val& x, bool ignore_nan) {
  require_real("median_cpu", x);
  if (!x.is_empty()) return std::get<0>(median_of_rows(flattened(x), 0, false, ignore_nan));
  const Val nan = x.tracer().constant(std::numeric_limits<double>::quiet_NaN(), DType::f64);
  return convert(nan, x.dtype());
}

// --- quantiles ---

struct Quantile {
  std::optional<int64_t> dim;
  bool keepdim = false;
  std::string interpolation;
  bool ignore_nan = false;
};

// The rows, sorted along the last dim.
Val sorted_rows(const Val& x, const Quantile& request) {
  const Val whole = at_least_1d(x);
  const Val rows = request.dim
                       ? moved_dim(whole, wrap_dim(*request.dim, x.rank()), whole.rank() - 1)
                       : flattened(x);
  return x.tracer().prim(Prim::sort, {rows}, {{"dim", rows.rank() - 1}, {"descending", false}})[0];
}

// Where in a row each q lies, a real number. NaN, which is last, is the answer of a row that has
// one, unless it is ignored.
Val ranks_of(const Val& rows, const Val& q, bool ignore_nan) {
  const int64_t last_dim = rows.rank() - 1;
  const SymInt size = rows.size(-1);
  const Val numbers =
      reduce(Prim::reduce_sum, convert(~is_nan(rows), DType::i64), {last_dim}, true);
  const Val last = full_like(numbers, size - 1), none = full_like(numbers, 0);
  const Val usable = ignore_nan ? binary(Prim::max, numbers - Scalar(1), none) : last;
  const Val ranks = q * convert(usable, q.dtype());
  if (ignore_nan) return ranks;
  return where(eq(numbers, full_like(numbers, size)), ranks, convert(last, q.dtype()));
}

// How a rank between two places becomes one.
Val rounded_rank(const Val& rank, const std::string& interpolation) {
  if (interpolation == "lower") return unary(Prim::floor, rank);
  if (interpolation == "higher") return unary(Prim::ceil, rank);
  if (interpolation == "nearest") return unary(Prim::round_even, rank);
  return rank;
}

Val interpolated(const Val& rows, const Val& exact_rank, const std::string& interpolation) {
  Tracer& t = rows.tracer();
  const Val rank = rounded_rank(exact_rank, interpolation);
  const auto value_at = [&](const Val& at) {
    const Val place = convert(at, index_type(t)), last = full_like(place, rows.size(-1) - 1);
    const Val inside = binary(Prim::max, binary(Prim::min, place, last), full_like(place, 0));
    return t.prim1(Prim::gather_along_dim, {rows, inside}, {{"dim", rows.rank() - 1}});
  };
  const Val floor = unary(Prim::trunc, rank), below = value_at(floor);
  if (interpolation != "linear" && interpolation != "midpoint") return below;
  const Val weight = interpolation == "midpoint" ? full_like(rank, 0.5) : rank - floor;
  return t.prim1(Prim::lerp, {below, value_at(unary(Prim::ceil, rank)), weight});
}

void require_quantile(const Val& x, const Val& q, const Quantile& request) {
  static constexpr std::string_view kInterpolations[] = {"linear", "lower", "higher", "midpoint",
                                                         "nearest"};
  require(!x.is_empty(), ErrorCode::runtime, "quantile() input tensor must be non-empty");
  require(q.rank() <= 1, ErrorCode::runtime, "quantile() q must be a scalar or 1D tensor");
  require(x.dtype() == DType::f32 || x.dtype() == DType::f64, ErrorCode::runtime,
          "quantile() input tensor must be either float or double dtype");
  require(x.dtype() == q.dtype(), ErrorCode::runtime,
          "quantile() q tensor must be same dtype as the input tensor");
  require(std::find(std::begin(kInterpolations), std::end(kInterpolations),
                    request.interpolation) != std::end(kInterpolations),
          ErrorCode::runtime,
          fmt::format("quantile() interpolation must be one of linear, lower, higher, midpoint or "
                      "nearest, but got {}",
                      request.interpolation));
}

// The dims of the rows, of which one of several q is the first; kept dims have size 1.
Val quantile_of(const Val& x, const Val& q, const Quantile& request) {
  require_quantile(x, q, request);
  const bool many = q.rank() == 1;
  check(ge(q, Scalar(0.0)) & le(q, Scalar(1.0)), q, ErrorCode::runtime,
        many ? "quantile() q values must be in the range [0, 1]"
             : "quantile() q must be in the range [0, 1] but got {value}");
  const Val rows = sorted_rows(x, request);
  require(rows.size(-1) <= SymInt(int64_t{1} << 24), ErrorCode::runtime,
          "quantile() input tensor is too large");
  SymInts shape = rows.shape();
  shape.back() = many ? q.size(0) : SymInt(1);
  SymInts lead(shape.size(), SymInt(1));
  lead.back() = shape.back();
  const Val ranks = broadcast_to(ranks_of(rows, reshape(q, lead), request.ignore_nan), shape);
  const Val values = interpolated(rows, ranks, request.interpolation);
  Val y = many ? moved_dim(values, values.rank() - 1, 0) : squeeze(values, values.rank() - 1);
  if (!request.keepdim || x.rank() == 0) return y;
  if (request.dim) return unsqueeze(y, wrap_dim(*request.dim, x.rank()) + (many ? 1 : 0));
  SymInts kept(static_cast<size_t>(x.rank()) + (many ? 1 : 0), SymInt(1));
  if (many) kept[0] = q.size(0);
  return reshape(y, kept);
}

}  // namespace

Selected median_along::decompose(Tracer&, const Val& self, int64_t dim, bool keepdim) {
  return median_of_rows(self, dim, keepdim, false);
}
Selected nanmedian_along::decompose(Tracer&, const Val& self, int64_t dim, bool keepdim) {
  return median_of_rows(self, dim, keepdim, true);
}
Val median_of_all::decompose(Tracer&, const Val& self) {
  return median_of_elements(self, false);
}
Val nanmedian_of_all::decompose(Tracer&, const Val& self) {
  return median_of_elements(self, true);
}

Selected mode::decompose(Tracer&, const Val& self, int64_t dim, bool keepdim) {
  if (is_complex(self.dtype())) not_implemented_for("mode_cpu", self.dtype());
  return selected_along(Prim::mode, self, dim, keepdim, "mode");
}

Val quantile::decompose(Tracer&, const Val& self, const Val& q, const std::optional<int64_t>& dim,
                        bool keepdim, const std::string& interpolation) {
  return quantile_of(self, q, {dim, keepdim, interpolation, false});
}
Val nanquantile::decompose(Tracer&, const Val& self, const Val& q,
                           const std::optional<int64_t>& dim, bool keepdim,
                           const std::string& interpolation) {
  return quantile_of(self, q, {dim, keepdim, interpolation, true});
}
Val quantile_at::decompose(Tracer& t, const Val& self, const ScalarArg& q,
                           const std::optional<int64_t>& dim, bool keepdim,
                           const std::string& interpolation) {
  return quantile_of(self, t.scalar(q, self.dtype()), {dim, keepdim, interpolation, false});
}
Val nanquantile_at::decompose(Tracer& t, const Val& self, const ScalarArg& q,
                              const std::optional<int64_t>& dim, bool keepdim,
                              const std::string& interpolation) {
  return quantile_of(self, t.scalar(q, self.dtype()), {dim, keepdim, interpolation, true});
}

}  // namespace primset::decomps
