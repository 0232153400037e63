// Fused pointwise kernels.
#include <algorithm>
#include <bit>

#include "codegen/schedule/families/pointwise/point.h"
#include "codegen/schedule/families/pointwise/pointwise_kernel.h"
#include "codegen/schedule/loops/loops.h"
#include "codegen/schedule/loops/transposed_blocks.h"
#include "codegen/schedule/loops/transposed_tiles.h"
#include "prims/graph/run_sizes.h"

namespace primset::schedule {

using kir::Value;
using prims::NodeId;
using prims::ValueId;

namespace {

// A kernel of these roots and checks, with the loops around them that `walk` makes.
BuiltKernel build(const BuildContext& c, const SymInts& domain, const std::vector<Root>& roots,
                  const std::vector<NodeId>& checks,
                  const std::function<void(Frame&, const PointBody&)>& walk) {
  Frame f(c.name, c.machine, c.index32, domain);
  f.set_error_buffer(c.errors);
  walk(f, [&] { return point(f, c, roots, checks); });
  return built(std::move(f));
}

// CPU: whether rows are so short that a vector of elements at indices, which takes a processor as
// long as a full one, would be mostly empty. A guard says so. Of a long body the lanes share enough
// to be worth it.
bool gathers_short_rows(const BuildContext& c, const BuiltKernel& kernel,
                        const std::vector<LoopDim>& loops) {
  constexpr int64_t kShort = 8;
  const auto gathers = [](const AccessRecord& a) {
    return !a.store && a.lanes == LaneAccess::gathered;
  };
  return !loops.empty() && kernel.kernel.insts.size() < kLongBody &&
         std::ranges::any_of(kernel.analysis.accesses, gathers) &&
         !prims::depends_on_run(c.values.graph, loops.back().size) &&
         !(loops.back().size > SymInt(kShort));
}

// SIMT: of a short row a thread takes so many elements at least: of each a warp then has those of
// 16 neighbouring rows.
constexpr uint16_t kLeastOfShortRow = 4;

}  // namespace

// Built twice: the first kernel only records the accesses. They decide which loops are merged, and
// on a SIMT device whether operands are transposed through workgroup memory, or how wide vectors
// are; on a CPU whether loops are tiled, and operands transposed in registers.
BuiltKernel pointwise_kernel(const BuildContext& c, const SymInts& domain,
                             const std::vector<Root>& roots, const std::vector<NodeId>& checks) {
  std::vector<size_t> order;
  if (roots.empty()) {
    for (size_t d = 0; d < domain.size(); ++d) order.push_back(d);
  } else {
    order = memory_order(domain, roots[0].out.strides);
  }
  const std::vector<LoopDim> separate = separate_loops(domain, order);
  auto each_point = [&](const std::vector<LoopDim>& loops, uint16_t lanes,
                        std::optional<size_t> tiled, int64_t elements = 1) {
    return build(c, domain, roots, checks, [&](Frame& f, const PointBody& body) {
      f.set_lanes(lanes);
      for_each_point(f, loops, [&] { body().run(); }, tiled, elements);
    });
  };
  if (!c.target.simt) {
    const uint16_t lanes = point_lanes(c.target);
    BuiltKernel first = each_point(separate, lanes, std::nullopt);
    const std::vector<LoopDim> merged = merge_loops(domain, separate, first.analysis);
    const std::optional<size_t> tiled = transposed_loop(merged, first.analysis);
    const int64_t elements = elements_of_point(first);
    if (gathers_short_rows(c, first, merged)) return each_point(merged, 1, std::nullopt, elements);
    const uint16_t narrow = narrow_lanes(first);
    if (merged.size() == separate.size() && !tiled && narrow <= lanes && elements == 1)
      return first;
    if (tiled) {
      const BuiltKernel probe = each_point(separate, 1, std::nullopt);
      if (const auto plan = transposed_blocks(probe.analysis, merged)) {
        return build(c, domain, roots, checks, [&](Frame& f, const PointBody& body) {
          for_each_in_blocks(f, merged, *plan, [&] { body().run(); });
        });
      }
    }
    return each_point(merged, tiled ? cpu_lanes(c.target) : std::max(lanes, narrow), tiled,
                      elements);
  }
  std::vector<LoopDim> in_vectors = separate;
  if (!separate.empty()) in_vectors.back().lanes = true;
  const BuiltKernel probe = each_point(in_vectors, separate.empty() ? 1 : kProbeLanes, {});
  const std::vector<LoopDim> merged = merge_loops(domain, separate, probe.analysis);
  const Vectorization vectorization =
      choose_vectorization(probe.kernel, probe.analysis, merged, c.machine.tuning);
  // Vectors come before tiles where rows are so short that most of a tile would lie outside.
  if (const auto plan = transposed_tiles(c.machine, probe.analysis, merged);
      plan && vectorization.width < kLeastOfShortRow) {
    return build(c, domain, roots, checks, [&](Frame& f, const PointBody& body) {
      for_each_in_tiles(f, merged, *plan, body);
    });
  }
  if (vectorization.width == 1) return each_point(merged, 1, std::nullopt);
  return build(c, domain, roots, checks, [&](Frame& f, const PointBody& body) {
    const Value aligned = vectors_align(f, probe.analysis, merged, vectorization.width);
    for_each_vector(f, merged, vectorization, aligned, body);
  });
}

}  // namespace primset::schedule
