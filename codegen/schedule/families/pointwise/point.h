// The elements of one position of pointwise kernels, and what their number of instructions asks of
// the loops around them.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINT_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/schedule/loops/loops.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Loads, computes and stores the elements of the roots at the position of the frame's loops, and
// runs the checks there. `c`, `roots` and `checks` outlive the phases.
PointPhases point(Frame& f, const BuildContext& c, const std::vector<Root>& roots,
                  const std::vector<prims::NodeId>& checks);

inline constexpr size_t kLongBody = 256;  // instructions

// CPU: lanes of elements of 8 and 16 bits alone that fill a cache line; 0: there are others, or the
// body is long and would not find registers.
uint16_t narrow_lanes(const BuiltKernel& kernel);

// CPU: a point's work in elements of a short body, so that few points of a long one are divided
// among threads, too. A power of two, by which parts of a row begin at cache lines.
int64_t elements_of_point(const BuiltKernel& kernel);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINT_H_
