// Vectorisation on SIMT devices: how many contiguous elements a thread handles at a time, so that
// enough bytes are in flight between memory and the cores.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTORIZATION_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTORIZATION_H_

#include <vector>

#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

struct Vectorization {
  uint16_t width = 1;   // vector width: contiguous elements along the last loop
  uint16_t unroll = 1;  // vectors that are loaded before the first is stored
  // Of a long body: the threads of a multiprocessor that are to have room for their registers.
  int64_t resident_threads = 0;
};

// Lanes of the probe kernel that choose_vectorization() looks at.
inline constexpr uint16_t kProbeLanes = 4;

// `probe`: the kernel built with kProbeLanes lanes along the last of the (merged) loops; `seen`:
// its accesses. No vectors where some access is strided, and narrower ones where the body is very
// long, or where it has loops of its own.
Vectorization choose_vectorization(const kir::Kernel& probe, const Analysis& seen,
                                   const std::vector<LoopDim>& loops, const Tuning& tuning);

// i1: vectors that begin at multiples of `lanes` along the last loop are aligned in memory,
// whatever the other loop variables are.
kir::Value vectors_align(Frame& f, const Analysis& seen, const std::vector<LoopDim>& loops,
                         uint16_t lanes);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_VECTORIZATION_H_
