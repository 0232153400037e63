#include "codegen/schedule/tuning/tuning.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <utility>

#include "primset/error.h"

namespace primset::schedule {

namespace {

enum class Range : uint8_t { automatic, natural, positive, power_of_two };

struct Row {
  std::string_view family, name, text;
  Range range;
  int64_t& (*value)(Tuning&);
};

constexpr Row kRows[] = {
#define FAMILY(family)
#define PARAMETER(family, name, range, value, text) \
  {#family, #name, text, Range::range, [](Tuning& t) -> int64_t& { return t.family.name; }},
#define END_FAMILY(family)
#include "codegen/schedule/tuning/parameters.def"
#undef FAMILY
#undef PARAMETER
#undef END_FAMILY
};

// Parameters of the named family, or all where there is none such: what a user may have meant.
std::string choices(std::string_view family) {
  std::string all, own;
  for (const Row& r : kRows) {
    const std::string name = std::string(r.family) + "." + std::string(r.name);
    (all += all.empty() ? "" : ", ") += name;
    if (r.family == family) (own += own.empty() ? "" : ", ") += name;
  }
  return own.empty() ? all : own;
}

// Beyond this a product of two would overflow.
constexpr int64_t kLargest = int64_t{1} << 31;

bool allows(Range range, int64_t value) {
  const int64_t least = range == Range::automatic ? -1 : range == Range::natural ? 0 : 1;
  if (value < least || value > kLargest) return false;
  return range != Range::power_of_two || std::has_single_bit(static_cast<uint64_t>(value));
}

std::string described(Range range) {
  switch (range) {
    case Range::automatic:
      return "-1 (automatic), or an integer from 0 to 2^31";
    case Range::natural:
      return "an integer from 0 to 2^31";
    case Range::positive:
      return "an integer from 1 to 2^31";
    case Range::power_of_two:
      return "a power of two up to 2^31";
  }
  return {};
}

[[noreturn]] void reject(std::string_view entry, const std::string& expected) {
  throw Error(ErrorCode::value,
              "PRIMSET_TUNING: '" + std::string(entry) + "': expected " + expected);
}

std::pair<const Row*, int64_t> parsed(std::string_view entry) {
  const size_t equals = entry.find('='), dot = entry.find('.');
  if (equals == std::string_view::npos || dot > equals)
    reject(entry, "family.name=value, as in reduction.thread_row=64");
  const std::string_view family = entry.substr(0, dot),
                         name = entry.substr(dot + 1, equals - dot - 1),
                         number = entry.substr(equals + 1);
  const Row* row = std::ranges::find_if(
      kRows, [&](const Row& r) { return r.family == family && r.name == name; });
  if (row == std::end(kRows)) reject(entry, "one of " + choices(family));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool whole = error == std::errc() && end == number.data() + number.size();
  if (!whole || !allows(row->range, value)) reject(entry, described(row->range));
  return {row, value};
}

}  // namespace

Tuning::Tuning(const kir::TargetModel& t) {
#define FAMILY(f)
#define PARAMETER(f, name, range, value, text) f.name = value;
#define END_FAMILY(f)
#include "codegen/schedule/tuning/parameters.def"
#undef FAMILY
#undef PARAMETER
#undef END_FAMILY
}

void Tuning::set(std::string_view overrides) {
  std::vector<std::pair<const Row*, int64_t>> found;
  while (!overrides.empty()) {
    const size_t comma = std::min(overrides.find(','), overrides.size());
    const std::string_view entry = overrides.substr(0, comma);
    if (!entry.empty()) found.push_back(parsed(entry));
    overrides.remove_prefix(std::min(comma + 1, overrides.size()));
  }
  for (const auto& [row, value] : found) row->value(*this) = value;
}

std::vector<Tuning::Parameter> Tuning::parameters() const {
  std::vector<Parameter> out;
  Tuning copy = *this;
  for (const Row& r : kRows) out.push_back({r.family, r.name, r.text, r.value(copy)});
  return out;
}

}  // namespace primset::schedule
