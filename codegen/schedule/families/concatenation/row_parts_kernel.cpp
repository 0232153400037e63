#include "codegen/schedule/families/concatenation/row_parts_kernel.h"

#include <algorithm>

#include "codegen/schedule/families/pointwise/point.h"

namespace primset::schedule {
namespace {

using Loops = std::vector<LoopDim>;

// `loops`: those outside of the rows.
BuiltKernel build(const BuildContext& c, const SymInts& domain, size_t dim,
                  const std::vector<Root>& parts, const Loops& loops, uint16_t lanes,
                  int64_t elements) {
  Frame f(c.name, c.machine, c.index32, domain);
  f.set_error_buffer(c.errors);
  f.set_lanes(lanes);
  for_each_row(f, loops, domain[dim], elements, [&](const Loops& row) {
    for (const Root& part : parts) {
      const SymInt& size = c.values.graph.type(part.value).shape[dim];
      const std::vector<Root> roots{part};
      cpu_vectors(f, f.index_constant(0), f.param(size), [&](kir::Value i) {
        Loops at = row;
        at.push_back({{dim}, size, i, true});
        f.set_loops(at);
        point(f, c, roots, {}).run();
      });
    }
  });
  return built(std::move(f));
}

}  // namespace

// Built twice: the first kernel only records the accesses.
std::optional<BuiltKernel> row_parts_kernel(const BuildContext& c, const SymInts& domain,
                                            size_t dim, const std::vector<Root>& parts) {
  std::vector<size_t> order = memory_order(domain, parts[0].out.strides);
  std::erase(order, dim);
  const Loops outside = separate_loops(domain, order);
  const uint16_t lanes = point_lanes(c.target);
  const BuiltKernel first = build(c, domain, dim, parts, outside, lanes, 1);
  Loops all = outside;
  all.push_back({{dim}, domain[dim], {}, true});
  if (transposed_loop(all, first.analysis)) return std::nullopt;
  return build(c, domain, dim, parts, merge_loops(domain, outside, first.analysis),
               std::max(lanes, narrow_lanes(first)), elements_of_point(first));
}

}  // namespace primset::schedule
