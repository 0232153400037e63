// libFuzzer: the first line of a text as a case's id, the others as the patterns of --filter, held
// against it. Regular expressions are only read: how long one takes is the concern of who writes
// it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/ids/filter.h"
#include "conformance/cases/ids/id.h"
#include "primset/error.h"

namespace {

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> out;
  for (const char c : text) {
    if (out.empty() || c == '\n') out.emplace_back();
    if (c != '\n') out.back() += c;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::conformance;
  std::vector<std::string> texts = lines({reinterpret_cast<const char*>(data), size});
  if (texts.empty()) return 0;
  const std::string id = texts.front();
  try {
    const CaseId parsed = CaseId::parse(id);
    if (CaseId::parse(parsed.to_string()) != parsed) std::abort();
  } catch (const primset::Error&) {
    // No id: it may be a filter's subject still.
  }
  try {
    texts.erase(texts.begin());
    const Filter filter(texts);
    const auto is_regex = [](std::string_view t) {
      return t.starts_with('/') || t.starts_with("-/");
    };
    if (std::ranges::any_of(texts, is_regex)) return 0;
    if (filter.matches(id) && !filter.may_match_subject(subject_of(id))) std::abort();
  } catch (const primset::Error&) {
    // A regular expression that does not parse.
  }
  return 0;
}
