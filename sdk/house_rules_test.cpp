// The rules of CONTRIBUTING.md that a program can check: where files are, how long they are, how
// they end, what they are guarded by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include "sdk/testing/functions.h"
#include "sdk/testing/source_files.h"

namespace primset::repository {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLines = 800, kMostMedianLines = 120, kMostFunctionLines = 60;
constexpr size_t kMostSourcesOfAFolder = 40;

TEST(HouseRules, SeesTheFiles) {
  EXPECT_GT(repository_files().size(), 500u) << "not found under " PRIMSET_SOURCE_DIR;
}

TEST(HouseRules, OnlyTheFoldersOfTheDesign) {
  for (const auto& entry : fs::directory_iterator(PRIMSET_SOURCE_DIR)) {
    const std::string name = entry.path().filename().string();
    const bool ignored = name[0] == '.' || name == "out" || name.starts_with("build");
    if (!entry.is_directory() || ignored) continue;
    EXPECT_EQ(std::ranges::count(top_folders(), name), 1)
        << name << "/ is no folder of docs/design.md";
  }
}

TEST(HouseRules, NoFileIsTooLong) {
  for (const SourceFile& f : repository_files()) {
    // An operator family is one file, however large ATen made it; the PyTorch oracle
    // writes docs/coverage.*, conformance/speed docs/speed.*.
    const std::string_view path = f.path;
    const bool family = path.starts_with("specs/ops/");
    const bool written = path.starts_with("docs/coverage.") || path.starts_with("docs/speed.");
    if (!f.is_test_data() && !family && !written) {
      EXPECT_LE(f.count_lines(), kMostLines) << f.path << " is to be split: one concept a file";
    }
  }
}

TEST(HouseRules, HalfOfTheSourcesAreShort) {
  std::vector<size_t> lines;
  for (const SourceFile& f : repository_files()) {
    if (is_source(f) && !f.is_test_data()) lines.push_back(f.count_lines());
  }
  ASSERT_FALSE(lines.empty());
  const auto middle = lines.begin() + static_cast<ptrdiff_t>(lines.size() / 2);
  std::ranges::nth_element(lines, middle);
  RecordProperty("median_lines", static_cast<int>(*middle));
  std::printf("median of %zu source files: %zu lines\n", lines.size(), *middle);
  EXPECT_LE(*middle, kMostMedianLines);
}

TEST(HouseRules, FoldersHaveFewSources) {
  std::map<std::string, size_t> sources;
  for (const SourceFile& f : repository_files()) {
    if (is_source(f)) ++sources[f.path.substr(0, f.path.rfind('/'))];
  }
  for (const auto& [folder, count] : sources) {
    EXPECT_LE(count, kMostSourcesOfAFolder) << folder << "/ is to be parted by theme";
  }
}

TEST(HouseRules, FunctionsFitAScreen) {
  for (const SourceFile& f : repository_files()) {
    if (!is_source(f)) continue;
    for (const FunctionSpan& s : find_functions(f)) {
      EXPECT_LE(s.lines, kMostFunctionLines) << f.path << ": " << s.name << " is to be split";
    }
  }
}

// A ruler, `// --- text -----`, that the formatter has broken in two: its dashes stand alone.
bool has_broken_ruler(const std::string& text) {
  static const std::regex broken("(//|#) --- [^\n]*\n\\s*(//|#) -{3,}\n");
  return std::regex_search(text, broken);
}

TEST(HouseRules, RulersAreWhole) {
  for (const SourceFile& f : repository_files()) {
    if (f.is_test_data()) continue;
    EXPECT_FALSE(has_broken_ruler(f.text)) << f.path << ": a section's ruler stands in one line";
  }
}

TEST(HouseRules, BrokenRulersAreFound) {
  const std::string dashes(40, '-');
  EXPECT_TRUE(has_broken_ruler("// --- shapes\n// " + dashes + "\n"));
  EXPECT_TRUE(has_broken_ruler("  // --- sums and more --\n  // " + dashes + "\n"));
  EXPECT_FALSE(has_broken_ruler("// --- shapes " + dashes + "\nint f();\n// " + dashes + "\n"));
}

TEST(HouseRules, FilesEndWithOneNewline) {
  for (const SourceFile& f : repository_files()) {
    if (f.text.empty()) continue;
    EXPECT_TRUE(f.text.ends_with('\n')) << f.path << ": no newline at the end";
    EXPECT_FALSE(f.text.ends_with("\n\n")) << f.path << ": an empty line at the end";
  }
}

TEST(HouseRules, NoTabsAndNoSpacesAtTheEndOfALine) {
  const std::regex trailing("[ \t\r]\n");
  for (const SourceFile& f : repository_files()) {
    if (f.is_test_data()) continue;
    std::smatch m;
    EXPECT_FALSE(std::regex_search(f.text, m, trailing))
        << f.path << ":" << f.line_at(static_cast<size_t>(m.position()))
        << ": space before the line's end";
    const size_t tab = f.text.find('\t');
    EXPECT_EQ(tab, std::string::npos) << f.path << ":" << f.line_at(tab) << ": a tab";
  }
}

// What is not done returns an error and is listed as not done; it does not wait in a comment.
TEST(HouseRules, NothingIsPutOff) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (const SourceFile& f : repository_files()) {
    for (const std::string& mark : {std::string("TO") + "DO", std::string("FIX") + "ME"}) {
      for (size_t at = f.text.find(mark); at != std::string::npos; at = f.text.find(mark, at + 1)) {
        const size_t end = at + mark.size();
        const bool word = (at == 0 || !in_word(f.text[at - 1])) &&
                          (end == f.text.size() || !in_word(f.text[end]));
        EXPECT_FALSE(word) << f.path << ":" << f.line_at(at) << ": " << mark;
      }
    }
  }
}

// PRIMSET_ and the path as an include names it.
TEST(HouseRules, HeadersAreGuardedByTheirPath) {
  const std::string folders[] = {"sdk/include/primset/", "sdk/base/include/primset/"};
  for (const SourceFile& f : repository_files()) {
    if (!f.has_extension({".h"})) continue;
    std::string guard = "PRIMSET_", name = f.path;
    for (const std::string& api : folders) {
      if (name.starts_with(api)) name = name.substr(api.size());
    }
    for (char c : name)
      guard +=
          std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::toupper(c)) : '_';
    guard += '_';
    EXPECT_NE(f.text.find("#ifndef " + guard + "\n#define " + guard + "\n"), std::string::npos)
        << f.path << ": expected the guard " << guard;
  }
}

}  // namespace
}  // namespace primset::repository
