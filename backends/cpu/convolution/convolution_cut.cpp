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
constexpr int64_t kLeastOfImages = int64_t{1} << 19, kLeastOfPart = int64_t{1} << 22;
// What a block holds of images and places should stay in a core's cache; less is not worth a call.
constexpr int64_t kBlockBytes = int64_t{1} << 19, kLeastBytes = int64_t{1} << 17;
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

bool sees_one_place(const Convolution& c) {
  for (size_t i = 0; i < c.spatial(); ++i)
    if (c.w->sizes[i + 2] != 1 || c.stride[i] != 1 || c.padding[i] != 0) return false;
  return true;
}

// Bytes of an image's x and y as they are computed with.
int64_t bytes_of_image(const Convolution& c) {
  constexpr int64_t kBytes = 4;
  return kBytes * c.places_of_image() * (c.channels() + c.outputs());
}

int64_t rows_of_block(const Convolution& c, int64_t images) {
  const int64_t rows = c.x->sizes[2];
  if (c.kind == ConvolutionKind::filters || images > 1 || !sees_one_place(c)) return rows;
  return divisor_from(rows, std::max(rounded_up(kLeastOfImages, c.products_of_image() / rows),
                                     kBlockBytes / (bytes_of_image(c) / rows)));
}

// Groups share nothing, and are cut also to stay in the cache.
int64_t parts_of_groups(const Convolution& c, const ConvolutionCut& cut, int64_t blocks) {
  const int64_t narrow = std::min(c.channels(), c.outputs()) / c.groups,
                least = rounded_up(kLeastChannelsOfGroups, narrow),
                bytes = cut.images * bytes_of_image(c);
  const int64_t wanted =
      std::max(rounded_up(kEnoughConvolutionBlocks, blocks), bytes / kBlockBytes);
  for (int64_t parts = std::min(wanted, c.groups / least); parts > 1; --parts)
    if (c.groups % parts == 0 && c.groups / parts * narrow % kLeastChannelsOfGroups == 0 &&
        bytes / parts >= kLeastBytes)
      return parts;
  return 1;
}

int64_t parts_of_channels(const Convolution& c, const ConvolutionCut& cut, int64_t blocks) {
  const int64_t channels = c.kind == ConvolutionKind::images ? c.channels() : c.outputs(),
                products = cut.images * c.products_of_image() * cut.rows / c.x->sizes[2];
  for (int64_t parts =
           std::min(rounded_up(kEnoughConvolutionBlocks, blocks), channels / kLeastChannels);
       parts > 1; --parts)
    if (channels % parts == 0 && channels / parts % kLeastChannelsOfGroups == 0 &&
        products / parts >= kLeastOfPart)
      return parts;
  return 1;
}

}  // namespace

ConvolutionCut cut_convolution(const Convolution& c) {
  ConvolutionCut cut;
  cut.images = images_of_block(c);
  cut.rows = rows_of_block(c, cut.images);
  const int64_t blocks = c.batch() / cut.images * (c.x->sizes[2] / cut.rows);
  cut.parts = c.groups > 1 ? parts_of_groups(c, cut, blocks) : parts_of_channels(c, cut, blocks);
  return cut;
}

}  // namespace primset_cpu
