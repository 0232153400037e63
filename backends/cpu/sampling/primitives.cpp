#include <array>
#include <string_view>

#include "backends/cpu/primitives.h"
#include "backends/cpu/sampling/sample_gradients.h"
#include "backends/cpu/sampling/samples.h"

namespace primset_cpu {
namespace {

using primset_backend::flag;
using primset_backend::text;

template <typename E>
E named(const std::array<std::string_view, 3>& names, std::string_view name) {
  return static_cast<E>(std::ranges::find(names, name) - names.begin());
}

constexpr std::array<std::string_view, 3> kModes = {"nearest", "bilinear", "bicubic"};
constexpr std::array<std::string_view, 3> kPaddings = {"zeros", "border", "reflection"};

// Of an image [batch, channels, dims...].
GridCorners corners_of(const primset_primitive_call& call, const primset_tensor& x) {
  std::vector<GridAxis> axes;
  for (uint32_t d = 2; d < x.rank; ++d)
    axes.push_back({x.sizes[d], named<GridPadding>(kPaddings, text(call, "padding")),
                    flag(call, "align_corners")});
  return {std::move(axes), named<GridMode>(kModes, text(call, "mode"))};
}

template <template <typename> class Call, uint32_t kImage>
primset_status* run(primset_stream stream, const void*, const primset_primitive_call* call) {
  return primset_backend::guarded("grid_sample", [&]() -> primset_status* {
    const primset_tensor& x = call->operands[kImage];
    const GridCorners corners = corners_of(*call, x);
    if (x.dtype == PRIMSET_F32)
      Call<float>(*call, corners).run(*stream->device->pool);
    else
      Call<double>(*call, corners).run(*stream->device->pool);
    return nullptr;
  });
}

// Of fewer channels kernels are as fast, which read no more of the image than they need.
constexpr int64_t kLeastChannels = kChannels / 2 + 1;

struct SamplingPrimitive {
  std::string_view name;
  uint32_t image;  // operand
  int64_t least_channels;
  decltype(primset_primitive::run) run;
};

constexpr SamplingPrimitive kSamplingPrimitives[] = {
    {"grid_sample", 0, kLeastChannels, run<Samples, 0>},
    {"grid_sample_backward", 1, 0, run<SampleGradients, 1>},
};

bool is_ours(const primset_primitive_call& call, const SamplingPrimitive& p) {
  if (call.operand_count <= p.image) return false;
  const primset_tensor& x = call.operands[p.image];
  const uint32_t most_rank = text(call, "mode") == "bicubic" ? 4 : 2 + kMostDims;
  return (x.dtype == PRIMSET_F32 || x.dtype == PRIMSET_F64) && x.rank > 2 && x.rank <= most_rank &&
         x.sizes[1] >= p.least_channels;
}

}  // namespace

bool find_sampling(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  for (const SamplingPrimitive& p : kSamplingPrimitives) {
    if (p.name != name) continue;
    if (!is_ours(call, p)) return false;
    return answer(out, p.run, 0);
  }
  return false;
}

}  // namespace primset_cpu
