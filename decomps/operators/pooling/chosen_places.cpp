#include "decomps/operators/pooling/chosen_places.h"

#include "decomps/operators/operator_support.h"
#include "decomps/operators/pooling/geometry.h"

namespace primset::decomps {

Val at_chosen_places(Prim kind, const Val& updates, const Val& indices, const SymInts& sizes) {
  Tracer& t = updates.tracer();
  const SymInts chosen = last_sizes(updates, sizes.size());
  const SymInts result = with_last_sizes(updates, sizes);
  if (updates.is_empty()) return zeros(t, result, updates.dtype());
  SymInts batch = updates.shape();
  batch.resize(batch.size() - sizes.size());
  const SymInts rows = {prims::product(batch), prims::product(chosen)};
  const Val row = t.iota(rows, 0, DType::i64), place = reshape(indices, rows);
  const Val plane = zeros(t, {rows[0], prims::product(sizes)}, updates.dtype());
  const Val filled =
      t.wrap(t.builder().scatter(kind, plane.id(), {row.id(), place.id()},
                                 reshape(updates, rows).id(), {0, 1}, false, true, "indices"));
  return reshape(filled, result);
}

}  // namespace primset::decomps
