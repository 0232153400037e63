// Stage 5, write: the operator and primitive reference, as Markdown.
#ifndef PRIMSET_CODEGEN_SPECGEN_WRITE_DOCS_H_
#define PRIMSET_CODEGEN_SPECGEN_WRITE_DOCS_H_

#include <map>
#include <string>

#include "specs/bundle/model.h"

namespace primset::specs {

// File names and texts: README.md, operators/<family>.md and primitives/<category>.md.
std::map<std::string, std::string> emit_docs(const Bundle& bundle);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_WRITE_DOCS_H_
