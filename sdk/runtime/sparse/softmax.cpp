// softmax and log_softmax over the stored values of COO tensors, and their gradients.
#include <algorithm>

#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

bool takes_logarithm(const SparseCall& call) {
  return call.op().find("log_softmax") != std::string_view::npos;
}

void require_no_conversion(const SparseCall& call) {
  if (call.flag("half_to_float"))
    call.fail("with half to float conversion is not supported on cpu");
}

// Of which group each entry is: entries whose indices but that along `dim` are equal.
struct Groups {
  Tensor of_entry;
  int64_t count;
};
Groups groups_beside(const Tensor& coo, int64_t dim) {
  Sizes sizes(sparse_sizes(coo).begin(), sparse_sizes(coo).end());
  sizes.erase(sizes.begin() + dim);
  const Tensor key = linear_indices(without_row(parts_of(coo).indices, dim), sizes);
  const std::vector<Tensor> unique = ops("_unique2", key, true, true, false);
  return {unique[1], unique[0].size(0)};
}

Tensor sum_of_groups(const Tensor& values, const Groups& groups) {
  const Sizes shape = concat({IntList{groups.count}, values.sizes().subspan(1)});
  const Tensor sums =
      op("index_add", op("new_zeros", values, IntList(shape)), int64_t{0}, groups.of_entry, values);
  return op("index_select", sums, int64_t{0}, groups.of_entry);
}

void require_same_size(const SparseCall& call, const Tensor& grad, const Tensor& output) {
  if (!std::ranges::equal(grad.sizes(), output.sizes()))
    call.fail(
        fmt::format("Expected tensor for argument #1 'grad' to have same size as tensor for "
                    "argument #2 'output'; but {} does not equal {} (while checking arguments "
                    "for softmax_backward)",
                    list_text(grad.sizes()), list_text(output.sizes())));
  for (const Tensor& t : {grad, output}) {
    if (!is_coo(t))
      call.fail(fmt::format("expected grad_output and output of layout sparse_coo, but got {}",
                            layout_name(t.layout())));
  }
}

}  // namespace

// Along a dense dim it is that of the values; along a sparse one each group of entries is one row.
std::vector<Tensor> sparse_functions::softmax_of_entries(SparseCall& call) {
  require_no_conversion(call);
  Tensor self = coo_self(call);
  if (const auto dtype = call.dtype())
    self = with_values(self, op("to.dtype", parts_of(self).values, *dtype));
  const bool log = takes_logarithm(call);
  if (!is_floating(self.dtype()))
    call.fail(fmt::format("\"{}\" not implemented for '{}'", log ? "log_softmax" : "softmax",
                          info(self.dtype()).torch_name),
              ErrorCode::not_implemented);
  const Tensor entries = coalesced(self);
  const int64_t sparse = sparse_dims(entries),
                dim = wrapped_dim(call.integer("dim"), entries.dim());
  Tensor values = parts_of(entries).values;
  if (stored_entries(entries) == 0) return {with_values(entries, values)};
  if (dim >= sparse)
    values = op(log ? "_log_softmax" : "_softmax", values, dim - sparse + 1, false);
  else
    values = op("_coo_softmax", parts_of(entries).indices, values, sparse_sizes(entries), dim, log);
  return {with_values(entries, values)};
}

// With y the output and g the gradient: y (g - sum of g y), of the logarithm g - exp(y) (sum of g).
// Where the output has an entry and the gradient none, it is zero.
std::vector<Tensor> sparse_functions::softmax_gradient(SparseCall& call) {
  const Tensor grad = call.tensor("grad_output");
  require_same_size(call, grad, call.tensor("output"));
  const Tensor output = coalesced(call.tensor("output"));
  const int64_t sparse = sparse_dims(output), dim = wrapped_dim(call.integer("dim"), output.dim());
  const Tensor& y = parts_of(output).values;
  const Tensor g = values_at(coalesced(grad), parts_of(output).indices);
  const bool log = takes_logarithm(call);
  if (stored_entries(output) == 0) return {output};
  const std::string_view of_values = log ? "_log_softmax_backward_data" : "_softmax_backward_data";
  if (dim >= sparse) return {with_values(output, op(of_values, g, y, dim - sparse + 1, y.dtype()))};
  const Groups groups = groups_beside(output, dim);
  if (log) {
    const Tensor part = op("mul.Tensor", op("exp", y), sum_of_groups(g, groups));
    return {with_values(output, op("sub.Tensor", g, part))};
  }
  const Tensor sums = sum_of_groups(op("mul.Tensor", g, y), groups);
  return {with_values(output, op("mul.Tensor", y, op("sub.Tensor", g, sums)))};
}

}  // namespace primset::runtime
