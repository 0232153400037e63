// Stage 3, resolve: the names in one formula.
#ifndef PRIMSET_CODEGEN_SPECGEN_RESOLVE_FORMULA_RESOLVER_H_
#define PRIMSET_CODEGEN_SPECGEN_RESOLVE_FORMULA_RESOLVER_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// What a formula may call, by name.
class CallTargets {
 public:
  explicit CallTargets(const Bundle& bundle);

  const Bundle& bundle() const { return bundle_; }
  // The functional overloads of an operator; null when there is no such operator.
  const std::vector<uint32_t>* functional_overloads(std::string_view op) const;
  // Everything that can be called, for suggestions.
  std::vector<std::string_view> names() const;

 private:
  const Bundle& bundle_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> overloads_;
};

// A name that a formula gets from outside.
struct FormulaParameter {
  std::string_view name;
  bool tensor = false;
  bool optional = false;
  bool known = false;  // its value is known when a plan is made
};

struct FormulaContext {
  std::string_view owner;  // "add.Tensor": for messages
  uint32_t file = 0;
  std::vector<FormulaParameter> parameters;
  size_t result_count = 1;
  std::vector<std::string_view> result_names;  // empty names where results have none
};

// What a formula certainly expands: primitives, and operators of which just one overload fits.
struct FormulaCalls {
  std::vector<uint32_t> primitives;
  std::vector<uint32_t> overloads;
};

// Resolves names and calls in place and checks roles, arities and results; reports what is wrong.
FormulaCalls resolve_formula(Formula& formula, const FormulaContext& context,
                             const CallTargets& targets, Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_RESOLVE_FORMULA_RESOLVER_H_
