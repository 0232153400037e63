#include "sdk/runtime/plugin/hidden_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <primset/error.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace primset::plugin {
namespace {

constexpr uint64_t bit(uint32_t dtype) {
  return uint64_t{1} << dtype;
}

struct Feature {
  std::string_view name;
  uint32_t features;
  uint64_t dtypes;
};
constexpr Feature kFeatures[] = {
    {"f64", PRIMSET_FEATURE_F64, bit(PRIMSET_F64) | bit(PRIMSET_C128)},
    // With f64, whose bits are such integers (check_properties).
    {"i64", PRIMSET_FEATURE_I64 | PRIMSET_FEATURE_ATOMIC_I64 | PRIMSET_FEATURE_F64,
     bit(PRIMSET_I64) | bit(PRIMSET_U64) | bit(PRIMSET_F64) | bit(PRIMSET_C128)},
    {"f16", PRIMSET_FEATURE_F16, 0},
    {"atomics", PRIMSET_FEATURE_ATOMIC_I64 | PRIMSET_FEATURE_ATOMIC_F32_ADD, 0},
};

void hide(std::string_view name, primset_device_properties& p) {
  const auto* const f = std::ranges::find(kFeatures, name, &Feature::name);
  if (f == std::end(kFeatures)) {
    std::vector<std::string_view> names;
    std::ranges::transform(kFeatures, std::back_inserter(names), &Feature::name);
    throw Error(ErrorCode::value,
                fmt::format("PRIMSET_HIDE: '{}' is no feature; expected some of {}", name,
                            fmt::join(names, ", ")));
  }
  p.features &= ~f->features;
  p.dtypes &= ~f->dtypes;
}

}  // namespace

void hide_features(std::string_view names, primset_device_properties& properties) {
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    hide(names.substr(0, comma), properties);
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
}

}  // namespace primset::plugin
