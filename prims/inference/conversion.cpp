#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

Types convert(const Call& c) {
  return {{c.attr<DType>("dtype"), c.shape(0)}};
}

// A narrower dtype splits each element along a new trailing dim, low bits first; a wider one joins
// the elements of the last dim, which it takes away.
Types bitcast(const Call& c) {
  DType to = c.attr<DType>("dtype");
  auto from_bits = bits(c.dtype(0)), to_bits = bits(to);
  SymInts shape = c.shape(0);
  if (to_bits < from_bits) {
    c.require(from_bits % to_bits == 0, "bitcast_c1: one width divides the other");
    shape.push_back(from_bits / to_bits);
  } else if (to_bits > from_bits) {
    c.require(to_bits % from_bits == 0, "bitcast_c1: one width divides the other");
    c.require(!shape.empty() && shape.back() == SymInt(to_bits / from_bits),
              "bitcast_c2: the last dim holds the parts of one wider element");
    shape.pop_back();
  }
  return {{to, shape}};
}

Types complex(const Call& c) {
  c.require(c.dtype(0) == DType::f32 || c.dtype(0) == DType::f64 || c.dtype(0) == DType::f16,
            "complex_c1: parts are f16, f32 or f64");
  c.require(c.dtype(0) == c.dtype(1), "complex_c2: both parts have one dtype");
  c.require(equal_shapes(c.shape(0), c.shape(1)), "complex_c3: both parts have one shape");
  return {{c.dtype(0) == DType::f16 ? DType::c32 : complex_type(c.dtype(0)), c.shape(0)}};
}

Types part(const Call& c) {
  c.require_shared(is_complex(c.dtype(0)), "_c1: the operand is complex");
  return {{real_type(c.dtype(0)), c.shape(0)}};
}

}  // namespace

void add_conversion_rules(RuleTable& t) {
  t.set(Prim::convert, convert);
  t.set(Prim::bitcast, bitcast);
  t.set(Prim::complex, complex);
  t.set({Prim::real, Prim::imag}, part);
}

}  // namespace primset::prims
