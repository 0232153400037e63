#include "conformance/cases/inputs/resize.h"

#include <algorithm>
#include <cctype>

#include "conformance/cases/inputs/case_text.h"
#include "conformance/cases/inputs/make_operator.h"
#include "conformance/cases/tables/recipe.h"
#include "conformance/reference/expected_results.h"
#include "conformance/reference/sparse_results.h"

namespace primset::conformance {
namespace {

using Change = int64_t (*)(int64_t);
// Each takes different sizes to different sizes. Doubled sizes keep what is divisible so.
constexpr Change kChanges[] = {
    [](int64_t n) { return n > 1 ? n + 1 : n; },
    [](int64_t n) { return n > 1 ? 2 * n : n; },
    [](int64_t n) { return n > 1 ? n + 2 : n; },
    [](int64_t n) { return n > 1 ? 3 * n : n; },
};
enum class Reach { tensors, lists, numbers };

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return isdigit(c); });
}

std::string changed_list(const std::string& inside, Change change) {
  std::string out;
  for (const std::string& entry : split_outside_brackets(inside, ',')) {
    if (!out.empty()) out += ",";
    out += is_number(entry) ? std::to_string(change(read_integer(entry))) : entry;
  }
  return out;
}

// Changes what stands in the square brackets after a dtype; what stands in braces says how a tensor
// is filled.
std::string changed_tensors(const std::string& value, Change change) {
  std::string out;
  int braces = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    braces += c == '{' ? 1 : c == '}' ? -1 : 0;
    out += c;
    const bool sizes = c == '[' && braces == 0 && i > 0 && isalnum(value[i - 1]);
    if (!sizes) continue;
    const size_t end = value.find(']', i);
    out += changed_list(value.substr(i + 1, end - i - 1), change);
    i = end - 1;
  }
  return out;
}

bool is_runtime(const specs::Overload& overload, const std::string& name) {
  const int i = overload.find_arg(name);
  return i >= 0 && overload.args[static_cast<size_t>(i)].role == specs::Role::runtime;
}

std::string changed(const specs::Overload& overload, const CaseText& text, Change change,
                    Reach reach) {
  std::string out;
  for (const TextItem& item : text.items) {
    std::string value = changed_tensors(item.value, change);
    const bool runtime = is_runtime(overload, item.name);
    if (runtime && reach >= Reach::lists && value.starts_with('['))
      value = "[" + changed_list(value.substr(1, value.size() - 2), change) + "]";
    if (runtime && reach == Reach::numbers && is_number(value))
      value = std::to_string(change(read_integer(value)));
    out += (out.empty() ? "" : " ") + item.name + "=" + value;
  }
  return out;
}

// Lists of tensors are as long as before: their length is a part of a plan's key.
bool has_same_lists(const TestCase& a, const TestCase& b) {
  return std::ranges::equal(a.args, b.args, [](const ArgValue& x, const ArgValue& y) {
    const auto *list = std::get_if<TensorList>(&x), *other = std::get_if<TensorList>(&y);
    return !list || (other && list->size() == other->size());
  });
}

bool is_taken(const specs::Bundle& bundle, const TestCase& test) {
  try {
    trace_case(bundle, test);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> resized_texts(const specs::Overload& overload, const std::string& text) {
  const CaseText parsed = CaseText::parse(text);
  const std::string same = changed(overload, parsed, [](int64_t n) { return n; }, Reach::tensors);
  std::vector<std::string> out;
  for (Reach reach : {Reach::tensors, Reach::lists, Reach::numbers}) {
    for (Change change : kChanges) {
      std::string other = changed(overload, parsed, change, reach);
      if (other != same && std::ranges::find(out, other) == out.end())
        out.push_back(std::move(other));
    }
  }
  return out;
}

std::optional<TestCase> make_resized_case(const specs::Bundle& bundle, const CaseId& id,
                                          uint64_t seed) {
  const specs::Overload* overload = bundle.find_overload(id.subject);
  const TestCase original = make_case(bundle, id, seed);
  if (!overload || original.graph || original.expected_error) return std::nullopt;
  // What a call with sparse tensors compiles depends on how many entries there are.
  if (is_sparse_call(bundle, *overload, original)) return std::nullopt;
  for (const std::string& text : resized_texts(*overload, original.text)) {
    try {
      TestCase test = make_case_of_text(bundle, id, seed, text);
      if (has_same_lists(original, test) && is_taken(bundle, test)) return test;
    } catch (const Error&) {
      continue;  // no tensors can be made of it
    }
  }
  return std::nullopt;
}

}  // namespace primset::conformance
