// Sums and products of many elements, with the bound of every order of adding them up.
#ifndef PRIMSET_PRIMS_REFERENCE_ACCUMULATE_H_
#define PRIMSET_PRIMS_REFERENCE_ACCUMULATE_H_

#include <complex>

#include "prims/reference/element.h"

namespace primset::prims::reference {

class Sum {
 public:
  void add(const Element& x);
  // Adds the product of x and y.
  void add_product(const ElementOp& op, const Element& x, const Element& y);
  Element finish(const ElementOp& op) const;

 private:
  void add_term(std::complex<long double> v, long double error);

  uint64_t integer_ = 0;
  std::complex<long double> value_ = 0;
  long double magnitude_ = 0;  // of the terms, summed
  long double error_ = 0;      // inherited from the terms
  int64_t count_ = 0;
  bool undecided_ = false;
  bool rounds_terms_ = false;  // the terms are products, each rounded or fused
};

class Product {
 public:
  void add(const ElementOp& op, const Element& x);
  Element finish(const ElementOp& op) const;

 private:
  uint64_t integer_ = 1;
  std::complex<long double> value_ = 1;
  long double error_ = 0;
  // Logarithms of the largest and the smallest product of some of the factors.
  long double log_above_ = 0, log_below_ = 0;
  int64_t count_ = 0;
  bool undecided_ = false, zero_ = false;
};

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_ACCUMULATE_H_
