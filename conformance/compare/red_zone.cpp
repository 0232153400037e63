#include "conformance/compare/red_zone.h"

#include <fmt/format.h>

namespace primset::conformance {
namespace {

std::vector<bool> marked(size_t bytes, uint32_t storage, const std::vector<HostTensor>& tensors) {
  std::vector<bool> flags(bytes);
  for (const HostTensor& t : tensors) {
    if (t.storage == storage) mark_bytes(t, flags);
  }
  return flags;
}

std::string place_of(size_t at, const std::vector<bool>& elements) {
  if (elements[at]) return "in an argument that is only read";
  bool before = true, behind = true;
  for (size_t i = 0; i < at && before; ++i) before = !elements[i];
  for (size_t i = at; i < elements.size() && behind; ++i) behind = !elements[i];
  if (before) return "before the first element";
  return behind ? "behind the last element" : "in a gap between elements";
}

}  // namespace

std::optional<std::string> find_out_of_bounds_write(const std::vector<HostStorage>& before,
                                                    const std::vector<HostStorage>& after,
                                                    const std::vector<HostTensor>& tensors,
                                                    const std::vector<HostTensor>& written) {
  for (uint32_t s = 0; s < before.size() && s < after.size(); ++s) {
    if (after[s].empty() || after[s] == before[s]) continue;
    if (after[s].size() < before[s].size()) {
      return fmt::format("storage {} shrank from {} to {} bytes", s, before[s].size(),
                         after[s].size());
    }
    std::vector<bool> may_change = marked(before[s].size(), s, written);
    for (size_t at = 0; at < before[s].size(); ++at) {
      if (may_change[at] || before[s][at] == after[s][at]) continue;
      return fmt::format("byte {} of storage {} was changed from 0x{:02x} to 0x{:02x}, {}", at, s,
                         static_cast<unsigned>(before[s][at]), static_cast<unsigned>(after[s][at]),
                         place_of(at, marked(before[s].size(), s, tensors)));
    }
  }
  return std::nullopt;
}

}  // namespace primset::conformance
