// How a machine computes a transform along one dim.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_PLAN_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_PLAN_H_

#include <cstdint>
#include <optional>

#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

struct FftPlan {
  enum class Kind : uint8_t {
    across,      // CPU: lanes are transforms, neighbours along another dim
    within,      // CPU: lanes are parts of one transform
    two_passes,  // CPU: lanes are transforms of a part of the length, in each of two kernels
    group,       // SIMT: a workgroup computes some transforms in its memory
    to_half,     // CPU: `within`, of 2 n real values taken in pairs
    from_half,   // CPU: back
  };
  Kind kind = Kind::across;
  int64_t n = 0;  // of complex numbers
  size_t dim = 0;
  bool forward = true;
  uint16_t lanes = 1;
  std::optional<size_t> lane_dim;       // across: the dim that the lanes go along; none: one lane
  int64_t first = 0, second = 0;        // two_passes: the lengths
  int64_t transforms = 0, threads = 0;  // group: of a workgroup
};

// nullopt: it is no transform along one dim, or of a length that is not computed here. The length
// becomes part of the plan.
std::optional<FftPlan> fft_plan(const prims::Graph& g, const prims::Node& n,
                                const Machine& machine);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_PLAN_H_
