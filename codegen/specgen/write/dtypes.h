// Stage 5, write: what the public headers know of dtypes.yaml. Unlike the other outputs these are
// kept in the repository, since specgen itself is compiled with them.
#ifndef PRIMSET_CODEGEN_SPECGEN_WRITE_DTYPES_H_
#define PRIMSET_CODEGEN_SPECGEN_WRITE_DTYPES_H_

#include <span>
#include <string>

#include "codegen/specgen/parse/dtype_reader.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// primset/dtypes.def: PRIMSET_DTYPE(id, code, "name", "torch name", "ATen's name", "C++ name",
// bits, 'kind', real dtype, DLPack code, format).
std::string emit_dtype_list(std::span<const DTypeDefinition> dtypes);

// primset/plugin.h with the lines between its marks replaced: PRIMSET_<NAME> for every dtype and
// PRIMSET_DTYPES_<NAME> for every set. Throws Error{value} when it has no such marks.
std::string emit_plugin_header(const std::string& header, std::span<const DTypeDefinition> dtypes,
                               std::span<const NamedDTypeSet> sets);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_WRITE_DTYPES_H_
