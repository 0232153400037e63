// How fast: sentences per second.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_BENCH_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "batching.h"

namespace sentence_embedding {

struct BenchResult {
  size_t sentences = 0;  // in one pass
  size_t tokens = 0;     // in one pass, without padding
  size_t batch = 0;
  uint64_t kernels_compiled = 0;  // while the clock ran: 0, or the warm-up was none
  double warm_up_seconds = 0;
  std::vector<double> pass_seconds;  // one entry a pass
};

// Embeds all sentences once to warm up, then again and again for `seconds`. With fewer sentences
// than a batch holds they are repeated to fill one. From token numbers in the program's memory to
// embeddings in the program's memory; tokenizing is not counted.
BenchResult bench(const Encoder& encoder, std::vector<TokenIds> sentences, size_t batch,
                  int64_t pad_id, double seconds);

std::string for_people(const BenchResult& result);
std::string as_json(const BenchResult& result);

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_BENCH_H_
