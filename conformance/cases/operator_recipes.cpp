#include <algorithm>

#include "conformance/cases/case_text.h"
#include "conformance/cases/filter.h"
#include "conformance/cases/generators.h"

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

void add_rows(std::vector<Recipe>& out, const Overload& overload) {
  for (auto table :
       {matrix_rows(), indexing_op_rows(), view_rows(), network_rows(), random_op_rows()}) {
    for (const OperatorRow& row : table) {
      if (!glob_matches(row.op, overload.qualified)) continue;
      out.push_back(
          {std::string(row.name), LayoutKind::contiguous, row.tier, std::string(row.text), false});
    }
  }
}

void add_generated(std::vector<Recipe>& out, const Overload& overload, DType dtype) {
  bool found = false;
  for (const specs::CaseSpec& c : overload.cases) {
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

// A short table is filled up with its first case in other layouts.
void add_layouts(std::vector<Recipe>& recipes) {
  constexpr LayoutKind kMore[] = {LayoutKind::strided, LayoutKind::transposed, LayoutKind::padded,
                                  LayoutKind::offset, LayoutKind::channels_last};
  Recipe first = recipes.front();
  first.tier = CaseTier::standard;
  for (LayoutKind layout : kMore) {
    if (recipes.size() >= kMinCases) return;
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

std::vector<Recipe> functional_recipes(const Overload& overload, DType dtype) {
  std::vector<Recipe> out;
  add_rows(out, overload);
  add_generated(out, overload, dtype);
  if (out.empty()) {
    for (size_t i = 0; i < kMinCases; ++i) {
      out.push_back({"auto_" + std::to_string(i), LayoutKind::contiguous,
                     i == 0 ? CaseTier::smoke : CaseTier::standard,
                     std::string(kAutomatic) + std::to_string(i), false});
    }
  }
  drop_duplicates(out);
  add_layouts(out);
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
  for (const Argument& a : variant.args) {
    if (a.is_out) result += a.name + "=" + std::string(out) + " ";
  }
  if (parsed.expected_error) result += "!" + std::string(name(*parsed.expected_error)) + " ";
  if (!result.empty()) result.pop_back();
  return result;
}

std::vector<Recipe> variant_recipes(const Overload& base, const Overload& variant, DType dtype) {
  std::vector<Recipe> out;
  bool first = true;
  // What a layout does to reading was seen with the functional overload; one is enough here, where
  // there are cases enough.
  std::vector<Recipe> recipes = functional_recipes(base, dtype);
  auto usual = [](const Recipe& r) {
    return r.layout == LayoutKind::contiguous || r.layout == LayoutKind::strided;
  };
  bool enough = std::count_if(recipes.begin(), recipes.end(), usual) >=
                static_cast<std::ptrdiff_t>(kMinCases);
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

}  // namespace

std::vector<Recipe> operator_recipes(const Bundle& bundle, const Overload& overload, DType dtype) {
  const Overload& base = functional_base(bundle, overload);
  if (&base == &overload) return functional_recipes(overload, dtype);
  return variant_recipes(base, overload, dtype);
}

std::vector<DType> operator_dtypes(const Bundle& bundle, const Overload& overload) {
  DTypeSet set = overload.dtypes;
  if (set.empty()) set = functional_base(bundle, overload).dtypes;
  if (set.empty()) set = bundle.computed_by(overload).dtypes;
  if (set.empty()) set = {DType::f32, DType::i64};
  std::vector<DType> out;
  for (int code = 0; code < kDTypeCodes; ++code) {
    auto t = static_cast<DType>(code);
    if (info(t).bits != 0 && set.contains(t)) out.push_back(t);
  }
  return out;
}

}  // namespace primset::conformance
