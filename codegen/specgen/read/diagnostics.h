// Errors in specs: collected, so that one run reports several, each with its place.
#ifndef PRIMSET_CODEGEN_SPECGEN_READ_DIAGNOSTICS_H_
#define PRIMSET_CODEGEN_SPECGEN_READ_DIAGNOSTICS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/base/suggestion.h"

namespace primset::specs {

struct Position {
  uint32_t file = 0;    // index into Diagnostics' files
  uint32_t line = 1;    // 1-based
  uint32_t column = 1;  // 1-based, in bytes

  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Diagnostic {
  Position position;
  std::string what;
  std::string expected;  // may be empty
};

class Diagnostics {
 public:
  // Registers a file by the name that messages call it; returns its index.
  uint32_t add_file(std::string name);
  const std::string& file_name(uint32_t file) const { return files_[file]; }

  void error(Position position, std::string what, std::string expected = "");

  // Takes over the files and errors of another run.
  void append(const Diagnostics& other);

  bool ok() const { return list_.empty(); }
  size_t count() const { return list_.size(); }
  // In the order of files, lines and columns; one message per place.
  std::vector<Diagnostic> sorted() const;

  // "file:line:column: what; expected …", one line each.
  std::string text() const;
  // [{"file": …, "line": …, "column": …, "what": …, "expected": …}, …]
  std::string json() const;

 private:
  std::vector<std::string> files_;
  std::vector<Diagnostic> list_;
};

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_READ_DIAGNOSTICS_H_
