// Stage 5, write: a C++ declaration for every function that a `decompose:` names, so that a
// definition with another signature does not compile and a missing one does not link.
#ifndef PRIMSET_CODEGEN_SPECGEN_WRITE_DECOMPS_H_
#define PRIMSET_CODEGEN_SPECGEN_WRITE_DECOMPS_H_

#include <map>
#include <string>

#include "specs/bundle/model.h"

namespace primset::specs {

// "std::tuple<Val, Val> decompose(Tracer& t, const Val& input, …)": what the function must look
// like. An overload that writes arguments gives their new values.
std::string cpp_signature(const Overload& overload);
std::string cpp_signature(const Primitive& primitive);

// File names below decomps/ and their texts: operators/<family>.h,
// primitives/<category>.h, all.h and registry.inc.
std::map<std::string, std::string> emit_decomps(const Bundle& bundle);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_WRITE_DECOMPS_H_
