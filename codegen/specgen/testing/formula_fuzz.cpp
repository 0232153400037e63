// libFuzzer: arbitrary text as an operator's formula. It is parsed alone, since printing and
// parsing are inverse to each other, and then resolved, as the decomposition of an operator beside
// a small vocabulary of primitives.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "codegen/specgen/compile.h"
#include "codegen/specgen/parse/formula_parser.h"
#include "codegen/specgen/testing/fuzz_vocabulary.h"
#include "specs/bundle/reader.h"
#include "specs/bundle/writer.h"

namespace primset::specs {
namespace {

// The formula follows, a line of it behind each indentation.
constexpr const char* kOperator = R"yaml(- op: fuzzed
  overloads:
    default: "(Tensor self, Tensor? other, Scalar alpha=1, int dim=0, str mode='a') -> (Tensor, Tensor)"
  dtypes: all
  decompose: |
)yaml";

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
  std::string source = std::string(kOperator) + "    ";
  for (const char c : text) source += c == '\n' ? "\n    " : std::string(1, c);
  Diagnostics diagnostics;
  Bundle bundle = compile_texts(fuzz_vocabulary(), {{"fuzz.yaml", source}}, diagnostics);
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
