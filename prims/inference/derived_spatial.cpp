// Pooling and resampling: over the last dims, with dims before them that are a batch.
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

// The batch of operand 0 over `sizes`.
SymInts with_last(const Call& c, const SymInts& sizes) {
  c.require_shared(!sizes.empty() && c.rank(0) >= sizes.size(), "_c1: x has the dims");
  const SymInts& shape = c.shape(0);
  SymInts out(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(sizes.size()));
  out.insert(out.end(), sizes.begin(), sizes.end());
  return out;
}

// Windows of the last dims: places of them, or back to the shape of what they are over.
Types pooled(const Call& c, const char* result) {
  c.require_signature_dtypes();
  const SymInts& window = c.attr<SymInts>("window");
  const SymInts& strides = c.attr<SymInts>("strides");
  const SymInts& sizes = c.attr<SymInts>(result);
  c.require_shared(window.size() == sizes.size() && strides.size() == sizes.size() &&
                       c.attr<SymInts>("padding").size() == sizes.size(),
                   "_c2: one entry a dim");
  for (size_t i = 0; i < sizes.size(); ++i) {
    c.require_shared(window[i].hint() >= 1 && strides[i].hint() >= 1,
                     "_c3: windows and strides are positive");
  }
  return {{c.dtype(0), with_last(c, sizes)}};
}

Types max_pool(const Call& c) {
  Types types = pooled(c, "places");
  types.push_back({DType::i64, types[0].shape});
  return types;
}

Types max_pool_backward(const Call& c) {
  c.require(equal_shapes(c.shape(0), c.shape(1)), "max_pool_backward_c4: an index a gradient");
  return pooled(c, "shape");
}

Types avg_pool(const Call& c) {
  return pooled(c, "places");
}

Types avg_pool_backward(const Call& c) {
  return pooled(c, "shape");
}

Types variable_window_reduce(const Call& c) {
  size_t n = c.attr<SymInts>("reach").size();
  c.require(c.count() == 1 + 2 * n, "variable_window_reduce_c2: starts and ends of each dim");
  SymInts places;
  for (size_t d = 0; d < n; ++d) {
    size_t start = 1 + 2 * d, rank = c.rank(start);
    c.require(rank == 1 || rank == c.rank(0) - n + 1,
              "variable_window_reduce_c3: bounds are of a dim, or of the batch and a dim");
    c.require(equal_shapes(c.shape(start), c.shape(start + 1)),
              "variable_window_reduce_c4: as many starts as ends");
    places.push_back(c.shape(start)[rank - 1]);
  }
  SymInts shape = with_last(c, places);
  return {{c.dtype(0), shape}, {DType::i64, shape}};
}

Types resampled(const Call& c) {
  const SymInts& size = c.attr<SymInts>("size");
  c.require_shared(c.count() == 1 + size.size(), "_c2: a scale a dim");
  for (size_t i = 1; i < c.count(); ++i) {
    c.require_shared(c.rank(i) == 0 && is_floating(c.dtype(i)), "_c3: scales are 0-d and floating");
  }
  return {{c.dtype(0), with_last(c, size)}};
}

// x [batch, channels, ...] at the places of grid [batch, ..., dims].
void require_grid(const Call& c, size_t x, size_t grid) {
  size_t rank = c.rank(x);
  c.require_shared(rank == 4 || rank == 5, "_c1: x has 2 or 3 dims beside batch and channels");
  c.require_shared(c.rank(grid) == rank && c.shape(grid)[rank - 1] == SymInt(rank - 2),
                   "_c2: grid has a coordinate for each of them");
  c.require_shared(c.shape(x)[0] == c.shape(grid)[0], "_c3: x and grid agree about the batch");
}

Types grid_sample(const Call& c) {
  c.require_signature_dtypes();
  require_grid(c, 0, 1);
  SymInts shape{c.shape(0)[0], c.shape(0)[1]};
  shape.insert(shape.end(), c.shape(1).begin() + 1, c.shape(1).end() - 1);
  return {{c.dtype(0), shape}};
}

Types grid_sample_backward(const Call& c) {
  c.require_signature_dtypes();
  require_grid(c, 1, 2);
  return {c.type(1), c.type(2)};
}

}  // namespace

void add_derived_spatial_rules(RuleTable& t) {
  using enum Prim;
  t.set(Prim::max_pool, primset::prims::max_pool);
  t.set(Prim::max_pool_backward, primset::prims::max_pool_backward);
  t.set(Prim::avg_pool, primset::prims::avg_pool);
  t.set(Prim::avg_pool_backward, primset::prims::avg_pool_backward);
  t.set(Prim::variable_window_reduce, primset::prims::variable_window_reduce);
  t.set({resample_linear, resample_cubic, resample_antialias, resample_backward}, resampled);
  t.set(Prim::grid_sample, primset::prims::grid_sample);
  t.set(Prim::grid_sample_backward, primset::prims::grid_sample_backward);
}

}  // namespace primset::prims
