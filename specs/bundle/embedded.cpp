// The bundle as bytes in the binary's read-only data. The assembler copies the file in, so that a
// new bundle costs assembling these lines and no parsing of a million-element array.
#include "specs/bundle/reader.h"

__asm__(
    ".pushsection .rodata.primset_bundle, \"a\", @progbits\n"
    ".balign 16\n"
    ".hidden primset_embedded_bundle_begin\n"
    ".hidden primset_embedded_bundle_end\n"
    ".globl primset_embedded_bundle_begin\n"
    ".globl primset_embedded_bundle_end\n"
    "primset_embedded_bundle_begin:\n"
    ".incbin \"" PRIMSET_BUNDLE_FILE
    "\"\n"
    "primset_embedded_bundle_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const std::byte primset_embedded_bundle_begin[];
extern const std::byte primset_embedded_bundle_end[];
}

namespace primset::specs {

const Bundle& embedded_bundle() {
  static const Bundle bundle =
      read_bundle(std::span(primset_embedded_bundle_begin, primset_embedded_bundle_end));
  return bundle;
}

}  // namespace primset::specs
