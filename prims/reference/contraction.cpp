#include "prims/reference/accumulate.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

struct DotDims {
  const Ints &a_contract, &b_contract, &a_batch, &b_batch;
  Ints a_free, b_free;
};

Ints free_dims(size_t rank, const Ints& contract, const Ints& batch) {
  Ints dims;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (!contains(contract, d) && !contains(batch, d)) dims.push_back(d);
  }
  return dims;
}

// Copies values[first, ...) to the places that dims names.
void place(Ints& index, const Ints& dims, const Ints& values, size_t first) {
  for (size_t i = 0; i < dims.size(); ++i) index[static_cast<size_t>(dims[i])] = values[first + i];
}

// The definition, index by index: a result's index is batch, then free dims of a, then those of b;
// its element is the sum of products over the contracted dims.
std::vector<Array> dot_general(NodeRun& run) {
  const Array &a = run.x(0), &b = run.x(1);
  DotDims d{run.ints("a_contract"),
            run.ints("b_contract"),
            run.ints("a_batch"),
            run.ints("b_batch"),
            {},
            {}};
  d.a_free = free_dims(a.shape.size(), d.a_contract, d.a_batch);
  d.b_free = free_dims(b.shape.size(), d.b_contract, d.b_batch);
  Ints contracted;
  for (int64_t dim : d.a_contract) contracted.push_back(a.shape[static_cast<size_t>(dim)]);
  Array r = run.result(0);
  ElementOp op = run.op(r.dtype);
  Ints i(a.shape.size()), j(b.shape.size());
  for_each_index(r.shape, [&](const Ints& index, size_t at) {
    place(i, d.a_batch, index, 0);
    place(j, d.b_batch, index, 0);
    place(i, d.a_free, index, d.a_batch.size());
    place(j, d.b_free, index, d.a_batch.size() + d.a_free.size());
    Sum sum;
    for_each_index(contracted, [&](const Ints& k, size_t) {
      place(i, d.a_contract, k, 0);
      place(j, d.b_contract, k, 0);
      sum.add_product(op, a.data[static_cast<size_t>(offset_of(i, a.shape))],
                      b.data[static_cast<size_t>(offset_of(j, b.shape))]);
    });
    r.data[at] = sum.finish(op);
  });
  return {std::move(r)};
}

}  // namespace

void add_contraction_operations(OperationTable& t) {
  t.set(Prim::dot_general, dot_general);
}

}  // namespace primset::prims::reference
