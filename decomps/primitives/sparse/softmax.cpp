// softmax over what is stored of a sparse array.
#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"
#include "decomps/primitives/sparse.h"

namespace primset::decomps::prim {
namespace {

// A number that entries have in common whose indices but that along `dim` are equal: their place in
// row-major order among the other dims.
Val place_beside(Tracer& t, const Val& indices, const SymInts& sizes, int64_t dim) {
  Val place = t.constant(0, DType::i64, {indices.size(1)});
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Val index = select(indices, 0, static_cast<int64_t>(d));
    check(ge(index, Scalar(0)) & lt(index, full_like(index, sizes[d])), index, ErrorCode::index,
          "size is inconsistent with indices: an index is out of range");
    if (static_cast<int64_t>(d) != dim) place = place * full_like(place, sizes[d]) + index;
  }
  return place;
}

// The slot of each entry's group, one of `count`.
struct Groups {
  Val slot;
  SymInt count;
};

// Where entries are not few beside the places that groups may have, each place is a slot; else the
// groups that there are get numbers.
Groups groups_beside(Tracer& t, const Val& indices, const SymInts& sizes, int64_t dim) {
  const Val place = place_beside(t, indices, sizes, dim);
  SymInt places = 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (static_cast<int64_t>(d) != dim) places *= sizes[d];
  constexpr int64_t kPlacesOfAnEntry = 4;
  const SymInt entries = indices.size(1);
  if (places <= entries * kPlacesOfAnEntry) return {place, places};
  return {t.prim(Prim::unique, {place}, {{"return_inverse", true}, {"return_counts", false}})[1],
          entries};
}

}  // namespace

// Entries of one group scatter to one slot: their maximum, then the sum of the exponentials of what
// each is less than it.
Val sparse_softmax::decompose(Tracer& t, const Val& indices, const Val& values,
                              const SymInts& sizes, int64_t dim, bool log) {
  const Groups groups = groups_beside(t, indices, sizes, dim);
  const auto of_group = [&](const Val& slots) {
    return t.wrap(t.builder().gather(slots.id(), {groups.slot.id()}, {0}, false, "index"));
  };
  const Val x = opmath(values);
  SymInts shape = x.shape();
  shape[0] = groups.count;
  const Val lowest = t.constant(-std::numeric_limits<double>::infinity(), x.dtype(), shape);
  const Val s = x - of_group(scattered(Prim::scatter_max, lowest, {groups.slot}, {0}, x));
  const Val e = math::exp(s);
  const Val sum =
      of_group(scattered(Prim::scatter_add, zeros(t, shape, x.dtype()), {groups.slot}, {0}, e));
  return convert(log ? s - math::log(sum) : e / sum, values.dtype());
}

}  // namespace primset::decomps::prim
