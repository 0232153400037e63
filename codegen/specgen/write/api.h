// Stage 5, write: the operators as C++ functions (primset::add, add_, add_out), one header a
// family, for programs that link libprimset. sdk/include/primset/detail/call.h shows what one
// looks like.
#ifndef PRIMSET_CODEGEN_SPECGEN_WRITE_API_H_
#define PRIMSET_CODEGEN_SPECGEN_WRITE_API_H_

#include <map>
#include <string>

#include "specs/bundle/model.h"

namespace primset::specs {

// File names below primset/ and their texts: ops/<family>.h, and ops.h, which includes them all.
// Only implemented overloads have a function; a family without any has an empty header.
std::map<std::string, std::string> emit_api(const Bundle& bundle);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_WRITE_API_H_
