#include "unicode_table.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "unicode_data.h"

namespace sentence_embedding {
namespace {

bool contains(std::span<const CodeRange> table, char32_t c) {
  const auto after = std::ranges::upper_bound(table, c, {}, &CodeRange::first);
  return after != table.begin() && c <= std::prev(after)->last;
}

const FoldRun* find_run(char32_t c) {
  const std::span<const FoldRun> table(kFoldRuns);
  const auto after = std::ranges::upper_bound(table, c, {}, &FoldRun::first);
  if (after == table.begin()) return nullptr;
  const FoldRun& run = *std::prev(after);
  const char32_t distance = c - run.first;
  return distance % run.step == 0 && distance / run.step < run.count ? &run : nullptr;
}

const LongFold* find_long(char32_t c) {
  const std::span<const LongFold> table(kLongFolds);
  const auto it = std::ranges::lower_bound(table, c, {}, &LongFold::from);
  return it != table.end() && it->from == c ? &*it : nullptr;
}

// Unicode's own arithmetic: a syllable is (lead, vowel, optional trail).
void append_syllable(char32_t index, std::u32string& out) {
  constexpr char32_t kLead = 0x1100, kVowel = 0x1161, kTrail = 0x11A7;
  constexpr char32_t kTrails = 28, kVowelsTimesTrails = 21 * kTrails;
  out += static_cast<char32_t>(kLead + index / kVowelsTimesTrails);
  out += static_cast<char32_t>(kVowel + index % kVowelsTimesTrails / kTrails);
  if (index % kTrails != 0) out += static_cast<char32_t>(kTrail + index % kTrails);
}

}  // namespace

bool is_control(char32_t c) {
  return contains(kControls, c);
}

bool is_space(char32_t c) {
  return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_punctuation(char32_t c) {
  return contains(kPunctuation, c);
}

// The sixth block begins at 2B920, not at Unicode's 2B820: so do the tokenizers that the models
// were published with.
bool is_ideograph(char32_t c) {
  static constexpr CodeRange kBlocks[] = {
      {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
      {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F},
  };
  return contains(kBlocks, c);
}

// Canonical order between what remains is not restored: it concerns a few spacing marks (U+302E,
// U+1D165 ...) that are in no word of the vocabulary, so that a word with them is unknown in any
// order.
void append_folded(char32_t c, std::u32string& out) {
  if (c < 0x80) {
    out += c >= U'A' && c <= U'Z' ? c + 0x20 : c;
  } else if (c >= 0xAC00 && c < 0xD7A4) {
    append_syllable(c - 0xAC00, out);
  } else if (c >= 0xF900 && c <= 0xFAFF) {
    out += kIdeographsF900[c - 0xF900];
  } else if (c >= 0x2F800 && c <= 0x2FA1F) {
    out += kIdeographs2F800[c - 0x2F800];
  } else if (const FoldRun* run = find_run(c)) {
    out += static_cast<char32_t>(run->to + (c - run->first) / run->step * run->to_step);
  } else if (const LongFold* fold = find_long(c)) {
    for (char32_t part : fold->to)
      if (part != 0) out += part;
  } else if (!contains(kAccents, c)) {
    out += c;
  }
}

}  // namespace sentence_embedding
