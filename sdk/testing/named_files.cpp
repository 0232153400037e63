#include "sdk/testing/named_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <set>
#include <string_view>

namespace primset::repository {
namespace {

namespace fs = std::filesystem;

const std::string kExtension = R"re(\.(?:h|hpp|c|cpp|def|inc|py|pyi|yaml|md|txt|json|cmake|map))re";

// A path: folders and a name, or a name with an extension that sources have.
bool looks_like_a_path(const std::string& text) {
  static const std::regex word("[A-Za-z0-9_.*/+-]+");
  static const std::regex file("[A-Za-z0-9_.*/+-]*[A-Za-z0-9_*-]" + kExtension);
  if (!std::regex_match(text, word)) return false;
  if (std::regex_match(text, file)) return true;
  return std::ranges::any_of(
      top_folders(), [&](const std::string& folder) { return text.starts_with(folder + "/"); });
}

bool is_made_elsewhere(std::string_view text) {
  return std::ranges::any_of(
      std::array{"build/", "out/", "./", "lib/", "include/", "share/", "bin/"},
      [&](std::string_view start) { return text.starts_with(start); });
}

// Every line of text that is not inside a fenced block, with its number; others are empty.
std::vector<std::string> lines_of_prose(const std::string& text) {
  std::vector<std::string> lines;
  bool fenced = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    const size_t first = line.find_first_not_of(' ');
    const bool fence = first != std::string::npos && line.compare(first, 3, "```") == 0;
    lines.push_back(fenced || fence ? std::string() : std::move(line));
    fenced ^= fence;
    at = end + 1;
  }
  return lines;
}

// All files and folders, and the ends of their paths.
const std::set<std::string>& known_names() {
  static const std::set<std::string> names = [] {
    std::set<std::string> out;
    const auto add = [&](const std::string& path) {
      for (size_t at = 0;; at = path.find('/', at) + 1) {
        out.insert(path.substr(at));
        if (path.find('/', at) == std::string::npos) break;
      }
    };
    const fs::path root = PRIMSET_SOURCE_DIR;
    for (const std::string& folder : top_folders()) {
      out.insert(folder);
      for (const auto& entry : fs::recursive_directory_iterator(root / folder))
        add(fs::relative(entry.path(), root).string());
    }
    for (const auto& entry : fs::directory_iterator(root)) add(entry.path().filename().string());
    return out;
  }();
  return names;
}

bool is_known(std::string name) {
  while (name.ends_with('/')) name.pop_back();
  if (name.find('*') == std::string::npos) return known_names().contains(name);
  std::string pattern;
  for (char c : name)
    pattern += c == '*'               ? "[^/]*"
               : c == '.' || c == '+' ? std::string("\\") + c
                                      : std::string(1, c);
  const std::regex regex(pattern);
  return std::ranges::any_of(known_names(),
                             [&](const std::string& n) { return std::regex_match(n, regex); });
}

void find_all(const std::string& line, const std::regex& pattern, const SourceFile& file,
              size_t number, std::vector<NamedFile>& out) {
  for (auto it = std::sregex_iterator(line.begin(), line.end(), pattern);
       it != std::sregex_iterator(); ++it)
    out.push_back({file.path, number, (*it)[1].str()});
}

// The comment of a line: what follows //, or a line of a block that begins with a star.
std::string comment_of(const std::string& line) {
  static const std::regex comment(R"re((?:^|[^:"])//(.*)|^\s*/?\*+(.*))re");
  std::smatch m;
  if (!std::regex_search(line, m, comment)) return "";
  return m[1].matched ? m[1].str() : m[2].str();
}

}  // namespace

std::vector<NamedFile> files_named_in_markdown(const SourceFile& file) {
  static const std::regex code("`([^`]+)`"), link(R"re(\]\(([^)#: ]+)(?:#[^)]*)?\))re");
  const std::vector<std::string> lines = lines_of_prose(file.text);
  const std::string folder = fs::path(file.path).parent_path().string();
  std::vector<NamedFile> out;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<NamedFile> found;
    find_all(lines[i], code, file, i + 1, found);
    for (NamedFile& n : found)
      if (looks_like_a_path(n.name) && !is_made_elsewhere(n.name)) out.push_back(std::move(n));
    found.clear();
    find_all(lines[i], link, file, i + 1, found);
    for (NamedFile& n : found) {
      n.name = (fs::path(folder) / n.name).lexically_normal().string();
      out.push_back(std::move(n));
    }
  }
  return out;
}

std::vector<NamedFile> files_named_in_comments(const SourceFile& file) {
  static const std::regex name("(?:^|[^\\w/.<>*{}-])((?:[\\w.-]+/)*[\\w-]+" + kExtension +
                               ")(?![\\w/*.]\\w)");
  std::vector<NamedFile> out;
  size_t number = 0;
  for (size_t at = 0; at < file.text.size();) {
    const size_t end = std::min(file.text.find('\n', at), file.text.size());
    find_all(comment_of(file.text.substr(at, end - at)), name, file, ++number, out);
    at = end + 1;
  }
  return out;
}

std::vector<NamedFile> missing_files(const std::vector<NamedFile>& named) {
  std::vector<NamedFile> out;
  std::ranges::copy_if(named, std::back_inserter(out),
                       [](const NamedFile& n) { return !is_known(n.name); });
  return out;
}

}  // namespace primset::repository
