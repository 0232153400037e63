// The repository's files as text, for tests that check the rules of CONTRIBUTING.md on them.
#ifndef PRIMSET_SDK_TESTING_SOURCE_FILES_H_
#define PRIMSET_SDK_TESTING_SOURCE_FILES_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace primset::repository {

struct SourceFile {
  std::string path;  // from the root
  std::string text;

  bool has_extension(std::initializer_list<const char*> extensions) const;
  bool is_test_data() const;
  size_t count_lines() const;
  // The number, from 1, of the line that holds a position of the text.
  size_t line_at(size_t position) const;
};

// The folders that docs/design.md has.
const std::vector<std::string>& top_folders();

// Every text file in these folders, and those at the top; read once.
const std::vector<SourceFile>& repository_files();

// The text of one of them. Throws std::runtime_error that names the file when it is not there.
std::string read_repository_file(const std::string& path);

// By its name or, for programs, by the first line.
bool is_python(const SourceFile& file);
// C, C++ and Python: what is meant by a source file.
bool is_source(const SourceFile& file);

}  // namespace primset::repository

#endif  // PRIMSET_SDK_TESTING_SOURCE_FILES_H_
