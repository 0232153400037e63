// Stages 3 and 4, resolve and check: names become indices, and what must hold between entries is
// held against the whole bundle.
#ifndef PRIMSET_CODEGEN_SPECGEN_RESOLVE_RESOLVE_H_
#define PRIMSET_CODEGEN_SPECGEN_RESOLVE_RESOLVE_H_

#include "codegen/specgen/parse/op_reader.h"
#include "codegen/specgen/read/diagnostics.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// Links aliases and bases, resolves every formula that is not yet resolved, and refuses overloads
// declared twice, formulas that call themselves, and C++ functions used with two signatures.
void resolve(Bundle& bundle, const OperatorSources& sources, Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_RESOLVE_RESOLVE_H_
