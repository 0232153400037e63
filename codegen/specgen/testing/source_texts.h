// What specgen's tests share.
#ifndef PRIMSET_CODEGEN_SPECGEN_TESTING_SOURCE_TEXTS_H_
#define PRIMSET_CODEGEN_SPECGEN_TESTING_SOURCE_TEXTS_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "codegen/specgen/compile.h"
#include "codegen/specgen/parse/formula_parser.h"
#include "codegen/specgen/read/yaml.h"

namespace primset::specs {

inline std::filesystem::path source_path(const std::string& path) {
  return std::filesystem::path(PRIMSET_SOURCE_DIR) / path;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// A few dtypes, primitives and operators that do not change with the real specs.
inline const Bundle& small_bundle() {
  static const Bundle bundle = [] {
    Diagnostics diagnostics;
    Bundle compiled = compile({source_path("codegen/specgen/testdata/base")}, diagnostics);
    EXPECT_EQ(diagnostics.text(), "");
    return compiled;
  }();
  return bundle;
}

// `text` as a scalar at line 1, column 1.
inline YamlNode scalar(const std::string& text) {
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.text = text;
  return node;
}

// Compiles one file on top of the small bundle; the test fails on any message.
inline Bundle compile_file(const std::string& text, const std::string& name = "mine.yaml") {
  Diagnostics diagnostics;
  Bundle bundle = compile_texts(small_bundle(), {{name, text}}, diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return bundle;
}

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_TESTING_SOURCE_TEXTS_H_
