// Output: for people, and as JSON for programs.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_REPORT_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace sentence_embedding {

struct Embedded {
  std::string device;
  std::vector<std::string> sentences;
  std::vector<std::vector<int64_t>> tokens;
  std::vector<float> embeddings;    // row-major [sentences, hidden]
  std::vector<float> similarities;  // row-major [sentences, sentences]
};

// A few sentences: the matrix of similarities. Many: the most similar ones of each.
std::string for_people(const Embedded& result);
// {"device", "sentences", "tokens", "embeddings", "similarities"}; bytes that are no UTF-8 become
// U+FFFD.
std::string as_json(const Embedded& result);

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_REPORT_H_
