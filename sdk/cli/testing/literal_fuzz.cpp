// libFuzzer: arbitrary text as what is typed for an argument, and as the lists of --dtypes and
// --shapes. The first character says for what: 'a' for a tensor, and so on through specs::ArgKind,
// then the two lists. Names of files are left out: what these hold is npy_fuzz's.
#include <cstdint>
#include <string>
#include <string_view>

#include "primset/error.h"
#include "sdk/cli/literals.h"

namespace {

using namespace primset;

constexpr int kKinds = static_cast<int>(specs::ArgKind::storage) + 1;

void parse(int what, const std::string& text) {
  if (what == kKinds) {
    cli::parse_dtypes(text);
  } else if (what > kKinds) {
    cli::parse_shapes(text);
  } else {
    specs::Argument argument;
    argument.name = "a";
    argument.kind = static_cast<specs::ArgKind>(what);
    argument.optional = text.size() % 2 == 0;
    cli::parse_literal(text, argument, Device::meta());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (text.find(".npy") != std::string::npos) return 0;
  try {
    parse((data[0] + 256 - 'a') % (kKinds + 2), text);
  } catch (const Error&) {
    // Refused with an error: that is the contract.
  }
  return 0;
}
