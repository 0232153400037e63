// A convolution by oneDNN, in blocks that threads share.
//
// oneDNN lays images, filters and places out as its code wants them: blocked by channels. They are
// copied to that from however they lie, so that the bits of the result depend on the shape alone.
// The images of a block are copied when it is computed and are in the cache then; filters are
// copied once, for all blocks. Sums are rounded to the result's type when they are copied out.
#ifndef PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_CONVOLUTION_H_
#define PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_CONVOLUTION_H_

#include <array>
#include <memory>

#include "backends/cpu/convolution/convolution_cut.h"
#include "backends/cpu/convolution/onednn_layout.h"
#include "backends/cpu/convolution/onednn_step.h"
#include "backends/cpu/thread_pool.h"

namespace primset_cpu {

struct ConvolutionData {
  std::array<char*, 3> sides{};  // of each Side
  char* bias = nullptr;
};

// Immutable once made; any number of threads may run it at once.
class OneDnnConvolution {
 public:
  // Null when oneDNN has no code for it on this CPU. Made once for a shape and strides, then
  // remembered.
  static std::shared_ptr<const OneDnnConvolution> get(const OneDnn& dnn,
                                                      const primset_backend::Convolution& c);
  explicit OneDnnConvolution(const OneDnn& dnn) : dnn_(dnn), main_(dnn) {}

  dnnl_status_t run(ThreadPool& pool, const ConvolutionData& data) const;

 private:
  // How a tensor comes to the library, or from it.
  struct Passage {
    std::unique_ptr<OneDnnStep> copy;      // null where it lies as the library wants it
    int argument = 0;                      // of the library's code
    size_t bytes = 0;                      // of a block in the library's layout
    int64_t part = 0, row = 0, image = 0;  // bytes from a block's part, rows, images to the next
  };
  struct Call;
  using Phase = dnnl_status_t (OneDnnConvolution::*)(const Call&, uint64_t, ThreadScratch&) const;

  bool make(const primset_backend::Convolution& c);
  bool make_main(const primset_backend::Convolution& c, const BlockShape& block);
  bool make_bias(const BlockShape& block);
  bool make_passage(const primset_backend::Convolution& c, const BlockShape& block, Side side);

  // Block `number` of each phase.
  dnnl_status_t copy_filters(const Call& call, uint64_t number, ThreadScratch& scratch) const;
  dnnl_status_t compute(const Call& call, uint64_t number, ThreadScratch& scratch) const;
  dnnl_status_t add_up(const Call& call, uint64_t number, ThreadScratch& scratch) const;

  dnnl_status_t enter(const Call& call, Side side, uint64_t number, ThreadScratch& scratch,
                      void** at) const;
  dnnl_status_t leave(const Call& call, uint64_t number, ThreadScratch& scratch, void* sums) const;
  static void run_phase(ThreadPool& pool, Call& call, Phase phase, uint64_t count);
  static void run_blocks(const void* params, uint64_t first, uint64_t end, uint64_t total);

  const Passage& passage(Side side) const { return passages_[static_cast<size_t>(side)]; }
  bool sums_filters() const { return kind_ == primset_backend::ConvolutionKind::filters; }
  uint64_t part_of(uint64_t number) const { return number % static_cast<uint64_t>(cut_.parts); }
  char* tensor_block(const Call& call, Side side, uint64_t number) const;
  char* filters_block(const Call& call, uint64_t number) const;

  const OneDnn& dnn_;
  primset_backend::ConvolutionKind kind_{};
  ConvolutionCut cut_;
  uint64_t image_blocks_ = 1, row_blocks_ = 1;
  int64_t bias_part_ = 0;  // bytes from one part to the next
  bool has_bias_ = false;
  OneDnnStep main_;
  // Where the library's code does not add it itself: to the sums, before they are rounded.
  std::unique_ptr<OneDnnStep> copy_bias_, add_bias_;
  std::array<Passage, 3> passages_;  // of each Side
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_CONVOLUTION_H_
