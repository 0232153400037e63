// Parts of arrays, static and at run-time offsets, and padding.
#include <algorithm>

#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

std::vector<Array> slice(NodeRun& run) {
  Array r = run.result(0);
  Ints start = run.sizes("start"), stride = run.sizes("stride");
  rearrange(run.x(0), r, [&](const Ints& index, Ints& from) {
    for (size_t d = 0; d < index.size(); ++d) from[d] = start[d] + index[d] * stride[d];
    return true;
  });
  return {std::move(r)};
}

std::vector<Array> pad(NodeRun& run) {
  Array r = run.result(0);
  Ints low = run.sizes("low"), interior = run.sizes("interior");
  auto source = [&](const Ints& index, Ints& from) {
    for (size_t d = 0; d < index.size(); ++d) {
      int64_t at = index[d] - low[d], step = interior[d] + 1;
      if (at < 0 || at % step != 0 || at / step >= run.x(0).shape[d]) return false;
      from[d] = at / step;
    }
    return true;
  };
  rearrange(run.x(0), r, source, run.x(1).data[0]);
  return {std::move(r)};
}

// Operands [first, ...), each clamped so that a part of these sizes fits into x; empty when a start
// is undecided.
Ints clamped_starts(const NodeRun& run, size_t first, const Ints& sizes) {
  Ints starts;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Element& start = run.x(first + d).data[0];
    if (start.undecided) return {};
    starts.push_back(std::clamp<int64_t>(start.integer, 0, run.x(0).shape[d] - sizes[d]));
  }
  return starts;
}

std::vector<Array> dynamic_slice(NodeRun& run) {
  Array r = run.result(0);
  Ints starts = clamped_starts(run, 1, r.shape);
  bool decided = starts.size() == r.shape.size();
  auto source = [&](const Ints& index, Ints& from) {
    for (size_t d = 0; decided && d < index.size(); ++d) from[d] = starts[d] + index[d];
    return decided;
  };
  rearrange(run.x(0), r, source, undecided_element());
  return {std::move(r)};
}

std::vector<Array> dynamic_update_slice(NodeRun& run) {
  Array r = run.x(0);
  const Array& update = run.x(1);
  Ints starts = clamped_starts(run, 2, update.shape);
  if (starts.size() != update.shape.size()) {
    std::fill(r.data.begin(), r.data.end(), undecided_element());
    return {std::move(r)};
  }
  for_each_index(update.shape, [&](const Ints& index, size_t at) {
    Ints to = index;
    for (size_t d = 0; d < to.size(); ++d) to[d] += starts[d];
    r.data[static_cast<size_t>(offset_of(to, r.shape))] = update.data[at];
  });
  return {std::move(r)};
}

}  // namespace

void add_slice_operations(OperationTable& t) {
  t.set(Prim::slice, slice);
  t.set(Prim::pad, pad);
  t.set(Prim::dynamic_slice, dynamic_slice);
  t.set(Prim::dynamic_update_slice, dynamic_update_slice);
}

}  // namespace primset::prims::reference
