// Products of matrices and vectors, with ATen's shapes and errors.
#include "decomps/operators/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

void require_one_dtype(const Val& a, const Val& b) {
  require(
      a.dtype() == b.dtype(), ErrorCode::runtime,
      fmt::format("expected m1 and m2 to have the same dtype, but got: {} != {}; convert one with "
                  "to()",
                  cpp_name(a.dtype()), cpp_name(b.dtype())));
}

void require_matrix(const Val& x, const char* name) {
  require(x.rank() == 2, ErrorCode::runtime,
          fmt::format("{} must be a matrix; found shape {}", name, shape_text(x.shape())));
}

void require_number(const Val& x, const char* kernel) {
  if (is_bool(x.dtype())) not_implemented_for(kernel, x.dtype());
}

// Of vectors ATen has no products in float8.
void require_vector_number(const Val& x, const char* kernel) {
  require_number(x, kernel);
  if (is_float8(x.dtype())) not_implemented_for(kernel, x.dtype());
}

// As addmm has it: mat1 and mat2, then self and mat2.
void require_summands(const Val& self, const Val& mat1, const Val& mat2) {
  const auto same = [](const Val& a, const Val& b, const char* name) {
    require(a.dtype() == b.dtype(), ErrorCode::runtime,
            fmt::format("{} and mat2 must have the same dtype, but got {} and {}", name,
                        aten_name(a.dtype()), aten_name(b.dtype())));
  };
  same(self, mat2, "self");
  same(mat1, mat2, "mat1");
  require_number(mat1, "addmm_impl_cpu_");
}

// alpha and beta of products become numbers of the tensors' dtype.
void require_factors(const ScalarArg& beta, const ScalarArg& alpha, DType t) {
  const bool fits =
      is_complex(t) || (beta.kind != Scalar::Kind::complex && alpha.kind != Scalar::Kind::complex);
  require(fits, ErrorCode::runtime,
          fmt::format("value cannot be converted to type {} without overflow",
                      t == DType::i64 ? "int64_t" : cpp_name(t)));
}

// No primitive multiplies float8: it is computed with as f32.
Val operand(const Val& x) {
  return is_float8(x.dtype()) ? opmath(x) : x;
}

// The product in the dtype computed in, not rounded: what is added to it comes before rounding.
Val contraction(const Val& a, const Val& b, Dims a_contract, Dims b_contract,
                const Dims& batch = {}) {
  Tracer& t = a.tracer();
  return t.wrap(t.builder().dot_general(operand(a).id(), operand(b).id(), std::move(a_contract),
                                        std::move(b_contract), batch, batch,
                                        opmath_type(a.dtype())));
}

Val product(const Val& a, const Val& b) {
  Tracer& t = a.tracer();
  if (is_float8(a.dtype())) return convert(product(operand(a), operand(b)), a.dtype());
  if (is_complex(a.dtype())) {
    const int64_t r = a.rank();
    Dims batch(static_cast<size_t>(r) - 2);
    std::iota(batch.begin(), batch.end(), 0);
    return contraction(a, b, {r - 1}, {r - 2}, batch);
  }
  return t.prim1(Prim::matmul, {a, b, Val()},
                 {{"scale", Scalar(1)}, {"activation", std::string("none")}});
}

void require_matrix_factors(const Val& a, const Val& b) {
  require_matrix(a, "self");
  require_matrix(b, "mat2");
  require(
      a.size(1) == b.size(0), ErrorCode::runtime,
      fmt::format("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{}); expected as many "
                  "columns of mat1 as mat2 has rows",
                  a.size(0).hint(), a.size(1).hint(), b.size(0).hint(), b.size(1).hint()));
  require_one_dtype(a, b);
  require_number(a, "addmm_impl_cpu_");
}

Val matrix_product(const Val& a, const Val& b) {
  require_matrix_factors(a, b);
  return product(a, b);
}

void require_batch_factors(const Val& a, const Val& b) {
  require(a.rank() == 3, ErrorCode::runtime,
          "batch1 must be a 3D tensor; found shape " + shape_text(a.shape()));
  require(b.rank() == 3, ErrorCode::runtime,
          "batch2 must be a 3D tensor; found shape " + shape_text(b.shape()));
  require(a.size(0) == b.size(0) && a.size(2) == b.size(1), ErrorCode::runtime,
          fmt::format("Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but "
                      "got: [{}, {}].",
                      a.size(0).hint(), a.size(2).hint(), b.size(0).hint(), b.size(1).hint()));
  require(a.dtype() == b.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(a.dtype()),
                      aten_name(b.dtype())));
  require_number(a, "bmm");
}

Val batch_product(const Val& a, const Val& b) {
  require_batch_factors(a, b);
  return product(a, b);
}

// beta * self + term, in the term's dtype; with beta 0 what self holds does not matter.
Val plus_scaled(Tracer& t, const Val& self, const ScalarArg& beta, const Val& term, DType result) {
  const DType type = term.dtype();
  const Val b = t.scalar(beta, type);
  const Val sum = broadcast_to(convert(self, type), term.shape()) * b + term;
  if (!is_floating(type) && !is_complex(type)) return convert(sum, result);
  return convert(where(eq(b, Scalar(0)), term, sum), result);
}

// beta * self + alpha * product, rounded once. A beta of 0 hides whatever self holds: NaN, too,
// which integers have not.
Val accumulated(Tracer& t, const Val& self, const Val& product, const ScalarArg& beta,
                const ScalarArg& alpha, DType result) {
  require_factors(beta, alpha, product.dtype());
  return plus_scaled(t, self, beta, product * t.scalar(alpha, product.dtype()), result);
}

// Batches of matrices of any ranks above 1, broadcast together.
Val broadcast_product(const Val& a, const Val& b) {
  const SymInts as = a.shape(), bs = b.shape();
  const std::array<SymInts, 2> batches = {SymInts(as.begin(), as.end() - 2),
                                          SymInts(bs.begin(), bs.end() - 2)};
  const SymInts batch = broadcast_shapes(batches);
  SymInts a_shape = batch, b_shape = batch;
  a_shape.insert(a_shape.end(), as.end() - 2, as.end());
  b_shape.insert(b_shape.end(), bs.end() - 2, bs.end());
  require(as.back() == bs[bs.size() - 2], ErrorCode::runtime,
          fmt::format("Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but "
                      "got: [{}, {}].",
                      prims::product(batch).hint(), as.back().hint(), prims::product(batch).hint(),
                      bs[bs.size() - 2].hint()));
  return product(broadcast_to(a, a_shape), broadcast_to(b, b_shape));
}

// One side with a single matrix folds the other's batch into its rows.
Val folded_product(const Val& a, const Val& b) {
  SymInts shape = a.shape();
  const SymInt inner = shape.back();
  const Val rows = reshape(a, {prims::product(std::span(shape).first(shape.size() - 1)), inner});
  shape.back() = b.size(1);
  return reshape(matrix_product(rows, b), shape);
}

Val dot_product(const Val& a, const Val& b) {
  require(a.rank() == 1 && b.rank() == 1, ErrorCode::runtime,
          fmt::format("1D tensors expected, but got {}D and {}D tensors", a.rank(), b.rank()));
  require(a.dtype() == b.dtype(), ErrorCode::runtime,
          fmt::format("dot : expected both vectors to have same dtype, but found {} and {}",
                      aten_name(a.dtype()), aten_name(b.dtype())));
  require(a.size(0) == b.size(0), ErrorCode::runtime,
          fmt::format("inconsistent tensor size, expected tensor [{}] and src [{}] to have the "
                      "same number of elements, but got {} and {} elements respectively",
                      a.size(0).hint(), b.size(0).hint(), a.size(0).hint(), b.size(0).hint()));
  require_vector_number(a, "dot");
  return convert(contraction(a, b, {0}, {0}), a.dtype());
}

void require_vector_summands(const Val& self, const Val& mat, const Val& vec) {
  require(self.dtype() == vec.dtype() && mat.dtype() == vec.dtype(), ErrorCode::runtime,
          fmt::format("addmv input tensors must have the same dtype, but got {}, {}, and {}",
                      aten_name(self.dtype()), aten_name(mat.dtype()), aten_name(vec.dtype())));
  require_vector_number(mat, "addmv_impl_cpu");
}

// `rows`: of the vector to be added.
void require_vector_sizes(const SymInt& rows, const Val& mat, const Val& vec) {
  const bool fits = mat.size(1) == vec.size(0) &&
                    (rows.same(mat.size(0)) || known_equal(rows, 1) == true || rows == mat.size(0));
  require(fits, ErrorCode::runtime,
          fmt::format("size mismatch, got input ({}), mat ({}x{}), vec ({})", rows.hint(),
                      mat.size(0).hint(), mat.size(1).hint(), vec.size(0).hint()));
}

Val matrix_vector_product(const Val& mat, const Val& vec) {
  require(mat.rank() == 2 && vec.rank() == 1, ErrorCode::runtime,
          fmt::format("vector + matrix @ vector expected, got 1, {}, {}", mat.rank(), vec.rank()));
  require_vector_sizes(mat.size(0), mat, vec);
  require_vector_summands(vec, mat, vec);
  return convert(contraction(mat, vec, {1}, {0}), mat.dtype());
}

Val matmul_of(const Val& a, const Val& b) {
  require(a.rank() > 0 && b.rank() > 0, ErrorCode::runtime,
          fmt::format("both arguments to matmul need to be at least 1D, but they are {}D and {}D",
                      a.rank(), b.rank()));
  if (a.rank() == 1 && b.rank() == 1) return dot_product(a, b);
  if (a.rank() == 2 && b.rank() == 1) return matrix_vector_product(a, b);
  if (a.rank() == 1) return squeeze(matmul_of(unsqueeze(a, 0), b), -2);
  if (b.rank() == 1) return squeeze(matmul_of(a, unsqueeze(b, 1)), -1);
  if (a.rank() == 2 && b.rank() == 2) return matrix_product(a, b);
  if (b.rank() == 2) return folded_product(a, b);
  return broadcast_product(a, b);
}

}  // namespace

Val mm::decompose(Tracer& t, const Val& self, const Val& mat2) {
  return matrix_product(self, mat2);
}

Val bmm::decompose(Tracer& t, const Val& self, const Val& mat2) {
  return batch_product(self, mat2);
}

Val matmul::decompose(Tracer& t, const Val& self, const Val& other) {
  return matmul_of(self, other);
}

Val mv::decompose(Tracer& t, const Val& self, const Val& vec) {
  return matrix_vector_product(self, vec);
}

Val dot::decompose(Tracer& t, const Val& self, const Val& tensor) {
  return dot_product(self, tensor);
}

Val vdot::decompose(Tracer& t, const Val& self, const Val& other) {
  return dot::decompose(t, conj(self), other);
}

Val outer::decompose(Tracer& t, const Val& self, const Val& vec2) {
  require(self.rank() == 1, ErrorCode::runtime,
          fmt::format("outer: Expected 1-D argument self, but got {}-D", self.rank()));
  require(vec2.rank() == 1, ErrorCode::runtime,
          fmt::format("outer: Expected 1-D argument vec2, but got {}-D", vec2.rank()));
  return t.call1("mul.Tensor", {unsqueeze(self, 1), vec2});
}

Val linear::decompose(Tracer& t, const Val& input, const Val& weight,
                      const std::optional<Val>& bias) {
  require(input.rank() > 0 && weight.rank() > 0, ErrorCode::runtime,
          fmt::format("both arguments to linear need to be at least 1D, but they are {}D and {}D",
                      input.rank(), weight.rank()));
  const Val w = weight.rank() == 1 ? weight : matrix_transpose(weight);
  if (!bias || is_complex(input.dtype()) || weight.rank() == 1) {
    const Val y = matmul_of(input, w);
    return bias ? t.call1("add.Tensor", {y, *bias}) : y;
  }
  require_one_dtype(input, weight);
  require_one_dtype(input, *bias);
  SymInts shape = input.shape();
  require(
      !shape.empty() && shape.back() == w.size(0), ErrorCode::runtime,
      fmt::format("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{}); expected as many "
                  "columns of mat1 as mat2 has rows",
                  floor_div(input.numel(), max(input.size(-1), 1)).hint(), input.size(-1).hint(),
                  w.size(0).hint(), w.size(1).hint()));
  const Val rows =
      reshape(input, {prims::product(std::span(shape).first(shape.size() - 1)), shape.back()});
  shape.back() = w.size(1);
  require_expandable(bias->shape(), {rows.size(0), w.size(1)});
  const Val y = t.prim1(Prim::matmul, {operand(rows), operand(w), operand(*bias)},
                        {{"scale", Scalar(1)}, {"activation", std::string("none")}});
  return convert(reshape(y, shape), input.dtype());
}

namespace {

// The factors may be narrower than self.
Val plus_matrix_product(Tracer& t, const Val& self, const Val& mat1, const Val& mat2,
                        const ScalarArg& beta, const ScalarArg& alpha) {
  for (const auto& [m, name] : {std::pair(mat1, "mat1"), std::pair(mat2, "mat2")})
    require(m.rank() == 2, ErrorCode::runtime,
            fmt::format("{} must be a matrix, got {}-D tensor", name, m.rank()));
  require(mat1.size(1) == mat2.size(0), ErrorCode::runtime,
          fmt::format(
              "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{}); expected as many "
              "columns of mat1 as mat2 has rows",
              mat1.size(0).hint(), mat1.size(1).hint(), mat2.size(0).hint(), mat2.size(1).hint()));
  require_expandable(self.shape(), {mat1.size(0), mat2.size(1)});
  return accumulated(t, self, contraction(mat1, mat2, {1}, {0}), beta, alpha, self.dtype());
}

}  // namespace

Val addmm::decompose(Tracer& t, const Val& self, const Val& mat1, const Val& mat2,
                     const ScalarArg& beta, const ScalarArg& alpha) {
  require_summands(self, mat1, mat2);
  return plus_matrix_product(t, self, mat1, mat2, beta, alpha);
}

Val addmv::decompose(Tracer& t, const Val& self, const Val& mat, const Val& vec,
                     const ScalarArg& beta, const ScalarArg& alpha) {
  require(mat.rank() == 2 && vec.rank() == 1 && self.rank() <= 1, ErrorCode::runtime,
          fmt::format("vector + matrix @ vector expected, got {}, {}, {}", self.rank(), mat.rank(),
                      vec.rank()));
  require_vector_sizes(self.rank() ? self.size(0) : SymInt(1), mat, vec);
  require_vector_summands(self, mat, vec);
  return accumulated(t, self, contraction(mat, vec, {1}, {0}), beta, alpha, self.dtype());
}

namespace {

Val plus_batch_product(Tracer& t, const Val& self, const Val& batch1, const Val& batch2,
                       const ScalarArg& beta, const ScalarArg& alpha) {
  require(batch1.rank() == 3, ErrorCode::runtime,
          "batch1 must be a 3D tensor; found shape " + shape_text(batch1.shape()));
  require(batch2.rank() == 3, ErrorCode::runtime,
          "batch2 must be a 3D tensor; found shape " + shape_text(batch2.shape()));
  require(batch1.size(0) == batch2.size(0) && batch1.size(2) == batch2.size(1), ErrorCode::runtime,
          fmt::format("Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but "
                      "got: [{}, {}].",
                      batch1.size(0).hint(), batch1.size(2).hint(), batch2.size(0).hint(),
                      batch2.size(1).hint()));
  require_number(batch1, "baddbmm");
  require_expandable(self.shape(), {batch1.size(0), batch1.size(1), batch2.size(2)});
  return accumulated(t, self, contraction(batch1, batch2, {2}, {1}, {0}), beta, alpha,
                     self.dtype());
}

}  // namespace

Val baddbmm::decompose(Tracer& t, const Val& self, const Val& batch1, const Val& batch2,
                       const ScalarArg& beta, const ScalarArg& alpha) {
  require(self.dtype() == batch1.dtype() && self.dtype() == batch2.dtype(), ErrorCode::runtime,
          fmt::format("Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}",
                      cpp_name(self.dtype()), cpp_name(batch1.dtype()), cpp_name(batch2.dtype())));
  return plus_batch_product(t, self, batch1, batch2, beta, alpha);
}

// The products of a batch are summed as well.
Val addbmm::decompose(Tracer& t, const Val& self, const Val& batch1, const Val& batch2,
                      const ScalarArg& beta, const ScalarArg& alpha) {
  require(batch1.rank() == 3, ErrorCode::runtime,
          "batch1 must be a 3D tensor; found shape " + shape_text(batch1.shape()));
  require(batch2.rank() == 3, ErrorCode::runtime,
          "batch2 must be a 3D tensor; found shape " + shape_text(batch2.shape()));
  require(batch1.size(0) == batch2.size(0), ErrorCode::runtime,
          fmt::format("batch1 and batch2 must have same number of batches, got {} and {}",
                      batch1.size(0).hint(), batch2.size(0).hint()));
  require(batch1.size(2) == batch2.size(1), ErrorCode::runtime,
          fmt::format("Incompatible matrix sizes for bmm ({}x{} and {}x{})", batch1.size(1).hint(),
                      batch1.size(2).hint(), batch2.size(1).hint(), batch2.size(2).hint()));
  require_summands(self, batch1, batch2);
  require_expandable(self.shape(), {batch1.size(1), batch2.size(2)});
  // Side by side the matrices of batch1 are one, and those of batch2 are one as they lie.
  const SymInt depth = batch1.size(0) * batch1.size(2);
  const Val left = reshape(transpose(batch1, {1, 0, 2}), {batch1.size(1), depth}),
            right = reshape(batch2, {depth, batch2.size(2)});
  return accumulated(t, self, contraction(left, right, {1}, {0}), beta, alpha, self.dtype());
}

// --- products of halves that are not rounded ---

namespace {

void require_wider_result(const Val& a, const Val& b, DType out) {
  require(out == a.dtype() || (out == DType::f32 && is_half(a.dtype())), ErrorCode::runtime,
          "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs");
  require_one_dtype(a, b);
}

}  // namespace

Val mm_to::decompose(Tracer&, const Val& self, const Val& mat2, DType out_dtype) {
  require_wider_result(self, mat2, out_dtype);
  if (out_dtype == self.dtype()) return matrix_product(self, mat2);
  require_matrix_factors(self, mat2);
  return contraction(self, mat2, {1}, {0});
}

Val bmm_to::decompose(Tracer&, const Val& self, const Val& mat2, DType out_dtype) {
  require_wider_result(self, mat2, out_dtype);
  if (out_dtype == self.dtype()) return batch_product(self, mat2);
  require_batch_factors(self, mat2);
  return contraction(self, mat2, {2}, {1}, {0});
}

Val addmm_to::decompose(Tracer& t, const Val& self, const Val& mat1, const Val& mat2,
                        DType out_dtype, const ScalarArg& beta, const ScalarArg& alpha) {
  require_wider_result(mat1, mat2, out_dtype);
  return plus_matrix_product(t, convert(self, out_dtype), mat1, mat2, beta, alpha);
}

Val baddbmm_to::decompose(Tracer& t, const Val& self, const Val& batch1, const Val& batch2,
                          DType out_dtype, const ScalarArg& beta, const ScalarArg& alpha) {
  require_wider_result(batch1, batch2, out_dtype);
  return plus_batch_product(t, convert(self, out_dtype), batch1, batch2, beta, alpha);
}

namespace {

void require_addr_factors(const ScalarArg& beta, const ScalarArg& alpha, DType common) {
  for (const auto& [s, name] : {std::pair(beta, "beta"), std::pair(alpha, "alpha")}) {
    require(s.kind != Scalar::Kind::boolean || is_bool(common), ErrorCode::runtime,
            fmt::format("Boolean {} only supported for Boolean results.", name));
    require(s.is_integral() || is_floating(common) || is_complex(common), ErrorCode::runtime,
            fmt::format("For integral input tensors, argument {} must not be a floating point "
                        "number.",
                        name));
  }
}

}  // namespace

Val addr::decompose(Tracer& t, const Val& self, const Val& vec1, const Val& vec2,
                    const ScalarArg& beta, const ScalarArg& alpha) {
  require(vec1.rank() == 1, ErrorCode::runtime,
          fmt::format("addr: Expected 1-D argument vec1, but got {}-D", vec1.rank()));
  require(vec2.rank() == 1, ErrorCode::runtime,
          fmt::format("addr: Expected 1-D argument vec2, but got {}-D", vec2.rank()));
  const DType vectors = promote_types(vec1.dtype(), vec2.dtype());
  const DType type = promote_types(self.dtype(), vectors);
  require_addr_factors(beta, alpha, type);
  // From the left, and rounded at each step, as ATen's kernel computes in the tensors' dtype.
  const Val column = convert(unsqueeze(vec1, 1), type), row = convert(vec2, type);
  const Val factor = t.scalar(alpha, type);
  const Val product = is_bool(type) ? column & factor & row : column * factor * row;
  require_expandable(self.shape(), product.shape());
  if (is_bool(type)) return (self & t.scalar(beta, type)) | product;
  return plus_scaled(t, self, beta, product, type);
}

namespace {

// Dims that are contracted, in pairs, in the order that they have in the larger operand: that one
// then is a matrix as it lies in memory, if any is.
void order_contracted(const Val& a, const Val& b, Dims& a_dims, Dims& b_dims) {
  std::vector<size_t> order(a_dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const Dims& leading = a.numel().hint() < b.numel().hint() ? b_dims : a_dims;
  std::ranges::sort(order, {}, [&](size_t i) { return leading[i]; });
  const auto sorted = [&](const Dims& dims) {
    Dims out;
    for (size_t i : order) out.push_back(dims[i]);
    return out;
  };
  a_dims = sorted(Dims(a_dims)), b_dims = sorted(Dims(b_dims));
}

// The sum over pairs of dims as a product of matrices, whose sizes are products of dims' sizes.
Val contraction_by_matrices(const Val& a, const Val& b, Dims a_dims, Dims b_dims) {
  order_contracted(a, b, a_dims, b_dims);
  SymInts shape;
  SymInt rows = 1, columns = 1, depth = 1;
  Dims a_order, b_order = b_dims;
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (std::ranges::find(a_dims, d) != a_dims.end()) continue;
    a_order.push_back(d), shape.push_back(a.size(d)), rows *= a.size(d);
  }
  for (int64_t d = 0; d < b.rank(); ++d) {
    if (std::ranges::find(b_dims, d) != b_dims.end()) continue;
    b_order.push_back(d), shape.push_back(b.size(d)), columns *= b.size(d);
  }
  for (int64_t d : a_dims) a_order.push_back(d), depth *= a.size(d);
  return reshape(product(reshape(transpose(a, a_order), {rows, depth}),
                         reshape(transpose(b, b_order), {depth, columns})),
                 shape);
}

}  // namespace

Val inner::decompose(Tracer& t, const Val& self, const Val& other) {
  if (self.rank() == 0 || other.rank() == 0) return t.call1("mul.Tensor", {self, other});
  require(
      self.size(-1) == other.size(-1), ErrorCode::runtime,
      fmt::format("inner() the last dimension must match on both input tensors but got shapes {} "
                  "and {}",
                  shape_text(self.shape()), shape_text(other.shape())));
  require(self.dtype() == other.dtype(), ErrorCode::runtime,
          fmt::format("both inputs should have same dtype; found {} and {}", name(self.dtype()),
                      name(other.dtype())));
  require_number(self, "dot");
  return convert(contraction_by_matrices(self, other, {self.rank() - 1}, {other.rank() - 1}),
                 self.dtype());
}

Val tensordot::decompose(Tracer& t, const Val& self, const Val& other, const Dims& dims_self,
                         const Dims& dims_other) {
  require(dims_self.size() == dims_other.size(), ErrorCode::runtime,
          fmt::format("both dimension lists should have same length; found {} and {} dims",
                      dims_self.size(), dims_other.size()));
  require(self.dtype() == other.dtype(), ErrorCode::runtime,
          fmt::format("both inputs should have same dtype; found {} and {}", name(self.dtype()),
                      name(other.dtype())));
  Dims a, b;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    a.push_back(wrap_dim(dims_self[i], self.rank()));
    b.push_back(wrap_dim(dims_other[i], other.rank()));
    require(self.size(a.back()) == other.size(b.back()), ErrorCode::runtime,
            fmt::format("contracted dimensions need to match, but first has size {} in dim {} and "
                        "second has size {} in dim {}",
                        self.size(a.back()).hint(), dims_self[i], other.size(b.back()).hint(),
                        dims_other[i]));
  }
  // ATen multiplies and sums where nothing else is left, which bool has, too.
  const bool all = static_cast<int64_t>(a.size()) == self.rank() && self.rank() == other.rank();
  if (is_bool(self.dtype()) && all && !a.empty())
    return logical(contraction(convert(self, DType::i32), convert(other, DType::i32), a, b));
  require_number(self, "addmm_impl_cpu_");
  return convert(contraction_by_matrices(self, other, a, b), self.dtype());
}

Val kron::decompose(Tracer& t, const Val& self, const Val& other) {
  const int64_t rank = std::max(self.rank(), other.rank());
  const SymInts a = expand_dims_to(self, rank).shape(), b = expand_dims_to(other, rank).shape();
  SymInts left, right, out;
  for (size_t d = 0; d < a.size(); ++d) {
    left.insert(left.end(), {a[d], SymInt(1)});
    right.insert(right.end(), {SymInt(1), b[d]});
    out.push_back(a[d] * b[d]);
  }
  return reshape(t.call1("mul.Tensor", {reshape(self, left), reshape(other, right)}), out);
}

}  // namespace primset::decomps
