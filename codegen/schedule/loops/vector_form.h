// Vectorisation on SIMT devices: how many contiguous elements a thread handles at a time, so that
// enough bytes are in flight between memory and the cores.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTOR_FORM_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTOR_FORM_H_

#include <vector>

#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

struct VectorForm {
  uint16_t lanes = 1;       // vector width: contiguous elements along the last loop
  uint16_t at_once = 1;     // unrolling: vectors that are loaded before the first is stored
  bool arithmetic = false;  // compute-bound: the body is long
};

// Lanes of the probe kernel that vector_form() looks at.
inline constexpr uint16_t kProbeLanes = 4;

// `probe`: the kernel built with kProbeLanes lanes along the last of the (merged) loops; `seen`:
// its accesses. No vectors where some access is strided, or where the body is long, since its
// arithmetic hides the latency.
VectorForm vector_form(const kir::Kernel& probe, const Analysis& seen,
                       const std::vector<LoopDim>& loops, const Tuning& tuning);

// i1: vectors that begin at multiples of `lanes` along the last loop are aligned in memory,
// whatever the other loop variables are.
kir::Value vectors_align(Frame& f, const Analysis& seen, const std::vector<LoopDim>& loops,
                         uint16_t lanes);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTOR_FORM_H_
