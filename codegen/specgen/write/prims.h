// Stage 5, write: the primitives as X-macro tables, for enumerations and for what must know their
// operands at compile time.
#ifndef PRIMSET_CODEGEN_SPECGEN_WRITE_PRIMS_H_
#define PRIMSET_CODEGEN_SPECGEN_WRITE_PRIMS_H_

#include <string>

#include "specs/bundle/model.h"

namespace primset::specs {

// prim_list.inc: PRIMSET_PRIM(id, "name", tier, "category", operands, variadic, results, regions).
std::string emit_prim_list(const Bundle& bundle);

// prim_table.inc: one macro for each operand, attribute and result.
std::string emit_prim_table(const Bundle& bundle);

// prim_traits.inc: PRIMSET_PRIM_TRAITS(id, initializers) and PRIMSET_PRIM_SIBLING(id, other).
std::string emit_prim_traits(const Bundle& bundle);

// `name`, or `name_` when C++ has the word for itself.
std::string cpp_identifier(const std::string& name);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_WRITE_PRIMS_H_
