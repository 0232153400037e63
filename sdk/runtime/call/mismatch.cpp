// Every overload is judged by how much would have to change for it to take the arguments. The
// cheapest one is what the caller meant most probably, so that its first mistake is told.
#include "primset/detail/mismatch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sdk/base/printable.h"
#include "sdk/base/suggestion.h"
#include "sdk/runtime/call/operator_info.h"

namespace primset::detail {
namespace {

using runtime::OperatorInfo;

constexpr size_t kMostDeclarations = 3;
constexpr size_t kMostBytes = 80;

// What the changes cost. out= overloads are meant only where an out= argument is given.
constexpr int kOther = 2, kNotNamedAlike = 3, kNotMeant = 8;

struct Judgement {
  const OperatorInfo* overload = nullptr;
  size_t number = 0;
  int cost = 0;
  std::string first_mistake;
  // Of a value of a wrong type: for which argument, what was expected and found.
  std::string argument, expected, found;
};

std::string wrong_type(std::string_view expected, std::string_view argument,
                       std::string_view found) {
  return fmt::format("Expected a value of type {} for argument '{}' but instead found type '{}'",
                     expected, argument, found);
}

class Judge {
 public:
  Judge(const OperatorInfo& op, size_t number, const GivenArguments& given)
      : op_(op), number_(number), given_(given), taken_(op.args.size(), false) {
    judgement_.overload = &op;
    judgement_.number = number;
  }

  // Names first: they say best what was meant.
  Judgement judge() {
    names();
    positions();
    types();
    missing();
    return std::move(judgement_);
  }

 private:
  const std::string& parameter(size_t i) const { return op_.args[i].spec->name; }

  void mistake(int cost, std::string text) {
    judgement_.cost += cost;
    if (judgement_.first_mistake.empty()) judgement_.first_mistake = std::move(text);
  }

  size_t most_positional() const {
    const auto* first =
        std::ranges::find_if(op_.args.data(), op_.args.data() + op_.args.size(),
                             [](const runtime::ArgInfo& a) { return a.spec->keyword_only; });
    return static_cast<size_t>(first - op_.args.data());
  }

  void names() {
    for (size_t i = 0; i < std::min(given_.positional, most_positional()); ++i) taken_[i] = true;
    for (const std::string& keyword : given_.keywords) {
      const int at = op_.overload.find_arg(keyword);
      values_.push_back(at);
      if (at < 0) {
        unknown(keyword);
      } else if (taken_[static_cast<size_t>(at)]) {
        mistake(kOther, fmt::format("got multiple values for argument '{}'", keyword));
      } else {
        taken_[static_cast<size_t>(at)] = true;
      }
    }
  }

  // A name that is nearly one stands for it, which is not missing then.
  void unknown(const std::string& keyword) {
    std::vector<std::string_view> free;
    for (size_t i = 0; i < op_.args.size(); ++i) {
      if (!taken_[i]) free.push_back(parameter(i));
    }
    const std::string meant = nearest(keyword, free);
    if (!meant.empty()) taken_[static_cast<size_t>(op_.overload.find_arg(meant))] = true;
    mistake(
        meant.empty() ? kNotNamedAlike : kOther,
        "Unknown keyword argument " + quote_with_suggestion(printable(keyword, kMostBytes), free));
  }

  void positions() {
    const size_t most = most_positional();
    if (given_.positional <= most) return;
    std::vector<std::string> by_keyword;
    for (size_t i = most; i < op_.args.size(); ++i) {
      if (!op_.args[i].is_out) by_keyword.push_back("'" + parameter(i) + "'");
    }
    mistake(
        kNotNamedAlike * static_cast<int>(given_.positional - most),
        fmt::format("takes {} positional argument{} but {} {} given{}", most, most == 1 ? "" : "s",
                    given_.positional, given_.positional == 1 ? "was" : "were",
                    by_keyword.empty() ? ""
                                       : fmt::format("; {} can be given by keyword alone",
                                                     fmt::join(by_keyword, ", "))));
  }

  void types() {
    for (size_t i = 0; i < std::min(given_.positional, most_positional()); ++i) type(i, i);
    for (size_t k = 0; k < values_.size(); ++k) {
      if (values_[k] >= 0) type(static_cast<size_t>(values_[k]), given_.positional + k);
    }
  }

  void type(size_t i, size_t value) {
    if (given_.fits(number_, i, value)) return;
    const specs::Argument& spec = *op_.args[i].spec;
    const bool first = judgement_.first_mistake.empty();
    const std::string expected =
        fmt::format("'{}{}'", specs::spelling(spec.kind), spec.optional ? "?" : "");
    mistake(kOther, wrong_type(expected, spec.name, given_.kinds[value]));
    if (!first) return;
    judgement_.argument = spec.name;
    judgement_.expected = expected;
    judgement_.found = given_.kinds[value];
  }

  void missing() {
    const bool outs = std::ranges::all_of(op_.outs, [&](uint32_t i) { return taken_[i]; });
    for (size_t i = 0; i < op_.args.size(); ++i) {
      if (taken_[i] || op_.args[i].fallback.kind != Arg::Kind::absent) continue;
      mistake(kOther, fmt::format("is missing value for argument '{}'", parameter(i)));
    }
    // An out= argument that is given means such an overload, whatever else is wrong.
    const bool any = std::ranges::any_of(op_.outs, [&](uint32_t i) { return taken_[i]; });
    if (!outs && !any) judgement_.cost += kNotMeant;
  }

  const OperatorInfo& op_;
  const size_t number_;
  const GivenArguments& given_;
  std::vector<bool> taken_;
  std::vector<int> values_;  // the parameter of each keyword; -1: none
  Judgement judgement_;
};

std::string call_text(std::string_view name, const GivenArguments& given) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < given.kinds.size(); ++i) {
    const bool named = i >= given.positional;
    texts.push_back(named ? printable(given.keywords[i - given.positional], kMostBytes) + "=" +
                                given.kinds[i]
                          : given.kinds[i]);
  }
  return fmt::format("{}({})", name, fmt::join(texts, ", "));
}

// Overloads that come equally near may want the same argument of other types.
std::string nearest_mistake(std::span<const Judgement> sorted) {
  const Judgement& first = sorted[0];
  if (first.argument.empty()) return first.first_mistake;
  std::vector<std::string> types;
  for (const Judgement& j : sorted) {
    if (j.cost != first.cost || j.argument != first.argument) break;
    if (std::ranges::find(types, j.expected) == types.end()) types.push_back(j.expected);
  }
  return wrong_type(fmt::format("{}", fmt::join(types, " or ")), first.argument, first.found);
}

}  // namespace

Error mismatch(std::string_view name, std::span<const Operator> overloads,
               const GivenArguments& given) {
  std::vector<Judgement> judgements;
  for (size_t i = 0; i < overloads.size(); ++i)
    judgements.push_back(Judge(overloads[i].info(), i, given).judge());
  std::ranges::sort(judgements, {}, [](const Judgement& j) { return std::pair(j.cost, j.number); });
  std::string text =
      fmt::format("{}: {}\n  in {}", name, nearest_mistake(judgements), call_text(name, given));
  for (size_t i = 0; i < std::min(judgements.size(), kMostDeclarations); ++i)
    text += fmt::format("\n  {} {}", i == 0 ? "expected" : "or",
                        judgements[i].overload->overload.schema);
  if (judgements.size() > kMostDeclarations)
    text += fmt::format("\n  or {} more; `primset ops --match {}` lists them",
                        judgements.size() - kMostDeclarations, overloads[0].info().overload.op);
  return {ErrorCode::type, text};
}

std::string unknown_operator(std::string_view name) {
  const specs::Bundle& bundle = runtime::OperatorRegistry::instance().bundle();
  const bool base = name.find('.') == std::string_view::npos;
  std::vector<std::string_view> names;
  for (const specs::Overload& o : bundle.overloads)
    names.push_back(base ? std::string_view(o.op) : std::string_view(o.qualified));
  return fmt::format("no operator is called {}; `primset ops` lists them",
                     quote_with_suggestion(printable(name, kMostBytes), names));
}

}  // namespace primset::detail
