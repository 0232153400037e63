// What BERT's tokenizer asks about a character. Answered from tables of Unicode's own data
// (unicode_data.h) by binary search; Hangul syllables by arithmetic.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UNICODE_TABLE_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UNICODE_TABLE_H_

#include <string>

namespace sentence_embedding {

// Categories Cc, Cf and Co, which hold tabulator and line ends, too.
bool is_control(char32_t c);
// Unicode's White_Space.
bool is_space(char32_t c);
// Categories P*, and all of ASCII that is neither letter, digit nor blank: BERT counts $ + < = > ^
// ` | ~ as punctuation.
bool is_punctuation(char32_t c);
// An ideograph, in the blocks that BERT puts blanks around.
bool is_ideograph(char32_t c);
// Appends what is left of `c` after canonical decomposition, removal of accents and lower-casing:
// nothing for an accent, up to three characters else.
void append_folded(char32_t c, std::u32string& out);

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UNICODE_TABLE_H_
