// From specs and a selection to ids, and from an id back to its case.
#include <algorithm>

#include "conformance/cases/ids/filter.h"
#include "conformance/cases/inputs/make_operator.h"
#include "conformance/cases/inputs/make_primitive.h"
#include "conformance/cases/tables/generators.h"
#include "conformance/cases/tables/recipe.h"
#include "conformance/reference/expected_results.h"

namespace primset::conformance {
namespace {

// A quick look takes the dtypes that differ most from each other.
CaseTier tier_of(DType t) {
  constexpr DTypeSet kQuick{DType::f32, DType::f16, DType::i64, DType::boolean};
  return kQuick.contains(t) ? CaseTier::smoke : CaseTier::standard;
}

class Selector {
 public:
  explicit Selector(const Selection& selection)
      : selection_(selection), filter_(selection.filters) {}

  bool may_match(const std::string& subject) const { return filter_.may_match_subject(subject); }

  bool wants(DType t) const {
    const auto& dtypes = selection_.dtypes;
    return dtypes.empty() ? tier_of(t) <= selection_.tier
                          : std::find(dtypes.begin(), dtypes.end(), t) != dtypes.end();
  }

  void add(Level level, const std::string& subject, DType t, const std::vector<Recipe>& recipes) {
    for (const Recipe& r : recipes) {
      if (r.tier > selection_.tier) continue;
      CaseId id{level, subject, t, r.name,
                std::string(kLayoutNames[static_cast<size_t>(r.layout)])};
      std::string text = id.to_string();
      if (!filter_.matches(text)) continue;
      if (stable_hash(text) % selection_.shards != selection_.shard) continue;
      out_.push_back(std::move(id));
    }
  }
  std::vector<CaseId> take() { return std::move(out_); }

 private:
  const Selection& selection_;
  Filter filter_;
  std::vector<CaseId> out_;
};

std::vector<Recipe> first_smoke(const std::vector<Recipe>& recipes) {
  const auto first = std::ranges::find(recipes, CaseTier::smoke, &Recipe::tier);
  return first == recipes.end() ? std::vector<Recipe>() : std::vector<Recipe>{*first};
}

const Recipe& find_recipe(const std::vector<Recipe>& recipes, const CaseId& id) {
  for (const Recipe& r : recipes) {
    if (r.name == id.case_name && kLayoutNames[static_cast<size_t>(r.layout)] == id.layout)
      return r;
  }
  throw Error(ErrorCode::value, "there is no case " + id.to_string());
}

const specs::Overload& functional(const specs::Bundle& bundle, const specs::Overload& overload) {
  const specs::Overload* o = &overload;
  while (o->base != specs::kNoIndex) o = &bundle.overloads[o->base];
  return *o;
}

void make_primitive(const specs::Bundle& bundle, const CaseId& id, Rng& rng, TestCase& test) {
  const specs::Primitive* p = bundle.find_primitive(id.subject);
  if (!p) throw Error(ErrorCode::value, "there is no primitive " + id.subject);
  std::vector<Recipe> recipes = primitive_recipes(*p, id.dtype);
  const Recipe& recipe = find_recipe(recipes, id);
  test.text = recipe.text;
  ValueReader reader(id.dtype, recipe.layout, rng, test.storages);
  if (recipe.text.starts_with("graph")) {
    make_graph_case(recipe.text, reader, test);
    return;
  }
  CaseText text = CaseText::parse(recipe.text);
  test.expected_error = text.expected_error;
  make_primitive_case(*p, text, reader, test);
}

// `text` stands in for the recipe's own when it is not empty.
void make_operator(const specs::Bundle& bundle, const CaseId& id, Rng& rng, const std::string& text,
                   TestCase& test) {
  const specs::Overload* o = bundle.find_overload(id.subject);
  if (!o) throw Error(ErrorCode::value, "there is no operator " + id.subject);
  std::vector<Recipe> recipes = operator_recipes(bundle, *o, id.dtype);
  const Recipe& recipe = find_recipe(recipes, id);
  test.text = text.empty() ? recipe.text : text;
  test.may_be_refused = recipe.may_be_refused;
  if (test.text.starts_with(kAutomatic)) {
    auto variant = static_cast<size_t>(read_integer(test.text.substr(kAutomatic.size())));
    test.text = find_automatic_text(bundle, functional(bundle, *o), id.dtype, variant);
  }
  CaseText parsed = CaseText::parse(test.text);
  test.expected_error = parsed.expected_error;
  test.result_layouts = parsed.result_layouts;
  ValueReader reader(id.dtype, recipe.layout, rng, test.storages);
  make_operator_case(*o, parsed, reader, test);
  make_out_tensors(bundle, test);
}

}  // namespace

std::optional<CaseTier> tier_from_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"smoke", "standard", "full"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<CaseTier>(i);
  }
  return std::nullopt;
}

std::vector<CaseId> select_cases(const specs::Bundle& bundle, const Selection& selection) {
  Selector selector(selection);
  for (const specs::Primitive& p : bundle.primitives) {
    if (!selector.may_match("prim/" + p.name)) continue;
    for (DType t : primitive_dtypes(p)) {
      if (selector.wants(t)) {
        selector.add(Level::primitive, p.name, t, primitive_recipes(p, t));
      }
    }
  }
  for (const specs::Overload& o : bundle.overloads) {
    if (o.status != specs::Status::implemented || !selector.may_match(o.qualified)) continue;
    for (DType t : operator_dtypes(bundle, o)) {
      if (selector.wants(t)) {
        selector.add(Level::op, o.qualified, t, operator_recipes(bundle, o, t));
      }
    }
    // What it is converted to is written as results of that dtype are.
    for (DType t : converted_dtypes(bundle, o)) {
      if (o.base == specs::kNoIndex && selector.wants(t)) {
        selector.add(Level::op, o.qualified, t, first_smoke(operator_recipes(bundle, o, t)));
      }
    }
  }
  return selector.take();
}

TestCase make_case(const specs::Bundle& bundle, const CaseId& id, uint64_t seed) {
  TestCase test;
  test.id = id;
  Rng rng(stable_hash(id.to_string(), seed));
  if (id.level == Level::primitive) {
    make_primitive(bundle, id, rng, test);
  } else {
    make_operator(bundle, id, rng, {}, test);
  }
  return test;
}

TestCase make_case_of_text(const specs::Bundle& bundle, const CaseId& id, uint64_t seed,
                           const std::string& text) {
  TestCase test;
  test.id = id;
  Rng rng(stable_hash(id.to_string(), seed));
  make_operator(bundle, id, rng, text, test);
  return test;
}

}  // namespace primset::conformance
