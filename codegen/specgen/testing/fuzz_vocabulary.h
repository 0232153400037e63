// A few dtypes and primitives, compiled once, beside which fuzzers put specs of their own.
#ifndef PRIMSET_CODEGEN_SPECGEN_TESTING_FUZZ_VOCABULARY_H_
#define PRIMSET_CODEGEN_SPECGEN_TESTING_FUZZ_VOCABULARY_H_

#include <cstdlib>

#include "codegen/specgen/compile.h"

namespace primset::specs {

inline constexpr const char* kFuzzDtypes = R"yaml(dtypes:
  - {name: f32, torch: float32, aten: Float, cpp: float, code: 6, bits: 32, kind: floating,
     format: {exponent: 8, mantissa: 23, bias: 127, nan: ieee, overflow: infinity}}
sets: {all: f32}
)yaml";

inline constexpr const char* kFuzzPrims = R"yaml(
- {prim: exp, tier: core, signature: (x) -> y, dtypes: all, meaning: M., tolerance: {f32: exact}}
- {prim: add, tier: core, signature: "(a, b) -> y", dtypes: all, meaning: M., tolerance: {f32: exact}}
- {prim: sub, tier: core, signature: "(a, b) -> y", dtypes: all, meaning: M., tolerance: {f32: exact}}
- {prim: mul, tier: core, signature: "(a, b) -> y", dtypes: all, meaning: M., tolerance: {f32: exact}}
- {prim: select, tier: core, signature: "(c, a, b) -> y", dtypes: all, meaning: M., tolerance: {f32: exact}}
)yaml";

inline const Bundle& fuzz_vocabulary() {
  static const Bundle bundle = [] {
    Diagnostics diagnostics;
    Bundle compiled = compile_texts(
        Bundle(), {{"dtypes.yaml", kFuzzDtypes}, {"prims.yaml", kFuzzPrims}}, diagnostics);
    if (!diagnostics.ok()) std::abort();
    return compiled;
  }();
  return bundle;
}

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_TESTING_FUZZ_VOCABULARY_H_
