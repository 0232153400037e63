// ATen's implicit broadcasting over symbolic sizes. Sizes of 1 are constants of the plan, so that
// only equality of sizes is left to guards.
#include "decomps/engine/broadcasting.h"

#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/argument_errors.h"
#include "decomps/engine/decomposition.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

SymInt common_size(const SymInt& a, const SymInt& b, int64_t rank, int64_t from_last) {
  if (a.same(b) || known_equal(b, 1) == true) return a;
  if (known_equal(a, 1) == true) return b;
  if (a.hint() == b.hint() && a == b) return a;
  // A computed size that happens to be 1 in this call.
  if (a.hint() == 1 && a == SymInt(1)) return b;
  if (b.hint() == 1 && b == SymInt(1)) return a;
  throw BroadcastError(a.hint(), b.hint(), rank, from_last);
}

bool certainly_equal(const SymInts& a, const SymInts& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SymInt& x, const SymInt& y) { return known_equal(x, y) == true; });
}

}  // namespace

SymInts broadcast_shapes(std::span<const SymInts> shapes) {
  SymInts common;
  for (const SymInts& shape : shapes) {
    SymInts next(std::max(common.size(), shape.size()));
    for (size_t i = 0; i < next.size(); ++i) {
      const size_t dim = next.size() - 1 - i;
      if (i >= common.size()) {
        next[dim] = shape[shape.size() - 1 - i];
      } else if (i >= shape.size()) {
        next[dim] = common[common.size() - 1 - i];
      } else {
        next[dim] = common_size(common[common.size() - 1 - i], shape[shape.size() - 1 - i],
                                static_cast<int64_t>(next.size()), static_cast<int64_t>(i));
      }
    }
    common = std::move(next);
  }
  return common;
}

Val broadcast_to(const Val& x, const SymInts& shape) {
  const SymInts from = x.shape();
  if (certainly_equal(from, shape)) return x;
  require(from.size() <= shape.size(), ErrorCode::runtime,
          fmt::format("The expanded size of the tensor ({}) must be at least the tensor's rank",
                      shape_text(shape)));
  std::vector<int64_t> dims;
  for (size_t d = 0; d < from.size(); ++d)
    dims.push_back(static_cast<int64_t>(shape.size() - from.size() + d));
  Tracer& t = x.tracer();
  return t.wrap(t.builder().broadcast_in_dim(x.id(), shape, std::move(dims)));
}

Val expand_dims_to(const Val& x, int64_t rank) {
  SymInts shape = x.shape();
  if (static_cast<int64_t>(shape.size()) >= rank) return x;
  shape.insert(shape.begin(), static_cast<size_t>(rank) - shape.size(), SymInt(1));
  return reshape(x, shape);
}

}  // namespace primset::decomps
