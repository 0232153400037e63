// The rules of CONTRIBUTING.md that a program can check: where files are, how long they are, how
// they end, what they are guarded by.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRepository = PRIMSET_SOURCE_DIR;
const std::vector<std::string> kFolders = {"backends", "codegen", "conformance", "decomps", "docs",
                                           "prims",    "samples", "sdk",         "specs"};
constexpr size_t kMostLines = 800;

struct File {
  std::string path;  // from the root
  std::string text;

  bool is(std::initializer_list<const char*> extensions) const {
    return std::ranges::any_of(extensions, [&](const char* e) { return path.ends_with(e); });
  }
  // Line number of a position.
  size_t line(size_t at) const {
    return 1 + static_cast<size_t>(
                   std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
  }
};

bool is_text(const std::string& path) {
  static const std::set<std::string> extensions = {".cpp", ".h",   ".c",  ".py",    ".yaml",
                                                   ".md",  ".txt", ".in", ".cmake", ".json",
                                                   ".map", ".pyi", ".sh"};
  const fs::path p = path;
  return extensions.count(p.extension().string()) != 0 || p.extension().empty();
}

// Everything in the project's folders and the files at the top.
std::vector<File> read_files() {
  std::vector<fs::path> paths;
  for (const std::string& folder : kFolders) {
    for (auto it = fs::recursive_directory_iterator(kRepository / folder);
         it != fs::recursive_directory_iterator(); ++it) {
      if (it->path().filename() == "__pycache__") it.disable_recursion_pending();
      if (it->is_regular_file()) paths.push_back(it->path());
    }
  }
  for (const auto& entry : fs::directory_iterator(kRepository))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::vector<File> files;
  for (const fs::path& p : paths) {
    const std::string path = fs::relative(p, kRepository).string();
    if (!is_text(path)) continue;
    std::ostringstream text;
    text << std::ifstream(p, std::ios::binary).rdbuf();
    files.push_back({path, text.str()});
  }
  return files;
}

const std::vector<File>& files() {
  static const std::vector<File> list = read_files();
  return list;
}

bool is_test_data(const File& f) {
  return f.path.find("testdata/") != std::string::npos;
}

TEST(HouseRules, SeesTheFiles) {
  EXPECT_GT(files().size(), 500u) << "not found under " << kRepository;
}

TEST(HouseRules, OnlyTheFoldersOfTheDesign) {
  for (const auto& entry : fs::directory_iterator(kRepository)) {
    const std::string name = entry.path().filename().string();
    const bool ignored = name[0] == '.' || name == "out" || name.starts_with("build");
    if (!entry.is_directory() || ignored) continue;
    EXPECT_EQ(std::count(kFolders.begin(), kFolders.end(), name), 1)
        << name << "/ is no folder of docs/design.md";
  }
}

TEST(HouseRules, NoFileIsTooLong) {
  for (const File& f : files()) {
    const auto lines = static_cast<size_t>(std::count(f.text.begin(), f.text.end(), '\n'));
    // An operator family is one file, however large ATen made it; the PyTorch oracle
    // writes docs/coverage.*.
    const bool family = std::string_view(f.path).starts_with("specs/ops/");
    const bool coverage = std::string_view(f.path).starts_with("docs/coverage.");
    if (!is_test_data(f) && !family && !coverage) {
      EXPECT_LE(lines, kMostLines) << f.path << " is to be split: one concept a file";
    }
  }
}

TEST(HouseRules, FilesEndWithOneNewline) {
  for (const File& f : files()) {
    if (f.text.empty()) continue;
    EXPECT_TRUE(f.text.ends_with('\n')) << f.path << ": no newline at the end";
    EXPECT_FALSE(f.text.ends_with("\n\n")) << f.path << ": an empty line at the end";
  }
}

TEST(HouseRules, NoTabsAndNoSpacesAtTheEndOfALine) {
  const std::regex trailing("[ \t\r]\n");
  for (const File& f : files()) {
    if (is_test_data(f)) continue;
    std::smatch m;
    EXPECT_FALSE(std::regex_search(f.text, m, trailing))
        << f.path << ":" << f.line(static_cast<size_t>(m.position()))
        << ": space before the line's end";
    const size_t tab = f.text.find('\t');
    EXPECT_EQ(tab, std::string::npos) << f.path << ":" << f.line(tab) << ": a tab";
  }
}

// What is not done returns an error and is listed as not done; it does not wait in a comment.
TEST(HouseRules, NothingIsPutOff) {
  const std::regex mark(std::string("\\b(TO") + "DO|FIX" + "ME)\\b");
  for (const File& f : files()) {
    std::smatch m;
    EXPECT_FALSE(std::regex_search(f.text, m, mark))
        << f.path << ":" << f.line(static_cast<size_t>(m.position())) << ": " << m.str();
  }
}

// PRIMSET_ and the path as an include names it.
TEST(HouseRules, HeadersAreGuardedByTheirPath) {
  const std::string folders[] = {"sdk/include/primset/", "sdk/base/include/primset/"};
  for (const File& f : files()) {
    if (!f.is({".h"})) continue;
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
