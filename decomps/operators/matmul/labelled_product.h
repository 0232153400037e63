// Products of arrays whose dims are named by labels, summed over the labels that the result lacks:
// what einsum and its kin are made of.
#ifndef PRIMSET_DECOMPS_OPERATORS_MATMUL_LABELLED_PRODUCT_H_
#define PRIMSET_DECOMPS_OPERATORS_MATMUL_LABELLED_PRODUCT_H_

#include <vector>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// Dims of one label have one size, or size 1, which goes with any.
struct Labelled {
  Val value;
  std::vector<int> labels;  // one a dim, none twice
};

// From the left, each product rounded to the operands' dtype.
Val labelled_product(std::vector<Labelled> operands, const std::vector<int>& result);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_MATMUL_LABELLED_PRODUCT_H_
