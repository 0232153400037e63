// index_select, index_add and others whose one index is a vector along a dim; take and put.
#include "decomps/operators/indexing.h"
#include "decomps/operators/indexing/reduced_scatter.h"

#include <fmt/format.h>

#include <numeric>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_vector_dtype(const char* op, const Val& index) {
  require(is_index(index.dtype()), ErrorCode::runtime,
          fmt::format("{}(): Expected dtype int32 or int64 for index, but got {}", op,
                      info(index.dtype()).torch_name));
}

// x with `updates`, of the index's length along dim, put to the places of a vector of indices.
Val put_along(Prim kind, const Val& x, int64_t dim, const Val& index, const Val& updates) {
  return scattered(kind, x, {index}, {dim}, moved_dim(updates, dim, 0));
}

}  // namespace

Val index_select::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index) {
  const int64_t at = wrap_dim(dim, self.rank());
  require(index.rank() <= 1, ErrorCode::index,
          fmt::format("index_select(): Index is supposed to be a vector; index has shape {}",
                      shape_text(index.shape())));
  const Val places = at_least_1d(index);
  require(self.rank() > 0 || places.size(0) == SymInt(1), ErrorCode::runtime,
          fmt::format("index_select(): Index to scalar can have only 1 value, got {} value(s)",
                      places.size(0).hint()));
  require_vector_dtype("index_select", index);
  check_index_of_empty(at_least_1d(self), at, places);
  const Val y = t.prim1(Prim::index_select, {at_least_1d(self), places}, {{"dim", at}});
  return self.rank() == 0 ? reshape(y, {}) : y;
}

Val index_select_backward::decompose(Tracer& t, const Val& grad, const SymInts& self_sizes,
                                     int64_t dim, const Val& index) {
  return index_add::decompose(t, zeros(t, self_sizes, grad.dtype()), dim, index, grad,
                              t.literal(Scalar(1)));
}

namespace {

// --- index_add and index_reduce ---

struct IndexedSource {
  Val self, index, source;  // of rank 1 at least
  int64_t dim;
};

SymInts without_dim(SymInts shape, int64_t dim) {
  shape.erase(shape.begin() + dim);
  return shape;
}

IndexedSource indexed_source(const char* op, const Val& self, int64_t dim, const Val& index,
                             const Val& source) {
  const int64_t at = wrap_dim(dim, self.rank());
  const SymInt count = index.numel();
  require(index.rank() <= 1, ErrorCode::index,
          fmt::format("{}_(): Index is supposed to be a vector, but got dim: {} with type: {} and "
                      "size: {}",
                      op, index.rank(), aten_name(index.dtype()), shape_text(index.shape())));
  require(is_index(index.dtype()), ErrorCode::runtime,
          fmt::format("{}_(): Expected dtype int32/int64 for index but got: {}", op,
                      aten_name(index.dtype())));
  require(self.dtype() == source.dtype(), ErrorCode::runtime,
          fmt::format("{}_(): self ({}) and source ({}) must have the same scalar type", op,
                      aten_name(self.dtype()), aten_name(source.dtype())));
  require(at == 0 || at < source.rank(), ErrorCode::runtime,
          fmt::format("{}_(): Indexing dim {} is out of bounds of the source tensor with dim {}",
                      op, at, source.rank()));
  const SymInt sources = source.rank() == 0 ? SymInt(1) : source.size(at);
  require(count == sources, ErrorCode::runtime,
          fmt::format("{}_(): Number of indices ({}) should be equal to source.size(dim): ({}), "
                      "for dim: {}",
                      op, count.hint(), sources.hint(), at));
  const bool numbers = self.rank() == 0 || source.rank() == 0;
  const SymInts own = numbers ? self.shape() : without_dim(self.shape(), at);
  const SymInts theirs = numbers ? source.shape() : without_dim(source.shape(), at);
  require(equal_sizes(own, theirs), ErrorCode::runtime,
          fmt::format("source tensor shape must match self tensor shape, excluding the specified "
                      "dimension. Got self.shape = {} source.shape = {}",
                      shape_text(self.shape()), shape_text(source.shape())));
  return {at_least_1d(self), at_least_1d(index), at_least_1d(source), at};
}

// The source times alpha, which has the tensor's dtype.
Val scaled_source(Tracer& t, const Val& source, const ScalarArg& alpha) {
  if (alpha.constant && alpha.constant->to_double() == 1) return source;
  const DType type = source.dtype();
  const Val factor = t.fitting_scalar(alpha, type);
  if (is_bool(type)) return source & factor;
  return convert(opmath(source) * opmath(factor), type);
}

}  // namespace

Val index_add::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                         const Val& source, const ScalarArg& alpha) {
  const IndexedSource s = indexed_source("index_add", self, dim, index, source);
  const Val updates = scaled_source(t, s.source, alpha);
  const bool narrow = self.dtype() == DType::c32 || is_float8(self.dtype());
  const auto summand = [&](const Val& x) { return narrow ? opmath(x) : x; };
  const Val sum = put_along(Prim::scatter_add, summand(s.self), s.dim, s.index, summand(updates));
  return convert(reshape(sum, self.shape()), self.dtype());
}

Val index_reduce::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                            const Val& source, const std::string& reduce, bool include_self) {
  require(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
          ErrorCode::runtime,
          fmt::format("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but "
                      "got {}.",
                      reduce));
  const IndexedSource s = indexed_source("index_reduce", self, dim, index, source);
  if (is_bool(self.dtype()) && reduce == "mean") not_implemented_for("div_floor_cpu", self.dtype());
  check_index_of_empty(s.self, s.dim, s.index);
  const Val y = reduced_scatter({s.self, s.index, s.source, s.dim, reduce, include_self,
                                 reduce == "amax" ? "maximum_cpu" : "minimum_cpu"});
  return reshape(y, self.shape());
}

namespace {

// --- index_copy ---

void require_copy_shapes(const Val& self, int64_t dim, const Val& index, const Val& source) {
  const SymInt count = index.numel();
  require(index.rank() < 2, ErrorCode::index,
          fmt::format("index_copy_(): Index should have dimension 1 or 0 (got {})", index.rank()));
  require(
      source.rank() > 0 || count == SymInt(1), ErrorCode::index,
      fmt::format("index_copy_(): When source is scalar, index should have one element (got {})",
                  count.hint()));
  require(source.rank() == 0 || self.rank() == 0 || source.rank() == self.rank(), ErrorCode::index,
          fmt::format("index_copy_(): When source and destination are not scalars, their "
                      "dimensionality must match. Source dimensionality ({}), destination "
                      "dimensionality ({})",
                      source.rank(), self.rank()));
  require(index.dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("index_copy_(): Expected a long tensor for index, but got {}",
                      aten_name(index.dtype())));
  require(self.dtype() == source.dtype(), ErrorCode::runtime,
          fmt::format("index_copy_(): self and source expected to have the same dtype, but got "
                      "(self) {} and (source) {}",
                      aten_name(self.dtype()), aten_name(source.dtype())));
  const auto slice_of = [&](const Val& x) {
    return x.rank() == 0 ? SymInts{} : without_dim(x.shape(), dim);
  };
  const SymInts own = slice_of(self), theirs = slice_of(source);
  if (!equal_sizes(own, theirs)) {
    fail(ErrorCode::runtime,
         fmt::format("index_copy_(): Source/destination tensor must have same slice shapes. "
                     "Destination slice shape: {} at dimension {} and source slice shape: {} at "
                     "dimension 0.",
                     fmt::join(hints_of(own), " "), dim, fmt::join(hints_of(theirs), " ")));
  }
  require(source.rank() == 0 || count == source.size(dim), ErrorCode::index,
          fmt::format("index_copy_(): Number of indices ({}) should be equal to source.size(dim) "
                      "({})",
                      count.hint(), source.rank() == 0 ? 1 : source.size(dim).hint()));
}

}  // namespace

Val index_copy::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                          const Val& source) {
  const int64_t at = wrap_dim(dim, self.rank());
  require_copy_shapes(self, at, index, source);
  return reshape(
      put_along(Prim::scatter, at_least_1d(self), at, at_least_1d(index), at_least_1d(source)),
      self.shape());
}

namespace {

// --- index_fill ---

Val filled_at(const Val& self, int64_t dim, const Val& index, const Val& value) {
  const int64_t at = wrap_dim(dim, self.rank());
  require(index.dtype() == DType::i64, ErrorCode::index,
          fmt::format("index_fill_(): Expected dtype int64 for index. Got {}",
                      info(index.dtype()).torch_name));
  require(index.rank() <= 1, ErrorCode::runtime, "Index has to be a vector/scalar");
  require(!is_complex(value.dtype()) || is_complex(self.dtype()), ErrorCode::runtime,
          "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  const Val x = at_least_1d(self), places = at_least_1d(index);
  SymInts shape = x.shape();
  shape[static_cast<size_t>(at)] = places.size(0);
  const Val updates = broadcast_to(convert(value, self.dtype()), shape);
  return reshape(put_along(Prim::scatter, x, at, wrapped_index(places, x.size(at)), updates),
                 self.shape());
}

}  // namespace

Val index_fill_scalar::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                                 const ScalarArg& value) {
  const bool complex = value.kind == Scalar::Kind::complex;
  return filled_at(self, dim, index, complex ? value.value : t.fitting_scalar(value, self.dtype()));
}

Val index_fill_tensor::decompose(Tracer& t, const Val& self, int64_t dim, const Val& index,
                                 const Val& value) {
  require(value.rank() == 0, ErrorCode::runtime,
          fmt::format("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                      "{} dimension(s).",
                      value.rank()));
  return filled_at(self, dim, index, value);
}

// --- places in the flat tensor ---

Val take::decompose(Tracer& t, const Val& self, const Val& index) {
  require(index.dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("take(): Expected a long tensor for index, but got {}",
                      aten_name(index.dtype())));
  require(!self.is_empty() || index.is_empty(), ErrorCode::index,
          "take(): tried to take from an empty tensor");
  const Val flat = flattened(self), places = wrapped_index(index, flat.size(0));
  return t.wrap(t.builder().gather(flat.id(), {places.id()}, {0}, false, "index"));
}

namespace {

// `self` with elements put at places of its row-major order, each place taken apart into a
// coordinate a dim: flattening what lies otherwise in memory would copy it twice.
Val put_at_coordinates(Tracer& t, const Val& self, const Val& places, const Val& elements,
                       bool accumulate) {
  const Val place = wrapped_index(places, self.numel());
  check(ge(place, Scalar(0)) & lt(place, full_like(place, self.numel())), places, ErrorCode::index,
        "index {value} of 'index' is out of bounds for dimension 0; expected one within its size");
  std::vector<Val> operands = unraveled(place, self.shape());
  operands.insert(operands.begin(), self);
  operands.push_back(elements);
  std::vector<int64_t> dims(static_cast<size_t>(self.rank()));
  std::iota(dims.begin(), dims.end(), 0);
  return t.prim1(Prim::index_put, operands, {{"dims", dims}, {"accumulate", accumulate}});
}

}  // namespace

Val put::decompose(Tracer& t, const Val& self, const Val& index, const Val& source,
                   bool accumulate) {
  require(index.dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("put_(): Expected a long tensor for index, but got {}",
                      aten_name(index.dtype())));
  require(self.dtype() == source.dtype(), ErrorCode::runtime,
          fmt::format("put_(): self and source expected to have the same dtype, but got self.dtype "
                      "= {} and source.dtype = {}",
                      aten_name(self.dtype()), aten_name(source.dtype())));
  require(source.numel() == index.numel(), ErrorCode::index,
          fmt::format("put_(): Expected source and index to have the same number of elements, but "
                      "got source.numel() = {}, index.numel() = {}",
                      source.numel().hint(), index.numel().hint()));
  require(!self.is_empty() || index.is_empty(), ErrorCode::index,
          "put_(): Tried to put elements into an empty tensor");
  const Val places = flattened(index), elements = flattened(source);
  if (self.rank() > 1 && !self.is_empty() && !is_contiguous(self.shape(), t.place_of(self).strides))
    return put_at_coordinates(t, self, places, elements, accumulate);
  const Val y = t.prim1(Prim::index_put, {flattened(self), places, elements},
                        {{"dims", std::vector<int64_t>{0}}, {"accumulate", accumulate}});
  return reshape(y, self.shape());
}

}  // namespace primset::decomps
