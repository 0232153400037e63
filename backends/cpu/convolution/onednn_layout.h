// The parts of a convolution as oneDNN describes them: sizes, types and, of tensors, strides.
#ifndef PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_LAYOUT_H_
#define PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_LAYOUT_H_

#include <optional>

#include "backends/common/convolution/convolution.h"
#include "backends/cpu/convolution/convolution_cut.h"
#include "backends/cpu/onednn_api.h"

namespace primset_cpu {

// Images, filters or places: what is computed and what it is computed from.
enum class Side : uint8_t { x, w, y };

inline Side result_side(primset_backend::ConvolutionKind kind) {
  switch (kind) {
    case primset_backend::ConvolutionKind::places:
      return Side::y;
    case primset_backend::ConvolutionKind::images:
      return Side::x;
    default:
      return Side::w;
  }
}

// The convolution that a block computes.
class BlockShape {
 public:
  BlockShape(const primset_backend::Convolution& c, const ConvolutionCut& cut);

  // In whichever layout the library likes; results are sums in f32.
  std::optional<dnnl_memory_desc_t> free(const OneDnn& dnn, Side side) const;
  // As the caller's tensor has it.
  std::optional<dnnl_memory_desc_t> placed(const OneDnn& dnn, Side side) const;
  // The bias as a list, and as a tensor of one place that is broadcast to the result.
  std::optional<dnnl_memory_desc_t> bias_list(const OneDnn& dnn) const;
  std::optional<dnnl_memory_desc_t> bias_place(const OneDnn& dnn) const;

  // Elements of the caller's tensor from one part's first to the next one's.
  int64_t part_stride(Side side) const;
  int64_t result_channels() const {
    return c_.kind == primset_backend::ConvolutionKind::images ? channels_ : outputs_;
  }

 private:
  struct Dims {
    int rank = 0;
    dnnl_dims_t sizes{}, strides{};
    void add(int64_t size, int64_t stride) { sizes[rank] = size, strides[rank++] = stride; }
  };
  const primset_tensor& tensor(Side side) const;
  Dims dims(Side side) const;
  std::optional<dnnl_memory_desc_t> described(const OneDnn& dnn, const Dims& d) const;

  const primset_backend::Convolution& c_;
  int64_t images_, rows_, groups_, channels_, outputs_;  // of a block
};

// One place of a layout, of all its channels: what the library's sums take to be added to all
// places without copying. Nullopt where the layout is blocked by something other than channels.
std::optional<dnnl_memory_desc_t> one_place_of(const dnnl_memory_desc_t& sums);

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_LAYOUT_H_
