// Stage 5, write: the functions on the host as an X-macro table, from which C++ declares them and
// finds them by name.
#ifndef PRIMSET_CODEGEN_SPECGEN_WRITE_HOST_FUNCTIONS_H_
#define PRIMSET_CODEGEN_SPECGEN_WRITE_HOST_FUNCTIONS_H_

#include <string>

#include "specs/bundle/model.h"

namespace primset::specs {

// host_functions.inc: PRIMSET_INTRINSIC(name, recordable, query), PRIMSET_CHECK(name) and
// PRIMSET_WRITTEN_CHECK(name).
std::string emit_host_functions(const Bundle& bundle);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_WRITE_HOST_FUNCTIONS_H_
