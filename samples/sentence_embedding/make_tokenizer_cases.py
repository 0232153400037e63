#!/usr/bin/env python3
"""Writes tokenizer_cases.h: what the real tokenizer makes of tricky texts.

    pip install tokenizers
    ./make_tokenizer_cases.py MODEL_FOLDER | clang-format > tokenizer_cases.h
"""

import sys
import unicodedata

import tokenizers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

MAX_TOKENS = 256

TEXTS = [
    "",
    " ",
    " \t\r\n ",
    "Hello, World!",
    "HELLO wOrLd",
    "two  blanks   three",
    "naïve café Ångström Çédille",
    "cafe\u0301 n\u0303 a\u0323\u0302",
    "İstanbul ırmak I",
    "ẞ Straße STRASSE",
    "ΟΔΥΣΣΕΥΣ Σίσυφος ᾼ ᾳ ῥ",
    "Ǆ ǅ ǆ Ĳ Œ Æ ﬁ ﬀ",
    "Ł Ø Đ Þ ß ł ø đ þ",
    "Việt Nam Đà Nẵng",
    "Привет, МИР! ЁЛКА йод",
    "\u2126 \u212a \u212b",
    "\u2260 \u037e \u1fef \u0387",
    "½ x² ① Ⅷ Ⓐ ℌ",
    "Ｆｕｌｌ　ｗｉｄｔｈ，！",
    "中文字符和English混排",
    "日本語テスト ガギグ か\u3099 パ",
    "\uf900\uf901\ufa0e\ufa10\ufa6c \U0002f800\U0002f804\U0002fa1d",
    "\U00020000\U0002a6d6 \U0002b740 \U0002b820x \U0002b920x",
    "한국어 가각힣 \u1112\u1161\u11ab",
    "हिन्दी ক্ষ தமிழ் కన్నడ",
    "\u09cb \u0bca \u0dde \u1b06 \U0001d160",
    "العربية بِسْمِ ٱللَّٰهِ ١٢٣",
    "עִבְרִית ־ שלום",
    "ภาษาไทย ไม้เอก",
    "😀 👩\u200d👩\u200d👧 ❤\ufe0f 🇩🇪 👍🏽",
    "#hashtag @user 🙂x",
    "don't stop—believin’ “quoted” «guillemets» …",
    "$5+3=8^2 `code` |a| ~x~ <b> C++ C#",
    "snake_case kebab-case a.b.c http://example.org/?q=1&r=2",
    "3.14159 1,000,000 -42 1e-5",
    "\u00bfQué? \u00a1Sí! \u00a7 \u00b6 \u00b7 \u00a9 \u00ae \u20ac \u00a3",
    "a\u0000b a\ufffdb a\u0001b a\u007fb",
    "a\u0085b a\u000bb a\u000cb a\u001cb",
    "a\u00adb a\u200bb a\u200db \ufeffa a\u2060b",
    "a\u00a0b a\u2003b a\u2028b a\u2029b a\u202fb a\u205fb a\u3000b a\u1680b a\u180eb",
    "a\ue000b a\U000f0000b a\u0378b",
    "\u0300 \u0344 \u20dd a\u20dd \u0903",
    "unaffable embeddings tokenization antidisestablishmentarianism",
    "pneumonoultramicroscopicsilicovolcanoconiosis",
    "[CLS] in the text [SEP] and [MASK]ed [PAD][UNK]",
    "[cls] [ SEP ] [MASK [[SEP]] ]",
    "the quick brown fox jumps over the lazy dog.",
    "Der Zug nach Zürich hat Verspätung.",
    "zqxjkv",
    "!!!???...",
]
# (unit, times, rest)
REPEATED = [
    ("x", 100, ""),
    ("x", 101, ""),
    ("é", 100, ""),
    ("é", 101, ""),
    ("ab\u0301", 50, ""),
    ("ab\u0301", 51, " x"),
    ("1", 40, ""),
    ("word ", 253, ""),
    ("word ", 254, ""),
    ("word ", 300, ""),
    ("a, ", 126, "b c"),
    ("supercalifragilistic ", 60, ""),
    ("[SEP]", 300, ""),
]

SMALL_VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] a b ab abc ##a ##b ##bc ##c un ##un aff ##aff ##able ##ab "
    "able affable # ## é 中 ##中 naive na ##ive , ."
).split()
SMALL_TEXTS = [
    "abc", "abca", "abcabc", "aabb", "abd", "d", "unaffable", "affable unable", "UNAFFABLEX",
    "a,b.c", "naïve", "naives", "a中b", "#", "##", "###a", "a#b", "ababcbc", "[UNK]ab[MASK]",
]  # fmt: skip


def literal(text):
    """A C++ string literal; what cannot be seen, or has a twin, is written as bytes."""
    out, in_hex = "", False
    for ch in text:
        if ch in '"\\?':
            piece, in_hex = "\\" + ch, False
        elif ch != " " and (
            unicodedata.category(ch)[0] in "CMZ" or unicodedata.normalize("NFC", ch) != ch
        ):
            piece, in_hex = "".join(f"\\x{b:02x}" for b in ch.encode()), True
        else:
            # A hexadecimal escape would swallow a digit that follows it.
            piece = ('""' if in_hex and ch in "0123456789abcdefABCDEF" else "") + ch
            in_hex = False
        out += piece
    return f'"{out}"'


def sized(text):
    # A literal with a zero byte inside has to say how long it is.
    if "\0" in text:
        return f"std::string({literal(text)}, {len(text.encode())})"
    return literal(text)


def braces(items):
    return "{" + ", ".join(items) + "}"


def words(real, text):
    normal = real.normalizer.normalize_str(text)
    return [word for word, _ in real.pre_tokenizer.pre_tokenize_str(normal)]


def table(kind, name, rows):
    print(f"\ninline const {kind} {name}[] = {{")
    for row in rows:
        print(f"    {braces(row)},")
    print("};")


def small_tokenizer():
    vocabulary = {word: i for i, word in enumerate(SMALL_VOCABULARY)}
    small = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    small.normalizer = normalizers.BertNormalizer()
    small.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    small.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    small.add_special_tokens(SMALL_VOCABULARY[:5])
    return small


def encoded(tokenizer, text):
    return [sized(text), braces(str(i) for i in tokenizer.encode(text).ids)]


def encoded_repeated(tokenizer, unit, times, rest):
    source = f"repeated({literal(unit)}, {times}) + {literal(rest)}"
    return [source, braces(str(i) for i in tokenizer.encode(unit * times + rest).ids)]


def main():
    real = Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
    real.no_padding()
    real.enable_truncation(MAX_TOKENS)
    print(
        f"""// What the tokenizer that the model was published with makes of tricky texts; written by
// make_tokenizer_cases.py with tokenizers {tokenizers.__version__}. Not for editing.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_TOKENIZER_CASES_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_TOKENIZER_CASES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sentence_embedding {{

inline std::string repeated(std::string_view unit, int times) {{
  std::string out;
  for (int i = 0; i < times; ++i) out += unit;
  return out;
}}

struct WordsCase {{
  std::string text;
  std::vector<std::string> words;
}};
struct IdsCase {{
  std::string text;
  std::vector<int64_t> ids;
}};"""
    )
    short = [t for t in TEXTS if "[" not in t]
    table("WordsCase", "kWordsCases",
          [[sized(t), braces(literal(w) for w in words(real, t))] for t in short])  # fmt: skip
    print("\n// With the model's own vocabulary.", end="")
    table("IdsCase", "kModelCases", [encoded(real, t) for t in TEXTS])
    table("IdsCase", "kRepeatedCases", [encoded_repeated(real, *r) for r in REPEATED])
    print("\ninline const std::vector<std::string> kSmallVocabulary = "
          + braces(literal(w) for w in SMALL_VOCABULARY) + ";")  # fmt: skip
    table("IdsCase", "kSmallCases", [encoded(small_tokenizer(), t) for t in SMALL_TEXTS])
    print(
        """
}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_TOKENIZER_CASES_H_"""
    )


main()
