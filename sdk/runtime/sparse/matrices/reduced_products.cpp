// _sparse_mm.reduce: the products of each row's entries with a column, reduced to their sum, mean,
// maximum or minimum; and the gradient of that.
#include "decomps/engine/argument_errors.h"
#include "sdk/runtime/sparse/matrices/products.h"

namespace primset::runtime {
namespace {

struct Kind {
  std::string_view name, primitive;
};
constexpr Kind kKinds[] = {{"sum", "sum"},  {"add", "sum"},   {"mean", "mean"}, {"amax", "amax"},
                           {"max", "amax"}, {"amin", "amin"}, {"min", "amin"}};

std::string_view reduction(const SparseCall& call) {
  const std::string_view name = call.text("reduce");
  for (const Kind& k : kKinds) {
    if (k.name == name) return k.primitive;
  }
  call.fail(fmt::format("expected reduce to be sum, mean, amax or amin, but got {}", name));
}

void require_reducible(const SparseCall& call, const Tensor& self, const Tensor& other) {
  if (self.layout() != Layout::sparse_csr)
    call.fail(fmt::format("expect self to be sparse_csr, got {}", layout_name(self.layout())));
  if (is_sparse(other))
    call.fail(fmt::format("expect other to be strided, got {}", layout_name(other.layout())));
  if (self.dim() != 2 || dense_dims(self) != 0)
    call.fail(fmt::format("expected self to be a matrix, but got {} dims", self.dim()));
  if (other.dim() != 2 || other.size(0) != self.size(1))
    call.fail(
        fmt::format("Expected a tensor of dimension 2 and tensor.size[0] == {} but got: "
                    "dimension {} and tensor.size[0] = {}",
                    self.size(1), other.dim(), other.dim() ? other.size(0) : 0));
  if (self.dtype() != other.dtype())
    call.fail(
        fmt::format("Expected tensor for argument #1 'other' to have scalar type {}; but got "
                    "{} instead",
                    info(self.dtype()).aten_name, info(other.dtype()).aten_name));
  if (!is_floating(self.dtype())) throw decomps::DTypeError("spmm_reduce_kernel", self.dtype());
}

// The entry whose product the reduction chose for each element, the first of equal ones; the number
// of entries where a row has none.
Tensor chosen_entries(const RowMatrix& m, const Tensor& other, const Tensor& reduced) {
  const int64_t entries = m.columns.size(0), columns = other.size(1);
  const Tensor products = op("mul.Tensor", op("unsqueeze", m.values, int64_t{1}),
                             op("index_select", other, int64_t{0}, m.columns));
  const Tensor rows = rows_of_entries(m);
  const Tensor result = op("index_select", reduced, int64_t{0}, rows);
  const Tensor both_nan = op("logical_and", op("isnan", products), op("isnan", result));
  const Tensor chosen = op("logical_or", op("eq.Tensor", products, result), both_nan);
  const Tensor number = op("arange", Scalar(entries), DType::i64, std::nullopt, rows.device());
  const Tensor candidate =
      op("where.ScalarOther", chosen, op("unsqueeze", number, int64_t{1}), Scalar(entries));
  const Tensor none = op("full", IntList{m.rows, columns}, Scalar(entries), DType::i64,
                         std::nullopt, rows.device());
  const Tensor at = op("expand", op("unsqueeze", rows, int64_t{1}), IntList{entries, columns});
  return op("scatter_reduce.two", none, int64_t{0}, at, candidate, std::string_view("amin"), true);
}

struct Gradients {
  Tensor values, other;  // undefined where not wanted
};

// Each element of the result passes its gradient to the entry that it was chosen from, and to that
// one's row of other.
Gradients chosen_gradients(const RowMatrix& m, const Tensor& grad, const Tensor& other,
                           const Tensor& chosen, bool wants_values, bool wants_other) {
  const int64_t entries = m.columns.size(0);
  Gradients g;
  if (entries == 0) {
    if (wants_values) g.values = op("zeros_like", m.values);
    if (wants_other) g.other = op("zeros_like", other);
    return g;
  }
  const Tensor some = op("lt.Scalar", chosen, Scalar(entries));
  const Tensor entry = op("clamp_max", chosen, Scalar(entries - 1));
  const Tensor column = op("to.dtype", op("take", m.columns, entry), DType::i64);
  const Tensor passed = op("where.ScalarOther", some, grad, Scalar(0.0));
  if (wants_values) {
    const Tensor each = op("mul.Tensor", passed, op("gather", other, int64_t{0}, column));
    g.values = op("index_add", op("zeros_like", m.values), int64_t{0},
                  op("flatten.using_ints", entry), op("flatten.using_ints", each));
  }
  if (wants_other) {
    const Tensor each = op("mul.Tensor", passed, op("take", m.values, entry));
    g.other = op("scatter_add", op("zeros_like", other), int64_t{0}, column, each);
  }
  return g;
}

Gradients sum_gradients(const RowMatrix& m, const Tensor& grad, const Tensor& other,
                        bool wants_values, bool wants_other) {
  Gradients g;
  if (wants_values) g.values = sampled_product(m, grad, op("t", other));
  if (wants_other) g.other = times(transpose_of(m), grad);
  return g;
}

}  // namespace

// Which entries were chosen is what the gradient needs; as ATen, which knows whether there will be
// one, it is left to the gradient.
std::vector<Tensor> sparse_functions::reduce_products(SparseCall& call) {
  const bool whole = call.op() == "_sparse_mm";
  const Tensor self = call.tensor(whole ? "sparse" : "self"),
               other = call.tensor(whole ? "dense" : "other");
  require_reducible(call, self, other);
  const Tensor y = times(row_matrix(self), other, reduction(call));
  if (whole) return {y};
  return {y, op("empty.memory_format", IntList{0}, DType::i64, std::nullopt, y.device())};
}

std::vector<Tensor> sparse_functions::reduce_products_backward(SparseCall& call) {
  const Tensor self = call.tensor("self"), other = call.tensor("weight");
  Tensor grad = call.tensor("grad_out"), chosen = call.tensor("arg_out");
  require_reducible(call, self, other);
  if (is_sparse(grad) || grad.dim() != 2 || grad.size(0) != self.size(0) ||
      grad.size(1) != other.size(1) || grad.dtype() != self.dtype())
    call.fail(fmt::format("expected grad_out of sizes {}x{} and dtype {}", self.size(0),
                          other.size(1), info(self.dtype()).torch_name));
  const std::string_view kind = reduction(call);
  const RowMatrix m = row_matrix(self);
  const std::vector<bool> wanted = call.flags("output_mask");
  if (wanted.size() != 2)
    call.fail(fmt::format("expected output_mask of 2 elements, but got {}", wanted.size()));
  Gradients g;
  if (kind == "amax" || kind == "amin") {
    if (chosen.numel() == 0 && grad.numel() != 0)
      chosen = chosen_entries(m, other, times(m, other, kind));
    g = chosen_gradients(m, grad, other, chosen, wanted[0], wanted[1]);
  } else {
    if (kind == "mean") {
      const Tensor count = op("clamp_min", row_lengths(m, grad.dtype()), Scalar(1.0));
      grad = op("div.Tensor", grad, op("unsqueeze", count, int64_t{1}));
    }
    g = sum_gradients(m, grad, other, wanted[0], wanted[1]);
  }
  return {g.values.defined() ? with_values(self, g.values) : Tensor(), g.other};
}

}  // namespace primset::runtime
