#include "backends/cpu/convolution/onednn_convolution.h"

#include <atomic>
#include <new>
#include <vector>

#include "backends/common/blocked_signals.h"
#include "backends/common/element_bytes.h"
#include "backends/common/plan_cache.h"

namespace primset_cpu {

using primset_backend::Convolution;
using primset_backend::ConvolutionKind;

namespace {

constexpr size_t kMostConvolutions = 512;

// What the code and the copies of a convolution depend on.
using ConvolutionKey = std::vector<int64_t>;
ConvolutionKey key_of(const Convolution& c) {
  ConvolutionKey key{static_cast<int64_t>(c.kind), c.dtype, c.groups, c.bias != nullptr};
  for (const primset_tensor* t : {c.x, c.w, c.y}) {
    key.insert(key.end(), t->sizes, t->sizes + t->rank);
    key.insert(key.end(), t->strides, t->strides + t->rank);
  }
  for (const primset_backend::Sizes* s : {&c.stride, &c.padding, &c.dilation})
    key.insert(key.end(), s->begin(), s->end());
  return key;
}

// Never destroyed: oneDNN may be gone before it.
auto& remembered_convolutions() {
  static auto* const kept =
      new primset_backend::PlanCache<ConvolutionKey, OneDnnConvolution>(kMostConvolutions);
  return *kept;
}

constexpr size_t kFilterAlignment = 64;

size_t filter_bytes(size_t bytes) {
  return (bytes + kFilterAlignment - 1) / kFilterAlignment * kFilterAlignment;
}

// Windows as oneDNN's descriptors have them: a dilation of 1 is 0 there.
struct DnnlWindows {
  dnnl_dims_t strides{}, dilates{}, padding{};
  explicit DnnlWindows(const Convolution& c) {
    for (size_t i = 0; i < c.spatial(); ++i) {
      strides[i] = c.stride[i];
      dilates[i] = c.dilation[i] - 1;
      padding[i] = c.padding[i];
    }
  }
};

}  // namespace

// --- making one ----------------------------------------------------------------------------------

std::shared_ptr<const OneDnnConvolution> OneDnnConvolution::get(const OneDnn& dnn,
                                                                const Convolution& c) {
  return remembered_convolutions().get(key_of(c), [&] {
    const primset_backend::BlockedSignals scope;  // OpenMP may start its threads here
    const OneThread one(dnn);
    auto made = std::make_shared<OneDnnConvolution>(dnn);
    if (!made->make(c)) made.reset();
    return made;
  });
}

bool OneDnnConvolution::make(const Convolution& c) {
  kind_ = c.kind;
  cut_ = cut_convolution(c);
  image_blocks_ = static_cast<uint64_t>(c.batch() / cut_.images);
  row_blocks_ = static_cast<uint64_t>(c.x->sizes[2] / cut_.rows);
  has_bias_ = c.bias != nullptr;
  const BlockShape block(c, cut_);
  bias_part_ = block.result_channels() * primset_backend::element_bytes(c.dtype);
  if (!make_main(c, block)) return false;
  if (has_bias_ && kind_ != ConvolutionKind::places && !make_bias(block)) return false;
  for (const Side side : {Side::x, Side::w, Side::y})
    if (!make_passage(c, block, side)) return false;
  return true;
}

// As for training: for inference the library prefers images with their channels innermost, to which
// it copies more slowly than it then gains.
bool OneDnnConvolution::make_main(const Convolution& c, const BlockShape& block) {
  const auto x = block.free(dnn_, Side::x), w = block.free(dnn_, Side::w),
             y = block.free(dnn_, Side::y), bias = block.bias_list(dnn_);
  if (!x || !w || !y || !bias) return false;
  const DnnlWindows g(c);
  constexpr dnnl_alg_kind_t kDirect = dnnl_convolution_direct;
  const auto arguments = [&](int of_x, int of_w, int of_y) {
    passages_[0].argument = of_x, passages_[1].argument = of_w, passages_[2].argument = of_y;
  };
  dnnl_convolution_desc_t d;
  switch (c.kind) {
    case ConvolutionKind::places:
      arguments(DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST);
      if (dnn_.dnnl_dilated_convolution_forward_desc_init(
              &d, dnnl_forward_training, kDirect, &*x, &*w, has_bias_ ? &*bias : nullptr, &*y,
              g.strides, g.dilates, g.padding, g.padding) != dnnl_success)
        return false;
      return has_bias_
                 ? main_.make(&d, {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS})
                 : main_.make(&d, {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST});
    case ConvolutionKind::images:
      arguments(DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST);
      return dnn_.dnnl_dilated_convolution_backward_data_desc_init(&d, kDirect, &*x, &*w, &*y,
                                                                   g.strides, g.dilates, g.padding,
                                                                   g.padding) == dnnl_success &&
             main_.make(&d, {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST});
    default:
      arguments(DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST);
      return dnn_.dnnl_dilated_convolution_backward_weights_desc_init(
                 &d, kDirect, &*x, &*w, nullptr, &*y, g.strides, g.dilates, g.padding, g.padding) ==
                 dnnl_success &&
             main_.make(&d, {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST});
  }
}

bool OneDnnConvolution::make_bias(const BlockShape& block) {
  const dnnl_memory_desc_t& sums = main_.layout(passage(result_side(kind_)).argument);
  const auto given = block.bias_place(dnn_), taken = one_place_of(sums);
  dnnl_binary_desc_t d;
  if (!given || !taken ||
      dnn_.dnnl_binary_desc_init(&d, dnnl_binary_add, &sums, &*taken, &sums) != dnnl_success)
    return false;
  copy_bias_ = std::make_unique<OneDnnStep>(dnn_);
  add_bias_ = std::make_unique<OneDnnStep>(dnn_);
  return copy_bias_->make_copy(*given, *taken) &&
         add_bias_->make(&d, {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_DST});
}

bool OneDnnConvolution::make_passage(const Convolution& c, const BlockShape& block, Side side) {
  Passage& p = passages_[static_cast<size_t>(side)];
  const dnnl_memory_desc_t& layout = main_.layout(p.argument);
  const auto placed = block.placed(dnn_, side);
  if (!placed) return false;
  const int64_t bytes = primset_backend::element_bytes(c.dtype);
  const primset_tensor& images = side == Side::y ? *c.y : *c.x;
  p.bytes = main_.bytes(p.argument);
  p.part = bytes * block.part_stride(side);
  p.image = side == Side::w ? 0 : bytes * cut_.images * images.strides[0];
  p.row = side == Side::w ? 0 : bytes * cut_.rows * images.strides[2];
  // Filters that are the result are sums of blocks, which lie elsewhere.
  const bool lies_so = dnn_.dnnl_memory_desc_equal(&*placed, &layout) != 0;
  if (lies_so && !(side == Side::w && sums_filters())) return true;
  p.copy = std::make_unique<OneDnnStep>(dnn_);
  return side == result_side(c.kind) ? p.copy->make_copy(layout, *placed)
                                     : p.copy->make_copy(*placed, layout);
}

// --- running it ----------------------------------------------------------------------------------

// The filters in the library's layout are one for each part or, where they are the result, sums of
// one block's images for each block.
struct OneDnnConvolution::Call {
  const OneDnnConvolution& convolution;
  const ConvolutionData& data;
  char* filters = nullptr;
  Phase phase = nullptr;
  mutable std::atomic<int> failure{dnnl_success};
};

char* OneDnnConvolution::tensor_block(const Call& call, Side side, uint64_t number) const {
  const Passage& p = passage(side);
  const uint64_t block = number / static_cast<uint64_t>(cut_.parts);
  return call.data.sides[static_cast<size_t>(side)] +
         static_cast<int64_t>(part_of(number)) * p.part +
         static_cast<int64_t>(block % row_blocks_) * p.row +
         static_cast<int64_t>(block / row_blocks_) * p.image;
}

char* OneDnnConvolution::filters_block(const Call& call, uint64_t number) const {
  const uint64_t at = sums_filters() ? number : part_of(number);
  return call.filters + at * filter_bytes(passage(Side::w).bytes);
}

dnnl_status_t OneDnnConvolution::copy_filters(const Call& call, uint64_t number,
                                              ThreadScratch& scratch) const {
  return passage(Side::w).copy->run(
      scratch, {tensor_block(call, Side::w, number), filters_block(call, number)});
}

// Where the library finds an operand of a block, or is to leave its sums.
dnnl_status_t OneDnnConvolution::enter(const Call& call, Side side, uint64_t number,
                                       ThreadScratch& scratch, void** at) const {
  const Passage& p = passage(side);
  if (side == Side::w && (p.copy || sums_filters())) {
    *at = filters_block(call, number);
    return dnnl_success;
  }
  *at = tensor_block(call, side, number);
  if (!p.copy) return dnnl_success;
  void* const from = *at;
  *at =
      scratch.memory(side == Side::x ? ThreadScratch::kPackedA : ThreadScratch::kPackedB, p.bytes);
  return side == result_side(kind_) ? dnnl_success : p.copy->run(scratch, {from, *at});
}

dnnl_status_t OneDnnConvolution::leave(const Call& call, uint64_t number, ThreadScratch& scratch,
                                       void* sums) const {
  const Side side = result_side(kind_);
  dnnl_status_t status = dnnl_success;
  if (add_bias_) {
    char* const given = call.data.bias + static_cast<int64_t>(part_of(number)) * bias_part_;
    // The gradient that was copied there has been used.
    void* const bias = scratch.memory(ThreadScratch::kPackedB, copy_bias_->bytes(DNNL_ARG_TO));
    status = copy_bias_->run(scratch, {given, bias});
    if (status == dnnl_success) status = add_bias_->run(scratch, {sums, bias, sums});
  }
  if (status != dnnl_success || !passage(side).copy) return status;
  return passage(side).copy->run(scratch, {sums, tensor_block(call, side, number)});
}

dnnl_status_t OneDnnConvolution::compute(const Call& call, uint64_t number,
                                         ThreadScratch& scratch) const {
  void* at[3] = {};
  for (const Side side : {Side::x, Side::w, Side::y}) {
    const dnnl_status_t status = enter(call, side, number, scratch, &at[static_cast<size_t>(side)]);
    if (status != dnnl_success) return status;
  }
  const bool with_bias = has_bias_ && !add_bias_;
  char* const bias = call.data.bias + static_cast<int64_t>(part_of(number)) * bias_part_;
  const dnnl_status_t status = with_bias ? main_.run(scratch, {at[0], at[1], at[2], bias})
                                         : main_.run(scratch, {at[0], at[1], at[2]});
  if (status != dnnl_success || sums_filters()) return status;
  return leave(call, number, scratch, at[static_cast<size_t>(result_side(kind_))]);
}

// The sums of a part over all images, in the order of the blocks.
dnnl_status_t OneDnnConvolution::add_up(const Call& call, uint64_t part,
                                        ThreadScratch& scratch) const {
  auto* const sums = reinterpret_cast<float*>(filters_block(call, part));
  const size_t count = passage(Side::w).bytes / sizeof(float);
  for (uint64_t images = 1; images < image_blocks_; ++images) {
    const uint64_t number = images * static_cast<uint64_t>(cut_.parts) + part;
    const auto* more = reinterpret_cast<const float*>(filters_block(call, number));
    for (size_t i = 0; i < count; ++i) sums[i] += more[i];
  }
  return leave(call, part, scratch, sums);
}

// A primset_native_entry: the pool runs blocks as it runs workgroups.
void OneDnnConvolution::run_blocks(const void* params, uint64_t first, uint64_t end, uint64_t) {
  const Call& call = **static_cast<const Call* const*>(params);
  const OneDnnConvolution& convolution = call.convolution;
  const OneThread one(convolution.dnn_);
  try {
    std::unique_ptr<ThreadScratch> scratch = ThreadScratch::take(convolution.dnn_);
    for (uint64_t number = first; number < end; ++number) {
      const dnnl_status_t status = (convolution.*call.phase)(call, number, *scratch);
      if (status != dnnl_success) call.failure.store(status, std::memory_order_relaxed);
    }
    ThreadScratch::give_back(std::move(scratch));
  } catch (const std::bad_alloc&) {  // a pool thread has nobody to throw to
    call.failure.store(dnnl_out_of_memory, std::memory_order_relaxed);
  }
}

void OneDnnConvolution::run_phase(ThreadPool& pool, Call& call, Phase phase, uint64_t count) {
  if (call.failure.load(std::memory_order_relaxed) != dnnl_success) return;
  call.phase = phase;
  const Call* params = &call;
  if (count == 1)
    run_blocks(&params, 0, 1, 1);
  else
    pool.run({run_blocks, &params, 0, count, count});
}

dnnl_status_t OneDnnConvolution::run(ThreadPool& pool, const ConvolutionData& data) const {
  const auto parts = static_cast<uint64_t>(cut_.parts);
  const bool keeps_filters = sums_filters() || passage(Side::w).copy;
  std::unique_ptr<ThreadScratch> kept = ThreadScratch::take(dnn_);
  Call call{*this, data};
  if (keeps_filters) {
    const uint64_t count = sums_filters() ? parts * image_blocks_ : parts;
    call.filters = static_cast<char*>(
        kept->memory(ThreadScratch::kPackedA, count * filter_bytes(passage(Side::w).bytes)));
  }
  if (keeps_filters && !sums_filters())
    run_phase(pool, call, &OneDnnConvolution::copy_filters, parts);
  run_phase(pool, call, &OneDnnConvolution::compute, parts * row_blocks_ * image_blocks_);
  if (sums_filters()) run_phase(pool, call, &OneDnnConvolution::add_up, parts);
  ThreadScratch::give_back(std::move(kept));
  return static_cast<dnnl_status_t>(call.failure.load(std::memory_order_relaxed));
}

}  // namespace primset_cpu
