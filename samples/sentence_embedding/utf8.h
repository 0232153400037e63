// UTF-8 to code points and back.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UTF8_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UTF8_H_

#include <string>
#include <string_view>

namespace sentence_embedding {

// Bytes that are no UTF-8 (overlong forms and surrogates included) become U+FFFD.
std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UTF8_H_
