// What an inference rule sees of a node, and the table the rules are found in.
#ifndef PRIMSET_PRIMS_INFERENCE_RULES_H_
#define PRIMSET_PRIMS_INFERENCE_RULES_H_

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::prims {

using Types = std::vector<ValueType>;

struct Call {
  const Graph& graph;
  Prim prim;
  std::span<const ValueId> operands;
  std::span<const Attr> attrs;
  std::span<const Region> regions;
  // The results that a verified node has already; null while the node is being built.
  std::span<const ValueId> existing = {};
  bool verifying = false;

  bool has(size_t i) const { return i < operands.size() && operands[i] != kNoValue; }
  size_t count() const { return operands.size(); }
  const ValueType& type(size_t i) const { return graph.type(operands[i]); }
  const SymInts& shape(size_t i) const { return type(i).shape; }
  DType dtype(size_t i) const { return type(i).dtype; }
  size_t rank(size_t i) const { return shape(i).size(); }

  template <typename T>
  const T& attr(std::string_view name) const {
    const Attr& a = find_attr(name);
    const T* value = std::get_if<T>(&a.value);
    if (!value) fail("attribute '" + std::string(name) + "' is of another type");
    return *value;
  }

  // `rule` is a label and what it demands: "gather_c2: all indices have one shape".
  void require(bool ok, const char* rule) const {
    if (!ok) fail(rule);
  }
  // Rules that a whole category shares are labelled with the primitive: "<prim>_c1: ...".
  void require_shared(bool ok, const char* suffix_and_rule) const;
  // The signature's sets of dtypes; operands that follow the first one's dtype have it.
  void require_signature_dtypes() const;
  // By the signature's rule.
  DType result_dtype(size_t result) const;
  [[noreturn]] void fail(const std::string& rule) const;

  // A size known only when the program runs: a fresh symbol of at least 0 whose hint is the bound.
  SymInt fresh_size(const SymInt& bound, size_t result, size_t dim) const;

 private:
  const Attr& find_attr(std::string_view name) const;
};

using Rule = Types (*)(const Call&);

class RuleTable {
 public:
  RuleTable() : rules_(static_cast<size_t>(prim_count()), nullptr) {}
  void set(Prim p, Rule rule) { rules_[static_cast<size_t>(p)] = rule; }
  void set(std::initializer_list<Prim> prims, Rule rule) {
    for (Prim p : prims) set(p, rule);
  }
  Rule find(Prim p) const { return rules_[static_cast<size_t>(p)]; }

 private:
  std::vector<Rule> rules_;
};

// One function a file of rules.
void add_elementwise_rules(RuleTable&);
void add_conversion_rules(RuleTable&);
void add_shape_rules(RuleTable&);
void add_window_rules(RuleTable&);
void add_indexing_rules(RuleTable&);
void add_reduction_rules(RuleTable&);
void add_contraction_rules(RuleTable&);
void add_region_rules(RuleTable&);
void add_derived_indexing_rules(RuleTable&);
void add_derived_search_rules(RuleTable&);
void add_derived_sparse_rules(RuleTable&);
void add_derived_contraction_rules(RuleTable&);
void add_linalg_rules(RuleTable&);
void add_derived_array_rules(RuleTable&);
void add_derived_network_rules(RuleTable&);
void add_derived_spatial_rules(RuleTable&);
void add_orthogonal_rules(RuleTable&);
void add_derived_fft_rules(RuleTable&);

std::vector<ValueType> infer(const Call& call);
bool has_rule(Prim p);

// Same rank and sizes; an undecided comparison of sizes records a guard.
bool equal_shapes(const SymInts& a, const SymInts& b);
// Distinct and each within [0, rank).
bool valid_dims(const std::vector<int64_t>& dims, size_t rank);
// The sizes of `shape` whose dims are not in `dims`.
SymInts without_dims(const SymInts& shape, const std::vector<int64_t>& dims);
bool is_real(DType t);
bool is_index_type(DType t);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_INFERENCE_RULES_H_
