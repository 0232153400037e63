// Geometry as tensors.
#include "decomps/operators/query.h"

#include "decomps/engine/engine.h"

namespace primset::decomps {

Val _shape_as_tensor::decompose(Tracer& t, const Val& self) {
  const SymInts shape = self.shape();
  if (shape.empty()) return t.constant(0, DType::i64, {SymInt(0)});
  std::vector<Val> sizes;
  for (const SymInt& s : shape) sizes.push_back(t.constant(s, DType::i64, {SymInt(1)}));
  return concatenate(sizes, 0);
}

Val _dim_arange::decompose(Tracer& t, const Val& like, int64_t dim) {
  return t.iota({like.size(dim)}, 0, DType::i64);
}

}  // namespace primset::decomps
