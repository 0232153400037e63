#include "decomps/primitives/sort.h"

namespace primset::decomps::prim {

// The sort is stable both ways, so that of equal elements the first ones come first.
std::tuple<Val, Val> top_k::decompose(Tracer& t, const Val& x, SymInt k, int64_t dim, bool largest,
                                      bool) {
  const auto ordered = t.prim(Prim::sort, {x, t.iota(x.shape(), dim, DType::i64)},
                              {{"dim", dim}, {"descending", largest}});
  return {slice(ordered[0], dim, 0, k, 1), slice(ordered[1], dim, 0, k, 1)};
}

}  // namespace primset::decomps::prim
