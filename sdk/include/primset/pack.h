// Packs: kernels compiled ahead of time, in files that `primset pack` makes.
//
//   primset::use_pack("model.pack", "cuda:0");  // kernels that it holds are not compiled any more
//
// Packs that PRIMSET_PACK names, and files lib<name>_primset.pack or lib<name>_primset.*.pack
// beside a plugin, are used without a call. A pack is for one build of Primset and one kind of
// device; for others it is refused.
#ifndef PRIMSET_PACK_H_
#define PRIMSET_PACK_H_

#include <primset/device.h>
#include <primset/export.h>

#include <string>

namespace primset {

// Opens the device. Throws Error{value}: the file is damaged, may be written by others, or is for
// another build or device; the text says which. What a pack holds is executed like a plugin's code:
// use those of whom you would take a plugin of. Call it before the device computes: what is
// compiled already stays.
PRIMSET_API void use_pack(const std::string& file, Device device);

}  // namespace primset

#endif  // PRIMSET_PACK_H_
