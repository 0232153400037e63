// Cases of operators that take a step of an optimizer: lists of parameters, gradients and state of
// the same shapes, many rates, and a gradient scale and a flag that skips the step.
#include <algorithm>

#include "conformance/cases/inputs/case_text.h"
#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

using specs::ArgKind;
using specs::Argument;
using specs::Overload;

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

struct Step {
  std::string_view name;
  CaseTier tier;
  std::string_view tensors;  // of the parameters, one behind the other
  std::string_view given;    // what differs from the rates below
};
constexpr std::string_view kTaken = "grad_scale=f32[]{2..4} found_inf=f32[]{zeros}";
constexpr std::string_view kSkipped = "grad_scale=f32[]{2..4} found_inf=f32[1]{ones}";
constexpr Step kSteps[] = {
    {"taken", kSmoke, "T[5] T[3,4]", kTaken},
    {"skipped", kSmoke, "T[5] T[3,4]", kSkipped},
    {"plain", kStandard, "T[1031] T[]", ""},
    {"scaled", kStandard, "T[3,4] T[5]", "grad_scale=f32[1]{2..4}"},
    {"transposed", kStandard, "T[5,7]@transposed T[4]@strided", kTaken},
    {"skipped_strided", kStandard, "T[5,7]@strided T[4]@offset", kSkipped},
    {"many", kStandard, "T[1] T[2] T[3] T[4] T[5] T[6] T[7] T[8] T[9] T[10]", kTaken},
    {"with_empty", kStandard, "T[0] T[3,4]", kTaken},
    {"variant", kStandard, "T[5] T[3,4]", "nesterov=true amsgrad=true maximize=true"},
    {"no_decay", kStandard, "T[5] T[3,4]", "weight_decay=0 lr_decay=0"},
    {"no_momentum", kStandard, "T[5] T[3,4]", "momentum=0"},
    {"large_eps", kStandard, "T[5] T[3,4]", "eps=2"},
    {"first_step", kStandard, "T[5] T[3,4]", "is_first_step=true"},
    {"other_sizes", kStandard, "T[5]", "grads=(T[6]) !runtime"},
    {"too_few", kStandard, "T[5] T[3,4]", "grads=(T[5]) !runtime"},
};

struct Rate {
  std::string_view name, value;
};
constexpr Rate kRates[] = {
    {"weight_decay", "0.1"}, {"momentum", "0.9"}, {"dampening", "0.25"}, {"lr_decay", "0.05"},
    {"beta1", "0.9"},        {"beta2", "0.99"},   {"eps", "1e-8"},
};

bool is_given(const CaseText& given, const char* name, std::string_view value) {
  const std::string* text = given.find(name);
  return text && *text == value;
}

// State that roots are taken of; the number of steps so far; buffers that are there when needed.
std::string list_of(const Argument& a, const Step& step, const CaseText& given) {
  const bool unused = (a.name == "momentum_buffer_list" && is_given(given, "momentum", "0")) ||
                      (a.name == "max_exp_avg_sqs" && !is_given(given, "amsgrad", "true"));
  const bool squares = a.name.ends_with("_sqs") || a.name == "state_sums";
  std::string out;
  for (const std::string& tensor : split_outside_brackets(unused ? "" : step.tensors, ' ')) {
    out += out.empty() ? "" : ",";
    out += a.name == "state_steps" ? "f32[]{1..9}" : tensor + (squares ? "{positive}" : "");
  }
  return "(" + out + ")";
}

std::string value_of(const Argument& a, const Step& step, const CaseText& given) {
  if (const std::string* text = given.find(a.name)) return *text;
  if (a.kind == ArgKind::tensor_list) return list_of(a, step, given);
  if (a.kind == ArgKind::boolean) return "false";
  if (a.name == "lr") return a.kind == ArgKind::tensor ? "f32[]{unit}" : "0.1";
  const auto* rate = std::ranges::find(kRates, a.name, &Rate::name);
  return rate == std::end(kRates) ? "" : std::string(rate->value);
}

// What a case is about must be an argument of the operator.
bool concerns(const Overload& overload, const CaseText& given) {
  return given.items.empty() || std::ranges::any_of(given.items, [&](const TextItem& item) {
           return overload.find_arg(item.name) >= 0;
         });
}

}  // namespace

std::vector<Recipe> optimizer_step_cases(const Overload& overload, DType) {
  std::vector<Recipe> out;
  for (const Step& step : kSteps) {
    const CaseText given = CaseText::parse(step.given);
    if (!concerns(overload, given)) continue;
    std::string text;
    for (const Argument& a : overload.args) {
      const std::string value = value_of(a, step, given);
      if (!value.empty()) text += (text.empty() ? "" : " ") + a.name + "=" + value;
    }
    if (given.expected_error) text += " !" + std::string(name(*given.expected_error));
    out.push_back({std::string(step.name), LayoutKind::contiguous, step.tier, text, false});
  }
  return out;
}

}  // namespace primset::conformance
