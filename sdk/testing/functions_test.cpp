#include "sdk/testing/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace primset::repository {

void PrintTo(const FunctionSpan& s, std::ostream* out) {
  *out << s.name << " at " << s.line << ", " << s.lines << " lines";
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<FunctionSpan> cpp(const std::string& text) {
  return find_functions({"x.cpp", text});
}

TEST(Functions, OfNamespacesAndClasses) {
  EXPECT_THAT(
      cpp("namespace a {\nint f(int x) {\n  if (x) {\n    return 1;\n  }\n  return 0;\n}\n"
          "struct S : Base<int> {\n  S() : a_{1}, b_(2) {}\n private:\n  bool g() const\n"
          "      noexcept {\n    return [] { return true; }();\n  }\n  int a_, b_;\n};\n}\n"),
      ElementsAre(FunctionSpan{"f", 2, 6}, FunctionSpan{"S", 9, 1}, FunctionSpan{"g", 11, 4}));
}

TEST(Functions, AreNoTablesAndNoDeclarations) {
  EXPECT_THAT(
      cpp("int f(int);\nconst int k[] = {1, 2};\nconst X kX{\"a\", [](int) { return 1; }};\n"
          "enum class E { a, b };\nauto g = [](int x) { return x; };\n"
          "template <class T = int>\nstruct A { T x = {}; };\n"
          "const struct {\n  int a;\n} kRows[] = {{1}};\nS& operator=(const S&) = delete;\n"),
      IsEmpty());
}

TEST(Functions, WithUnusualHeads) {
  EXPECT_THAT(
      cpp("template <class T = int>\nT Engine<T>::run(int x = f({1})) {\n}\n"
          "S& S::operator=(const S& s) {\n}\nextern \"C\" {\nstruct X* make(struct X* y) {\n}\n}\n"
          "TEST_F(Layers, Has) {\n}\n[[noreturn]] auto h() -> std::vector<int> {\n}\n"
          "S::~S() {\n}\n"),
      ElementsAre(FunctionSpan{"run", 1, 3}, FunctionSpan{"S::operator=", 4, 2},
                  FunctionSpan{"make", 7, 2}, FunctionSpan{"TEST_F(Layers, Has)", 10, 2},
                  FunctionSpan{"h", 12, 2}, FunctionSpan{"S::~S", 14, 2}));
}

TEST(Functions, TextsAndCommentsHaveNoBraces) {
  EXPECT_THAT(cpp("// {\n/* { */\n#define M {\\\n  {\nconst char* k = \"{\\\"{\";\nvoid f() {\n"
                  "  g('{', R\"(\n{)\", 1'000'000, R\"x(}})\")x\");\n}\n"),
              ElementsAre(FunctionSpan{"f", 6, 4}));
}

TEST(Functions, UnmatchedBracketsAreNamed) {
  for (const char* text : {"void f() {\n", "namespace a {\n", "}\n"}) {
    EXPECT_THROW(cpp(text), std::runtime_error) << text;
  }
}

TEST(Functions, OfPython) {
  EXPECT_THAT(
      find_functions({"x.py",
                      "def f(\n    a,\n):\n    def g():\n        return 1\n\n"
                      "    return \"\"\"\ndef no():\n\"\"\"\n\n\n"
                      "class A:\n    async def h(self):\n        pass\n\n\nx = 1\n"}),
      ElementsAre(FunctionSpan{"f", 1, 9}, FunctionSpan{"g", 4, 2}, FunctionSpan{"h", 13, 2}));
}

}  // namespace
}  // namespace primset::repository
