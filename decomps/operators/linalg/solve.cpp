// Linear equations and inverses.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/solutions.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

struct SystemSolution {
  Val result;
  LuFactors lu;
};

// NumPy's rule: b is a vector where it has one dim, or A's batch dims and one.
bool is_one_right_side(const Val& a, const Val& b) {
  if (b.rank() == 1) return true;
  SymInts rows = a.shape();
  rows.pop_back();
  return a.rank() - 1 == b.rank() && equal_sizes(rows, b.shape());
}

SystemSolution solution_of(Tracer& t, const Val& a, const Val& b, bool left) {
  require_square("linalg.solve", a);
  require_floating_or_complex("linalg.solve", a);
  require_one_dtype("linalg.solve: ", "A", a, "B", b);
  const bool vector = is_one_right_side(a, b);
  const Val right = vector ? unsqueeze(b, -1) : b;
  require_equation("linalg.solve", a, right, left);
  require_factorable_dtype("lu_cpu", a);
  const LuFactors f = lu_factors(t, a);
  const BroadcastMatrices m = broadcast_matrices(f.factors, left ? right : matrix_adjoint(right));
  SymInts rows = m.a.shape();
  rows.pop_back();
  const Val x = solved_by_lu(m.a, broadcast_to(f.permutation, rows), m.b, !left);
  return {vector ? squeeze(x, -1) : left ? x : matrix_adjoint(x), f};
}

}  // namespace

std::tuple<Val, Val, Val, Val> _linalg_solve_ex::decompose(Tracer& t, const Val& A, const Val& B,
                                                           bool left, bool check_errors) {
  const SystemSolution s = solution_of(t, A, B, left);
  if (check_errors) check_info("torch.linalg.solve_ex", s.lu.info);
  return {s.result, s.lu.factors, s.lu.pivots, s.lu.info};
}

std::tuple<Val, Val> linalg_solve_ex::decompose(Tracer& t, const Val& A, const Val& B, bool left,
                                                bool check_errors) {
  const SystemSolution s = solution_of(t, A, B, left);
  if (check_errors) check_info("torch.linalg.solve_ex", s.lu.info);
  return {s.result, s.lu.info};
}

Val linalg_solve::decompose(Tracer& t, const Val& A, const Val& B, bool left) {
  const SystemSolution s = solution_of(t, A, B, left);
  check_info("torch.linalg.solve", s.lu.info);
  return s.result;
}

namespace {

struct Inverse {
  Val inverse, info;
};

Inverse inverse_of(Tracer& t, const Val& a) {
  require_square("linalg.inv", a);
  require_full_precision("linalg.inv", a);
  const LuFactors f = lu_factors(t, a);
  return {solved_by_lu(f.factors, f.permutation, identity_like(a)), f.info};
}

}  // namespace

std::tuple<Val, Val> linalg_inv_ex::decompose(Tracer& t, const Val& A, bool check_errors) {
  const Inverse i = inverse_of(t, A);
  if (check_errors) check_info("linalg.inv_ex", i.info);
  return {i.inverse, i.info};
}

Val linalg_inv::decompose(Tracer& t, const Val& A) {
  const Inverse i = inverse_of(t, A);
  check_info("linalg.inv", i.info);
  return i.inverse;
}

namespace {

SymInt product_between(const SymInts& sizes, size_t first, size_t end) {
  SymInt n = 1;
  for (size_t d = first; d < end; ++d) n *= sizes[d];
  return n;
}

}  // namespace

// The dims from `ind` on, then those before it.
Val linalg_tensorinv::decompose(Tracer& t, const Val& self, int64_t ind) {
  require(ind > 0, ErrorCode::runtime,
          fmt::format("Expected a strictly positive integer for 'ind', but got {}", ind));
  const SymInts sizes = self.shape();
  const auto at = static_cast<size_t>(ind);
  require(at <= sizes.size(), ErrorCode::runtime,
          fmt::format("linalg.tensorinv: expected 'ind' to be at most the {} dims of self, but got "
                      "{}",
                      sizes.size(), ind));
  const SymInt rows = product_between(sizes, 0, at),
               columns = product_between(sizes, at, sizes.size());
  require(rows == columns, ErrorCode::runtime,
          fmt::format("Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                      "prod(self.shape[:ind]), but got {} != {}",
                      columns.hint(), rows.hint()));
  const Inverse i = inverse_of(t, reshape(self, {columns, rows}));
  check_info("inv", i.info);
  SymInts shape(sizes.begin() + static_cast<std::ptrdiff_t>(at), sizes.end());
  shape.insert(shape.end(), sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(at));
  return reshape(i.inverse, shape);
}

// The dims named go behind all others; what has more dims than `other` is what is solved for.
Val linalg_tensorsolve::decompose(Tracer& t, const Val& self, const Val& other,
                                  const std::optional<std::vector<int64_t>>& dims) {
  Val a = self;
  if (dims) {
    const auto count = static_cast<int64_t>(dims->size());
    a = t.call1("movedim.intlist", {a, *dims, dims_from(-count, 0)});
  }
  const SymInts sizes = a.shape();
  const auto lead = static_cast<size_t>(std::min(other.rank(), a.rank()));
  const SymInt rows = other.numel(), columns = product_between(sizes, lead, sizes.size());
  require(rows == columns, ErrorCode::runtime,
          fmt::format("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                      "prod(self.shape[:other.ndim]), but got {} != {}",
                      columns.hint(), rows.hint()));
  // ATen's reshape, which refuses what is not as many rows as columns.
  const Val matrix = t.call1("reshape", {a, SymInts{columns, columns}});
  const SystemSolution s = solution_of(t, matrix, reshape(other, {rows}), true);
  check_info("torch.linalg.solve", s.lu.info);
  return reshape(s.result, SymInts(sizes.begin() + static_cast<std::ptrdiff_t>(lead), sizes.end()));
}

}  // namespace primset::decomps
