#include "backends/common/results.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "backends/common/status.h"

namespace primset_backend {
namespace {

// From here on APIs write their results in hexadecimal.
constexpr int64_t kFirstHexadecimal = 0x10000;

}  // namespace

const KnownResult* Results::find(int64_t result) const {
  const auto at = std::ranges::find(known_, result, &KnownResult::value);
  return at == known_.end() ? nullptr : &*at;
}

uint32_t Results::code(int64_t result) const {
  const KnownResult* known = find(result);
  return known ? known->code : PRIMSET_INTERNAL;
}

std::string Results::name(int64_t result) const {
  const KnownResult* known = find(result);
  char number[32];
  std::snprintf(number, sizeof(number),
                result < kFirstHexadecimal ? " (%" PRId64 ")" : " (0x%" PRIx64 ")", result);
  return std::string(known ? known->name : "result") + number;
}

void Results::fail(int64_t result, const char* function, const std::string& more) const {
  std::string text = std::string(function) + ": " + name(result);
  if (!more.empty()) text += ": " + more;
  throw BackendError(code(result), text);
}

void Results::refuse_module(int64_t result, const char* function) const {
  primset_backend::refuse_module(code(result), std::string(function) + ": " + name(result));
}

void refuse_module(uint32_t code, const std::string& text) {
  const bool of_machine = code == PRIMSET_OUT_OF_MEMORY || code == PRIMSET_DEVICE_LOST;
  throw BackendError(of_machine ? code : static_cast<uint32_t>(PRIMSET_LOAD_FAILED), text);
}

}  // namespace primset_backend
