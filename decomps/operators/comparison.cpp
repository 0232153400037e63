#include "decomps/operators/comparison.h"

#include <algorithm>

#include "decomps/engine/engine.h"

namespace primset::decomps {

Val allclose::decompose(Tracer& t, const Val& self, const Val& other, const ScalarArg& rtol,
                        const ScalarArg& atol, bool equal_nan) {
  return t.call1("all", {t.call1("isclose", {self, other, rtol, atol, equal_nan})});
}

// Tensors of other sizes are not equal, whatever they hold; of other dtypes they may be.
Val equal::decompose(Tracer& t, const Val& self, const Val& other) {
  const SymInts a = self.shape(), b = other.shape();
  const bool comparable = a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  if (!comparable) return t.constant(false, DType::boolean);
  const bool same = self.dtype() == other.dtype();
  return t.call1("all", {same ? eq(self, other) : t.call1("eq.Tensor", {self, other})});
}

}  // namespace primset::decomps
