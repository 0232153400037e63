// From LLVM's object file to a native image (primset_native_image in primset/plugin.h): one block
// of code and constants that works at any page-aligned address without a loader.
//
// Chosen over a shared object linked by lld in-process. Measured for a kernel of 205 instructions
// on vectors of 16 f32, one core of a Sapphire Rapids server, medians: code generation takes 5.3 ms
// and laying the image out 0.025 ms; a plugin maps it in 6 us. lld in-process takes 0.5 ms for a
// smaller object, allows one link at a time, and wants its output in a file, which a plugin then
// dlopens in 10 to 30 us. JITLink also links in memory, but for an address that is known; all an
// image needs of a linker is one addition for each reference from code to constants.

#ifndef PRIMSET_CODEGEN_EMIT_LLVM_NATIVE_IMAGE_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_NATIVE_IMAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace primset::emit {

// Throws primset::Error{internal} that names the symbol when the object needs something from
// outside or anything but pc-relative references, and primset::Error{not_implemented} for a CPU
// other than x86-64.
std::vector<uint8_t> native_image(std::span<const char> object, const std::string& entry);

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_NATIVE_IMAGE_H_
