// Shapes of values, and reductions over dims.
#include "decomps/engine/shape_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "decomps/engine/argument_errors.h"
#include "decomps/engine/complex/complex.h"
#include "decomps/engine/decomposition.h"

namespace primset::decomps {

int64_t wrap_dim(int64_t dim, int64_t rank) {
  const int64_t n = std::max<int64_t>(rank, 1);
  if (dim < -n || dim >= n) throw DimensionError(dim, rank);
  return dim < 0 ? dim + n : dim;
}

std::vector<int64_t> wrap_dims(std::span<const int64_t> dims, int64_t rank, bool all_if_empty) {
  std::set<int64_t> seen;
  if (dims.empty() && all_if_empty) {
    for (int64_t d = 0; d < rank; ++d) seen.insert(d);
  }
  for (int64_t d : dims) {
    const int64_t wrapped = wrap_dim(d, rank);
    if (!seen.insert(wrapped).second)
      fail(ErrorCode::runtime,
           fmt::format(
               "dim {} appears multiple times in the list of dims; expected each at most once",
               wrapped));
  }
  if (rank == 0) return {};
  return {seen.begin(), seen.end()};
}

Val reshape(const Val& x, const SymInts& shape) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().reshape(x.id(), shape));
}

Val transpose(const Val& x, std::vector<int64_t> permutation) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().transpose(x.id(), std::move(permutation)));
}

Val unsqueeze(const Val& x, int64_t dim) {
  SymInts shape = x.shape();
  const int64_t at = wrap_dim(dim, static_cast<int64_t>(shape.size()) + 1);
  shape.insert(shape.begin() + at, SymInt(1));
  return reshape(x, shape);
}

Val squeeze(const Val& x, int64_t dim) {
  SymInts shape = x.shape();
  if (shape.empty()) return x;
  shape.erase(shape.begin() + wrap_dim(dim, static_cast<int64_t>(shape.size())));
  return reshape(x, shape);
}

SliceBounds clamped_slice_bounds(const SymInt& size, SymInt start, SymInt end, const SymInt& step) {
  if (start < SymInt(0)) start += size;
  if (end < SymInt(0)) end += size;
  start = min(max(start, 0), size);
  end = min(max(end, start), size);
  return {start, ceil_div(end - start, step)};
}

Val slice(const Val& x, int64_t dim, const SymInt& start, const SymInt& end, const SymInt& step) {
  const SymInts shape = x.shape();
  SymInts starts(shape.size(), SymInt(0)), limits = shape, steps(shape.size(), SymInt(1));
  const auto at = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(shape.size())));
  if (known_equal(start, 0) == true && known_equal(end, shape[at]) == true &&
      known_equal(step, 1) == true)
    return x;
  starts[at] = start;
  limits[at] = end;
  steps[at] = step;
  Tracer& t = x.tracer();
  return t.wrap(t.builder().slice(x.id(), starts, limits, steps));
}

Val select(const Val& x, int64_t dim, const SymInt& index) {
  return squeeze(slice(x, dim, index, index + 1, 1), dim);
}

Val concatenate(const std::vector<Val>& xs, int64_t dim) {
  std::vector<ValueId> ids;
  for (const Val& x : xs) ids.push_back(x.id());
  Tracer& t = xs[0].tracer();
  return t.wrap(t.builder().concatenate(std::move(ids), dim));
}

Val restore_dims(const Val& reduced, const SymInts& shape, const std::vector<int64_t>& dims) {
  SymInts kept = shape;
  for (int64_t d : dims) kept[static_cast<size_t>(d)] = 1;
  return reshape(reduced, kept);
}

Val reduce(Prim kind, const Val& x, const std::vector<int64_t>& dims, bool keepdim) {
  Tracer& t = x.tracer();
  const SymInts shape = x.shape();
  const Val r = is_complex(x.dtype()) ? complex_reduce(kind, x, dims)
                                      : t.wrap(t.builder().reduce(kind, x.id(), dims));
  return keepdim ? restore_dims(r, shape, dims) : r;
}

SymInt count_along(const Val& x, const std::vector<int64_t>& dims) {
  SymInt n = 1;
  for (int64_t d : dims) n *= x.size(d);
  return n;
}

void check(const Val& p, const Val& value, ErrorCode code, std::string message) {
  Tracer& t = p.tracer();
  const Val shown = broadcast_to(convert(value, DType::i64), p.shape());
  t.builder().check(p.id(), shown.id(), name(code), std::move(message));
}

}  // namespace primset::decomps
