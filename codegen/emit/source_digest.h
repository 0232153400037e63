// A hash of the sources that decide what an emitter writes for a kernel. The build makes its source
// file (source_digest.cmake) when one of them has changed.
#ifndef PRIMSET_CODEGEN_EMIT_SOURCE_DIGEST_H_
#define PRIMSET_CODEGEN_EMIT_SOURCE_DIGEST_H_

namespace primset::emit {

// SHA-256, in hexadecimal digits.
const char* source_digest();

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_SOURCE_DIGEST_H_
