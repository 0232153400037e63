// Vectors of neighbours on SIMT devices: how many elements a thread works on at a time, so that
// enough bytes are on their way between memory and the cores.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTOR_FORM_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTOR_FORM_H_

#include <vector>

#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

struct VectorForm {
  uint16_t lanes = 1;       // neighbours along the last loop
  uint16_t at_once = 1;     // vectors whose loads come before the first one's store
  bool arithmetic = false;  // a body is long enough to keep the cores from asking for memory
};

// Lanes with which a kernel is built to see what a vector of it would do.
inline constexpr uint16_t kProbeLanes = 4;

// `probe` is the kernel built with kProbeLanes lanes along the last one of the (merged) loops, and
// `seen` what it touched. Without vectors where some access is not one of neighbours, of the same
// element or of computed indices, and where a body is long: its arithmetic hides the waiting.
VectorForm vector_form(const kir::Kernel& probe, const Analysis& seen,
                       const std::vector<LoopDim>& loops, const Tuning& tuning);

// i1: vectors that begin at multiples of `lanes` along the last loop lie on their own boundaries
// in memory, whatever the other loops' variables are.
kir::Value vectors_align(Frame& f, const Analysis& seen, const std::vector<LoopDim>& loops,
                         uint16_t lanes);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTOR_FORM_H_
