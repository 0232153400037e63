// libFuzzer: arbitrary text as an operator's formula. It is parsed alone, since printing and
// parsing are inverse to each other, and then resolved, as the decomposition of an operator beside
// a small vocabulary of primitives.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "codegen/specgen/compile.h"
#include "codegen/specgen/parse/formula_parser.h"
#include "specs/bundle/reader.h"
#include "specs/bundle/writer.h"

namespace primset::specs {
namespace {

constexpr const char* kDtypes = R"yaml(dtypes:
  - {name: f32, torch: float32, aten: Float, cpp: float, code: 6, bits: 32, kind: floating,
     format: {exponent: 8, mantissa: 23, bias: 127, nan: ieee, overflow: infinity}}
sets: {all: f32}
)yaml";
constexpr const char* kPrims = R"yaml(
- {prim: exp, tier: core, signature: (x) -> y, dtypes: all, meaning: M., tolerance: {f32: exact}}
- {prim: add, tier: core, signature: "(a, b) -> y", dtypes: all, meaning: M., tolerance: {f32: exact}}
- {prim: select, tier: core, signature: "(c, a, b) -> y", dtypes: all, meaning: M., tolerance: {f32: exact}}
)yaml";
// The formula follows, a line of it behind each indentation.
constexpr const char* kOperator = R"yaml(- op: fuzzed
  overloads:
    default: "(Tensor self, Tensor? other, Scalar alpha=1, int dim=0, str mode='a') -> (Tensor, Tensor)"
  dtypes: all
  decompose: |
)yaml";

const Bundle& vocabulary() {
  static const Bundle bundle = [] {
    Diagnostics diagnostics;
    Bundle compiled =
        compile_texts(Bundle(), {{"dtypes.yaml", kDtypes}, {"prims.yaml", kPrims}}, diagnostics);
    if (!diagnostics.ok()) std::abort();
    return compiled;
  }();
  return bundle;
}

Formula parse(std::string_view text, Diagnostics& diagnostics) {
  diagnostics.add_file("formula");
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.text = text;
  return parse_formula(node, diagnostics);
}

void parse_alone(std::string_view text) {
  Diagnostics diagnostics;
  const Formula formula = parse(text, diagnostics);
  if (!diagnostics.ok()) return;
  const std::string printed = print(formula);
  Diagnostics again;
  if (print(parse(printed, again)) != printed || !again.ok()) std::abort();
}

void resolve(std::string_view text) {
  std::string source = kOperator;
  for (const char c : std::string("    ").append(text))
    source += c == '\n' ? "\n    " : std::string(1, c);
  Diagnostics diagnostics;
  const Bundle bundle = compile_texts(vocabulary(), {{"fuzz.yaml", source}}, diagnostics);
  if (diagnostics.ok())
    read_bundle(write_bundle(bundle));
  else
    diagnostics.text();
}

}  // namespace
}  // namespace primset::specs

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  primset::specs::parse_alone(text);
  primset::specs::resolve(text);
  return 0;
}
