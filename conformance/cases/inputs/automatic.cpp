// Cases for operators that nobody wrote any for: arguments are guessed, and the engine says which
// guesses the operator takes.
#include <array>

#include "conformance/cases/inputs/make_operator.h"
#include "conformance/cases/tables/generators.h"
#include "conformance/reference/expected_results.h"

namespace primset::conformance {
namespace {

constexpr std::array<std::string_view, 8> kTrialShapes = {
    "[3,4]", "[4,4]", "[2,3,4]", "[2,3,4,5]", "[6]", "[]", "[1,1]", "[2,2,4,4,4]"};
constexpr std::string_view kPlaceholder = "[3,4]";

std::string with_shape(std::string text, std::string_view shape) {
  for (size_t at = 0; (at = text.find(kPlaceholder, at)) != std::string::npos; at += shape.size()) {
    text.replace(at, kPlaceholder.size(), shape);
  }
  return text;
}

bool is_taken(const specs::Bundle& bundle, const specs::Overload& overload, DType dtype,
              const std::string& text) {
  TestCase test;
  test.id.subject = overload.qualified;
  test.id.dtype = dtype;
  test.text = text;
  Rng rng(0);
  ValueReader reader(dtype, LayoutKind::contiguous, rng, test.storages);
  try {
    make_operator_case(overload, CaseText::parse(text), reader, test);
    trace_case(bundle, test);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string find_automatic_text(const specs::Bundle& bundle, const specs::Overload& overload,
                                DType dtype, size_t variant) {
  std::string pattern = plausible_arguments(overload, dtype, {});
  for (size_t i = 0; i < kTrialShapes.size(); ++i) {
    std::string text = with_shape(pattern, kTrialShapes[(variant + i) % kTrialShapes.size()]);
    if (is_taken(bundle, overload, dtype, text)) return text;
  }
  throw Error(ErrorCode::value, "no arguments were found that " + overload.qualified +
                                    " takes with " + std::string(name(dtype)) +
                                    "; write a row for it in conformance/cases");
}

}  // namespace primset::conformance
