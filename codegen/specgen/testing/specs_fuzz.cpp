// libFuzzer: specgen on arbitrary text, as a file of operators or primitives beside a small
// vocabulary. Whatever the text, there is a bundle or there are messages.
#include <cstdint>
#include <string>

#include "codegen/specgen/compile.h"
#include "codegen/specgen/write/decomps.h"
#include "codegen/specgen/write/prims.h"
#include "specs/bundle/reader.h"
#include "specs/bundle/writer.h"

namespace {

constexpr const char* kVocabulary = R"(dtypes:
  - {name: f32, torch: float32, aten: Float, cpp: float, code: 6, bits: 32, kind: floating,
     format: {exponent: 8, mantissa: 23, bias: 127, nan: ieee, overflow: infinity}}
sets: {all: f32}
)";
constexpr const char* kPrims = R"(
- {prim: exp, tier: core, signature: (x) -> y, dtypes: all, meaning: M., tolerance: {f32: exact}}
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::specs;
  Diagnostics diagnostics;
  Bundle bundle =
      compile_texts(Bundle(),
                    {{"dtypes.yaml", kVocabulary},
                     {"prims.yaml", kPrims},
                     {"fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size)}},
                    diagnostics);
  if (diagnostics.ok()) {
    // What compiles can be written, read again, and emitted.
    read_bundle(write_bundle(bundle));
    emit_decomps(bundle);
    emit_prim_table(bundle);
  } else {
    diagnostics.text();
    diagnostics.json();
  }
  return 0;
}
