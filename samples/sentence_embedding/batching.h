// Many sentences through the encoder, a batch at a time.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_BATCHING_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_BATCHING_H_

#include <cstdint>
#include <vector>

#include "encoder.h"

namespace sentence_embedding {

using TokenIds = std::vector<int64_t>;

// Positions in `sentences`, in batches of at most `batch`: the longest sentences first, so that
// sentences of like length share a batch and little is padded.
std::vector<std::vector<size_t>> plan_batches(const std::vector<TokenIds>& sentences, size_t batch);

// The embeddings, row-major [sentences, hidden], in the order of `sentences`. No sentence is empty:
// each has at least [CLS] and [SEP].
std::vector<float> embed_all(const Encoder& encoder, const std::vector<TokenIds>& sentences,
                             size_t batch, int64_t pad_id);

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_BATCHING_H_
