// Where a file's functions begin and end: a scanner of brackets, good enough for sources that
// clang-format has laid out.
#ifndef PRIMSET_SDK_TESTING_FUNCTIONS_H_
#define PRIMSET_SDK_TESTING_FUNCTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "sdk/testing/source_files.h"

namespace primset::repository {

struct FunctionSpan {
  std::string name;  // "Engine::run", "TEST(Layers, EveryRowHasFiles)"
  size_t line = 0;   // of its first word, from 1
  size_t lines = 0;  // to its last brace, both counted
  friend bool operator==(const FunctionSpan&, const FunctionSpan&) = default;
};

// Functions with a body, of C and C++ or Python by the file's name; lambdas and local classes
// belong to the function around them, while a local function of Python is one of its own, too.
// Throws std::runtime_error that names file and line where brackets do not match.
std::vector<FunctionSpan> find_functions(const SourceFile& file);

}  // namespace primset::repository

#endif  // PRIMSET_SDK_TESTING_FUNCTIONS_H_
