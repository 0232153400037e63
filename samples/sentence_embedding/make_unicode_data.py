#!/usr/bin/env python3
"""Writes unicode_data.h: what BERT's tokenizer has to know of Unicode, as compact tables.

    ./make_unicode_data.py > unicode_data.h

The facts come from Python's unicodedata; the Unicode version is noted in the output.
"""

import unicodedata

COMPATIBILITY_IDEOGRAPHS = ((0xF900, 0xFAFF), (0x2F800, 0x2FA1F))
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)  # decomposed by arithmetic, not by table
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def category(c):
    return unicodedata.category(chr(c))


def fold(c):
    """Canonical decomposition without accents, in lower case."""
    parts = unicodedata.normalize("NFD", chr(c))
    return "".join(p.lower() for p in parts if unicodedata.category(p) != "Mn")


def ranges(wanted):
    out = []
    for c in CODE_POINTS:
        if not wanted(c):
            continue
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def runs(mapping):
    """(first, to, count, step, to_step): first + i * step becomes to + i * to_step."""
    keys, out, i = sorted(mapping), [], 0
    while i < len(keys):
        best = (1, 1, 0)
        for step in (1, 2):
            for to_step in (0, 1, 2):
                n = 1
                while (
                    i + n < len(keys)
                    and keys[i + n] == keys[i] + step * n
                    and mapping[keys[i + n]] == mapping[keys[i]] + to_step * n
                ):
                    n += 1
                best = max(best, (n, step, to_step), key=lambda b: b[0])
        out.append((keys[i], mapping[keys[i]], *best))
        i += best[0]
    return out


def table(kind, name, comment, items):
    print(f"\n// {comment}\ninline constexpr {kind} {name}[] = {{")
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > 99:
            print(line)
            line = "   "
        line += f" {item},"
    print(line + "\n};")


def range_table(name, comment, wanted):
    table("CodeRange", name, comment, [f"{{0x{a:x}, 0x{b:x}}}" for a, b in ranges(wanted)])


def literal(name, comment, first, last):
    print(f"\n// {comment}\ninline constexpr char32_t {name}[] =")
    text = "".join(fold(c) for c in range(first, last + 1))
    assert len(text) == last - first + 1
    rows = [text[i : i + 45] for i in range(0, len(text), 45)]
    print("\n".join(f'    U"{row}"' for row in rows) + ";")


HEAD = f"""// Tables of Unicode {unicodedata.unidata_version}, written by make_unicode_data.py. Not for editing.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UNICODE_DATA_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UNICODE_DATA_H_

#include <cstdint>

// clang-format off
namespace sentence_embedding {{

struct CodeRange {{
  char32_t first, last;
}};
// first + i * step becomes to + i * to_step, for i < count.
struct FoldRun {{
  char32_t first, to;
  uint16_t count;
  uint8_t step, to_step;
}};
// A code point that becomes two or three; the third may be 0.
struct LongFold {{
  char32_t from, to[3];
}};"""

TAIL = """
}  // namespace sentence_embedding
// clang-format on

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_UNICODE_DATA_H_"""


def print_ranges():
    range_table(
        "kControls",
        "Control, format and private-use characters (categories Cc, Cf, Co).",
        lambda c: category(c) in ("Cc", "Cf", "Co"),
    )
    range_table(
        "kPunctuation",
        "Punctuation (categories P*), and all of ASCII that is neither letter, digit nor blank.",
        lambda c: category(c)[0] == "P" or (0x20 < c < 0x7F and not chr(c).isalnum()),
    )
    range_table("kAccents", "Non-spacing marks (category Mn).", lambda c: category(c) == "Mn")


def print_folds():
    def in_tables(c):
        return category(c) != "Mn" and c not in HANGUL_SYLLABLES and fold(c) != chr(c)

    folds = {c: fold(c) for c in CODE_POINTS if in_tables(c)}
    compatibility = {c for a, b in COMPATIBILITY_IDEOGRAPHS for c in range(a, b + 1)}
    short = {c: ord(s) for c, s in folds.items() if len(s) == 1 and c not in compatibility}
    table(
        "FoldRun",
        "kFoldRuns",
        "Canonical decomposition without accents, in lower case: one code point to one.",
        [f"{{0x{a:x}, 0x{b:x}, {n}, {s}, {t}}}" for a, b, n, s, t in runs(short)],
    )
    long = {c: s.ljust(3, "\0") for c, s in folds.items() if len(s) > 1}
    table(
        "LongFold",
        "kLongFolds",
        "The same, one code point to several.",
        [f"{{0x{c:x}, {{{', '.join(hex(ord(p)) for p in s)}}}}}" for c, s in long.items()],
    )


def print_compatibility_ideographs():
    for (first, last), name in zip(COMPATIBILITY_IDEOGRAPHS, ("kIdeographsF900", "kIdeographs2F800")):
        literal(name, f"What U+{first:X} to U+{last:X} become, in order.", first, last)


def main():
    print(HEAD)
    print_ranges()
    print_folds()
    print_compatibility_ideographs()
    print(TAIL)


main()
