#include "decomps/operators/operator_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "decomps/engine/argument_errors.h"
#include "decomps/engine/engine.h"
#include "decomps/primitives/index_type.h"

namespace primset::decomps {

std::vector<int64_t> hints_of(const SymInts& sizes) {
  std::vector<int64_t> hints;
  for (const SymInt& s : sizes) hints.push_back(s.hint());
  return hints;
}

std::string shape_text(const SymInts& shape) {
  return fmt::format("[{}]", fmt::join(hints_of(shape), ", "));
}

std::string_view torch_name(DType t) {
  return info(t).torch_name;
}

void not_implemented_for(std::string_view kernel, DType t) {
  throw DTypeError(kernel, t);
}

void require_real(std::string_view kernel, const Val& x) {
  if (is_bool(x.dtype()) || is_complex(x.dtype())) not_implemented_for(kernel, x.dtype());
}

Val real_number(const Val& number, DType dtype) {
  if (!is_complex(number.dtype()) || is_complex(dtype)) return number;
  const Val lost = imag(number);
  check(eq(lost, Scalar(0)), lost, ErrorCode::runtime,
        fmt::format("value cannot be converted to type {} without overflow: its imaginary part is "
                    "{{value}}",
                    is_integral(dtype) ? fmt::format("{}_t", torch_name(dtype))
                                       : std::string(cpp_name(dtype))));
  return real(number);
}

bool is_exact(DType t) {
  return is_integral(t) || is_bool(t);
}

Val accumulated(const Val& x, const std::optional<DType>& dtype) {
  if (dtype) return convert(x, *dtype);
  return is_exact(x.dtype()) ? convert(x, DType::i64) : x;
}

void require_not_negative(Tracer& t, const ScalarArg& number, std::string message) {
  check(ge(t.scalar(number, DType::f64), Scalar(0.0)), t.constant(0, DType::i64),
        ErrorCode::runtime, std::move(message));
}

bool equal_sizes(const SymInts& a, const SymInts& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

void require_sizes(std::string_view op, std::string_view argument, const Val& v,
                   std::string_view other, const SymInts& sizes) {
  require(equal_sizes(v.shape(), sizes), ErrorCode::runtime,
          fmt::format("{}: expected {} of {}'s size {}, but got {}", op, argument, other,
                      shape_text(sizes), shape_text(v.shape())));
}

void require_expandable(const SymInts& shape, const SymInts& to) {
  require(shape.size() <= to.size(), ErrorCode::runtime,
          fmt::format("expand({}, size={}): the number of sizes provided ({}) must be greater or "
                      "equal to the number of dimensions in the tensor ({})",
                      shape_text(shape), shape_text(to), to.size(), shape.size()));
  const size_t lead = to.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    const SymInt &from = shape[d], &into = to[lead + d];
    if (from.same(into) || known_equal(from, 1) == true || from == into) continue;
    fail(ErrorCode::runtime,
         fmt::format("The expanded size of the tensor ({}) must match the existing size ({}) at "
                     "non-singleton dimension {}.  Target sizes: {}.  Tensor sizes: {}",
                     into.hint(), from.hint(), lead + d, shape_text(to), shape_text(shape)));
  }
}

void require_dtype(std::string_view op, std::string_view argument, const Val& v, DType dtype) {
  require(v.dtype() == dtype, ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}: {} takes no {} of another dtype",
                      aten_name(dtype), aten_name(v.dtype()), op, argument));
}

void require_rank(std::string_view op, std::string_view argument, const Val& v, int64_t rank) {
  require(v.rank() == rank, ErrorCode::runtime,
          fmt::format("{}: expected {} of {} dims, but got {}", op, argument, rank,
                      shape_text(v.shape())));
}

bool is_index(DType t) {
  return t == DType::i32 || t == DType::i64;
}

Val at_least_1d(const Val& x) {
  return x.rank() == 0 ? reshape(x, {1}) : x;
}

Val flattened(const Val& x) {
  return reshape(x, {x.numel()});
}

Val moved_dim(const Val& x, int64_t from, int64_t to) {
  std::vector<int64_t> permutation = dims_from(0, x.rank());
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return transpose(x, permutation);
}

Val matrix_transpose(const Val& x) {
  if (x.rank() < 2) return x;
  std::vector<int64_t> order = dims_from(0, x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

Val zeros(Tracer& t, const SymInts& shape, DType dtype) {
  return t.constant(0, dtype, shape);
}

Val resized_front(const Val& x, const SymInt& size) {
  Tracer& t = x.tracer();
  SymInts none(static_cast<size_t>(x.rank()), SymInt(0)), high = none;
  high[0] = size - x.size(0);
  const Val nothing = t.constant(0, x.dtype());
  return t.wrap(t.builder().pad(x.id(), nothing.id(), none, high, none));
}

Val wrapped_index(const Val& index, const SymInt& size) {
  const Val end = full_like(index, size);
  const Val from_end = lt(index, Scalar(0)) & ge(index, -end);
  return where(from_end, index + end, index);
}

std::vector<Val> unraveled(const Val& places, const SymInts& shape) {
  const SymInt limit = prims::product(shape);
  std::vector<Val> coordinates(shape.size());
  Val rest = places;
  for (size_t d = shape.size(); d-- > 1;) {
    const Val above = quotient(rest, shape[d], limit);
    coordinates[d] = rest - above * full_like(rest, shape[d]);
    rest = above;
  }
  if (!shape.empty()) coordinates[0] = rest;
  return coordinates;
}

void require_nonempty_dim(const Val& x, int64_t dim, const Val& index) {
  require(!(x.size(dim) == SymInt(0)) || index.is_empty(), ErrorCode::index,
          fmt::format("index is out of bounds for dimension {} with size 0", dim));
}

void check_index_of_empty(const Val& x, int64_t dim, const Val& index) {
  require_nonempty_dim(x, dim, index);
  if (!x.is_empty() || index.is_empty()) return;
  const Val inside = ge(index, Scalar(0)) & lt(index, full_like(index, x.size(dim)));
  check(inside, index, ErrorCode::index,
        fmt::format("index {{value}} is out of bounds for dimension {}", dim));
}

Val scattered(Prim kind, const Val& x, const std::vector<Val>& indices,
              const std::vector<int64_t>& dims, const Val& updates) {
  std::vector<ValueId> places;
  for (const Val& i : indices) places.push_back(i.id());
  for (size_t k = 0; k < dims.size(); ++k) require_nonempty_dim(x, dims[k], indices[k]);
  Tracer& t = x.tracer();
  return t.wrap(t.builder().scatter(kind, x.id(), std::move(places), updates.id(), dims, false,
                                    false, "index"));
}

Val bounds_up_to(const Val& bounds, const SymInt& size) {
  Tracer& t = bounds.tracer();
  const Val first = full_like(bounds, 0), last = full_like(bounds, size);
  const Val at = binary(Prim::max, binary(Prim::min, bounds, last), first);
  const DType type = place_type(max(size + 1, bounds.size(0)));
  const Val none = zeros(t, {size + 1}, type), ones = t.constant(1, type, bounds.shape());
  const ValueId begun = t.builder().scatter(Prim::scatter_add, none.id(), {at.id()}, ones.id(), {0},
                                            true, false, "bounds");
  const Val counts = t.wrap(t.builder().scan(Prim::scan_sum, begun, 0)[0]);
  return convert(slice(counts, 0, 0, size, 1), DType::i64);
}

std::vector<int64_t> dims_from(int64_t first, int64_t end) {
  std::vector<int64_t> dims(static_cast<size_t>(std::max<int64_t>(end - first, 0)));
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

}  // namespace primset::decomps
