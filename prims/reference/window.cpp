#include "prims/reference/accumulate.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

struct Windows {
  Ints dims, strides, dilations;
};

Windows windows(const NodeRun& run) {
  return {run.ints("dims"), run.sizes("strides"), run.sizes("dilations")};
}

// Where the element of a window lies in the windowed array. `index` holds the position, then the
// offset within the window.
Ints windowed_index(const Windows& w, const Ints& index) {
  size_t rank = index.size() - w.dims.size();
  Ints from(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(rank));
  for (size_t i = 0; i < w.dims.size(); ++i) {
    auto d = static_cast<size_t>(w.dims[i]);
    from[d] = index[d] * w.strides[i] + index[rank + i] * w.dilations[i];
  }
  return from;
}

std::vector<Array> window(NodeRun& run) {
  Array r = run.result(0);
  Windows w = windows(run);
  rearrange(run.x(0), r, [&](const Ints& index, Ints& from) {
    from = windowed_index(w, index);
    return true;
  });
  return {std::move(r)};
}

std::vector<Array> window_scatter_add(NodeRun& run) {
  Array r = run.result(0);
  const Array& y = run.x(0);
  Windows w = windows(run);
  std::vector<Sum> sums(r.data.size());
  for_each_index(y.shape, [&](const Ints& index, size_t at) {
    sums[static_cast<size_t>(offset_of(windowed_index(w, index), r.shape))].add(y.data[at]);
  });
  ElementOp op = run.op(r.dtype);
  for (size_t i = 0; i < sums.size(); ++i) r.data[i] = sums[i].finish(op);
  return {std::move(r)};
}

}  // namespace

void add_window_operations(OperationTable& t) {
  t.set(Prim::window, window);
  t.set(Prim::window_scatter_add, window_scatter_add);
}

}  // namespace primset::prims::reference
