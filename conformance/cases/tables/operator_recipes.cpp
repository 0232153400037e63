#include <algorithm>
#include <cctype>

#include "conformance/cases/ids/filter.h"
#include "conformance/cases/inputs/case_text.h"
#include "conformance/cases/inputs/sparse_values.h"
#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

using specs::Argument;
using specs::Bundle;
using specs::Overload;

// No overload and dtype has fewer.
constexpr size_t kMinCases = 6;

// The functional overload whose cases a variant takes over.
const Overload& functional_base(const Bundle& bundle, const Overload& overload) {
  const Overload* o = &overload;
  while (o->base != specs::kNoIndex) o = &bundle.overloads[o->base];
  return *o;
}

bool is_for(const OperatorRow& row, DType t) {
  bool fractional = is_floating(t) || is_complex(t);
  switch (row.dtypes) {
    case RowDTypes::numbers:
      return !is_bool(t);
    case RowDTypes::fractional:
      return fractional;
    case RowDTypes::integral:
      return is_integral(t);
    case RowDTypes::real:
      return !is_complex(t);
    case RowDTypes::real_numbers:
      return !is_complex(t) && !is_bool(t);
    case RowDTypes::products:
      return !is_bool(t) && !is_float8(t);
    case RowDTypes::narrow:
      return !is_bool(t) && real_type(t) != DType::f64;
    case RowDTypes::promoting:
      return bits(real_type(t)) > 8 || !is_floating(t);
    default:
      return true;
  }
}

// Asked of every row for every overload and dtype, many million times for a list of all
// cases: nothing is copied, and the first character decides nearly always.
bool is_for(const OperatorRow& row, const Overload& overload, bool as_twin) {
  const std::string_view name = overload.qualified;
  if (row.op.starts_with('=')) return !as_twin && row.op.substr(1) == name;
  for (size_t at = 0; at < row.op.size();) {
    const size_t end = std::min(row.op.find(' ', at), row.op.size());
    const std::string_view glob = row.op.substr(at, end - at);
    at = end + 1;
    if (glob.empty()) continue;
    const char first = glob.front();
    if ((first == name.front() || first == '*' || first == '?') && glob_matches(glob, name))
      return true;
  }
  return false;
}

void add_rows(std::vector<Recipe>& out, std::span<const OperatorRow> table,
              const Overload& overload, DType dtype, bool as_twin) {
  for (const OperatorRow& row : table) {
    if (!is_for(row, dtype) || !is_for(row, overload, as_twin)) continue;
    out.push_back(
        {std::string(row.name), LayoutKind::contiguous, row.tier, std::string(row.text), false});
  }
}

std::vector<Recipe> rows_of(const Overload& overload, DType dtype, bool as_twin) {
  std::vector<Recipe> out;
  for (auto table :
       {arithmetic_rows(), matrix_rows(), equation_rows(), spectra_op_rows(), convolution_rows(),
        indexing_op_rows(), scatter_rows(), view_rows(), rearrange_rows(), creation_rows(),
        network_rows(), normalization_rows(), random_op_rows(), host_function_rows(), fft_rows(),
        sparse_rows(), sparse_twin_rows()}) {
    add_rows(out, table, overload, dtype, as_twin);
  }
  return out;
}

// The first is a smoke test.
void add_written(std::vector<Recipe>& out, const specs::CaseSpec& spec) {
  for (const auto& [name, text] : spec.parameters) {
    const CaseTier tier = out.empty() ? CaseTier::smoke : CaseTier::standard;
    out.push_back({name, LayoutKind::contiguous, tier, text, false});
  }
}

void add_generated(std::vector<Recipe>& out, const Overload& overload, DType dtype) {
  bool found = false;
  for (const specs::CaseSpec& c : overload.cases) {
    if (c.generator == specs::kWrittenCases) add_written(out, c);
    if (Generator g = find_generator(c.generator)) {
      std::vector<Recipe> made = g(overload, dtype);
      out.insert(out.end(), made.begin(), made.end());
      found = true;
    }
  }
  // Rows written for an operator are enough; what a family usually takes may not fit it.
  if (found || !out.empty()) return;
  if (Generator g = family_generator(overload)) {
    out = g(overload, dtype);
    // Nobody said that the operator is like its family.
    for (Recipe& r : out) r.may_be_refused = true;
  }
}

// Brackets behind a dtype are a tensor's sizes: "self=T[2,3]".
bool are_sizes_of_tensor(std::string_view text, size_t open) {
  return open > 0 && std::isalnum(static_cast<unsigned char>(text[open - 1]));
}

bool has_tensor(std::string_view text) {
  for (size_t at = 0; (at = text.find('[', at)) != std::string_view::npos; ++at) {
    if (are_sizes_of_tensor(text, at)) return true;
  }
  return false;
}

// Whether a size of a tensor, or of what is asked for, is 0: then the result may well be empty.
bool has_empty_size(std::string_view text) {
  if ((std::string(text) + " ").find(" length=0 ") != std::string::npos) return true;
  for (size_t at = 0; (at = text.find('[', at)) != std::string_view::npos; ++at) {
    const std::string_view before = text.substr(0, at);
    const bool sizes = are_sizes_of_tensor(text, at) || before.ends_with("size=") ||
                       before.ends_with("sizes=") || before.ends_with("repeats=");
    const std::string_view list = text.substr(at + 1, text.find(']', at) - at - 1);
    const std::vector<std::string> parts = split_outside_brackets(list, ',');
    if (sizes && std::ranges::count(parts, "0") > 0) return true;
  }
  return false;
}

// A case that must be refused shows nothing of what the operator computes, nor does one without
// elements.
bool computes(const Recipe& r) {
  return r.tier <= CaseTier::standard && r.text.find(" !") == std::string::npos &&
         !has_empty_size(r.text);
}

bool has_enough(const std::vector<Recipe>& recipes) {
  return std::ranges::count_if(recipes, computes) >= static_cast<std::ptrdiff_t>(kMinCases);
}

// A short table is filled up with its first case in other layouts.
void add_layouts(std::vector<Recipe>& recipes) {
  constexpr LayoutKind kMore[] = {LayoutKind::strided, LayoutKind::transposed, LayoutKind::padded,
                                  LayoutKind::offset, LayoutKind::channels_last};
  auto computing = std::ranges::find_if(recipes, computes);
  Recipe first = computing != recipes.end() ? *computing : recipes.front();
  // Without a tensor another layout is the same call once more.
  if (!has_tensor(first.text) && !first.text.starts_with(kAutomatic)) return;
  first.tier = CaseTier::standard;
  first.may_be_refused = true;  // some views want certain strides
  for (LayoutKind layout : kMore) {
    if (has_enough(recipes)) return;
    first.layout = layout;
    recipes.push_back(first);
  }
}

// Recipes may come from several sources: of two with one name the first stays.
void drop_duplicates(std::vector<Recipe>& recipes) {
  std::vector<Recipe> unique;
  for (Recipe& r : recipes) {
    bool seen = std::any_of(unique.begin(), unique.end(), [&](const Recipe& u) {
      return u.name == r.name && u.layout == r.layout;
    });
    if (!seen) unique.push_back(std::move(r));
  }
  recipes = std::move(unique);
}

std::string text_for_variant(const Overload& base, const Overload& variant, const std::string& text,
                             std::string_view out);

// What is written for an operator, and for one that it does the same as.
std::vector<Recipe> written_recipes(const Bundle& bundle, const Overload& overload, DType dtype) {
  std::vector<Recipe> out = rows_of(overload, dtype, false);
  add_generated(out, overload, dtype);
  const Overload* twin = twin_of(bundle, overload);
  if (!twin) return out;
  for (Recipe r : rows_of(*twin, dtype, true)) {
    r.text = text_for_variant(*twin, overload, r.text, "");
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<Recipe> functional_recipes(const Bundle& bundle, const Overload& overload,
                                       DType dtype) {
  if (overload.implementation.kind == specs::ImplKind::alias) {
    const Overload& target = bundle.overloads.at(overload.implementation.target);
    std::vector<Recipe> out = functional_recipes(bundle, target, dtype);
    for (Recipe& r : out) r.text = text_for_variant(target, overload, r.text, "");
    return out;
  }
  std::vector<Recipe> out = written_recipes(bundle, overload, dtype);
  if (out.empty()) {
    for (size_t i = 0; i < kMinCases; ++i) {
      out.push_back({"auto_" + std::to_string(i), LayoutKind::contiguous,
                     i == 0 ? CaseTier::smoke : CaseTier::standard,
                     std::string(kAutomatic) + std::to_string(i), false});
    }
  }
  drop_duplicates(out);
  add_layouts(out);
  add_rows(out, sparse_layout_rows(), overload, dtype, false);
  return out;
}

// Which argument of the variant has the place of the base's: the namesake, else the one at the same
// position. Empty when it has none, as an out= overload has no dtype.
std::string renamed(const Overload& base, const Overload& variant, const std::string& name) {
  if (variant.find_arg(name) >= 0) return name;
  int position = base.find_arg(name);
  if (position < 0 || static_cast<size_t>(position) >= variant.args.size()) return {};
  const Argument& there = variant.args[static_cast<size_t>(position)];
  bool same_kind = there.kind == base.args[static_cast<size_t>(position)].kind;
  return same_kind && !there.is_out ? there.name : std::string();
}

std::string text_for_variant(const Overload& base, const Overload& variant, const std::string& text,
                             std::string_view out) {
  if (text.starts_with(kAutomatic)) return text;
  CaseText parsed = CaseText::parse(text);
  std::string result;
  for (const TextItem& item : parsed.items) {
    std::string name = renamed(base, variant, item.name);
    if (!name.empty()) result += name + "=" + item.value + " ";
  }
  // zeros.out has no dtype; the tensor it is given has.
  const std::string* dtype = variant.find_arg("dtype") < 0 ? parsed.find("dtype") : nullptr;
  for (const Argument& a : variant.args) {
    if (a.is_out) result += a.name + "=" + std::string(out) + (dtype ? ":" + *dtype : "") + " ";
  }
  for (size_t i = 0; i < parsed.result_layouts.size(); ++i)
    result += (i == 0 ? "->" : ",") + std::string(layout_name(parsed.result_layouts[i]));
  if (!parsed.result_layouts.empty()) result += " ";
  if (parsed.expected_error) result += "!" + std::string(name(*parsed.expected_error)) + " ";
  if (!result.empty()) result.pop_back();
  return result;
}

std::vector<Recipe> variant_recipes(const Bundle& bundle, const Overload& base,
                                    const Overload& variant, DType dtype) {
  std::vector<Recipe> out;
  bool first = true;
  // What a layout does to reading was seen with the functional overload; one is enough here, where
  // there are cases enough.
  std::vector<Recipe> recipes = functional_recipes(bundle, base, dtype);
  auto usual = [](const Recipe& r) {
    return r.layout == LayoutKind::contiguous || r.layout == LayoutKind::strided;
  };
  auto counts = [&](const Recipe& r) { return usual(r) && computes(r); };
  // One may be refused where the functional overload is not: an in-place one whose result grows.
  bool enough = std::ranges::count_if(recipes, counts) > static_cast<std::ptrdiff_t>(kMinCases);
  for (Recipe& r : recipes) {
    if (enough && !usual(r)) continue;
    Recipe made = r;
    made.may_be_refused = true;
    made.text = text_for_variant(base, variant, r.text, "out");
    out.push_back(made);
    bool has_out = variant.kind == specs::OverloadKind::out && !r.text.starts_with(kAutomatic);
    if (!first || !has_out) continue;
    for (const char* how : {"strided", "empty"}) {
      made.name = r.name + "_out_" + how;
      made.text = text_for_variant(base, variant, r.text, std::string("out@") + how);
      made.tier = CaseTier::standard;
      out.push_back(made);
    }
    first = false;
  }
  return out;
}

DTypeSet stated_dtypes(const Bundle& bundle, const Overload& overload) {
  const DTypeSet set = bundle.promoted_dtypes(overload);
  return set.empty() ? DTypeSet{DType::f32, DType::i64} : set;
}

// Complex halves and float8 where they are computed in other dtypes; where they are just moved, the
// last of float8's formats.
DTypeSet like_others(const Bundle& bundle, const Overload& overload) {
  const DTypeSet stated = stated_dtypes(bundle, overload);
  if (stated.contains(DType::f8_e8m0fnu) || !stated.contains(DType::f32))
    return stated & DTypeSet{DType::f8_e8m0fnu};
  DTypeSet computed{DType::c32};
  for (int code = 0; code < kDTypeCodes; ++code) {
    if (is_float8(static_cast<DType>(code)))
      computed = computed | DTypeSet{static_cast<DType>(code)};
  }
  return stated & computed;
}

DTypeSet without(DTypeSet all, DTypeSet left_out) {
  return DTypeSet(all.mask() & ~left_out.mask());
}

std::vector<DType> in_order(DTypeSet set) {
  std::vector<DType> out;
  for (int code = 0; code < kDTypeCodes; ++code) {
    auto t = static_cast<DType>(code);
    if (info(t).bits != 0 && set.contains(t)) out.push_back(t);
  }
  return out;
}

}  // namespace

std::vector<Recipe> operator_recipes(const Bundle& bundle, const Overload& overload, DType dtype) {
  const Overload& base = functional_base(bundle, overload);
  if (&base == &overload) return functional_recipes(bundle, overload, dtype);
  return variant_recipes(bundle, base, overload, dtype);
}

std::vector<DType> operator_dtypes(const Bundle& bundle, const Overload& overload) {
  return in_order(without(stated_dtypes(bundle, overload), like_others(bundle, overload)));
}

std::vector<DType> converted_dtypes(const Bundle& bundle, const Overload& overload) {
  const DTypeSet integers = without(bundle.dtypes_of(overload), stated_dtypes(bundle, overload));
  return in_order(integers | like_others(bundle, overload));
}

}  // namespace primset::conformance
