// libFuzzer: specgen on arbitrary text, as a file of operators or primitives beside a small
// vocabulary. Whatever the text, there is a bundle or there are messages.
#include <cstdint>
#include <string>

#include "codegen/specgen/testing/fuzz_vocabulary.h"
#include "codegen/specgen/write/decomps.h"
#include "codegen/specgen/write/prims.h"
#include "specs/bundle/reader.h"
#include "specs/bundle/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::specs;
  Diagnostics diagnostics;
  Bundle bundle = compile_texts(
      fuzz_vocabulary(), {{"fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size)}},
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
