// How a view rewrites indices: which element of its operand is its element at `at`.
//
// The element emitter uses this while it builds a kernel, and the fusion planner while it decides
// what a kernel computes, so that both agree on what "the same row" is.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_INDICES_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_INDICES_H_

#include <optional>

#include "codegen/schedule/element/index.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

// Arithmetic on affine forms. For their opaque parts a kernel's frame emits instructions; the
// planner only names them (symbolic_indices.h).
class IndexArithmetic {
 public:
  virtual ~IndexArithmetic() = default;
  virtual Affine add(const Affine& a, const Affine& b) = 0;
  virtual Affine scale(const Affine& a, const SymInt& factor) = 0;
  // The part of a split that `i` is, by quotient and remainder of the linear index.
  virtual Affine divide_out(const Index& i) = 0;

  Affine affine(const Index& i) { return i.split ? divide_out(i) : i.affine; }
};

// broadcast_in_dim, transpose, slice, reverse, window, set_dim and reshape: primitives that rewrite
// the indices of their first operand and do nothing else. nullopt: `n` is none of them.
std::optional<Indices> view_indices(const prims::Graph& g, const prims::Node& n, const Indices& at,
                                    IndexArithmetic& arithmetic);

// Where a stored value is: element (i, ...) at offset + sum of index * stride in the buffer, all in
// elements.
struct Placement {
  uint32_t buffer = 0;
  SymInts strides;
  SymInt offset = 0;
};
bool same(const Placement& a, const Placement& b);

// The address of an element, in elements. Parts of one split that are dense use its linear index.
Affine element_address(const Placement& p, const Indices& at, IndexArithmetic& arithmetic);

// A domain's identity indices: index d is loop variable d, and 0 where the size is 1, so that every
// way of writing the same element has one form.
Indices identity_indices(const SymInts& domain);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_INDICES_H_
