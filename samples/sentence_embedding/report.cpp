#include "report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

namespace sentence_embedding {
namespace {

// Numbers are printed as the shortest text that is the same float, not the same double.
using json =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, int64_t, uint64_t, float>;

constexpr size_t kMaxMatrix = 12;  // columns of a matrix that fits 80 characters
constexpr size_t kNearest = 3;

std::string padded(const char* format, auto value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string numbered(const Embedded& result, size_t i) {
  return padded("%4zu  ", i + 1) + result.sentences[i] + "\n";
}

std::string matrix(const Embedded& result) {
  const size_t n = result.sentences.size();
  std::string out;
  for (size_t i = 0; i < n; ++i) out += numbered(result, i);
  out += "\n    ";
  for (size_t j = 0; j < n; ++j) out += padded("%6zu", j + 1);
  out += '\n';
  for (size_t i = 0; i < n; ++i) {
    out += padded("%4zu", i + 1);
    for (size_t j = 0; j < n; ++j)
      out += padded("%6.2f", static_cast<double>(result.similarities[i * n + j]));
    out += '\n';
  }
  return out;
}

std::string nearest(const Embedded& result) {
  const size_t n = result.sentences.size();
  std::string out;
  for (size_t i = 0; i < n; ++i) {
    const std::span<const float> row(result.similarities.data() + i * n, n);
    std::vector<size_t> others;
    for (size_t j = 0; j < n; ++j)
      if (j != i) others.push_back(j);
    const auto end = others.begin() + static_cast<ptrdiff_t>(std::min(kNearest, others.size()));
    std::partial_sort(others.begin(), end, others.end(),
                      [&](size_t a, size_t b) { return row[a] > row[b]; });
    out += numbered(result, i);
    for (auto j = others.begin(); j != end; ++j)
      out += padded("        %5.2f", static_cast<double>(row[*j])) + numbered(result, *j);
  }
  return out;
}

json rows(const std::vector<float>& values, size_t count) {
  json out = json::array();
  const size_t width = count == 0 ? 0 : values.size() / count;
  for (size_t i = 0; i < count; ++i)
    out.push_back(std::span<const float>(values.data() + i * width, width));
  return out;
}

}  // namespace

std::string for_people(const Embedded& result) {
  return result.sentences.size() <= kMaxMatrix ? matrix(result) : nearest(result);
}

std::string as_json(const Embedded& result) {
  const size_t n = result.sentences.size();
  const json out = {
      {"device", result.device},
      {"sentences", result.sentences},
      {"tokens", result.tokens},
      {"embeddings", rows(result.embeddings, n)},
      {"similarities", rows(result.similarities, n)},
  };
  return out.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace sentence_embedding
