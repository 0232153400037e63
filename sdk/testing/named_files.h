// Files that documents and comments name, held against those that there are.
//
// In Markdown a file is named in backticks (`codegen/emit/emitter.h`, `element.h`, `docs/*.md`) or
// by a relative link ([text](../design.md)); in a C or C++ comment by its name with an extension.
// What is named may be a whole path, the end of one (`fusion/planner.h`), or a pattern with `*`.
#ifndef PRIMSET_SDK_TESTING_NAMED_FILES_H_
#define PRIMSET_SDK_TESTING_NAMED_FILES_H_

#include <string>
#include <vector>

#include "sdk/testing/source_files.h"

namespace primset::repository {

struct NamedFile {
  std::string in;  // the file that names it
  size_t line = 0;
  std::string name;  // as it stands there
};

// Those named in the backticks and relative links of a Markdown file. Code blocks, placeholders
// (`lib<name>_primset.so`), and what is made by the build or lies outside the repository (a path
// that begins with build/, out/, $ or ~) are passed over.
std::vector<NamedFile> files_named_in_markdown(const SourceFile& file);

// Those named in the comments of a C or C++ file.
std::vector<NamedFile> files_named_in_comments(const SourceFile& file);

// Those of `named` that are no file and no folder of the repository.
std::vector<NamedFile> missing_files(const std::vector<NamedFile>& named);

}  // namespace primset::repository

#endif  // PRIMSET_SDK_TESTING_NAMED_FILES_H_
