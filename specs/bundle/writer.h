// Serialising a bundle: the other half of reader.h.
#ifndef PRIMSET_SPECS_BUNDLE_WRITER_H_
#define PRIMSET_SPECS_BUNDLE_WRITER_H_

#include <cstddef>
#include <vector>

#include "specs/bundle/model.h"

namespace primset::specs {

// The bytes depend on the bundle's contents only. Sets bundle.content_hash.
std::vector<std::byte> write_bundle(Bundle& bundle);

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_WRITER_H_
