#include "bench.h"

#include <primset/statistics.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sentence_embedding {
namespace {

double seconds_of(auto&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

BenchResult bench(const Encoder& encoder, std::vector<TokenIds> sentences, size_t batch,
                  int64_t pad_id, double seconds) {
  const size_t given = sentences.size();
  sentences.reserve(batch);
  while (sentences.size() < batch) sentences.push_back(sentences[sentences.size() % given]);
  BenchResult result;
  result.sentences = sentences.size();
  for (const TokenIds& tokens : sentences) result.tokens += tokens.size();
  result.batch = batch;
  const auto pass = [&] { embed_all(encoder, sentences, batch, pad_id); };
  result.warm_up_seconds = seconds_of(pass);
  const uint64_t compiled = primset::statistics().kernels_compiled;
  double total = 0;
  do {
    result.pass_seconds.push_back(seconds_of(pass));
    total += result.pass_seconds.back();
  } while (total < seconds);
  result.kernels_compiled = primset::statistics().kernels_compiled - compiled;
  return result;
}

std::string for_people(const BenchResult& result) {
  const double typical = median(result.pass_seconds);
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(),
                "%.1f sentences/s, %.0f tokens/s (median of %zu passes of %zu sentences in batches "
                "of %zu;\nwarm-up %.2f s; %llu kernels compiled while timing)\n",
                static_cast<double>(result.sentences) / typical,
                static_cast<double>(result.tokens) / typical, result.pass_seconds.size(),
                result.sentences, result.batch, result.warm_up_seconds,
                static_cast<unsigned long long>(result.kernels_compiled));
  return text.data();
}

std::string as_json(const BenchResult& result) {
  const nlohmann::json out = {
      {"sentences", result.sentences},
      {"tokens", result.tokens},
      {"batch", result.batch},
      {"kernels_compiled", result.kernels_compiled},
      {"warm_up_seconds", result.warm_up_seconds},
      {"pass_seconds", result.pass_seconds},
      {"sentences_per_second", static_cast<double>(result.sentences) / median(result.pass_seconds)},
  };
  return out.dump() + "\n";
}

}  // namespace sentence_embedding
