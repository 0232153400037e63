// libFuzzer: arbitrary text as what is typed for an argument of every kind, and as the lists of
// --dtypes and --shapes. Names of files are left out: what they hold is npy_fuzz's.
#include <cstdint>
#include <string>
#include <string_view>

#include "primset/error.h"
#include "sdk/cli/literals.h"

namespace {

template <typename Parse>
void refused_or_taken(const Parse& parse) {
  try {
    parse();
  } catch (const primset::Error&) {
    // Refused with an error: that is the contract.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset;
  const std::string text(reinterpret_cast<const char*>(data), size);
  refused_or_taken([&] { cli::parse_dtypes(text); });
  refused_or_taken([&] { cli::parse_shapes(text); });
  if (text.find(".npy") != std::string::npos) return 0;
  for (int kind = 0; kind <= static_cast<int>(specs::ArgKind::storage); ++kind) {
    specs::Argument argument;
    argument.name = "a";
    argument.kind = static_cast<specs::ArgKind>(kind);
    refused_or_taken([&] { cli::parse_literal(text, argument, Device::meta()); });
  }
  return 0;
}
