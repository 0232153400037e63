// The kernel around transforms along one dim: its loops, and elements of the operand and the
// result.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_FRAME_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_FRAME_H_

#include <functional>
#include <optional>
#include <vector>

#include "codegen/schedule/families/fft/fft_plan.h"
#include "codegen/schedule/loops/loops.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

class FftFrame {
 public:
  // Lanes go along `lane_dim`, or along the transformed dim.
  FftFrame(const BuildContext& c, const FftPlan& plan, prims::NodeId node,
           const std::vector<Root>& roots, std::optional<size_t> lane_dim);

  Frame& frame() { return frame_; }
  kir::Builder& b() { return frame_.builder(); }
  kir::Type vector() const { return vector_; }  // of the parts of `lanes` elements
  DType dtype() const { return dtype_; }

  // Transforms, not counting those in the lanes.
  SymInt lines() const { return extent(outer_, 0, outer_.size()); }
  // Of the dim that lanes go along.
  const SymInt& lane_size() const { return domain_[lane_dim_]; }

  // Takes line number `line`; the first lane is at `lane` of another dim than the transformed one.
  void move_to_line(kir::Value line, kir::Value lane = {});
  // Elements from `position` on along the transformed dim. Memory is read and written there.
  ElementValue operand(kir::Value position);
  void store(kir::Value position, const ElementValue& x);
  // The same of twice as many real values, which are neighbours' parts.
  ElementValue operand_pairs(kir::Value position);
  void store_pairs(kir::Value position, const ElementValue& x);

  BuiltKernel finish() && { return built(std::move(frame_)); }

 private:
  void move_to(kir::Value position);
  kir::Value all_lanes(kir::Value v);
  // Runs `body` with twice as many lanes.
  template <typename Body>
  auto in_pairs(Body body);

  const prims::Graph& graph_;
  const prims::Node& node_;
  const std::vector<Root>& roots_;
  const SymInts domain_;
  const DType dtype_;
  const size_t dim_, lane_dim_;
  const Indices at_;
  Frame frame_;
  ElementEmitter emitter_;
  const kir::Type vector_;
  std::vector<LoopDim> outer_, line_;
};

// Runs `body` for all items, some of them to a workgroup, of `elements` each.
void for_each_fft_item(Frame& f, const SymInt& items, int64_t elements,
                       const std::function<void(kir::Value item)>& body);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_FRAME_H_
