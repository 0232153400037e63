// How a case is made, before it is made: cheap enough to list all of them.
#ifndef PRIMSET_CONFORMANCE_CASES_TABLES_RECIPE_H_
#define PRIMSET_CONFORMANCE_CASES_TABLES_RECIPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/inputs/case.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

// Each tier includes the ones before it.
enum class CaseTier : uint8_t { smoke, standard, full };
std::optional<CaseTier> tier_from_name(std::string_view name);

struct Recipe {
  std::string name;  // unique with the layout among the recipes of a subject and dtype
  LayoutKind layout = LayoutKind::contiguous;
  CaseTier tier = CaseTier::standard;
  std::string text;  // case_text.h
  bool may_be_refused = false;
};

// All recipes of one subject with one dtype, in a fixed order.
std::vector<Recipe> primitive_recipes(const specs::Primitive& primitive, DType dtype);
std::vector<Recipe> operator_recipes(const specs::Bundle& bundle, const specs::Overload& overload,
                                     DType dtype);

// The dtypes that cases of it are made for, in the order of their codes.
std::vector<DType> primitive_dtypes(const specs::Primitive& primitive);
std::vector<DType> operator_dtypes(const specs::Bundle& bundle, const specs::Overload& overload);
// Those that an operator takes, but computes in another or moves as another: what is done then is
// held by the other's cases, so that one smoke case is enough.
std::vector<DType> converted_dtypes(const specs::Bundle& bundle, const specs::Overload& overload);

// Which cases a run asks for.
struct Selection {
  CaseTier tier = CaseTier::standard;
  std::vector<std::string> filters;  // globs on whole ids, /regular expressions/, "-" negates; any
  std::vector<DType> dtypes;         // empty: all
  uint32_t shard = 0, shards = 1;
};

// The ids, in the order of the specs: primitives first. Throws Error{value} for a bad filter.
std::vector<CaseId> select_cases(const specs::Bundle& bundle, const Selection& selection);

// Makes the case: the same id and seed give the same bytes on every machine. Throws Error{value}
// when there is no such case.
TestCase make_case(const specs::Bundle& bundle, const CaseId& id, uint64_t seed);
// An operator's case with another text (case_text.h) in the place of its own.
TestCase make_case_of_text(const specs::Bundle& bundle, const CaseId& id, uint64_t seed,
                           const std::string& text);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_TABLES_RECIPE_H_
