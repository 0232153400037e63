#include "backends/cuda/library_tuning.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "backends/common/status.h"

namespace primset_cuda {
namespace {

struct Row {
  std::string_view name;
  int64_t LibraryTuning::* member;
};
constexpr Row kRows[] = {
    {"fft.points", &LibraryTuning::fft_points},
    {"fft.real_points", &LibraryTuning::fft_real_points},
    {"fft.from_half_points", &LibraryTuning::fft_from_half_points},
    {"fft.rough_points", &LibraryTuning::fft_rough_points},
    {"convolution.products", &LibraryTuning::convolution_products},
    {"attention.products", &LibraryTuning::attention_products},
    {"linalg.elements", &LibraryTuning::linalg_elements},
    {"linalg.batched_most", &LibraryTuning::linalg_batched_most},
    {"linalg.most_calls", &LibraryTuning::linalg_most_calls},
    {"svd.rotations_most", &LibraryTuning::svd_rotations_most},
};

[[noreturn]] void refuse(std::string_view entry) {
  std::string names;
  for (const Row& r : kRows) names += (names.empty() ? "" : ", ") + std::string(r.name);
  throw primset_backend::BackendError(PRIMSET_INVALID_ARGUMENT,
                                      "PRIMSET_CUDA_TUNING: '" + std::string(entry) +
                                          "': expected name=number with one of " + names);
}

void set(LibraryTuning& tuning, std::string_view entry) {
  const size_t equals = std::min(entry.find('='), entry.size());
  const std::string_view name = entry.substr(0, equals),
                         value = entry.substr(std::min(equals + 1, entry.size()));
  const auto row = std::ranges::find(kRows, name, &Row::name);
  int64_t number = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (row == std::end(kRows) || error != std::errc() || end != value.data() + value.size() ||
      number < 0)
    refuse(entry);
  tuning.*row->member = number;
}

}  // namespace

LibraryTuning parse_library_tuning(std::string_view text) {
  LibraryTuning tuning;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    set(tuning, text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return tuning;
}

}  // namespace primset_cuda
