// A file that is written so that nothing is lost unseen: every write is checked, and an error says
// the file and what the system said ("FILE: cannot be written: No space left on device").
//
// A file is replaced whole or not at all (atomic_file.h). A temporary file whose process was killed
// is removed by the next process that writes in its folder.
#ifndef PRIMSET_SDK_BASE_OUTPUT_FILE_H_
#define PRIMSET_SDK_BASE_OUTPUT_FILE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "sdk/base/atomic_file.h"
#include "sdk/base/descriptor.h"

namespace primset {

class OutputFile {
 public:
  enum class Mode : uint8_t {
    replace,  // by what is written until commit(); what is no regular file is written as it is
    append,   // behind what is there
  };

  // Makes the folder that the file lies in. This and all functions throw Error{runtime}.
  OutputFile(std::filesystem::path path, Mode mode);
  ~OutputFile();  // without commit() a file to be replaced stays as it was
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // All of it, without a buffer. Where a disk is full halfway, what was written of an append is
  // taken back.
  void write(std::string_view bytes);
  // Waits until the disk has what was written.
  void sync();
  // The end of writing: the disk has the file under its name.
  void commit();

 private:
  [[noreturn]] void fail(const char* doing, std::error_code error) const;
  void open_temporary();
  void close_file(int fd) const;
  const Descriptor& file() const;

  std::filesystem::path path_;    // as the user named it
  std::filesystem::path target_;  // where symbolic links lead
  Descriptor folder_;
  std::optional<AtomicFile> temporary_;  // none: the file is written in its place
  Descriptor file_;
};

// Makes the file hold `contents`.
void write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_OUTPUT_FILE_H_
