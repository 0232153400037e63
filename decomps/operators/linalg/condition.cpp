#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/spectra.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_condition_matrices(const Val& a) {
  require(a.rank() >= 2, ErrorCode::runtime,
          "linalg.cond: The input tensor must have at least 2 dimensions.");
}

Val no_condition(Tracer& t, const Val& a) {
  const SymInts shape = a.shape();
  return zeros(t, SymInts(shape.begin(), shape.end() - 2), real_type(a.dtype()));
}

// The greatest singular value over the least, or the other way round.
Val condition_by_singular_values(Tracer& t, const Val& a, bool inverse) {
  const Val s = singular_values(t, a);
  const Val greatest = select(s, s.rank() - 1, 0), least = select(s, s.rank() - 1, s.size(-1) - 1);
  return inverse ? least / greatest : greatest / least;
}

// The norm of a times that of its inverse; of a singular matrix infinity.
Val condition_by_inverse(Tracer& t, const Val& a, const std::string& norm,
                         const Tracer::Argument& ord) {
  const auto inverse = t.call("linalg_inv_ex", {a});
  const Val product = t.call1(norm, {a, ord}) * t.call1(norm, {inverse[0], ord});
  const double infinity = std::numeric_limits<double>::infinity();
  return where(eq(inverse[1], Scalar(0)), product, full_like(product, infinity));
}

}  // namespace

Val linalg_cond::decompose(Tracer& t, const Val& self, const std::optional<ScalarArg>& p) {
  require_condition_matrices(self);
  const double order = p ? p->known().to_double() : 2, size = std::fabs(order);
  require(size == 1 || size == 2 || std::isinf(size), ErrorCode::runtime,
          fmt::format("linalg.cond got an invalid norm type: {}", order));
  if (self.is_empty()) return no_condition(t, self);
  if (size == 2) return condition_by_singular_values(t, self, order < 0);
  require_square(fmt::format("linalg.cond(ord={})", order), self);
  return condition_by_inverse(t, self, "linalg_matrix_norm", *p);
}

Val linalg_cond_p_str::decompose(Tracer& t, const Val& self, const std::string& p) {
  require_condition_matrices(self);
  require_square(fmt::format("linalg.cond(ord={})", p), self);
  require(p == "fro" || p == "nuc", ErrorCode::runtime,
          fmt::format("linalg.cond got an invalid norm type: {}", p));
  if (self.is_empty()) return no_condition(t, self);
  if (p == "fro") return condition_by_inverse(t, self, "linalg_matrix_norm.str_ord", p);
  const Val s = singular_values(t, self), inverses = Scalar(1.0) / s;
  const std::vector<int64_t> last = {s.rank() - 1};
  return reduce(Prim::reduce_sum, s, last, false) * reduce(Prim::reduce_sum, inverses, last, false);
}

}  // namespace primset::decomps
