// Indices inside a kernel, kept symbolic as long as possible.
//
// A kernel iterates over a domain of loop dimensions. An index into some value is an affine form in
// the loop variables with symbolic coefficients, plus an opaque number that some computation made
// (a gathered index, a quotient). Views only rewrite these forms; what is left at a load is one
// affine form of the address, which says whether neighbouring loop dimensions may be merged,
// whether lanes touch neighbouring elements, and which parts are the same for all lanes.
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
  kir::Value opaque;     // invalid: 0; else an index-typed value, one or several lanes
  SymInts opaque_steps;  // opaque is a sum of multiples of these; none: of 1

  bool is_affine() const { return !opaque.valid(); }
  const SymInt& coefficient(size_t d) const;
};

Affine operator+(const Affine& a, const SymInt& b);
Affine operator*(const Affine& a, const SymInt& b);  // pre: a.is_affine()
// Sum of the affine parts; the caller adds the opaque ones.
Affine add_affine(const Affine& a, const Affine& b);
Affine loop_variable(size_t d);
// The same form? Decided structurally, without guards.
bool same(const Affine& a, const Affine& b);

// An index along one dimension. Besides an affine form it may be one part of a linear index that a
// reshape took apart: then at a load whose parts lie densely in memory the linear index serves, and
// no division is needed.
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
