#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

Ints joined(Ints a, const Ints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void require_paired(const Call& c, const Ints& a_dims, const Ints& b_dims, const char* rule) {
  c.require(a_dims.size() == b_dims.size(), rule);
  for (size_t i = 0; i < a_dims.size(); ++i) {
    c.require(
        c.shape(0)[static_cast<size_t>(a_dims[i])] == c.shape(1)[static_cast<size_t>(b_dims[i])],
        rule);
  }
}

Types dot_general(const Call& c) {
  const Ints &a_contract = c.attr<Ints>("a_contract"), &b_contract = c.attr<Ints>("b_contract"),
             &a_batch = c.attr<Ints>("a_batch"), &b_batch = c.attr<Ints>("b_batch");
  DType accumulate = c.attr<DType>("accumulate");
  c.require(c.dtype(0) == c.dtype(1), "dot_general_c1: a and b have one dtype");
  c.require(!is_bool(c.dtype(0)), "dot_general_c2: a and b are numbers");
  c.require(is_complex(accumulate) == is_complex(c.dtype(0)) &&
                is_floating(accumulate) == is_floating(c.dtype(0)),
            "dot_general_c3: accumulate is of the operands' kind");
  Ints a_used = joined(a_batch, a_contract), b_used = joined(b_batch, b_contract);
  c.require(valid_dims(a_used, c.rank(0)) && valid_dims(b_used, c.rank(1)),
            "dot_general_c4: batch and contracted dims are distinct dims of their operand");
  require_paired(c, a_contract, b_contract, "dot_general_c5: contracted dims have equal sizes");
  require_paired(c, a_batch, b_batch, "dot_general_c6: batch dims have equal sizes");
  SymInts shape;
  for (int64_t d : a_batch) shape.push_back(c.shape(0)[static_cast<size_t>(d)]);
  for (const SymInt& s : without_dims(c.shape(0), a_used)) shape.push_back(s);
  for (const SymInt& s : without_dims(c.shape(1), b_used)) shape.push_back(s);
  return {{accumulate, shape}};
}

}  // namespace

void add_contraction_rules(RuleTable& t) {
  t.set(Prim::dot_general, dot_general);
}

}  // namespace primset::prims
