#include "backends/cpu/convolution/convolution_cut.h"

#include <algorithm>

namespace primset_cpu {
namespace {

using primset_backend::Convolution;
using primset_backend::ConvolutionKind;

// From so many blocks on several threads have work.
constexpr int64_t kEnoughConvolutionBlocks = 8;
// A block has at least so many multiplications, which take longer than oneDNN's calls: that of
// several images, and that of a part of the channels, whose images are read for each part.
constexpr int64_t kLeastOfImages = int64_t{1} << 20, kLeastOfPart = int64_t{1} << 22;
// Channels of a part: several of oneDNN's vectors, and of groups, which share nothing, one.
constexpr int64_t kLeastChannels = 64, kLeastChannelsOfGroups = 16;
// Each sum for a gradient by filters has so many terms in a block at least, so that adding the
// blocks' sums up takes little time beside them.
constexpr int64_t kLeastTerms = 512;

// The least divisor of n that is not below `least`; n where there is none.
int64_t divisor_from(int64_t n, int64_t least) {
  for (int64_t d = std::max<int64_t>(least, 1); d < n; ++d)
    if (n % d == 0) return d;
  return n;
}

int64_t rounded_up(int64_t n, int64_t by) {
  return (n + by - 1) / by;
}

int64_t images_of_block(const Convolution& c) {
  if (c.kind != ConvolutionKind::filters)
    return divisor_from(c.batch(), rounded_up(kLeastOfImages, c.products_of_image()));
  return divisor_from(c.batch(), std::max(rounded_up(kLeastTerms, c.places_of_image()),
                                          rounded_up(c.batch(), kEnoughConvolutionBlocks)));
}

}  // namespace

ConvolutionCut cut_convolution(const Convolution& c) {
  ConvolutionCut cut;
  cut.images = images_of_block(c);
  const int64_t wanted = rounded_up(kEnoughConvolutionBlocks, c.batch() / cut.images);
  const bool grouped = c.groups > 1;
  const int64_t narrow = std::min(c.channels(), c.outputs()),
                channels = c.kind == ConvolutionKind::images ? c.channels() : c.outputs(),
                units = grouped ? c.groups : channels,
                least = grouped ? rounded_up(kLeastChannelsOfGroups, narrow / c.groups)
                                : kLeastChannels;
  for (int64_t parts = std::min(wanted, units / least); parts > 1; --parts) {
    const bool even = units % parts == 0 && (channels / parts) % kLeastChannelsOfGroups == 0;
    if (!even || cut.images * c.products_of_image() / parts < kLeastOfPart) continue;
    cut.parts = parts;
    break;
  }
  return cut;
}

}  // namespace primset_cpu
