// What the resizing operators share: ATen's checks, sizes and scales, and the primitives'
// arguments.
#ifndef PRIMSET_DECOMPS_OPERATORS_UPSAMPLE_RESIZE_H_
#define PRIMSET_DECOMPS_OPERATORS_UPSAMPLE_RESIZE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decomps/engine/engine.h"

namespace primset::decomps {

// Factors by which dims were enlarged: with them scales are their reciprocals, and not the sizes'
// ratio. Those that bound how far a filter reaches are known when the plan is made.
using ResizeFactors = std::vector<std::optional<ScalarArg>>;
using KnownFactors = std::vector<std::optional<double>>;

// Filters are those of resample_backward.
Val resized(Tracer& t, const Val& x, const SymInts& size, const std::string& filter,
            bool align_corners, const ResizeFactors& factors);
Val resized_antialiased(Tracer& t, const Val& x, const SymInts& size, const std::string& filter,
                        bool align_corners, const KnownFactors& factors);
Val resized_backward(Tracer& t, const Val& grad, const SymInts& output_size,
                     const SymInts& input_size, const std::string& filter, bool align_corners,
                     const KnownFactors& factors);

// The .vec overloads state the size or the factors of all dims.
struct ResizeTarget {
  SymInts size;
  KnownFactors factors;

  ResizeTarget(const Val& x, int64_t dims, const std::optional<SymInts>& output_size,
               const std::optional<std::vector<double>>& scale_factors);
  ResizeFactors arguments(Tracer& t) const;
};

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_UPSAMPLE_RESIZE_H_
