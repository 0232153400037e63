#include "sdk/base/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace primset {
namespace {

// Levenshtein distance where swapping two neighbours counts once, as typing does it.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> previous(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, previous);
    std::swap(previous, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({substitute, previous[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
  // A third of the letters may be wrong, and never all of a short name.
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  std::string_view found;
  for (std::string_view candidate : candidates) {
    const size_t longer = std::max(candidate.size(), name.size());
    if (longer - std::min(candidate.size(), name.size()) >= best) continue;
    const size_t distance = edit_distance(name, candidate);
    if (distance > 0 && distance < best && distance < longer) {
      best = distance;
      found = candidate;
    }
  }
  return std::string(found);
}

std::string quote_with_suggestion(std::string_view name,
                                  const std::vector<std::string_view>& candidates) {
  const std::string found = nearest(name, candidates);
  if (found.empty()) return fmt::format("'{}'", name);
  return fmt::format("'{}' (did you mean '{}'?)", name, found);
}

std::string one_of(const std::vector<std::string_view>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace primset
