// What a convolution and its gradients know of it, and ATen's checks of that.
#ifndef PRIMSET_DECOMPS_OPERATORS_CONVOLUTION_GEOMETRY_H_
#define PRIMSET_DECOMPS_OPERATORS_CONVOLUTION_GEOMETRY_H_

#include <optional>

#include "decomps/engine/engine.h"

namespace primset::decomps {

struct ConvolutionGeometry {
  SymInts stride, padding, dilation;
  bool transposed = false;
  SymInts output_padding;  // empty: none
  SymInt groups = 1;

  // Gives every list an entry for each of `n` spatial dims; errors where it has more or fewer.
  void spread_over(size_t n);
};

// A list of one number stands for all `n` spatial dims; `what` names it in errors.
SymInts spread(const SymInts& list, size_t n, const char* what);

// Errors where there is no such convolution of a batch `x`. `g` has an entry for each spatial dim.
void require_convolvable(const Val& x, const Val& w, const std::optional<Val>& bias,
                         const ConvolutionGeometry& g);

// Of the result of such a convolution.
SymInts convolved_shape(const Val& x, const Val& w, const ConvolutionGeometry& g);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_CONVOLUTION_GEOMETRY_H_
