// Every mistake specgen knows, with its exact message and place: testdata/malformed_specs.txt.
#include <gtest/gtest.h>

#include <sstream>

#include "codegen/specgen/testing/source_texts.h"

namespace primset::specs {
namespace {

struct Malformed {
  std::string name;
  std::string text;
  std::string messages;
};

std::vector<Malformed> read_table() {
  std::istringstream lines(read_text(source_path("codegen/specgen/testdata/malformed_specs.txt")));
  std::vector<Malformed> table;
  std::string* target = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("=== ")) {
      table.push_back({line.substr(4), "", ""});
      target = &table.back().text;
    } else if (line == ">>>") {
      target = &table.back().messages;
    } else if (target != nullptr) {
      *target += line + "\n";
    }
  }
  return table;
}

class MalformedSpec : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedSpec, IsReportedExactly) {
  Diagnostics diagnostics;
  compile_texts(small_bundle(), {{"bad.yaml", GetParam().text}}, diagnostics);
  EXPECT_FALSE(diagnostics.ok());
  EXPECT_EQ(diagnostics.text(), GetParam().messages) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Table, MalformedSpec, testing::ValuesIn(read_table()),
                         [](const testing::TestParamInfo<Malformed>& tested) {
                           std::string name = tested.param.name;
                           for (char& c : name) {
                             if (isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

TEST(MalformedSpecs, TheTableIsLarge) {
  EXPECT_GE(read_table().size(), 120u);
}

// Whatever the bytes, there is a verdict: cut and changed, real specs must not crash the compiler.
TEST(MalformedSpecs, MutationsOfRealSpecsDoNotCrash) {
  const std::string text = read_text(source_path("codegen/specgen/testdata/base/prims/base.yaml")) +
                           read_text(source_path("specs/prims/elementwise_binary.yaml"));
  uint32_t random = 12345;
  const std::string alphabet = "(){}[]:,;-> \n'\"|#&*!?=+0aZ\x80";
  for (int round = 0; round < 400; ++round) {
    std::string mutated = text.substr(0, 600 + round);
    for (int edit = 0; edit < 3; ++edit) {
      random = random * 1664525u + 1013904223u;
      mutated[(random >> 8) % mutated.size()] = alphabet[(random >> 3) % alphabet.size()];
    }
    Diagnostics diagnostics;
    compile_texts(small_bundle(), {{"mutated.yaml", mutated}}, diagnostics);
  }
}

TEST(Diagnostics, SeveralFilesAreReportedInOneRunAndInOrder) {
  Diagnostics diagnostics;
  compile_texts(small_bundle(),
                {{"b.yaml", "- op: f\n  overloads: {default: (Tensr self) -> Tensor}\n"},
                 {"a.yaml", "- op: g\n  overlods: {}\n"}},
                diagnostics);
  const std::string text = diagnostics.text();
  EXPECT_LT(text.find("b.yaml:2:25: unknown type 'Tensr'"), text.find("a.yaml:1:3: "));
}

TEST(Diagnostics, AsJson) {
  Diagnostics diagnostics;
  compile_texts(small_bundle(), {{"bad\"name.yaml", "- op: f\n  overloads: [a]\n"}}, diagnostics);
  EXPECT_EQ(diagnostics.json(), R"([
  {
    "file": "bad\"name.yaml",
    "line": 2,
    "column": 14,
    "what": "unexpected a list",
    "expected": "a mapping of overload names to schemas"
  }
]
)");
}

}  // namespace
}  // namespace primset::specs
