// A file that comes to its name whole or not at all: it is written under a temporary name in the
// same folder, which commit() exchanges for the real one. Others see the old file, the new one, or
// none.
//
// Who writes holds a lock on the temporary file, which ends with the process however it ends. So
// what a killed process left is known at once, and remove_abandoned_files removes it.
#ifndef PRIMSET_SDK_BASE_ATOMIC_FILE_H_
#define PRIMSET_SDK_BASE_ATOMIC_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "sdk/base/descriptor.h"

namespace primset {

class AtomicFile {
 public:
  enum class Existing : uint8_t { replace, keep };

  // `folder`, an open one (O_PATH will do), must live as long as this.
  AtomicFile(const Descriptor& folder, std::string name)
      : folder_(&folder), name_(std::move(name)) {}
  ~AtomicFile();  // without commit() nothing is left
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // A new temporary file, never one that is there; `mode` as of open(2).
  std::error_code create(mode_t mode);
  const Descriptor& descriptor() const { return file_; }
  // Existing::keep: a file that is there stays, and that is no error.
  std::error_code commit(Existing existing);
  // After commit(): the caller closes the file, and hears what the system says of it.
  int release() { return file_.release(); }

 private:
  bool lock_temporary();

  const Descriptor* folder_;
  std::string name_, temporary_;
  Descriptor file_;
};

// All of it, whatever signals arrive.
std::error_code write_all(const Descriptor& file, std::string_view bytes);

// Temporary files in a folder that no process writes any more.
void remove_abandoned_files(const std::filesystem::path& folder);

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_ATOMIC_FILE_H_
