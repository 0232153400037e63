// Chains of products, products with an activation, and the gradients of products.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/matmul.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

// The cheapest order of multiplication, as of matrix_chain_order.
class Chain {
 public:
  Chain(Tracer& t, const std::vector<Val>& matrices)
      : t_(t), matrices_(matrices), n_(matrices.size()), cost_(n_ * n_), split_(n_ * n_) {
    for (const Val& m : matrices) sizes_.push_back(m.size(0));
    sizes_.push_back(matrices.back().size(1));
    for (size_t length = 1; length < n_; ++length) {
      for (size_t i = 0; i + length < n_; ++i) decide(i, i + length);
    }
  }

  Val product(size_t first, size_t last) const {
    if (first == last) return matrices_[first];
    const size_t k = split_[first * n_ + last];
    return t_.call1("mm", {product(first, k), product(k + 1, last)});
  }
  Val product() const { return product(0, n_ - 1); }

 private:
  void decide(size_t i, size_t j) {
    for (size_t k = i; k < j; ++k) {
      const SymInt cost =
          cost_[i * n_ + k] + cost_[(k + 1) * n_ + j] + sizes_[i] * sizes_[k + 1] * sizes_[j + 1];
      // Of three matrices ATen multiplies the first two first where that costs no more.
      const bool better =
          k == i || (n_ == 3 ? !(cost_[i * n_ + j] < cost) : cost < cost_[i * n_ + j]);
      if (!better) continue;
      cost_[i * n_ + j] = cost;
      split_[i * n_ + j] = k;
    }
  }

  Tracer& t_;
  const std::vector<Val>& matrices_;
  size_t n_;
  SymInts sizes_;
  std::vector<SymInt> cost_;
  std::vector<size_t> split_;
};

void require_products(const std::vector<Val>& matrices) {
  for (size_t i = 0; i + 1 < matrices.size(); ++i)
    require(
        matrices[i].size(1) == matrices[i + 1].size(0), ErrorCode::runtime,
        fmt::format("multi_dot(): tensors {} and {} with shapes {} and {} cannot be multiplied", i,
                    i + 1, shape_text(matrices[i].shape()), shape_text(matrices[i + 1].shape())));
}

void require_chain(const std::vector<Val>& tensors) {
  const size_t n = tensors.size();
  require(n >= 2, ErrorCode::runtime,
          fmt::format("multi_dot(): expected at least 2 tensors but got {}", n));
  const auto rank_is = [&](size_t i, bool vector) {
    const int64_t r = tensors[i].rank();
    return r == 2 || (vector && r == 1);
  };
  require(
      rank_is(0, true), ErrorCode::runtime,
      fmt::format("multi_dot(): the first tensor must be 1D or 2D but got {}D", tensors[0].rank()));
  require(rank_is(n - 1, true), ErrorCode::runtime,
          fmt::format("multi_dot(): the last tensor must be 1D or 2D but got {}D",
                      tensors[n - 1].rank()));
  for (size_t i = 1; i + 1 < n; ++i)
    require(rank_is(i, false), ErrorCode::runtime,
            fmt::format("multi_dot(): tensor {} must be 2D but got {}D", i, tensors[i].rank()));
  for (size_t i = 1; i < n; ++i)
    require(tensors[i].dtype() == tensors[0].dtype(), ErrorCode::runtime,
            fmt::format("multi_dot(): all tensors must have be the same dtype but tensor 0 is {} "
                        "and tensor {} {}",
                        cpp_name(tensors[0].dtype()), i, cpp_name(tensors[i].dtype())));
}

}  // namespace

Val linalg_multi_dot::decompose(Tracer& t, const std::vector<Val>& tensors) {
  require_chain(tensors);
  std::vector<Val> matrices = tensors;
  const bool row = tensors.front().rank() == 1, column = tensors.back().rank() == 1;
  if (row) matrices.front() = unsqueeze(matrices.front(), 0);
  if (column) matrices.back() = unsqueeze(matrices.back(), 1);
  require_products(matrices);
  Val y = Chain(t, matrices).product();
  if (column) y = squeeze(y, 1);
  return row ? squeeze(y, 0) : y;
}

Val chain_matmul::decompose(Tracer& t, const std::vector<Val>& matrices) {
  require(!matrices.empty(), ErrorCode::runtime, "chain_matmul(): Expected one or more matrices");
  for (const Val& m : matrices)
    require(m.rank() == 2, ErrorCode::runtime,
            fmt::format("Tensor dimension is {}, expected 2 instead.", m.rank()));
  return matrices.size() == 1 ? matrices[0] : linalg_multi_dot::decompose(t, matrices);
}

Val _addmm_activation::decompose(Tracer& t, const Val& self, const Val& mat1, const Val& mat2,
                                 const ScalarArg& beta, const ScalarArg& alpha, bool use_gelu) {
  const Val y = t.call1("addmm", {self, mat1, mat2, beta, alpha});
  return t.call1(use_gelu ? "gelu" : "relu", {y});
}

Val _int_mm::decompose(Tracer& t, const Val& self, const Val& mat2) {
  const auto matrix = [](const Val& x, const char* name) {
    require(
        x.rank() == 2, ErrorCode::runtime,
        fmt::format("int_mm_out_cpu: Expected {} to be of dimension 2 but got {}", name, x.rank()));
  };
  matrix(self, "self");
  matrix(mat2, "mat2");
  require(self.size(1) == mat2.size(0), ErrorCode::runtime,
          fmt::format("int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got {} and {}",
                      self.size(1).hint(), mat2.size(0).hint()));
  require(self.dtype() == DType::i8 || self.dtype() == DType::u8, ErrorCode::runtime,
          fmt::format("int_mm_out_cpu: Expected self dtype to be int8 or uint8 but got {}",
                      cpp_name(self.dtype())));
  require(mat2.dtype() == DType::i8, ErrorCode::runtime,
          fmt::format("int_mm_out_cpu: Expected mat2 dtype to be of type int8 but got {}",
                      cpp_name(mat2.dtype())));
  if (self.dtype() == DType::i8) return t.prim1(Prim::int8_matmul, {self, mat2});
  return t.call1("mm", {convert(self, DType::i32), convert(mat2, DType::i32)});
}

// Each input of `coefficients` rows: sums of the inputs' slices along dim 0.
Val _compute_linear_combination::decompose(Tracer& t, const Val& input, const Val& coefficients) {
  require(coefficients.rank() == 2 && coefficients.size(1) == input.size(0), ErrorCode::runtime,
          fmt::format("_compute_linear_combination: coefficients of size {} do not fit an input of "
                      "size {}",
                      shape_text(coefficients.shape()), shape_text(input.shape())));
  const Val factors = convert(coefficients, input.dtype());
  const auto sum = [&](const Val& a, const Val& b) {
    return t.call1("tensordot", {a, b, std::vector<int64_t>{1}, std::vector<int64_t>{0}});
  };
  if (!is_bool(input.dtype())) return sum(factors, input);
  return logical(sum(convert(factors, DType::i32), convert(input, DType::i32)));
}

// --- gradients ---

namespace {

Val nothing(Tracer& t, const Val& like) {
  return zeros(t, {SymInt(0)}, like.dtype());
}

Val rows_of(const Val& x) {
  return reshape(x, {floor_div(x.numel(), max(x.size(-1), 1)), x.size(-1)});
}

// Where one matrix, `of`, was multiplied by a batch, its gradient is a sum of products over the
// batch. That is one product of its matrices side by side, by those of the other factor below each
// other, which is not rounded before it is summed.
bool is_summed(const Val& batch, const Val& of) {
  return batch.rank() > 2 && of.rank() == 2;
}
SymInt product_of(const SymInts& sizes, size_t from, size_t to) {
  SymInt product(1);
  for (size_t d = from; d < to; ++d) product = product * sizes[d];
  return product;
}
Val beside(const Val& batch, const Val& of) {
  if (!is_summed(batch, of)) return batch;
  const Val rows = moved_dim(batch, batch.rank() - 2, 0);
  const SymInts sizes = rows.shape();
  return reshape(rows, {sizes.front(), product_of(sizes, 1, sizes.size())});
}
Val below(const Val& batch, const Val& of) {
  if (!is_summed(batch, of)) return batch;
  const SymInts sizes = batch.shape();
  return reshape(batch, {product_of(sizes, 0, sizes.size() - 1), sizes.back()});
}
Val sum_of_products(const Val& a, const Val& b, const SymInts& shape) {
  Tracer& t = a.tracer();
  return t.call1("sum_to_size", {t.call1("matmul", {a, b}), shape});
}

}  // namespace

std::tuple<Val, Val, Val> linear_backward::decompose(Tracer& t, const Val& self,
                                                     const Val& grad_output, const Val& weight,
                                                     const std::vector<bool>& output_mask) {
  require(weight.rank() == 2 && self.rank() > 0, ErrorCode::runtime,
          fmt::format("linear_backward: expected a matrix of weights and an input of one dim at "
                      "least, but got {} and {}",
                      shape_text(weight.shape()), shape_text(self.shape())));
  SymInts result = self.shape();
  require(result.back() == weight.size(1), ErrorCode::runtime,
          fmt::format("linear_backward: expected an input of rows of {}, but got {}",
                      weight.size(1).hint(), shape_text(self.shape())));
  result.back() = weight.size(0);
  require(equal_sizes(grad_output.shape(), result), ErrorCode::runtime,
          fmt::format("linear_backward: expected grad_output of size {}, but got {}",
                      shape_text(result), shape_text(grad_output.shape())));
  const Val grad = rows_of(grad_output);
  Val x = nothing(t, self), w = nothing(t, weight), b = nothing(t, weight);
  if (output_mask[0]) x = reshape(t.call1("mm", {grad, conj(weight)}), self.shape());
  if (output_mask[1]) w = t.call1("mm", {matrix_transpose(grad), conj(rows_of(self))});
  if (output_mask[2]) b = convert(reduce(Prim::reduce_sum, opmath(grad), {0}, false), grad.dtype());
  return {x, w, b};
}

std::tuple<Val, Val> matmul_backward::decompose(Tracer& t, const Val& grad, const Val& self,
                                                const Val& other, const std::vector<bool>& mask) {
  const bool row = self.rank() == 1, column = other.rank() == 1;
  const Val a = row ? unsqueeze(self, 0) : self, b = column ? unsqueeze(other, 1) : other;
  Val g = grad;
  if (row) g = unsqueeze(g, column ? -1 : -2);
  if (column) g = unsqueeze(g, -1);
  Val x = nothing(t, self), y = nothing(t, other);
  if (mask[0]) {
    const Val factor = matrix_transpose(conj(b));
    x = reshape(sum_of_products(beside(g, a), below(factor, a), a.shape()), self.shape());
  }
  if (mask[1]) {
    const Val factor = matrix_transpose(conj(a));
    y = reshape(sum_of_products(beside(factor, b), below(g, b), b.shape()), other.shape());
  }
  return {x, y};
}

}  // namespace primset::decomps
