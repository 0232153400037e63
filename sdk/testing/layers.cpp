#include "sdk/testing/layers.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "sdk/testing/source_files.h"

namespace primset::repository {
namespace {

std::string trimmed(const std::string& text) {
  const size_t from = text.find_first_not_of(' ');
  if (from == std::string::npos) return {};
  return text.substr(from, text.find_last_not_of(' ') - from + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(trimmed(part));
  return out;
}

// "`sdk/base`, `prims`" as a list; an empty cell is an empty list.
std::vector<std::string> names_of(const std::string& cell, const std::string& row) {
  std::vector<std::string> out;
  for (const std::string& name : split(cell, ',')) {
    const bool quoted = name.size() > 2 && name.front() == '`' && name.back() == '`';
    if (!quoted) {
      throw std::runtime_error(std::string("docs/design.md, layers: '")
                                   .append(name)
                                   .append("' in the row \"")
                                   .append(row)
                                   .append("\" is no name between back quotes"));
    }
    out.push_back(name.substr(1, name.size() - 2));
  }
  return out;
}

LayerRule parse_row(const std::string& row) {
  const std::vector<std::string> cells = split(row, '|');
  // What is before the first '|' is a cell, too.
  if (cells.size() != 4) {
    throw std::runtime_error("docs/design.md, layers: the row \"" + row + "\" has " +
                             std::to_string(cells.empty() ? 0 : cells.size() - 1) +
                             " cells; expected 3");
  }
  const std::vector<std::string> folder = names_of(cells[1], row);
  if (folder.size() != 1) {
    throw std::runtime_error("docs/design.md, layers: the row \"" + row +
                             "\" does not begin with one folder");
  }
  return {folder[0], names_of(cells[2], row), names_of(cells[3], row)};
}

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

// The part of a path that a rule's folder stands for; empty when the path is not below it.
std::string_view part_below(std::string_view path, std::string_view folder) {
  if (!folder.ends_with("/*")) return is_below(path, folder) ? path.substr(0, folder.size()) : "";
  folder.remove_suffix(1);
  if (!path.starts_with(folder)) return {};
  const size_t end = path.find('/', folder.size());
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}

struct Layer {
  const LayerRule* rule = nullptr;
  std::string_view folder;  // where the rule's "*" has become a name
};

// The longest folder wins, and of two the one that is written out.
Layer layer_of(const std::vector<LayerRule>& rules, std::string_view path) {
  Layer best;
  for (const LayerRule& rule : rules) {
    const std::string_view folder = part_below(path, rule.folder);
    const bool same = best.rule && folder.size() == best.folder.size();
    if (folder.empty() || folder.size() < best.folder.size()) continue;
    if (!same || best.rule->folder.ends_with("/*")) best = {&rule, folder};
  }
  return best;
}

bool names(const std::vector<std::string>& allowed, std::string_view target) {
  return std::ranges::any_of(allowed,
                             [&](const std::string& a) { return !part_below(target, a).empty(); });
}

// What tests share is found in the testing folder beside them or of a folder above.
bool is_shared_with(std::string_view target, std::string_view test) {
  const size_t at = target.rfind("/testing/");
  return at != std::string_view::npos && is_below(test, target.substr(0, at));
}

bool is_allowed(const std::vector<LayerRule>& rules, const Layer& from, const Include& include) {
  const bool test = is_test_code(include.file);
  if (test && is_shared_with(include.target, include.file)) return true;
  if (!test && is_test_code(include.target)) return false;
  const Layer to = layer_of(rules, include.target);
  const bool same = from.rule == to.rule && from.folder == to.folder;
  return same || names(from.rule->may_include, include.target) ||
         (test && names(from.rule->tests_may_include, include.target));
}

// From the root, the file that an include means; empty for one that is not ours.
std::string resolve(const std::string& file, const std::string& include) {
  namespace fs = std::filesystem;
  const fs::path root = PRIMSET_SOURCE_DIR;
  if (include.starts_with("primset/")) {
    const std::string base = "sdk/base/include/" + include;
    return fs::exists(root / base) ? base : "sdk/include/" + include;
  }
  const std::string top = include.substr(0, include.find('/'));
  if (top != include && std::ranges::count(top_folders(), top) > 0) return include;
  // Beside the file that includes it.
  const fs::path beside = (fs::path(file).parent_path() / include).lexically_normal();
  return fs::exists(root / beside) ? beside.string() : std::string();
}

}  // namespace

std::vector<LayerRule> parse_layer_rules(std::string_view markdown) {
  std::istringstream in{std::string(markdown)};
  std::string line;
  while (std::getline(in, line) && line != "## Layers") {
  }
  std::vector<LayerRule> out;
  bool in_table = false;
  while (std::getline(in, line) && !line.starts_with("## ")) {
    // The first two rows are the heading and its rule.
    const bool row = line.starts_with("|");
    if (row && in_table) out.push_back(parse_row(line));
    if (line.starts_with("|---")) in_table = true;
    if (!row) in_table = false;
  }
  if (out.empty()) throw std::runtime_error("docs/design.md has no table below \"## Layers\"");
  return out;
}

std::vector<Include> read_includes(const std::string& path, const std::string& text) {
  static const std::regex pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  std::vector<Include> out;
  std::istringstream in(text);
  std::string line;
  bool raw = false;
  for (size_t n = 1; std::getline(in, line); ++n) {
    if (line.find("R\"(") != std::string::npos) raw = true;
    if (line.find(")\"") != std::string::npos) raw = false;
    std::smatch match;
    if (raw || !std::regex_search(line, match, pattern)) continue;
    if (std::string target = resolve(path, match[1]); !target.empty()) {
      out.push_back({path, n, std::move(target)});
    }
  }
  return out;
}

bool is_test_code(std::string_view path) {
  return path.ends_with("_test.cpp") || path.ends_with("_test.c") ||
         path.find("/testing/") != std::string_view::npos ||
         path.find("/testdata/") != std::string_view::npos;
}

std::vector<std::string> find_layer_violations(const std::vector<LayerRule>& rules,
                                               std::span<const Include> includes) {
  std::vector<std::string> out;
  for (const Include& i : includes) {
    const std::string where = i.file + ":" + std::to_string(i.line) + ": ";
    const Layer from = layer_of(rules, i.file);
    if (!from.rule) {
      out.push_back(where + "the file belongs to no layer of docs/design.md");
    } else if (!is_allowed(rules, from, i)) {
      out.push_back(where + (is_test_code(i.file) ? "a test of " : "") + std::string(from.folder) +
                    " may not include " + i.target);
    }
  }
  return out;
}

}  // namespace primset::repository
