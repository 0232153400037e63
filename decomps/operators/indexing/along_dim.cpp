// gather and scatter, and their kin, along one dim.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decomps/engine/engine.h"
#include "decomps/operators/indexing.h"
#include "decomps/operators/indexing/reduced_scatter.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

// --- gather ---

void require_gather_shapes(const Val& self, const Val& index, int64_t dim) {
  require(
      index.rank() == self.rank(), ErrorCode::runtime,
      fmt::format("Index tensor must have the same number of dimensions as input tensor; index has "
                  "{}, self {}",
                  index.rank(), self.rank()));
  for (int64_t d = 0; d < self.rank(); ++d) {
    require(
        d == dim || index.size(d) <= self.size(d), ErrorCode::runtime,
        fmt::format("Size does not match at dimension {} expected index {} to be no larger than "
                    "self {} apart from dimension {}",
                    d, shape_text(index.shape()), shape_text(self.shape()), dim));
  }
}

}  // namespace

Val gather::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index, bool) {
  const int64_t at = wrap_dim(dim, self.rank());
  if (index.is_empty()) return zeros(t, index.shape(), self.dtype());
  require(is_index(index.dtype()), ErrorCode::runtime,
          fmt::format("gather(): Expected dtype int32/int64 for index, but got {}",
                      info(index.dtype()).torch_name));
  const Val x = at_least_1d(self), places = at_least_1d(index);
  require_gather_shapes(x, places, at);
  const Val y = t.prim1(Prim::gather_along_dim, {x, places}, {{"dim", at}});
  return reshape(y, index.shape());
}

namespace {

// --- scatter ---

struct Scatter {
  Val self, index;
  std::optional<Val> src;
  int64_t dim;
};

bool fits(const Val& index, const Val& in, std::optional<int64_t> but) {
  for (int64_t d = 0; d < index.rank(); ++d) {
    if (d != but && index.size(d) > in.size(wrap_dim(d, in.rank()))) return false;
  }
  return true;
}

void require_scatter_shapes(const Scatter& s) {
  require(s.self.rank() == s.index.rank(), ErrorCode::runtime,
          "Index tensor must have the same number of dimensions as self tensor");
  const bool ok = fits(s.index, s.self, s.dim) && (!s.src || fits(s.index, *s.src, std::nullopt));
  require(!s.src || s.src->rank() == s.index.rank(), ErrorCode::runtime,
          "Index tensor must have the same number of dimensions as src tensor");
  if (ok) return;
  std::string text =
      fmt::format("Expected index {} to be no larger than self {} apart from dimension {}",
                  shape_text(s.index.shape()), shape_text(s.self.shape()), s.dim);
  if (s.src) text += " and to be no larger size than src " + shape_text(s.src->shape());
  fail(ErrorCode::runtime, text);
}

// Checked, and of rank 1 at least; nothing when the index is empty.
std::optional<Scatter> scatter_of(const Val& self, int64_t dim, const Val& index,
                                  const std::optional<Val>& src) {
  const int64_t at = wrap_dim(dim, self.rank());
  const bool empty = index.is_empty();
  require(empty || is_index(index.dtype()), ErrorCode::runtime,
          fmt::format("scatter(): Expected dtype int32/int64 for index, but got {}",
                      info(index.dtype()).torch_name));
  require(!src || src->dtype() == self.dtype(), ErrorCode::runtime,
          fmt::format("scatter(): Expected self.dtype to be equal to src.dtype, but got {} and {}",
                      name(self.dtype()), name(src ? src->dtype() : self.dtype())));
  if (empty) return std::nullopt;
  Scatter s{at_least_1d(self), at_least_1d(index), std::nullopt, at};
  if (src) s.src = at_least_1d(*src);
  require_scatter_shapes(s);
  require_nonempty_dim(s.self, s.dim, s.index);
  return s;
}

Val scattered_src(Tracer& t, const Scatter& s, const Val& src) {
  return t.prim1(Prim::scatter_along_dim, {s.self, s.index, src}, {{"dim", s.dim}});
}

Val reduced_src(const Scatter& s, const Val& src, const std::string& reduce, bool include_self) {
  return reduced_scatter({s.self, s.index, src, s.dim, reduce, include_self,
                          "scatter_gather_tensor_cpu_reduce_" + reduce});
}

// The old names of the two reductions of scatter(reduce=).
std::string old_reduction(const std::string& reduce) {
  if (reduce == "add") return "sum";
  require(reduce == "multiply", ErrorCode::runtime,
          fmt::format("reduce argument must be either add or multiply. Found '{}'", reduce));
  return "prod";
}

// A Scalar as updates of the index's shape.
Val value_updates(Tracer& t, const Scatter& s, const ScalarArg& value) {
  const DType to = s.self.dtype();
  return broadcast_to(t.fitting_scalar(value, to), s.index.shape());
}

}  // namespace

Val scatter_src::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                           const Val& src) {
  const auto s = scatter_of(self, dim, index, src);
  return s ? reshape(scattered_src(t, *s, *s->src), self.shape()) : self;
}

Val scatter_value::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                             const ScalarArg& value) {
  const auto s = scatter_of(self, dim, index, std::nullopt);
  return s ? reshape(scattered_src(t, *s, value_updates(t, *s, value)), self.shape()) : self;
}

Val scatter_with_reduce::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                                   const Val& src, const std::string& reduce) {
  const std::string kind = old_reduction(reduce);
  const auto s = scatter_of(self, dim, index, src);
  return s ? reshape(reduced_src(*s, *s->src, kind, true), self.shape()) : self;
}

Val scatter_value_reduce::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                                    const ScalarArg& value, const std::string& reduce) {
  const std::string kind = old_reduction(reduce);
  const auto s = scatter_of(self, dim, index, std::nullopt);
  if (!s) return self;
  return reshape(reduced_src(*s, value_updates(t, *s, value), kind, true), self.shape());
}

Val scatter_add::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                           const Val& src) {
  const auto s = scatter_of(self, dim, index, src);
  return s ? reshape(reduced_src(*s, *s->src, "sum", true), self.shape()) : self;
}

Val scatter_reduce::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                              const Val& src, const std::string& reduce, bool include_self) {
  constexpr std::array<std::string_view, 5> kNames = {"sum", "prod", "mean", "amax", "amin"};
  require(std::find(kNames.begin(), kNames.end(), reduce) != kNames.end(), ErrorCode::runtime,
          "reduce argument must be either sum, prod, mean, amax or amin, got " + reduce);
  const auto s = scatter_of(self, dim, index, src);
  if (!s) return self;
  if (reduce == "mean" && is_bool(self.dtype()))
    not_implemented_for("scatter_gather_tensor_cpu_reduce_mean", self.dtype());
  return reshape(reduced_src(*s, *s->src, reduce, include_self), self.shape());
}

Val gather_backward::decompose(Tracer& t, const Val& grad, const Val& self, int64_t dim,
                               const Val& index, bool) {
  return scatter_add::decompose(t, zeros(t, self.shape(), grad.dtype()), dim, index, grad);
}

Val take_along_dim::decompose(Tracer& t, const Val& self, const Val& indices,
                              const std::optional<int64_t>& dim) {
  require(indices.dtype() == DType::i64 || (!dim && is_index(indices.dtype())), ErrorCode::runtime,
          fmt::format("torch.take_along_dim(): dtype of indices should be Long but got {}",
                      aten_name(indices.dtype())));
  if (!dim) return gather::decompose(t, flattened(self), 0, flattened(indices), false);
  require(self.rank() == indices.rank(), ErrorCode::runtime,
          fmt::format("torch.take_along_dim(): input and indices should have the same number of "
                      "dimensions, but got {} dimensions for input, and {} dimensions for indices",
                      self.rank(), indices.rank()));
  const int64_t at = wrap_dim(*dim, self.rank());
  if (self.rank() == 0) return gather::decompose(t, self, 0, indices, false);
  const auto replaced = [&](const Val& x, const Val& size_of) {
    SymInts shape = x.shape();
    shape[static_cast<size_t>(at)] = size_of.size(at);
    return shape;
  };
  const std::array<SymInts, 2> for_indices = {replaced(self, indices), indices.shape()};
  const std::array<SymInts, 2> for_self = {replaced(indices, self), self.shape()};
  // Along a dim indices go around, as often as need be.
  const Val places = broadcast_to(indices, broadcast_shapes(for_indices));
  if (self.is_empty())
    return gather::decompose(t, broadcast_to(self, broadcast_shapes(for_self)), at, places, false);
  const Val around = binary(Prim::remainder, places, full_like(places, self.size(at)));
  return gather::decompose(t, broadcast_to(self, broadcast_shapes(for_self)), at, around, false);
}

}  // namespace primset::decomps
