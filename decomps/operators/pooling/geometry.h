// Windows as the pooling operators state them, ATen's checks of them, and the sizes of results.
#ifndef PRIMSET_DECOMPS_OPERATORS_POOLING_GEOMETRY_H_
#define PRIMSET_DECOMPS_OPERATORS_POOLING_GEOMETRY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decomps/engine/engine.h"
#include "decomps/primitives/spatial/window_taps.h"

namespace primset::decomps {

// Arguments as they are given: a list of one number stands for all dims, an empty stride for the
// kernel's size.
struct PoolArguments {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode = false;
};

struct PoolGeometry {
  SymInts window, strides, padding, dilations;
  SymInts shape, places;  // of the pooled dims of the input, and of the result
};

// Of an input whose last `dims` dims are pooled; throws in the words of ATen's operator `name`
// ("max_pool2d").
PoolGeometry pool_geometry(std::string_view name, int64_t dims, const Val& x,
                           const PoolArguments& arguments);

// A list of as many numbers as there are pooled dims, one of which may stand for all.
std::vector<int64_t> pool_list(std::string_view name, std::string_view list_name, int64_t dims,
                               const std::vector<int64_t>& list);

// The pooled dims are behind a batch and channels, or behind channels. The dims from `first` on
// have elements.
void require_pooled_input(std::string_view name, int64_t dims, const Val& x, int64_t first = 1);

// The gradient has the dtype of the input, and as many elements as the result.
void require_pool_gradient(std::string_view name, const Val& grad, const Val& x,
                           const SymInts& places);
void require_pool_indices(const Val& indices, const Val& like);

// "kernel_size should contain one int", of the operators over one dim.
void require_one_dim(std::string_view name, const Val& x);
void require_one_int(std::string_view name, std::string_view list_name,
                     const std::vector<int64_t>& list);

// The shape of x with other last sizes.
SymInts with_last_sizes(const Val& x, const SymInts& sizes);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_POOLING_GEOMETRY_H_
