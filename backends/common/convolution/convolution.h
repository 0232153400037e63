// A convolution or one of its gradients as libraries take them: of images x, filters w and places
// y = x * w one is computed from the other two. A transposed convolution is the gradient by the
// images of one that is not, and its gradients are convolutions and gradients by filters. What back
// ends need that have a library of convolutions.
#ifndef PRIMSET_BACKENDS_COMMON_CONVOLUTION_CONVOLUTION_H_
#define PRIMSET_BACKENDS_COMMON_CONVOLUTION_CONVOLUTION_H_

#include <primset/plugin.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace primset_backend {

// What is computed.
enum class ConvolutionKind : uint8_t { places, images, filters };

using Sizes = std::vector<int64_t>;

struct Convolution {
  ConvolutionKind kind = ConvolutionKind::places;
  uint32_t dtype = 0;
  // x is [batch, channels, ...], w [outputs, channels / groups, ...], y [batch, outputs, ...]. The
  // bias has a number for each channel of the result; null where there is none.
  const primset_tensor *x = nullptr, *w = nullptr, *y = nullptr, *bias = nullptr;
  int64_t groups = 1;
  Sizes stride, padding, dilation;  // of each spatial dim

  int64_t batch() const { return x->sizes[0]; }
  int64_t channels() const { return x->sizes[1]; }
  int64_t outputs() const { return w->sizes[0]; }
  size_t spatial() const { return stride.size(); }
  // The places of one image in one channel.
  int64_t places_of_image() const;
  int64_t filter_elements() const;
  // Multiplications for one image.
  int64_t products_of_image() const { return places_of_image() * filter_elements(); }
};

// Of "convolution", "convolution_backward_input" or "convolution_backward_weight". Nullopt when the
// call is none of these, has operands of several types, an empty tensor, or sizes of which the ones
// of x and w do not give those of y: images behind the last window, as output_padding makes them,
// may be fewer than a step.
std::optional<Convolution> read_convolution(std::string_view name,
                                            const primset_primitive_call& call);

// Whether each dim that has more than one element steps onwards, so that no two elements share
// memory by standing still.
bool steps_everywhere(const primset_tensor& t);

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_CONVOLUTION_CONVOLUTION_H_
