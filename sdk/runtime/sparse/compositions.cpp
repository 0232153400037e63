// Operators that are a few others of the same tensors.
#include "sdk/runtime/sparse/entries.h"
#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {

// By squares: x^13 is x x^4 x^8.
std::vector<Tensor> sparse_functions::multiply_repeatedly(SparseCall& call) {
  Tensor square = call.tensor("self"), power;
  int64_t n = call.integer("n");
  if (n < 1)
    call.fail(fmt::format("expected n of at least 1 for a sparse matrix, but got {}", n),
              ErrorCode::not_implemented);
  if (n == 1) return {op("clone", square)};
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) power = power.defined() ? op("matmul", power, square) : square;
    if (n > 1) square = op("matmul", square, square);
  }
  return {power};
}

std::vector<Tensor> sparse_functions::multiply_chain(SparseCall& call) {
  const char* const list = call.has("tensors") ? "tensors" : "matrices";
  const std::vector<Tensor> factors = call.tensors(list);
  Tensor product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) product = op("matmul", product, factors[i]);
  return {product};
}

std::vector<Tensor> sparse_functions::look_up_rows(SparseCall& call) {
  const Tensor indices = call.tensor("indices");
  if (is_sparse(indices) || indices.dim() != 1)
    call.fail("expected a strided vector of indices into a sparse weight",
              ErrorCode::not_implemented);
  return {op("index_select", call.tensor("weight"), int64_t{0}, indices)};
}

// Which entries to drop is not drawn: ATen's kernels have no sparse noise either.
std::vector<Tensor> sparse_functions::drop_all_or_none(SparseCall& call) {
  const Tensor self = call.tensor(call.has("input") ? "input" : "self");
  const double p = call.scalar("p").to_double();
  if (p == 0 || !call.flag("train")) return {self};
  if (p != 1)
    call.fail(
        fmt::format("expected p of 0 or 1, or train=False, for a sparse tensor, but got {}", p),
        ErrorCode::not_implemented);
  return {op("mul.Scalar", self, Scalar(int64_t{0}))};
}

std::vector<Tensor> sparse_functions::scale_by_power_of_two(SparseCall& call) {
  return {
      op("mul.Tensor", call.tensor("self"), op("pow.Scalar", Scalar(2.0), call.tensor("other")))};
}

std::vector<Tensor> sparse_functions::norm_of_difference(SparseCall& call) {
  const Tensor difference = op("sub.Tensor", call.tensor("self"), call.tensor("other"));
  return {op("norm.Scalar", difference, call.scalar("p"))};
}

std::vector<Tensor> sparse_functions::power_in_double(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const Scalar exponent = call.scalar("exponent");
  const bool complex = is_complex(self.dtype()) || exponent.is_complex();
  const Tensor wide = op("to.dtype", self, complex ? DType::c128 : DType::f64);
  return {op("pow.Tensor_Scalar", wide, exponent)};
}

std::vector<Tensor> sparse_functions::sum_of_trapezoids(SparseCall& call) {
  const Tensor y = call.tensor("y");
  const int64_t dim = call.integer("dim", -1);
  Tensor ends =
      op("add.Tensor", op("select.int", y, dim, int64_t{0}), op("select.int", y, dim, int64_t{-1}));
  if (is_coo(ends) && !parts_of(ends).coalesced) {  // sums of y's dtype, as of strided tensors
    const Tensor sums = coalesced(ends);
    ends = make_coo(parts_of(sums).indices, parts_of(sums).values, sums.sizes(), false);
  }
  const Tensor halves = op("mul.Scalar", ends, Scalar(0.5));
  const Tensor sum = op("sum.dim_IntList", y, Ints(&dim, 1));
  return {op("mul.Scalar", op("sub.Tensor", sum, halves), call.scalar("dx"))};
}

std::vector<Tensor> sparse_functions::repeat_each(SparseCall& call) {
  if (!call.has("dim"))
    call.fail("expected a dim along which a sparse tensor's elements are repeated",
              ErrorCode::not_implemented);
  const Tensor self = call.tensor("self");
  Tensor counts = call.tensor("repeats");
  const int64_t dim = wrapped_dim(call.integer("dim"), self.dim()), size = self.size(dim);
  if (counts.dim() == 0 || (counts.dim() == 1 && counts.size(0) == 1)) {
    counts = op("expand", op("reshape", counts, IntList{1}), IntList{size});
  } else if (counts.dim() == 1 && counts.size(0) != size) {
    call.fail(
        fmt::format("repeats must have the same size as input along dim, but got repeats.size(0) "
                    "= {} and input.size({}) = {}",
                    counts.size(0), dim, size));
  }
  return {op("index_select", self, dim, op("repeat_interleave.Tensor", counts))};
}

}  // namespace primset::runtime
