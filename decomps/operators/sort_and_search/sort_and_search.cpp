#include "decomps/operators/sort_and_search.h"

#include <fmt/format.h>

#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_sortable(const Val& x) {
  require(!is_complex(x.dtype()), ErrorCode::runtime,
          fmt::format(" Sort does not support complex dtypes on CPU; self is {}", name(x.dtype())));
}

// Values in order and where they stood. Sorting is stable always.
std::tuple<Val, Val> sorted(const Val& x, int64_t dim, bool descending) {
  Tracer& t = x.tracer();
  const int64_t d = wrap_dim(dim, x.rank());
  if (x.rank() == 0) return {x, t.constant(0, DType::i64)};
  require_sortable(x);
  const Val positions = t.iota(x.shape(), d, DType::i64);
  const auto out = t.wrap(t.builder().sort({x.id(), positions.id()}, d, descending));
  return {out[0], out[1]};
}

}  // namespace

std::tuple<Val, Val> sort::decompose(Tracer& t, const Val& self, int64_t dim, bool descending) {
  return sorted(self, dim, descending);
}

std::tuple<Val, Val> sort_stable::decompose(Tracer& t, const Val& self,
                                            const std::optional<bool>& stable, int64_t dim,
                                            bool descending) {
  return sorted(self, dim, descending);
}

Val argsort::decompose(Tracer& t, const Val& self, int64_t dim, bool descending) {
  return std::get<1>(sorted(self, dim, descending));
}

Val argsort_stable::decompose(Tracer& t, const Val& self, bool stable, int64_t dim,
                              bool descending) {
  return std::get<1>(sorted(self, dim, descending));
}

// Nothing stands beside the keys: where they stood is not asked for.
Val msort::decompose(Tracer& t, const Val& self) {
  if (self.rank() == 0) return self;
  require_sortable(self);
  return t.wrap(t.builder().sort({self.id()}, 0, false))[0];
}

std::tuple<Val, Val> topk::decompose(Tracer& t, const Val& self, SymInt k, int64_t dim,
                                     bool largest, bool in_order) {
  const int64_t d = wrap_dim(dim, self.rank());
  require(!is_complex(self.dtype()), ErrorCode::runtime,
          " topk does not support complex dtypes on CPU");
  require(!is_bool(self.dtype()), ErrorCode::runtime, "topk does not support bool dtypes on CPU");
  const SymInt size = self.rank() == 0 ? SymInt(1) : self.size(d);
  require(k >= SymInt(0) && k <= size, ErrorCode::runtime,
          fmt::format("selected index k out of range; found k {}, expected 0 to {}, the size of "
                      "dimension {}",
                      k.hint(), size.hint(), d));
  if (self.rank() == 0) return {self, t.constant(0, DType::i64)};
  const auto out = t.prim(Prim::top_k, {self},
                          {{"k", k}, {"dim", d}, {"largest", largest}, {"sorted", in_order}});
  return {out[0], out[1]};
}

std::tuple<Val, Val> kthvalue::decompose(Tracer& t, const Val& self, SymInt k, int64_t dim,
                                         bool keepdim) {
  const int64_t d = wrap_dim(dim, self.rank());
  const SymInt size = self.rank() == 0 ? SymInt(1) : self.size(d);
  require(k >= SymInt(1) && k <= size, ErrorCode::runtime,
          fmt::format("kthvalue(): selected number k out of range for dimension {}; found k {}, "
                      "expected 1 to its size",
                      d, k.hint()));
  require_real("kthvalue_cpu", self);
  if (self.rank() == 0) return {self, t.constant(0, DType::i64)};
  const auto found = t.prim(Prim::kth_value, {self}, {{"k", k}, {"dim", d}});
  if (!keepdim) return {found[0], found[1]};
  return {unsqueeze(found[0], d), unsqueeze(found[1], d)};
}

}  // namespace primset::decomps
