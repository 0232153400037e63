// Nobody keeps a list of primitives of their own: what holds of some primitives and not of others
// is a trait in specs/prims (prims/graph/traits.h). Such lists are found by their looks: names and
// categories compared with words, and switches over Prim that answer yes or no and give what they
// do not name a default.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Finding {
  size_t line;
  std::string what;
};

size_t line_of(const std::string& text, size_t at) {
  return 1 + static_cast<size_t>(
                 std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

// Variables that hold a primitive's name: std::string_view self = info(node.prim).name;
std::string names_of_primitives(const std::string& text) {
  static const std::regex held(R"re((\w+) = (?:prims::)?info\([\w.>()-]*\)\.name;)re");
  std::string names = R"re(info\([\w.>()-]*\)\.name|\bprim(?:itive)?(?:\.|->)name)re";
  for (auto it = std::sregex_iterator(text.begin(), text.end(), held); it != std::sregex_iterator();
       ++it) {
    names += "|\\b" + (*it)[1].str();
  }
  return names;
}

// info.category == "shape", "shape" != p.category, category.starts_with("elementwise"); and so with
// the name of a primitive, or with a list of words that has it.
void find_compared_words(const std::string& text, std::vector<Finding>& found) {
  const bool speaks_of_primitives =
      std::ranges::any_of(std::array{"category", "info(", "prim.name", "primitive.name",
                                     "prim->name", "primitive->name"},
                          [&](const char* word) { return text.find(word) != std::string::npos; });
  if (!speaks_of_primitives) return;  // the patterns below take their time
  const std::string compared = R"re((?:\bcategory(?:\(\))?|)re" + names_of_primitives(text) + ")";
  const std::regex comparison(
      compared + R"re(\s*(?:[!=]=\s*"|\.(?:starts_with|ends_with|contains|find)\())re" +
      R"re(|"\w*"\s*[!=]=\s*(?:[\w.]|->)*)re" + compared + R"re(|std::(?:ranges::)?find\([^;]*)re" +
      compared + R"re(\))re");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), comparison);
       it != std::sregex_iterator(); ++it) {
    found.push_back({line_of(text, static_cast<size_t>(it->position())), it->str()});
  }
}

// Where the brace that opens at `open` is closed.
size_t closing(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return text.size();
}

void find_switches(const std::string& text, std::vector<Finding>& found) {
  static const std::regex yes_or_no(R"(default:\s*(break;\s*\}\s*)?return (true|false);)");
  for (size_t at = text.find("switch ("); at != std::string::npos;
       at = text.find("switch (", at + 1)) {
    const size_t end = closing(text, text.find('{', at));
    // What follows the switch is where a break of its default leads.
    const std::string body = text.substr(at, std::min(text.size(), end + 40) - at);
    if (body.find("case Prim::") == std::string::npos &&
        body.find("case prims::Prim::") == std::string::npos)
      continue;
    std::smatch match;
    if (std::regex_search(body, match, yes_or_no))
      found.push_back({line_of(text, at), "a switch over Prim with '" + match.str() + "'"});
  }
}

std::vector<Finding> private_lists(const std::string& text) {
  std::vector<Finding> found;
  find_compared_words(text, found);
  find_switches(text, found);
  return found;
}

bool is_checked(const fs::path& p) {
  const std::string name = p.filename().string();
  return (name.ends_with(".cpp") || name.ends_with(".h")) &&
         name.find("_test") == std::string::npos;
}

TEST(PrivateLists, ThereAreNone) {
  const fs::path root = PRIMSET_SOURCE_DIR;
  size_t seen = 0;
  for (const std::string folder : {"prims", "decomps", "codegen/schedule", "sdk", "conformance"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = fs::relative(entry.path(), root).string();
      if (!entry.is_regular_file() || !is_checked(path)) continue;
      ++seen;
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      for (const Finding& f : private_lists(text.str())) {
        ADD_FAILURE() << path << ":" << f.line << ": " << f.what
                      << ": a list of primitives; expected a trait (prims/graph/traits.h)";
      }
    }
  }
  EXPECT_GT(seen, 300u) << "the sources were not found under " << root;
}

std::vector<size_t> lines(const std::string& text) {
  std::vector<size_t> out;
  for (const Finding& f : private_lists(text)) out.push_back(f.line);
  return out;
}

TEST(PrivateLists, APlantedOneIsFound) {
  EXPECT_EQ(lines("a;\nif (info.category == \"shape\") b;"), std::vector<size_t>{2});
  EXPECT_EQ(lines("if (\"shape\" != p->category) b;"), std::vector<size_t>{1});
  EXPECT_EQ(lines("return category.starts_with(\"elementwise\");"), std::vector<size_t>{1});
  EXPECT_EQ(lines("return info(prim).name.starts_with(\"reduce_\");"), std::vector<size_t>{1});
  EXPECT_EQ(lines("auto self = info(p).name;\nif (self == \"slice\") b;"), std::vector<size_t>{2});
  EXPECT_EQ(lines("auto self = info(p).name;\nreturn std::find(kList, kEnd, self) != kEnd;"),
            std::vector<size_t>{2});
  EXPECT_EQ(lines("switch (p) {\n  case Prim::exp:\n    return true;\n  default:\n    return "
                  "false;\n}"),
            std::vector<size_t>{1});
  EXPECT_EQ(
      lines("x;\nswitch (p) {\n  case prims::Prim::exp: {\n    return true;\n  }\n  default:\n"
            "    break;\n}\nreturn false;"),
      std::vector<size_t>{2});
}

TEST(PrivateLists, OtherSwitchesAndWordsAreNone) {
  EXPECT_EQ(
      lines("switch (p) {\n  case Prim::add:\n    return b.add(x, y);\n  default:\n    return "
            "{};\n}"),
      std::vector<size_t>{});
  EXPECT_EQ(lines("switch (kind) {\n  case Kind::a:\n    return true;\n  default:\n    return "
                  "false;\n}"),
            std::vector<size_t>{});
  EXPECT_EQ(lines("if (mode == \"floor\") return info(p).name;"), std::vector<size_t>{});
  EXPECT_EQ(lines("if (name == \"dtype\" || p == Prim::exp) b;"), std::vector<size_t>{});
}

}  // namespace
