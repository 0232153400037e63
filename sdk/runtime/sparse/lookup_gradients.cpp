// Gradients of table look-ups that name the rows looked up and no others: COO tensors, a row an
// entry. What is looked up more than once has as many entries.
#include <algorithm>

#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

void require_index(const SparseCall& call, const Tensor& indices) {
  if (indices.dtype() != DType::i64 && indices.dtype() != DType::i32)
    call.fail(
        fmt::format("Expected tensor for argument #2 'indices' to have one of the following "
                    "scalar types: Long, Int; but got {} instead (while checking arguments "
                    "for embedding_backward)",
                    info(indices.dtype()).torch_name));
  if (call.flag("scale_grad_by_freq"))
    call.fail("embedding_backward: scale_grad_by_freq not supported with sparse gradients");
}

// A row of the gradient for each index but the padding's.
Tensor rows_looked_up(const SparseCall& call, const Tensor& grad, const Tensor& indices) {
  const int64_t padding = call.integer("padding_idx", -1), width = grad.size(-1);
  Tensor at = op("to.dtype", op("reshape", indices, IntList{-1}), DType::i64);
  Tensor rows = op("reshape", grad, IntList{width > 0 ? grad.numel() / width : 0, width});
  const Sizes sizes{call.integer("num_weights"), width};
  if (grad.numel() == 0)
    return make_coo(op("new_empty", at, IntList{1, 0}), op("new_empty", grad, IntList{0, width}),
                    sizes, true);
  if (padding != -1) {
    const Tensor kept = positions(op("ne.Scalar", at, Scalar(padding)));
    at = op("index_select", at, int64_t{0}, kept);
    rows = op("index_select", rows, int64_t{0}, kept);
  }
  if (rows.size(0) != at.size(0))
    call.fail(fmt::format("expected a row of grad for each of {} indices, but got {}", at.size(0),
                          rows.size(0)));
  return make_coo(op("unsqueeze", at, int64_t{0}), rows, sizes, false);
}

}  // namespace

std::vector<Tensor> sparse_functions::embedding_gradient(SparseCall& call) {
  const Tensor indices = call.tensor("indices");
  require_index(call, indices);
  return {rows_looked_up(call, call.tensor("grad"), indices)};
}

// Each index has the gradient of its bag, of means divided by how many the bag has.
std::vector<Tensor> sparse_functions::embedding_bag_gradient(SparseCall& call) {
  constexpr int64_t kSum = 0, kMean = 1;
  const Tensor indices = call.tensor("indices"), bag = call.tensor("offset2bag");
  const Tensor weights = call.tensor("per_sample_weights");
  require_index(call, indices);
  Tensor rows = op("index_select", call.tensor("grad"), int64_t{0}, bag);
  if (call.integer("mode") == kMean) {
    const Tensor size = op("index_select", call.tensor("bag_size"), int64_t{0}, bag);
    rows = op("div.Tensor", rows, op("unsqueeze", op("to.dtype", size, rows.dtype()), int64_t{1}));
  }
  if (weights.defined()) {
    if (call.integer("mode") != kSum)
      call.fail(fmt::format("per_sample_weights need mode 0 (sum), but got mode {}",
                            call.integer("mode")));
    rows = op("mul.Tensor", rows, op("unsqueeze", weights, int64_t{1}));
  }
  return {rows_looked_up(call, rows, indices)};
}

// An entry for each element gathered: its own place but along the dim, where it is the index.
std::vector<Tensor> sparse_functions::gather_gradient(SparseCall& call) {
  const Tensor self = call.tensor("self"), index = call.tensor("index"), grad = call.tensor("grad");
  const int64_t rank = self.dim(), elements = index.numel();
  const Tensor values = op("reshape", grad, IntList{-1});
  if (rank == 0)
    return {make_coo(Tensor::empty({0, values.size(0)}, DType::i64, self.device()), values,
                     self.sizes(), false)};
  const int64_t dim = wrapped_dim(call.integer("dim"), rank);
  const Tensor at = index.dim() == 0 ? op("reshape", index, IntList{1}) : index;
  std::vector<Tensor> rows;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == dim) {
      rows.push_back(op("reshape", at, IntList{elements}));
      continue;
    }
    Sizes shape(static_cast<size_t>(rank), 1);
    shape[static_cast<size_t>(d)] = at.size(d);
    const Tensor own = op("arange", Scalar(at.size(d)), DType::i64, std::nullopt, self.device());
    rows.push_back(op("reshape", op("expand", op("reshape", own, IntList(shape)), at.sizes()),
                      IntList{elements}));
  }
  return {make_coo(op("stack", rows), values, self.sizes(), false)};
}

}  // namespace primset::runtime
