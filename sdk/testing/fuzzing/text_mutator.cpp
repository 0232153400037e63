// A mutator for texts that have tokens, lines and brackets. Bytes changed at random seldom pass the
// first parser; here a token takes the place of another of the same text (a name that is defined, a
// type, an operation), numbers become those at the ends of their ranges, lines and bracketed groups
// are repeated, removed and exchanged. Every other time libFuzzer's own mutations run, with the
// target's dictionary; and when two texts are crossed, parts of one take places in the other.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

struct Range {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

constexpr std::string_view kNumbers[] = {"0",
                                         "-1",
                                         "1",
                                         "64",
                                         "65",
                                         "255",
                                         "256",
                                         "65536",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483648",
                                         "4294967296",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551615",
                                         "1e308",
                                         "1e999",
                                         "-0.0",
                                         "nan",
                                         "inf"};

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' ||
         c == '@';
}

std::vector<Range> words(std::string_view text) {
  std::vector<Range> out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t begin = i;
    while (i < text.size() && in_word(text[i])) ++i;
    if (i > begin) out.push_back({begin, i});
  }
  return out;
}

std::vector<Range> lines(std::string_view text) {
  std::vector<Range> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    out.push_back({begin, end});
    begin = end;
  }
  return out;
}

// What stands between matching brackets, these included.
std::vector<Range> groups(std::string_view text) {
  std::vector<Range> out;
  std::vector<size_t> open;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::string_view("([{").find(text[i]) != std::string_view::npos) open.push_back(i);
    if (std::string_view(")]}").find(text[i]) != std::string_view::npos && !open.empty()) {
      out.push_back({open.back(), i + 1});
      open.pop_back();
    }
  }
  return out;
}

class TextMutator {
 public:
  TextMutator(std::string text, unsigned seed) : text_(std::move(text)), random_(seed) {}

  const std::string& mutated() {
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t kind = below(10);
      if (kind < 4)
        change_word();
      else if (kind == 4)
        change_word_everywhere();
      else
        change_part(kind < 8 ? lines(text_) : groups(text_));
    }
    return text_;
  }

  // Words, lines or groups of `other` in the place of this text's.
  const std::string& crossed(std::string_view other) {
    using Parts = std::vector<Range> (*)(std::string_view);
    const Parts parts = std::array<Parts, 4>{words, words, lines, groups}[below(4)];
    const std::vector<Range> theirs = parts(other);
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::vector<Range> own = parts(text_);
      if (own.empty() || theirs.empty()) break;
      const Range &to = any(own), &from = any(theirs);
      text_.replace(to.begin, to.size(), other.substr(from.begin, from.size()));
    }
    return text_;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  const Range& any(const std::vector<Range>& ranges) { return ranges[below(ranges.size())]; }
  std::string part(const Range& r) const { return text_.substr(r.begin, r.size()); }

  void change_word() {
    const std::vector<Range> all = words(text_);
    if (all.empty()) return;
    const Range& r = any(all);
    const bool number = std::isdigit(static_cast<unsigned char>(text_[r.begin])) != 0;
    if (number && below(2) == 0)
      text_.replace(r.begin, r.size(), kNumbers[below(std::size(kNumbers))]);
    else
      text_.replace(r.begin, r.size(), part(any(all)));
  }

  // So that a type stays the same in all places of one text.
  void change_word_everywhere() {
    const std::vector<Range> all = words(text_);
    if (all.empty()) return;
    const std::string from = part(any(all)), to = part(any(all));
    for (size_t i = all.size(); i-- > 0;)
      if (part(all[i]) == from) text_.replace(all[i].begin, all[i].size(), to);
  }

  void change_part(const std::vector<Range>& all) {
    if (all.empty()) return;
    const Range &r = any(all), &other = any(all);
    switch (below(3)) {
      case 0:
        text_.erase(r.begin, r.size());
        break;
      case 1:
        text_.insert(r.begin, part(other));
        break;
      default:
        text_.replace(r.begin, r.size(), part(other));
    }
  }

  std::string text_;
  std::minstd_rand random_;
};

std::string text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

size_t write(const std::string& text, uint8_t* out, size_t max_size) {
  const size_t kept = std::min(text.size(), max_size);
  std::memcpy(out, text.data(), kept);
  return kept;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % 2 == 0 || size == 0) return LLVMFuzzerMutate(data, size, max_size);
  const size_t kept = write(TextMutator(text_of(data, size), seed).mutated(), data, max_size);
  return kept > 0 ? kept : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  const std::string theirs = text_of(other, other_size);
  return write(TextMutator(text_of(data, size), seed).crossed(theirs), out, max_size);
}
