#include "codegen/specgen/parse/dtype_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/specgen/read/fields.h"

namespace primset::specs {
namespace {

// A word of the specs and what it stands for.
template <typename T>
using Word = std::pair<std::string_view, T>;

struct Kind {
  char letter = '?';        // as DTypeInfo::kind
  uint8_t dlpack_code = 0;  // of the kind's usual dtypes
};
constexpr std::array<Word<Kind>, 5> kKinds = {{{"bool", {'b', 6}},
                                               {"unsigned", {'u', 1}},
                                               {"signed", {'i', 0}},
                                               {"floating", {'f', 2}},
                                               {"complex", {'c', 5}}}};
constexpr std::array<Word<NanEncoding>, 3> kNanEncodings = {
    {{"ieee", NanEncoding::ieee},
     {"all_ones", NanEncoding::all_ones},
     {"negative_zero", NanEncoding::negative_zero}}};
constexpr std::array<Word<Overflow>, 3> kOverflows = {
    {{"infinity", Overflow::infinity}, {"saturate", Overflow::saturate}, {"nan", Overflow::nan}}};

// "a, b or c"
template <typename T, size_t N>
std::string list_words(const std::array<Word<T>, N>& words) {
  std::string list;
  for (size_t i = 0; i < N; ++i) {
    if (i > 0) list += i + 1 == N ? " or " : ", ";
    list += words[i].first;
  }
  return list;
}

// What the word under a key stands for; `what` names it in messages.
template <typename T, size_t N>
T parse_word(const YamlNode* node, const std::array<Word<T>, N>& words, std::string_view what,
             Diagnostics& diagnostics) {
  if (node == nullptr) return T{};
  for (const Word<T>& word : words) {
    if (node->is_scalar() && node->text == word.first) return word.second;
  }
  diagnostics.error(node->position, fmt::format("unknown {} '{}'", what, node->text),
                    list_words(words));
  return T{};
}

int64_t require_integer(Fields& fields, std::string_view key, int64_t least, int64_t greatest,
                        int64_t otherwise, Diagnostics& diagnostics) {
  const YamlNode* node = fields.require(key);
  return node ? parse_integer(*node, least, greatest, otherwise, diagnostics) : otherwise;
}

// {exponent: 4, mantissa: 3, bias: 7, nan: all_ones, overflow: saturate}
FloatFormat read_format(const YamlNode& node, uint32_t bits, Diagnostics& diagnostics) {
  Fields fields(node, "a floating format", diagnostics);
  FloatFormat f;
  const size_t errors = diagnostics.count();
  f.exponent_bits = static_cast<int>(require_integer(fields, "exponent", 2, 15, 2, diagnostics));
  f.mantissa_bits = static_cast<int>(require_integer(fields, "mantissa", 0, 63, 1, diagnostics));
  f.bias = static_cast<int>(require_integer(fields, "bias", 0, 1 << 15, 0, diagnostics));
  f.nan = parse_word(fields.require("nan"), kNanEncodings, "encoding of NaN", diagnostics);
  f.overflow = parse_word(fields.require("overflow"), kOverflows, "overflow", diagnostics);
  fields.finish();
  if (diagnostics.count() != errors) return f;
  const int sign = f.has_sign() ? 1 : 0;
  if (static_cast<uint32_t>(sign + f.exponent_bits + f.mantissa_bits) != bits) {
    diagnostics.error(node.position,
                      fmt::format("{}{} bits of exponent and {} of mantissa",
                                  f.has_sign() ? "a sign, " : "", f.exponent_bits, f.mantissa_bits),
                      fmt::format("{} bits together, as the dtype has", bits));
  }
  if (f.overflow == Overflow::infinity && !f.has_infinity()) {
    diagnostics.error(node.position, "overflow to an infinity that the format does not have",
                      "overflow: saturate or nan, or nan: ieee");
  }
  return f;
}

std::string read_parts(const YamlNode& node, const Bundle& known, Diagnostics& diagnostics) {
  const auto is_part = [&](const DTypeEntry& e) { return e.kind == 'f' && e.name == node.text; };
  if (std::any_of(known.dtypes.begin(), known.dtypes.end(), is_part)) return node.text;
  diagnostics.error(node.position, fmt::format("unknown parts '{}'", node.text),
                    "a floating dtype that is declared above");
  return {};
}

}  // namespace

DTypeDefinition read_dtype(const YamlNode& node, const Bundle& known, Diagnostics& diagnostics) {
  Fields fields(node, "a dtype", diagnostics);
  DTypeDefinition d;
  d.entry.name = fields.require_text("name");
  d.entry.torch_name = fields.require_text("torch");
  d.aten_name = fields.require_text("aten");
  d.cpp_name = fields.require_text("cpp");
  d.entry.code =
      static_cast<DType>(require_integer(fields, "code", 0, kDTypeCodes - 1, 0, diagnostics));
  d.entry.bits = static_cast<uint32_t>(require_integer(fields, "bits", 1, 4096, 8, diagnostics));
  const Kind kind = parse_word(fields.require("kind"), kKinds, "kind", diagnostics);
  d.entry.kind = kind.letter;
  d.dlpack_code = kind.dlpack_code;
  if (const YamlNode* code = fields.find("dlpack"))
    d.dlpack_code = static_cast<uint8_t>(parse_integer(*code, 0, 255, 0, diagnostics));
  if (d.entry.kind == 'f') {
    if (const YamlNode* format = fields.require("format"))
      d.format = read_format(*format, d.entry.bits, diagnostics);
  }
  if (d.entry.kind == 'c') {
    if (const YamlNode* parts = fields.require("parts"))
      d.parts = read_parts(*parts, known, diagnostics);
  }
  fields.finish();
  return d;
}

}  // namespace primset::specs
