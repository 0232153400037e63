// Stage 3, resolve: in-place and out= overloads, derived from functional ones as torchgen derives
// them.
#ifndef PRIMSET_CODEGEN_SPECGEN_RESOLVE_VARIANTS_H_
#define PRIMSET_CODEGEN_SPECGEN_RESOLVE_VARIANTS_H_

#include <string>

#include "specs/bundle/operator.h"

namespace primset::specs {

// add -> add_, __and__ -> __iand__.
std::string inplace_name(const std::string& op);

// "add" and "Tensor" -> "add.Tensor"; an empty overload name adds nothing.
std::string qualified_name(const std::string& op, const std::string& overload);

// May the mechanical in-place schema be made: is the first argument a tensor `self`?
bool has_inplace_form(const Overload& base);

// The in-place overload: self is written and returned (of a list, nothing is).
Overload derive_inplace(const Overload& base, const std::string& overload);

// The out= overload: TensorOptions (dtype, layout, device and pin_memory, where all are there) are
// dropped, and one keyword-only tensor for each result is written and returned. It is called out;
// several are called as the results, or out0, out1, ... when those have no names.
Overload derive_out(const Overload& base, const std::string& overload);

// Copies to `derived`, whose schema is set, what else the base says: roles, promotion, dtypes,
// cases.
void inherit(const Overload& base, Overload& derived);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_RESOLVE_VARIANTS_H_
