#include "backends/cuda/testing/fake_ptx.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace fake_cuda {

bool is_ptx(const std::string& text) {
  static const std::regex start(R"(^(\s|//[^\n]*\n)*\.version [0-9]+\.[0-9]+\s)");
  return std::regex_search(text, start);
}

namespace {

// ".u64" is 8, ".b8" is 1, ".f32" is 4, ".pred" has no size.
size_t size_of(const std::string& type) {
  return std::stoul(type.substr(type.find_first_of("0123456789"))) / 8;
}

size_t param_bytes(const std::string& declarations) {
  static const std::regex param(
      R"(\.param(?: +\.align +([0-9]+))? +\.([usfb][0-9]+)[^,\[]*(?:\[([0-9]+)\])?)");
  size_t end = 0;
  for (std::sregex_iterator it(declarations.begin(), declarations.end(), param), last; it != last;
       ++it) {
    const size_t element = size_of((*it)[2]);
    const size_t align = (*it)[1].matched ? std::stoul((*it)[1]) : element;
    const size_t count = (*it)[3].matched ? std::stoul((*it)[3]) : 1;
    end = (end + align - 1) / align * align + element * count;
  }
  return end;
}

bool waits_first(const std::string& body) {
  const size_t wait = body.find("griddepcontrol.wait;");
  if (wait == std::string::npos) return false;
  static const std::regex touches(R"([\t ](ld|st|atom|red|cp\.async|prefetch)\.(?!param))");
  return !std::regex_search(body.substr(0, wait), touches);
}

}  // namespace

std::optional<Entry> find_entry(const std::string& ptx, const std::string& name) {
  const std::string declaration = ".entry " + name + "(";
  const size_t at = ptx.find(declaration);
  if (at == std::string::npos) return std::nullopt;
  const size_t open = at + declaration.size(), close = ptx.find(')', open);
  Entry entry;
  entry.param_bytes = param_bytes(ptx.substr(open, close - open));
  entry.waits_first = waits_first(ptx.substr(close));
  static const std::regex reqntid(R"(^\)\s*\.reqntid ([0-9]+)(?:, ?([0-9]+))?(?:, ?([0-9]+))?)");
  std::smatch match;
  const std::string rest = ptx.substr(close, 200);
  if (std::regex_search(rest, match, reqntid))
    for (size_t i = 0; i < 3; ++i)
      entry.threads[i] = match[i + 1].matched ? static_cast<unsigned>(std::stoul(match[i + 1])) : 1;
  return entry;
}

}  // namespace fake_cuda
