#include "batching.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sentence_embedding {
namespace {

using primset::DType;
using primset::Tensor;

Tensor embed_batch(const Encoder& encoder, const std::vector<TokenIds>& sentences,
                   const std::vector<size_t>& members, int64_t pad_id) {
  size_t width = 0;
  for (size_t i : members) width = std::max(width, sentences[i].size());
  std::vector<int64_t> ids(members.size() * width, pad_id);
  std::vector<float> mask(ids.size(), 0.0f);
  for (size_t row = 0; row < members.size(); ++row) {
    const TokenIds& tokens = sentences[members[row]];
    std::ranges::copy(tokens, ids.begin() + static_cast<ptrdiff_t>(row * width));
    std::fill_n(mask.begin() + static_cast<ptrdiff_t>(row * width), tokens.size(), 1.0f);
  }
  const int64_t sizes[] = {static_cast<int64_t>(members.size()), static_cast<int64_t>(width)};
  return encoder.embed(Tensor::from_host(ids.data(), sizes, DType::i64, encoder.device()),
                       Tensor::from_host(mask.data(), sizes, DType::f32, encoder.device()));
}

}  // namespace

std::vector<std::vector<size_t>> plan_batches(const std::vector<TokenIds>& sentences,
                                              size_t batch) {
  std::vector<size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Equal lengths stay in their order.
  std::ranges::sort(order, {}, [&](size_t i) {
    return std::pair(-static_cast<ptrdiff_t>(sentences[i].size()), i);
  });
  std::vector<std::vector<size_t>> batches;
  for (size_t start = 0; start < order.size(); start += batch) {
    const auto first = order.begin() + static_cast<ptrdiff_t>(start);
    const size_t count = std::min(batch, order.size() - start);
    batches.emplace_back(first, first + static_cast<ptrdiff_t>(count));
  }
  return batches;
}

std::vector<float> embed_all(const Encoder& encoder, const std::vector<TokenIds>& sentences,
                             size_t batch, int64_t pad_id) {
  const auto hidden = static_cast<size_t>(encoder.hidden());
  std::vector<float> rows(sentences.size() * hidden);
  for (const std::vector<size_t>& members : plan_batches(sentences, batch)) {
    const auto result = embed_batch(encoder, sentences, members, pad_id).to_vector<float>();
    for (size_t row = 0; row < members.size(); ++row)
      std::copy_n(result.begin() + static_cast<ptrdiff_t>(row * hidden), hidden,
                  rows.begin() + static_cast<ptrdiff_t>(members[row] * hidden));
  }
  return rows;
}

}  // namespace sentence_embedding
