#include "sdk/runtime/plan/check_table.h"

#include <fmt/format.h>

namespace primset::runtime {
namespace {

ErrorCode code_of(std::string_view text) {
  for (ErrorCode c : {ErrorCode::index, ErrorCode::value, ErrorCode::type,
                      ErrorCode::not_implemented, ErrorCode::linalg}) {
    if (text == name(c)) return c;
  }
  return ErrorCode::runtime;
}

}  // namespace

// "{value}" in a site's message is the offending value.
CheckError CheckTable::error(const schedule::ErrorSlot& slot) const {
  const size_t site = slot.code - 1;
  if (site >= sites_.size())
    return {ErrorCode::internal, op_,
            fmt::format("error slot holds code {}, but the program has {} checks", slot.code,
                        sites_.size())};
  std::string message = sites_[site].message;
  constexpr std::string_view kValue = "{value}";
  for (size_t at = message.find(kValue); at != std::string::npos; at = message.find(kValue))
    message.replace(at, kValue.size(), std::to_string(slot.value));
  return {code_of(sites_[site].code), op_, message};
}

}  // namespace primset::runtime
