// The words and signs of a C or C++ source, without comments, literals and preprocessor lines.
#ifndef PRIMSET_SDK_TESTING_CPP_TOKENS_H_
#define PRIMSET_SDK_TESTING_CPP_TOKENS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace primset::repository {

struct CppToken {
  std::string text;  // a word, "::", or one sign
  size_t line = 0;   // from 1
};

std::vector<CppToken> cpp_tokens(std::string_view source);

}  // namespace primset::repository

#endif  // PRIMSET_SDK_TESTING_CPP_TOKENS_H_
