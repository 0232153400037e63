#include "conformance/compare/outcome.h"

namespace primset::conformance {
namespace {

constexpr std::array<std::string_view, kOutcomeCount> kOutcomes = {
    "pass",   "refused", "fail",    "unsupported", "claim_broken", "xfail",    "xpass",
    "waived", "crash",   "timeout", "device_lost", "not_run",      "test_bug", "flake"};
constexpr std::array<std::string_view, kFailKindCount> kKinds = {
    "none", "numeric", "shape", "dtype", "out_of_bounds_write", "error_contract"};

template <size_t N>
std::optional<size_t> find(const std::array<std::string_view, N>& names, std::string_view text) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == text) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Outcome o) {
  return kOutcomes[static_cast<size_t>(o)];
}

std::string_view name(FailKind k) {
  return kKinds[static_cast<size_t>(k)];
}

std::string to_string(Outcome o, FailKind k) {
  std::string out(name(o));
  if (o == Outcome::fail) out += ":" + std::string(name(k));
  return out;
}

std::optional<OutcomeText> parse_outcome(std::string_view text) {
  size_t colon = text.find(':');
  std::optional<size_t> outcome = find(kOutcomes, text.substr(0, colon));
  if (!outcome) return std::nullopt;
  OutcomeText out{static_cast<Outcome>(*outcome), FailKind::none};
  bool has_kind = colon != std::string_view::npos;
  if (has_kind != (out.outcome == Outcome::fail)) return std::nullopt;
  if (!has_kind) return out;
  std::optional<size_t> kind = find(kKinds, text.substr(colon + 1));
  if (!kind || *kind == 0) return std::nullopt;
  out.kind = static_cast<FailKind>(*kind);
  return out;
}

}  // namespace primset::conformance
