// Reading a spec bundle. Nothing here knows YAML: specgen compiles it (codegen/specgen).
#ifndef PRIMSET_SPECS_BUNDLE_READER_H_
#define PRIMSET_SPECS_BUNDLE_READER_H_

#include <cstddef>
#include <filesystem>
#include <span>

#include "specs/bundle/model.h"

namespace primset::specs {

// Reads a serialised bundle. Throws Error{corrupt} saying what is wrong when the bytes are cut
// short, damaged, of another version, or refer to what does not exist; it never crashes and never
// allocates more than the bytes can justify.
Bundle read_bundle(std::span<const std::byte> bytes);

// Reads the file at `path`; Error{corrupt} likewise, Error{runtime} when it cannot be opened.
Bundle load_bundle(const std::filesystem::path& path);

// The bundle built into this binary; read once, at the first call. Thread-safe.
const Bundle& embedded_bundle();

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_READER_H_
