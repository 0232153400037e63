// Distinct elements, and distinct slices along a dim.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/sort_and_search.h"

namespace primset::decomps {
namespace {

using Triple = std::tuple<Val, Val, Val>;

// What a result that is not asked for is.
Val not_asked_for(Tracer& t) {
  return zeros(t, {0}, DType::i64);
}

// The first of the primitive's entries, as many as there are distinct ones.
Val first_entries(const Val& x, const Val& count) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().set_dim(x.id(), count.id(), 0));
}

Triple of_elements(Prim prim, const Val& x, bool inverse, bool counts) {
  Tracer& t = x.tracer();
  if (is_complex(x.dtype())) not_implemented_for("unique", x.dtype());
  const auto out =
      t.prim(prim, {flattened(x)}, {{"return_inverse", inverse}, {"return_counts", counts}});
  return {first_entries(out[0], out[3]), inverse ? reshape(out[1], x.shape()) : not_asked_for(t),
          counts ? first_entries(out[2], out[3]) : not_asked_for(t)};
}

// Slices stand along dim 0 for the primitive.
Triple of_slices(Prim prim, const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  require(x.rank() > 0, ErrorCode::index,
          fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  if (is_complex(x.dtype())) not_implemented_for("unique_dim", x.dtype());
  const int64_t d = wrap_dim(dim, x.rank());
  int64_t empty = 0;
  for (const SymInt& size : x.shape()) empty += size == SymInt(0);
  require(empty <= 1, ErrorCode::runtime,
          "Number of zero sized dimensions is more than one, so unique cannot be applied ");
  require(empty == 0 || x.size(d) == SymInt(0), ErrorCode::runtime,
          "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  const auto out =
      t.prim(prim, {moved_dim(x, d, 0)}, {{"return_inverse", true}, {"return_counts", true}});
  return {moved_dim(first_entries(out[0], out[3]), 0, d), out[1], first_entries(out[2], out[3])};
}

}  // namespace

std::tuple<Val, Val> _unique::decompose(Tracer&, const Val& self, bool, bool return_inverse) {
  const auto [values, inverse, counts] = of_elements(Prim::unique, self, return_inverse, false);
  return {values, inverse};
}

Triple _unique2::decompose(Tracer&, const Val& self, bool, bool return_inverse,
                           bool return_counts) {
  return of_elements(Prim::unique, self, return_inverse, return_counts);
}

Triple unique_consecutive::decompose(Tracer&, const Val& self, bool return_inverse,
                                     bool return_counts, const std::optional<int64_t>& dim) {
  // Of slices ATen gives all results always; those of a vector, along dim 0 but
  // not along -1, are its elements.
  if (!dim || (self.rank() == 1 && *dim == 0))
    return of_elements(Prim::unique_consecutive, self, return_inverse, return_counts);
  return of_slices(Prim::unique_consecutive, self, *dim);
}

Triple unique_dim::decompose(Tracer&, const Val& self, int64_t dim, bool, bool, bool) {
  return of_slices(Prim::unique, self, dim);
}

Triple unique_dim_consecutive::decompose(Tracer&, const Val& self, int64_t dim, bool, bool) {
  return of_slices(Prim::unique_consecutive, self, dim);
}

}  // namespace primset::decomps
