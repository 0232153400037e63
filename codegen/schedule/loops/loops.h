// Loop nests: which dimensions of a domain are walked as one, and the loops around a kernel's body.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_LOOPS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_LOOPS_H_

#include <functional>
#include <optional>
#include <vector>

#include "codegen/schedule/element/element.h"
#include "codegen/schedule/loops/frame.h"
#include "codegen/schedule/loops/vector_form.h"
#include "codegen/schedule/tuning/summation_order.h"

namespace primset::schedule {

// Dimensions in the order they are to be walked, each on its own; those of size 1 are left out.
std::vector<LoopDim> separate_loops(const SymInts& domain, const std::vector<size_t>& order);

// Merges neighbours that every access walks as one and no computation tells apart.
std::vector<LoopDim> merge_loops(const SymInts& domain, const std::vector<LoopDim>& loops,
                                 const Analysis& analysis);

// The order of dimensions in which `strides` decrease: memory order of what is written.
std::vector<size_t> memory_order(const SymInts& domain, const SymInts& strides);

// Sets the loops' bases from a linear index over them, row-major.
void decode(Frame& f, kir::Value linear, std::vector<LoopDim>& loops, size_t begin, size_t end);
SymInt extent(const std::vector<LoopDim>& loops, size_t begin, size_t end);

// Number of lanes of the CPU's vectors for 32-bit elements; 1 on SIMT targets.
uint16_t cpu_lanes(const kir::TargetModel& target);
// Lanes of a step along elements: a cache line of them, where that is several vectors too.
uint16_t point_lanes(const kir::TargetModel& target);

// The loop along which some load is contiguous while it strides along the last loop (a transposed
// operand): walking these two in tiles uses every cache line while it is there.
std::optional<size_t> transposed_loop(const std::vector<LoopDim>& loops, const Analysis& analysis);

// Runs `body` once for every item, shared out among workgroups one by one: the loop serves grids
// that the device's limit cuts short. Sets the groups of the frame's launch.
void for_each_by_groups(Frame& f, const SymInt& items,
                        const std::function<void(kir::Value item)>& body);

// Runs `body` once for every point of the nest, vectorised over the last loop on a CPU, one thread
// a point on a SIMT device. On a CPU `tiled` and the last loop are walked in tiles; a point stands
// for the work of `elements`. Sets groups and group size of the frame's launch.
void for_each_point(Frame& f, std::vector<LoopDim> loops, const std::function<void()>& body,
                    std::optional<size_t> tiled = std::nullopt, int64_t elements = 1);

// Computes the elements at the present position; what it returns stores them.
using PointBody = std::function<std::function<void()>()>;

// The same on a SIMT device, a thread taking vectors of the last loop where `aligned` says that
// they lie on their boundaries, and single elements of what is left of each row.
void for_each_vector(Frame& f, std::vector<LoopDim> loops, const VectorForm& form,
                     kir::Value aligned, const PointBody& body);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_LOOPS_H_
