#include "codegen/schedule/loops/shared_columns.h"

#include <algorithm>

#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

std::optional<SharedColumns> shared_columns(const Machine& machine, const SymInts& domain,
                                            size_t dim, int64_t resident_threads,
                                            uint32_t state_bytes) {
  const auto& tuning = machine.tuning.columns;
  SymInt columns = 1, inner = 1;
  for (size_t d = 0; d < domain.size(); ++d) {
    if (d != dim) columns *= domain[d];
    if (d > dim) inner *= domain[d];
  }
  if (inner.same(SymInt(1)) || !(domain[dim] > SymInt(tuning.thread_column)) ||
      columns > SymInt(int64_t{machine.target.multiprocessors} * resident_threads))
    return std::nullopt;
  auto width = static_cast<uint32_t>(tuning.width);
  while (width > tuning.least_width && !(inner > SymInt(width / 2))) width /= 2;
  const uint32_t most =
      std::min({static_cast<uint32_t>(tuning.group), machine.target.max_group_threads,
                machine.target.group_memory / std::max(state_bytes, 1u)}) /
      width;
  uint32_t parts = 2;
  while (parts < most && domain[dim] > SymInt(int64_t{parts} * tuning.part_elements)) parts *= 2;
  if (parts > most) return std::nullopt;
  return SharedColumns{width, parts};
}

uint32_t state_bytes(const prims::Graph& g, std::span<const prims::ValueId> results) {
  uint32_t bytes = 0;
  for (prims::ValueId v : results) {
    const DType dtype = g.type(v).dtype;
    const auto part = static_cast<uint32_t>(kir::bytes(register_scalar(real_type(dtype))));
    bytes += std::max(part, 4u) * (is_complex(dtype) ? 2 : 1);
  }
  return bytes;
}

void for_each_shared_column(Frame& f, const SharedColumns& s, std::vector<LoopDim>& columns,
                            const std::function<void(const ColumnThread&)>& body) {
  kir::Builder& b = f.builder();
  b.set_group_size(s.threads());
  const Value width = f.index_constant(s.width);
  const Value thread = f.index(b.local_id(0));
  const Value part = b.udiv(thread, width);
  const Value column = b.and_(thread, f.index_constant(s.width - 1));
  const SymInt all = extent(columns, 0, columns.size());
  const Value count = f.param(all);
  f.step().groups = {prims::min(prims::ceil_div(all, s.width), SymInt(f.target().max_groups_x)), 1,
                     1};
  b.for_loop(b.mul(f.index(b.group_id(0)), width), count, b.mul(f.index(b.group_count(0)), width),
             {}, [&](Value base, auto) {
               const Value own = b.add(base, column), is_column = b.slt(own, count);
               const Value last = b.sub(count, f.index_constant(1));
               delinearize(f, b.select(is_column, own, last), columns, 0, columns.size());
               body({part, is_column});
               return std::vector<Value>{};
             });
}

}  // namespace primset::schedule
