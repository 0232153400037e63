// The layers of docs/design.md, read from its table, and the includes that go against them.
#ifndef PRIMSET_SDK_TESTING_LAYERS_H_
#define PRIMSET_SDK_TESTING_LAYERS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace primset::repository {

// A row of the table. `folder` may be a file, too, or end with "/*": then each folder there is a
// layer of its own. What stands in `may_include` and, for tests, in `tests_may_include` are layers,
// folders or files; a folder stands for all that is below it.
struct LayerRule {
  std::string folder;
  std::vector<std::string> may_include;
  std::vector<std::string> tests_may_include;
};

// Of the Markdown table below the line "## Layers". Throws std::runtime_error that quotes the row
// it cannot read.
std::vector<LayerRule> parse_layer_rules(std::string_view markdown);

struct Include {
  std::string file;    // that has the line
  size_t line = 0;     // from 1
  std::string target;  // the included file, from the root
};

// The includes of our own files. Text in raw strings, which a generator writes, has none.
std::vector<Include> read_includes(const std::string& path, const std::string& text);

// A test (*_test.cpp, *_test.c), or what tests share: all in folders named testing or testdata.
bool is_test_code(std::string_view path);

// One message for each include that no rule allows, and for each file that has no layer.
std::vector<std::string> find_layer_violations(const std::vector<LayerRule>& rules,
                                               std::span<const Include> includes);

}  // namespace primset::repository

#endif  // PRIMSET_SDK_TESTING_LAYERS_H_
