// Folders and files in which nobody but this user, or root, can have put anything.
//
// What is executed (cached kernels, plugins) must come from such a folder. A folder is trusted when
// it and all folders above it belong to this user or to root and nobody else may write to them (a
// group that is the owner's alone is nobody else);
// above it, sticky folders like /tmp will do, since nobody can rename what is another's there. All
// is checked on open descriptors, without following symbolic links, so that nothing can be
// exchanged between the check and the use. The umask is not relied on: what is made here has its
// mode set.
//
// Errors are values, since a cache that cannot be used is no error of the caller's. Thread safe.
#ifndef PRIMSET_SDK_RUNTIME_FILES_TRUSTED_FOLDER_H_
#define PRIMSET_SDK_RUNTIME_FILES_TRUSTED_FOLDER_H_

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "sdk/base/atomic_file.h"
#include "sdk/base/descriptor.h"

namespace primset::runtime {

enum class Missing : uint8_t {
  refuse,
  make  // what is missing of the path, for this user alone (0700)
};

// A folder to open files in, or why it is not trusted.
struct TrustedFolder {
  Descriptor descriptor;
  std::string refusal;  // "/tmp/shared may be written by others (mode 0777)"; empty: it is trusted
  explicit operator bool() const { return static_cast<bool>(descriptor); }
};

// Others than its owner: by the mode of a file or folder, and by who is in its group.
bool others_may_write(const struct stat& s);

// Symbolic links in `path` itself are resolved first. The folder may belong to root where nothing
// is made.
TrustedFolder open_trusted_folder(const std::filesystem::path& path, Missing missing);
// A folder of this user's within an open one; `shown` is its path for messages.
TrustedFolder open_trusted_subfolder(const Descriptor& folder, const std::string& name,
                                     const std::filesystem::path& shown, Missing missing);

// A regular file of this user's that nobody else may read or write, opened for reading; invalid
// when there is none. Links, FIFOs, devices and others' files are not opened.
Descriptor open_own_file(const Descriptor& folder, const std::string& name);
// A regular file of this user's or root's that nobody else may write, opened for reading; the
// folders above it must be trusted as those above a trusted folder. Invalid: `refusal` says why.
Descriptor open_trusted_file(const std::filesystem::path& file, std::string& refusal);
// Exactly so many bytes from an offset; false: there are fewer, or the device failed.
bool read_exactly(const Descriptor& file, std::span<uint8_t> out, uint64_t offset);

// A file of this user's alone, which comes to its name whole or not at all.
std::error_code write_own_file(const Descriptor& folder, const std::string& name,
                               std::span<const std::span<const uint8_t>> parts,
                               AtomicFile::Existing existing);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_FILES_TRUSTED_FOLDER_H_
