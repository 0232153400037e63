// libFuzzer: arbitrary text as the lines of a results file, and as what a worker says. A line that
// is taken for a result is one: written again and read again it is the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "conformance/runner/results/result.h"

namespace {

void read_line(std::string_view line) {
  using namespace primset::conformance;
  parse_begin_line(line);
  parse_kept_line(line);
  const auto result = parse_json_line(line);
  if (!result) return;
  const std::string written = to_json_line(*result);
  const auto again = parse_json_line(written);
  if (!again || to_json_line(*again) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    read_line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return 0;
}
