// addmm, addmv, baddbmm and their kin of sparse factors: beta self + alpha product.
#include "decomps/engine/argument_errors.h"
#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/matrices/products.h"

namespace primset::runtime {
namespace {

// As ATen casts them: 1.5 is 1 where the tensors hold integers.
Scalar factor(const SparseCall& call, std::string_view name, DType dtype) {
  if (!call.has(name)) return Scalar(int64_t{1});
  const Scalar s = call.scalar(name);
  return is_integral(dtype) && !s.is_integral() ? Scalar(s.to_int()) : s;
}

bool is_number(const Scalar& s, int64_t number) {
  return !s.is_complex() && s.to_double() == static_cast<double>(number);
}

Tensor scaled(const Tensor& t, const Scalar& by) {
  return is_number(by, 1) ? t : op("mul.Scalar", t, by);
}

// ATen's message for layouts that do not go together.
[[noreturn]] void refuse_layouts(const SparseCall& call, const Tensor& self, const Tensor& a,
                                 const Tensor& b) {
  throw Error(ErrorCode::runtime, fmt::format("{}: computation is not implemented for {} + {} @ {}",
                                              call.op(), layout_name(self.layout()),
                                              layout_name(a.layout()), layout_name(b.layout())));
}

// The layout that a sum has with a sparse self: that of self, which has no blocks and is
// compressed.
bool sums_sparse(const Tensor& self, const Tensor& a, const Tensor& b) {
  return is_compressed(self) && !has_blocks(self.layout()) && is_sparse(a) && is_sparse(b);
}

// Halves are computed in f32, those of complex numbers in c64, and rounded once, where all tensors
// are of one dtype; what is wrong with others is for the function to say.
std::vector<Tensor> rounded_once(SparseCall& call, SparseFunction function) {
  const DType t = call.tensor("self").dtype();
  if (!is_half(t) && t != DType::c32) return function(call);
  const DType computed = is_half(t) ? DType::f32 : DType::c64;
  Call wide(call.call().op);
  for (size_t i = 0; i < call.call().args.size(); ++i) {
    wide.args.push_back(call.call().args[i]);
    const TensorImpl* argument = call.call().tensor(i);
    if (!argument) continue;
    if (argument->dtype != t) return function(call);
    wide.replace_argument(i, op("to.dtype", call.tensor(wide.op.args[i].spec->name), computed));
  }
  SparseCall widened(wide);
  std::vector<Tensor> results = function(widened);
  for (Tensor& r : results) r = op("to.dtype", r, t);
  return results;
}

}  // namespace

Tensor scaled_sum(const SparseCall& call, const Tensor& self, const Tensor& product) {
  if (self.dtype() != product.dtype())
    call.fail(fmt::format("expected scalar type {} but found {}", info(product.dtype()).aten_name,
                          info(self.dtype()).aten_name));
  const Scalar beta = factor(call, "beta", self.dtype()),
               alpha = factor(call, "alpha", self.dtype());
  const Tensor expanded = op("expand", self, product.sizes());
  if (is_number(beta, 0)) return scaled(product, alpha);
  return op("add.Tensor", scaled(product, alpha), expanded, beta);
}

std::vector<Tensor> sparse_functions::add_matrix_product(SparseCall& given) {
  return rounded_once(given, [](SparseCall& call) -> std::vector<Tensor> {
    const Tensor self = call.tensor("self"), a = call.tensor("mat1"), b = call.tensor("mat2");
    if (is_sparse(self) && !sums_sparse(self, a, b)) refuse_layouts(call, self, a, b);
    if (!is_sparse(a) && !is_sparse(b)) refuse_layouts(call, self, a, b);
    require_factors(call, a, b);
    if (!is_sparse(self)) return {scaled_sum(call, self, to_strided(matrix_product(a, b)))};
    require_product_dtypes(call, a, self);
    if (self.size(0) != a.size(0) || self.size(1) != b.size(1))
      call.fail(fmt::format("expected self of sizes {}x{}, but got {}x{}", a.size(0), b.size(1),
                            self.size(0), self.size(1)));
    const DType t = self.dtype();
    return {sparse_sum({self, factor(call, "beta", t)}, {a, factor(call, "alpha", t)}, b)};
  });
}

std::vector<Tensor> sparse_functions::add_vector_product(SparseCall& given) {
  return rounded_once(given, [](SparseCall& call) -> std::vector<Tensor> {
    const Tensor self = call.tensor("self"), a = call.tensor("mat"), vector = call.tensor("vec");
    if (is_sparse(self) || is_sparse(vector))
      call.fail("expected self and vec to be strided, but found a sparse layout");
    return {scaled_sum(call, self, op("mv", a, vector))};
  });
}

std::vector<Tensor> sparse_functions::add_batched_product(SparseCall& given) {
  return rounded_once(given, [](SparseCall& call) -> std::vector<Tensor> {
    const Tensor self = call.tensor("self");
    if (is_sparse(self)) call.fail("expected a strided self, but its layout is sparse");
    return {scaled_sum(call, self,
                       batched_product(call, call.tensor("batch1"), call.tensor("batch2")))};
  });
}

namespace {

std::string_view shown_layout(const Tensor& t) {
  return layout_name(t.layout());
}

void require_sampled_layouts(const SparseCall& call, const Tensor& self, const Tensor& a,
                             const Tensor& b) {
  if (self.layout() != Layout::sparse_csr)
    call.fail(
        fmt::format("Expected self to have sparse csr layout, but got {}", shown_layout(self)));
  if (!is_floating(self.dtype()) && !is_complex(self.dtype()))
    call.fail(fmt::format("Expected self to be a floating-point or complex tensor, but got {}",
                          info(self.dtype()).aten_name));
  for (const Tensor* m : {&a, &b}) {
    const std::string_view name = m == &a ? "mat1" : "mat2";
    if (is_sparse(*m))
      call.fail(
          fmt::format("Expected {} to have strided layout, but got {}", name, shown_layout(*m)));
    if (m->dim() < 2)
      call.fail(fmt::format("Expected {} to be a matrix, got {}-D tensor", name, m->dim()));
    if (m->dtype() != self.dtype())
      call.fail(fmt::format("Expected {} and self to have the same dtype, but got {} and {}", name,
                            info(m->dtype()).aten_name, info(self.dtype()).aten_name));
  }
  require_product_dtypes(call, self, a);
}

void require_sampled_sizes(const SparseCall& call, const Tensor& self, const Tensor& a,
                           const Tensor& b) {
  if (a.size(-1) != b.size(-2))
    call.fail(fmt::format("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", a.size(-2),
                          a.size(-1), b.size(-2), b.size(-1)));
  if (self.size(-2) != a.size(-2)) call.fail("self.shape[-2] must match mat1.shape[-2]");
  if (self.size(-1) != b.size(-1)) call.fail("self.shape[-1] must match mat2.shape[-1]");
  bool equal = a.dim() == self.dim() && b.dim() == self.dim() && dense_dims(self) == 0;
  for (int64_t d = 0; equal && d + 2 < self.dim(); ++d)
    equal = a.size(d) == self.size(d) && b.size(d) == self.size(d);
  if (!equal) call.fail("self, mat1 and mat2 must have the same batch dims");
}

// Matrices of a batch side by side.
Tensor side_by_side(const Tensor& batch) {
  if (batch.dim() == 2) return batch;
  const Tensor first = op("movedim.int", batch, int64_t{-2}, int64_t{0});
  return op("flatten.using_ints", first, int64_t{1}, int64_t{-1});
}

}  // namespace

// The product at the places of self, whose entries stay where they are. A batch is one matrix with
// blocks along its diagonal.
std::vector<Tensor> sparse_functions::add_sampled_product(SparseCall& given) {
  return rounded_once(given, [](SparseCall& call) -> std::vector<Tensor> {
    const Tensor self = call.tensor("self"), a = call.tensor("mat1"), b = call.tensor("mat2");
    require_sampled_layouts(call, self, a, b);
    require_sampled_sizes(call, self, a, b);
    const Tensor tall = a.dim() == 2 ? a : op("flatten.using_ints", a, int64_t{0}, int64_t{-2});
    const Tensor sampled = sampled_product(row_matrix(self), tall, side_by_side(b));
    const Tensor values = parts_of(self).values;
    const Scalar beta = factor(call, "beta", self.dtype()),
                 alpha = factor(call, "alpha", self.dtype());
    const Tensor shaped = op("reshape", scaled(sampled, alpha), values.sizes());
    // ATen's indices are i64 whatever self's are.
    return {make_compressed(self.layout(), op("to.dtype", parts_of(self).compressed, DType::i64),
                            op("to.dtype", parts_of(self).plain, DType::i64),
                            op("add.Tensor", shaped, values, beta), self.sizes())};
  });
}

// --- a sparse matrix times a dense one, as rows that are sparse ----------------------------------

namespace {

// The rows of the product that have entries, and which these are.
struct SparseRows {
  Tensor rows;    // [count]
  Tensor values;  // [count, columns]
};

SparseRows product_rows(const SparseCall& call, const Tensor& a, const Tensor& b) {
  if (!is_coo(a))
    call.fail(fmt::format("expected 'mat1' to have sparse layout, got 'mat1' with layout {}",
                          shown_layout(a)));
  if (is_sparse(b))
    call.fail(fmt::format("expected 'mat2' to have strided layout, got 'mat2' with layout {}",
                          shown_layout(b)));
  if (sparse_dims(a) != 2 || dense_dims(a) != 0)
    call.fail(fmt::format("Argument #2: matrices expected, got {}D tensor", sparse_dims(a)));
  if (b.dim() != 2)
    call.fail(fmt::format("Argument #3: matrices expected, got {}D tensor", b.dim()));
  if (a.size(1) != b.size(0))
    call.fail(fmt::format("Argument #3: Expected dim 0 size {}, got {}", a.size(1), b.size(0)));
  require_product_dtypes(call, a, b);
  RowMatrix m = row_matrix(a);
  const std::vector<Tensor> found =
      ops("unique_consecutive", rows_of_entries(m), true, false, std::nullopt);
  m.rows = found[0].size(0);
  m.pointers = op("_compress_rows", found[1], m.rows);
  return {found[0], times(m, b)};
}

}  // namespace

// COO with one sparse dim: ATen does not call it coalesced, though it is, unless it is empty.
std::vector<Tensor> sparse_functions::multiply_to_sparse_rows(SparseCall& call) {
  const Tensor a = call.tensor("mat1"), b = call.tensor("mat2");
  const SparseRows y = product_rows(call, a, b);
  return {make_coo(op("unsqueeze", y.rows, int64_t{0}), y.values, Sizes{a.size(0), b.size(1)},
                   y.rows.size(0) == 0)};
}

// The entries of self, where there is one, and behind them all elements of rows with entries.
std::vector<Tensor> sparse_functions::add_sparse_rows(SparseCall& given) {
  return rounded_once(given, [](SparseCall& call) -> std::vector<Tensor> {
    const bool sums = call.op() == "sspaddmm";
    const Tensor self = call.tensor("self"), a = sums ? call.tensor("mat1") : self,
                 b = call.tensor("mat2");
    const SparseRows y = product_rows(call, a, b);
    const int64_t rows = y.rows.size(0), columns = b.size(1);
    const Tensor column = op("arange", Scalar(columns), DType::i64, std::nullopt, y.rows.device());
    const auto spread = [&](const Tensor& t) {
      return op("reshape", op("expand", t, IntList{rows, columns}), IntList{rows * columns});
    };
    Tensor indices =
        op("stack", std::vector{spread(op("unsqueeze", y.rows, int64_t{1})), spread(column)});
    Tensor values = op("reshape", y.values, IntList{rows * columns});
    if (sums) {
      if (!is_coo(self) || sparse_dims(self) != 2 || dense_dims(self) != 0)
        call.fail("expected 'self' to be a matrix of sparse layout");
      if (self.dtype() != a.dtype()) require_product_dtypes(call, a, self);
      for (int64_t d = 0; d < 2; ++d) {
        const int64_t size = d == 0 ? a.size(0) : columns;
        if (self.size(d) != size)
          call.fail(
              fmt::format("Argument #1: Expected dim {} size {}, got {}", d, size, self.size(d)));
      }
      const DType t = self.dtype();
      indices = op("cat", std::vector{parts_of(self).indices, indices}, int64_t{1});
      values = op("cat",
                  std::vector{scaled(parts_of(self).values, factor(call, "beta", t)),
                              scaled(values, factor(call, "alpha", t))},
                  int64_t{0});
    }
    return {make_coo(indices, values, Sizes{a.size(0), columns}, values.size(0) == 0)};
  });
}

}  // namespace primset::runtime
