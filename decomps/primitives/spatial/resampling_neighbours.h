// The neighbours between which resampling interpolates, by which it reads images in one pass over
// all dims.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_SPATIAL_RESAMPLING_NEIGHBOURS_H_
#define PRIMSET_DECOMPS_PRIMITIVES_SPATIAL_RESAMPLING_NEIGHBOURS_H_

#include <string>
#include <vector>

#include "decomps/engine/decomposition.h"

namespace primset::decomps {

struct ResampledAxis {
  int64_t dim;
  SymInt in, out;
  Val scale;  // 0-d, in the dtype that weights are computed in
  bool align_corners;
  DType places;  // of indices, and of products of both sizes
};

// The last dims of x, which have the sizes `in` before the resampling and `out` behind it.
std::vector<ResampledAxis> resampled_axes(const Val& x, const std::vector<Val>& scales,
                                          const SymInts& in, const SymInts& out,
                                          bool align_corners);

// The weight that an element of y has for one of x, both over the same places of y.
struct Neighbour {
  Val index, weight;  // without a weight it is 1
};

// Of the elements `at` of y, by nearest, nearest_exact, linear or cubic interpolation. Nearest goes
// by the sizes alone where a dim keeps or doubles its own; nearest_scaled goes by the scale.
std::vector<Neighbour> neighbours(const std::string& filter, const ResampledAxis& axis,
                                  const Val& at);

Val interpolated(const Val& x, const std::vector<ResampledAxis>& axes, const std::string& filter);

// The kernel of cubic convolution with parameter a, of distances up to 1 and from 1 to 2 (Keys,
// Cubic convolution interpolation for digital image processing, 1981), and their derivatives.
Val cubic_near(const Val& x, double a);
Val cubic_far(const Val& x, double a);
Val cubic_near_slope(const Val& x, double a);
Val cubic_far_slope(const Val& x, double a);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_PRIMITIVES_SPATIAL_RESAMPLING_NEIGHBOURS_H_
