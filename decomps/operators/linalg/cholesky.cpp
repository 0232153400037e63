#include "decomps/operators/linalg.h"

#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_factorable(const char* op, const Val& a) {
  require_square(op, a);
  require_floating_or_complex(op, a);
  if (is_half(a.dtype())) not_implemented_for("cholesky_cpu", a.dtype());
}

void check_factored(const char* op, const Val& info) {
  const std::string where = info.rank() == 0 ? "" : "(Batch element) ";
  check(eq(info, Scalar(0)), convert(info, DType::i64), ErrorCode::linalg,
        fmt::format("{}: {}The factorization could not be completed because the input is not "
                    "positive-definite (the leading minor of order {{value}} is not "
                    "positive-definite).",
                    op, where));
}

struct Factored {
  Val factor, info;
};

Factored factored(Tracer& t, const char* op, const Val& a, bool upper) {
  require_factorable(op, a);
  const auto out = t.prim(Prim::cholesky, {a}, {{"upper", upper}});
  return {out[0], out[1]};
}

}  // namespace

std::tuple<Val, Val> linalg_cholesky_ex::decompose(Tracer& t, const Val& self, bool upper,
                                                   bool check_errors) {
  const Factored f = factored(t, "linalg.cholesky", self, upper);
  if (check_errors) check_factored("linalg.cholesky_ex", f.info);
  return {f.factor, f.info};
}

Val linalg_cholesky::decompose(Tracer& t, const Val& self, bool upper) {
  const Factored f = factored(t, "linalg.cholesky", self, upper);
  check_factored("linalg.cholesky", f.info);
  return f.factor;
}

Val cholesky::decompose(Tracer& t, const Val& self, bool upper) {
  if (self.is_empty()) return self;  // of any sizes
  const Factored f = factored(t, "cholesky", self, upper);
  check_factored("cholesky", f.info);
  return f.factor;
}

}  // namespace primset::decomps
