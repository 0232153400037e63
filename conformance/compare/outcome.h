// What a case can come to. Every case has exactly one outcome; nothing is dropped silently.
#ifndef PRIMSET_CONFORMANCE_COMPARE_OUTCOME_H_
#define PRIMSET_CONFORMANCE_COMPARE_OUTCOME_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace primset::conformance {

enum class Outcome : uint8_t {
  pass,          // ran, and everything that was looked at is right
  refused,       // device and reference refuse it with the same class of error
  fail,          // ran, and something is wrong: see FailKind
  unsupported,   // the device does not claim the dtype or primitive, and says so when asked
  claim_broken,  // the device claims the dtype or primitive, and refuses it
  xfail,         // failed, as the expectations file says it would
  xpass,         // passed, though the expectations file says that it fails
  waived,        // failed, and the expectations file says that this is accepted
  crash,         // the process that ran the case died
  timeout,       // the case took longer than allowed and was killed
  device_lost,   // the device reported itself gone
  not_run,       // its process ended before the case's turn came, more than once
  test_bug,      // the case itself is wrong: the reference failed, or its process spoke garbage
  flake,         // failed, but passed when it was run again alone
};
inline constexpr size_t kOutcomeCount = 14;

enum class FailKind : uint8_t {
  none,
  numeric,              // a value outside its tolerance
  shape,                // sizes, strides or aliasing of a result
  dtype,                // the dtype of a result
  out_of_bounds_write,  // a byte changed that nobody may write: a guard, a gap, an input
  error_contract,       // no error where there must be one, another class of error, or one too many
};
inline constexpr size_t kFailKindCount = 6;

std::string_view name(Outcome o);
std::string_view name(FailKind k);

// "pass", "fail:numeric"
std::string to_string(Outcome o, FailKind k);
struct OutcomeText {
  Outcome outcome = Outcome::not_run;
  FailKind kind = FailKind::none;
};
std::optional<OutcomeText> parse_outcome(std::string_view text);

// Does the outcome speak for the device? An expected failure or a waiver does.
constexpr bool is_green(Outcome o) {
  return o == Outcome::pass || o == Outcome::xfail || o == Outcome::waived;
}
// Device and reference came to the same: a result that is right, or a refusal.
constexpr bool agrees(Outcome o) {
  return o == Outcome::pass || o == Outcome::refused;
}
// Must somebody look at the device? Unsupported cases are counted apart; xpass, flake and the
// outcomes of a broken run are not green either.
constexpr bool is_failure(Outcome o) {
  switch (o) {
    case Outcome::fail:
    case Outcome::claim_broken:
    case Outcome::crash:
    case Outcome::timeout:
    case Outcome::device_lost:
      return true;
    default:
      return false;
  }
}

// Is the case worth a place in a report's list, with its detail and how to run it alone?
constexpr bool is_listed(Outcome o) {
  return !is_green(o) && !agrees(o) && o != Outcome::unsupported;
}

// The outcome of one case, with what is worth knowing about it.
struct Verdict {
  Outcome outcome = Outcome::not_run;
  FailKind kind = FailKind::none;
  std::string detail = {};  // the first thing that went wrong, for people
  double max_ulp = 0;       // greatest error seen, in units of the last place of the result's dtype
  double max_share = 0;     // greatest error seen, as a share of what is allowed there
  uint64_t elements = 0;    // compared
  uint64_t undecided = 0;   // of them, those where the reference accepts any value
  // Without native routes, where there is one: how often as long the kernels take; else 0.
  double native_ratio = 0;
  // Of a pass: all of its results have no elements, so that nothing was computed.
  bool empty = false;

  static Verdict failed(FailKind kind, std::string detail) {
    return {Outcome::fail, kind, std::move(detail)};
  }
  static Verdict of(Outcome outcome, std::string detail = {}) {
    return {outcome, FailKind::none, std::move(detail)};
  }
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_COMPARE_OUTCOME_H_
