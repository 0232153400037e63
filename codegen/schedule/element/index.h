// Indices inside a kernel, kept symbolic as long as possible.
//
// A kernel iterates over a domain of loop dimensions. An index into a value is an affine form in
// the loop variables with symbolic coefficients, plus an opaque run-time value (a gathered index, a
// quotient). Views only rewrite these forms. At a load one affine form of the address is left,
// which says whether adjacent loop dimensions may be merged, whether lanes access contiguous
// elements, and which part is uniform across lanes.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_INDEX_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_INDEX_H_

#include <memory>
#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "prims/graph/symint.h"

namespace primset::schedule {

using prims::SymInt;
using prims::SymInts;

// constant + sum over d of coefficient[d] * loop[d] + opaque.
struct Affine {
  SymInt constant = 0;
  SymInts coefficients;  // one a loop dimension; shorter means zeros at the end
  kir::Value opaque;     // invalid: 0; else an index-typed value of one or more lanes
  SymInts opaque_steps;  // opaque is a sum of multiples of these; empty: of 1

  bool is_affine() const { return !opaque.valid(); }
  const SymInt& coefficient(size_t d) const;
};

Affine operator+(const Affine& a, const SymInt& b);
Affine operator*(const Affine& a, const SymInt& b);  // pre: a.is_affine()
// Sum of the affine parts; the caller adds the opaque ones.
Affine add_affine(const Affine& a, const Affine& b);
Affine loop_variable(size_t d);
// Structurally equal; records no guard.
bool same(const Affine& a, const Affine& b);

// An index along one dimension: an affine form, or one part of a linear index that a reshape has
// delinearised. A load whose parts are dense in memory uses the linear index, without a division.
struct Index {
  struct Split {
    Affine linear;
    SymInts sizes;  // row-major
  };
  Affine affine;                 // when split is null
  std::shared_ptr<Split> split;  // else: part `part` of it
  size_t part = 0;
};
using Indices = std::vector<Index>;

Index affine_index(Affine a);
// A key that is equal for equal indices; for memoisation within one kernel.
std::string index_key(const Indices& indices);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_INDEX_H_
