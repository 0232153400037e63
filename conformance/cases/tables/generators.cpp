#include "conformance/cases/tables/generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "conformance/cases/inputs/case_text.h"

namespace primset::conformance {
namespace {

using specs::ArgKind;
using specs::Argument;
using specs::Overload;

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard, kFull = CaseTier::full;
constexpr LayoutKind kLayouts[] = {LayoutKind::transposed, LayoutKind::strided, LayoutKind::padded,
                                   LayoutKind::offset, LayoutKind::expanded};

bool is_fractional(DType t) {
  return is_floating(t) || is_complex(t);
}

std::vector<std::string> tensor_names(const Overload& overload) {
  std::vector<std::string> out;
  for (const Argument& a : overload.args) {
    if (a.kind == ArgKind::tensor && !a.optional && !a.is_out) out.push_back(a.name);
  }
  return out;
}

// Operators that refuse to divide an integer by zero.
bool refuses_zero(const Overload& overload, DType dtype) {
  constexpr std::string_view kOps[] = {"floor_divide", "fmod", "remainder", "div", "divide"};
  return is_integral(dtype) && std::ranges::find(kOps, overload.op) != std::end(kOps);
}

// "other=T[5,7]" gets a fill without zeros.
std::string without_zeros(std::string text) {
  size_t at = text.find("other=T[");
  if (at == std::string::npos) return text;
  size_t end = std::min(text.find(' ', at), text.size());
  if (text[end - 1] != '}') return text.insert(end, "{normal!0}");
  return text.insert(end - 1, "!0");
}

// where() takes no other.
std::string with_bool_condition(std::string text) {
  constexpr std::string_view kCondition = "condition=T[";
  const size_t at = text.find(kCondition);
  if (at != std::string::npos) text.replace(at, kCondition.size(), "condition=bool[");
  return text;
}

// "n=T[5,7]{bits}" gets numbers from -2 on.
std::string with_few_steps(std::string text) {
  for (std::string_view argument : {"n=T[", "other=T["}) {
    for (std::string_view fill : {"{bits}", "{special}", "{special_outer}"}) {
      const size_t at = text.starts_with(argument) ? 0 : text.find(" " + std::string(argument));
      const size_t open = text.find(fill, at);
      if (at == std::string::npos || text.find(' ', at + 1) < open) continue;
      if (open == std::string::npos) continue;
      text.replace(open, fill.size(), "{-2..15}");
    }
  }
  return text;
}

// Collects recipes; the same arguments complete each text.
class Collector {
 public:
  Collector(const Overload& overload, DType dtype, std::vector<std::string> known)
      : rest_(plausible_arguments(overload, dtype, known)),
        refuses_zero_(refuses_zero(overload, dtype)) {}

  void add(std::string_view name, CaseTier tier, const std::string& text,
           LayoutKind layout = LayoutKind::contiguous, bool may_be_refused = false) {
    std::string whole = with_bool_condition(refuses_zero_ ? without_zeros(text) : text);
    out_.push_back({std::string(name), layout, tier, whole + rest_, may_be_refused});
  }
  // Without the plausible arguments.
  void add_exactly(std::string_view name, CaseTier tier, const std::string& text,
                   bool may_be_refused) {
    out_.push_back({std::string(name), LayoutKind::contiguous, tier, text, may_be_refused});
  }
  std::vector<Recipe> take() { return std::move(out_); }

 private:
  std::string rest_;
  bool refuses_zero_;
  std::vector<Recipe> out_;
};

struct Shapes {
  std::string_view name;
  CaseTier tier;
  std::array<std::string_view, 3> operands;  // of the first three tensors; others as the last
};

constexpr Shapes kShapes[] = {
    {"vector", kSmoke, {"[17]", "[17]", "[17]"}},
    {"matrix", kSmoke, {"[5,7]", "[5,7]", "[5,7]"}},
    {"scalar", kStandard, {"[]", "[]", "[]"}},
    {"empty", kSmoke, {"[0,3]", "[0,3]", "[0,3]"}},
    // Zeros and equal numbers, which meet in all operands here.
    {"rank_5", kStandard, {"[2,3,1,2,3]{ties}", "[2,3,1,2,3]{ties}", "[2,3,1,2,3]{ties}"}},
    {"large", kStandard, {"[3,1031]", "[3,1031]", "[3,1031]"}},
    {"bits", kStandard, {"[1021]{bits}", "[1021]{bits}", "[1021]{bits}"}},
    {"huge", kFull, {"[65,1031]", "[65,1031]", "[65,1031]"}},
};
// Of one tensor every row has another number; of two, every pair of numbers is somewhere. The first
// has the shape of the result, so that in-place variants take it.
constexpr Shapes kSpecialOne = {"special", kSmoke, {"[160,3]{special_outer}", "", ""}};
constexpr Shapes kSpecialMany = {
    "special", kSmoke, {"[40,40]{special_outer}", "[1,40]{special}", "[40,40]{special}"}};
constexpr Shapes kBroadcasts[] = {
    {"broadcast_1", kSmoke, {"[5,7]", "[7]", "[5,1]"}},
    {"broadcast_2", kStandard, {"[4,1,3]", "[1,5,1]", "[5,3]"}},
    {"broadcast_0d", kStandard, {"[3,4]", "[]", "[4]"}},
    {"broadcast_empty", kStandard, {"[0,3]", "[1,3]", "[3]"}},
};

std::string with_shapes(const std::vector<std::string>& names, const Shapes& shapes) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    out += (i ? " " : "") + names[i] + "=T";
    out += shapes.operands[std::min<size_t>(i, 2)];
  }
  return out;
}

// Another dtype, a number, or the very same tensor in the second tensor's place.
void add_mixtures(Collector& c, const std::vector<std::string>& names, const Overload& overload) {
  std::string rest;
  for (size_t i = 2; i < names.size(); ++i) rest += " " + names[i] + "=T[5,7]";
  auto second = [&](std::string_view name, CaseTier tier, const std::string& value) {
    c.add(name, tier, names[0] + "=T[5,7] " + names[1] + "=" + value + rest, LayoutKind::contiguous,
          true);
  };
  second("same", kStandard, "&" + names[0]);
  second("positive", kSmoke, "T[5,7]{positive}");
  second("mixed_layout", kStandard, "T[5,7]@transposed");
  if (overload.promote.kind == specs::PromoteKind::none) return;
  second("mixed_f32", kStandard, "f32[5,7]");
  second("mixed_i64", kStandard, "i64[5,7]");
  second("mixed_bool", kStandard, "bool[5,7]");
  second("mixed_f64_0d", kStandard, "f64[]");
  second("wrapped_integer", kStandard, "wrapped(3)");
  second("wrapped_fraction", kStandard, "wrapped(2.5)");
}

// Integers and bools where the operator computes in floats.
void add_integers(Collector& c, const std::vector<std::string>& names) {
  for (const char* t : {"i64", "u8", "bool"}) {
    std::string text;
    for (const std::string& name : names) {
      text += (text.empty() ? "" : " ") + name + "=" + t + "[5,7]";
    }
    c.add(std::string("of_") + t, kStandard, text, LayoutKind::contiguous, true);
  }
}

// Each Scalar argument in turn takes other values.
void add_scalars(Collector& c, const Overload& overload, DType dtype,
                 const std::vector<std::string>& names) {
  constexpr std::pair<const char*, const char*> kValues[] = {
      {"negative", "-3"}, {"zero", "0"}, {"fraction", "0.3"}, {"true", "true"}};
  constexpr std::string_view kMet = "true";  // by elements that equal it
  std::string tensors = with_shapes(names, kShapes[1]);
  std::string few =
      with_shapes(names, {"", kStandard, {"[5,7]{ties}", "[5,7]{ties}", "[5,7]{ties}"}});
  for (const Argument& a : overload.args) {
    if (a.kind != ArgKind::scalar) continue;
    std::vector<std::string> known = names;
    known.push_back(a.name);
    std::string rest = plausible_arguments(overload, dtype, known);
    if (refuses_zero(overload, dtype)) {
      tensors = without_zeros(tensors);
      few = without_zeros(few);
    }
    for (const auto& [name, value] : kValues) {
      c.add_exactly(fmt::format("{}_{}", a.name, name), kStandard,
                    fmt::format("{} {}={}{}", value == kMet ? few : tensors, a.name, value, rest),
                    true);
    }
  }
}

const Argument* find(const Overload& overload, std::string_view name) {
  int i = overload.find_arg(name);
  return i < 0 ? nullptr : &overload.args[static_cast<size_t>(i)];
}

struct ReductionShape {
  std::string_view name;
  CaseTier tier;
  std::string_view tensor;
  std::string_view dims;  // "1", "0,2"; empty: the argument is left out
  bool keepdim = false;
  bool refusal = false;         // ATen refuses some operators here (the maximum of nothing)
  std::string_view error = {};  // must be refused
  bool wide = false;            // for operators without dims, too
};
constexpr ReductionShape kReductions[] = {
    {"last_dim", kSmoke, "T[6,37]", "-1"},
    {"first_dim", kSmoke, "T[37,6]", "0"},
    {"middle_keepdim", kStandard, "T[3,9,4]", "1", true},
    {"default_dims", kSmoke, "T[5,7]", ""},
    {"two_dims", kStandard, "T[3,5,4]", "0,2"},
    {"two_dims_keepdim", kStandard, "T[3,5,4]", "-1,0", true},
    {"single", kStandard, "T[4,1]", "1"},
    {"scalar", kStandard, "T[]", ""},
    {"scalar_dim", kStandard, "T[]", "0"},
    {"of_nothing", kStandard, "T[4,0]", "1", false, true},
    {"no_rows", kStandard, "T[0,4]", "1"},
    {.name = "nan", .tier = kStandard, .tensor = "T[4,9]{nan}", .dims = "1", .wide = true},
    {.name = "ties", .tier = kStandard, .tensor = "T[6,37]{ties}", .dims = "1", .wide = true},
    {.name = "special", .tier = kStandard, .tensor = "T[5,40]{special}", .dims = "1", .wide = true},
    {"long_row", kStandard, "T[2,4099]", "1"},
    {"long_column", kStandard, "T[2053,3]", "0"},
    {"huge", kFull, "T[3,100003]", "1"},
    {"bad_dim", kSmoke, "T[3,4]", "5", false, false, " !index"},
    {"repeated_dim", kStandard, "T[3,4]", "1,-1", false, false, " !runtime"},
};

// The text of one shape; empty where the operator has no argument for what it says.
std::string reduction_text(const Overload& overload, const std::string& self,
                           const ReductionShape& s) {
  const Argument *dim = find(overload, "dim"), *keepdim = find(overload, "keepdim");
  bool list = dim && (dim->kind == ArgKind::int_list || dim->kind == ArgKind::sym_int_list);
  bool many = s.dims.find(',') != std::string_view::npos;
  // What reduces everything takes no dim; it meets the same numbers.
  const bool of_all = !dim && s.wide;
  if (!s.dims.empty() && !of_all && (!dim || (many && !list))) return {};
  if (s.dims.empty() && dim && !dim->default_value.present()) return {};
  if (s.keepdim && !keepdim) return {};
  std::string text = self + "=" + std::string(s.tensor);
  if (!s.dims.empty() && !of_all) {
    std::string dims(s.dims);
    text += " dim=" + (list ? "[" + dims + "]" : dims);
  }
  if (s.keepdim) text += " keepdim=true";
  if (!s.keepdim && keepdim && !keepdim->default_value.present()) text += " keepdim=false";
  return text + std::string(s.error);
}

std::vector<Recipe> over_dims(const Overload& overload, DType dtype, bool keepdim) {
  std::vector<std::string> tensors = tensor_names(overload);
  if (tensors.empty()) return {};
  Collector c(overload, dtype, {tensors[0], "dim", "keepdim"});
  for (const ReductionShape& s : kReductions) {
    if (s.keepdim && !keepdim) continue;
    bool nan = s.name == "nan" && !is_fractional(dtype);
    std::string text = nan ? std::string() : reduction_text(overload, tensors[0], s);
    if (text.empty()) continue;
    c.add(s.name, s.tier, text, LayoutKind::contiguous, s.refusal);
    if (s.name != "last_dim" && s.name != "default_dims") continue;
    for (LayoutKind layout : kLayouts) c.add(s.name, kStandard, text, layout);
  }
  const Argument* to = find(overload, "dtype");
  if (to && (to->optional || to->default_value.present())) {
    // Sums and products that a narrower dtype has not.
    ReductionShape wide = kReductions[0];
    if (is_integral(dtype)) wide.tensor = "T[6,5]{-30000000..30000000}";
    if (is_fractional(dtype)) wide.tensor = "T[6,5]{positive}";
    std::string text = reduction_text(overload, tensors[0], wide);
    wide.dims = "";
    if (text.empty()) text = reduction_text(overload, tensors[0], wide);
    if (!text.empty())
      c.add("to_f64", kStandard, text + " dtype=f64", LayoutKind::contiguous, true);
  }
  return c.take();
}

struct NamedGenerator {
  std::string_view name;
  Generator generator;
};
constexpr NamedGenerator kGenerators[] = {
    {"elementwise_unary", elementwise_cases},
    {"elementwise_binary", elementwise_cases},
    {"elementwise_ternary", elementwise_cases},
    {"stepwise", stepwise_cases},
    {"comparison", elementwise_cases},
    {"reduction", reduction_cases},
    {"scan", scan_cases},
    {"foreach", foreach_cases},
    {"optimizer_step", optimizer_step_cases},
    {"creation_like", like_cases},
};
constexpr NamedGenerator kFamilies[] = {
    {"pointwise_unary", elementwise_cases},
    {"pointwise_binary", elementwise_cases},
    {"comparison", elementwise_cases},
    {"activation", elementwise_cases},
    {"special", elementwise_cases},
    {"reduction", reduction_cases},
    {"scan", scan_cases},
    {"foreach", foreach_cases},
};

template <size_t N>
Generator lookup(const NamedGenerator (&table)[N], std::string_view name) {
  for (const NamedGenerator& g : table) {
    if (g.name == name) return g.generator;
  }
  return nullptr;
}

}  // namespace

std::vector<Recipe> elementwise_cases(const Overload& overload, DType dtype) {
  std::vector<std::string> names = tensor_names(overload);
  if (names.empty()) return {};
  Collector c(overload, dtype, names);
  bool many = names.size() > 1;
  for (const Shapes& s : kShapes) {
    c.add(s.name, s.tier, with_shapes(names, s));
    if (s.name != "matrix") continue;
    for (LayoutKind layout : kLayouts) c.add(s.name, kStandard, with_shapes(names, s), layout);
  }
  c.add("special", kSmoke, with_shapes(names, many ? kSpecialMany : kSpecialOne));
  c.add("channels_last", kStandard,
        with_shapes(names, {"", kStandard, {"[2,3,4,5]", "[2,3,4,5]", "[2,3,4,5]"}}),
        LayoutKind::channels_last);
  if (many) {
    for (const Shapes& s : kBroadcasts) c.add(s.name, s.tier, with_shapes(names, s));
    add_mixtures(c, names, overload);
    if (overload.broadcast.size() > 1) {
      c.add("mismatch", kSmoke,
            with_shapes(names, {"", kSmoke, {"[3]", "[4]", "[3]"}}) + " !runtime");
    }
  }
  add_scalars(c, overload, dtype, names);
  bool widens = overload.promote.kind == specs::PromoteKind::int_to_float;
  if (widens && dtype == DType::f32) add_integers(c, names);
  return c.take();
}

std::vector<Recipe> stepwise_cases(const Overload& overload, DType dtype) {
  std::vector<Recipe> out = elementwise_cases(overload, dtype);
  for (Recipe& r : out) r.text = with_few_steps(r.text);
  return out;
}

std::vector<Recipe> reduction_cases(const Overload& overload, DType dtype) {
  return over_dims(overload, dtype, true);
}

std::vector<Recipe> scan_cases(const Overload& overload, DType dtype) {
  return over_dims(overload, dtype, false);
}

// Numbers of both signs, which most functions of one number are defined for; bools of both kinds.
std::string without_ranges(std::string text) {
  constexpr std::string_view kRange = "{1..8+nan}";
  for (size_t at = 0; (at = text.find(kRange)) != std::string::npos;) text.erase(at, kRange.size());
  return text;
}

// What a list operator takes besides lists of tensors.
struct ForeachNumbers {
  const char* list;    // one for each tensor: ScalarList
  const char* single;  // Scalar, which has no default; bools only
  const char* scale;   // Scalar with a default, which would decide nothing; empty: left out
};

// Any other number would make integers of bools.
std::string as_bools(std::string_view text) {
  std::string out;
  for (char c : text) out += isdigit(c) ? (c % 2 ? "true" : "false") : std::string(1, c);
  return out;
}

// ATen takes one number for all in a tensor of rank 0, one for each in a vector.
std::string tensor_of_numbers(const Argument& a, const ForeachNumbers& numbers) {
  if (a.name != "scalars") return "T[]{1..4}";
  const std::string_view list = numbers.list;
  const auto count = std::count(list.begin(), list.end(), ',') + 1;
  return fmt::format("T[{}]@contiguous{{1..4}}", count);
}

std::string foreach_numbers(const Overload& overload, DType dtype, const ForeachNumbers& numbers) {
  std::string out;
  for (const Argument& a : overload.args) {
    std::string text;
    if (a.kind == ArgKind::tensor && !a.is_out)
      out += " " + a.name + "=" + tensor_of_numbers(a, numbers);
    if (a.kind == ArgKind::scalar_list) text = numbers.list;
    if (a.kind == ArgKind::scalar && a.default_value.present()) text = numbers.scale;
    if (a.kind == ArgKind::scalar && !a.default_value.present()) {
      text = is_bool(dtype) ? numbers.single : is_fractional(dtype) ? "2.5" : "2";
    }
    if (!text.empty()) out += " " + a.name + "=" + (is_bool(dtype) ? as_bools(text) : text);
  }
  return out;
}

std::vector<Recipe> foreach_cases(const Overload& overload, DType dtype) {
  struct List {
    const char *name, *tensors;
    ForeachNumbers numbers;
  };
  // Of many tensors each has numbers on both sides of its own scalar, and NaN.
  constexpr List kLists[] = {
      {"three", "(T[5],T[3,4],T[])", {"[2,3,4]", "1", ""}},
      {"one", "(T[17])", {"[3]", "0", "2"}},
      {"many",
       "(T[7]{1..8+nan},T[8]{1..8+nan},T[9]{1..8+nan},T[10]{1..8+nan},T[11]{1..8+nan},"
       "T[12]{1..8+nan},T[13]{1..8+nan},T[14]{1..8+nan},T[15]{1..8+nan},T[16]{1..8+nan},"
       "T[17]{1..8+nan},T[18]{1..8+nan})",
       {"[3,4,5,4,3,5,3,4,5,4,3,5]", "0", "3"}},
      {"with_empty", "(T[0],T[3,4])", {"[2,1]", "1", ""}},
      {"large", "(T[1031],T[3])", {"[1,3]", "0", "2"}},
      {"special", "(T[40]{special},T[7]{special})", {"[2,3]", "0", ""}},
      {"bits", "(T[64]{bits},T[3]{bits})", {"[3,2]", "1", ""}},
  };
  std::vector<std::string> lists, known;
  for (const Argument& a : overload.args) {
    if (a.kind == ArgKind::tensor_list && !a.is_out) lists.push_back(a.name);
    if (a.kind == ArgKind::scalar || a.kind == ArgKind::scalar_list) known.push_back(a.name);
    if (a.kind == ArgKind::tensor && !a.is_out) known.push_back(a.name);
  }
  if (lists.empty()) return {};
  const bool plain = is_bool(dtype) || (lists.size() == 1 && known.empty());
  known.insert(known.end(), lists.begin(), lists.end());
  Collector c(overload, dtype, known);
  auto text_of = [&](const List& list) {
    std::string text;
    for (const std::string& l : lists) text += (text.empty() ? "" : " ") + l + "=" + list.tensors;
    return (plain ? without_ranges(text) : text) + foreach_numbers(overload, dtype, list.numbers);
  };
  for (const List& list : kLists) {
    bool smoke = &list == &kLists[0];
    c.add(list.name, smoke ? kSmoke : kStandard, text_of(list), LayoutKind::contiguous, true);
    if (!smoke) continue;
    for (LayoutKind layout : {LayoutKind::transposed, LayoutKind::strided}) {
      c.add(list.name, kStandard, text_of(list), layout, true);
    }
  }
  const bool number =
      std::any_of(overload.args.begin(), overload.args.end(), [](const Argument& a) {
        return a.kind == ArgKind::tensor && !a.is_out && a.name == "other";
      });
  if (number) c.add("not_a_number", kStandard, "self=(T[3],T[3]) other=T[3] !runtime");
  return c.take();
}

std::vector<Recipe> like_cases(const Overload& overload, DType dtype) {
  std::vector<std::string> names = tensor_names(overload);
  if (names.empty()) return {};
  Collector c(overload, dtype, names);
  for (const Shapes& s : kShapes) c.add(s.name, s.tier, with_shapes(names, s));
  for (LayoutKind layout : kLayouts) {
    c.add("matrix", kStandard, with_shapes(names, kShapes[1]), layout);
  }
  return c.take();
}

Generator find_generator(std::string_view name) {
  return lookup(kGenerators, name);
}

Generator family_generator(const Overload& overload) {
  return lookup(kFamilies, overload.family);
}

}  // namespace primset::conformance

template class primset::LargeVariant<primset::conformance::ArgValue::Alternatives>;
