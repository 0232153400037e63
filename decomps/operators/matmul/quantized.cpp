// Products of 8-bit numbers with scales, and of groups of rows.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/matmul.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

// --- one product of float8 matrices ---

void require_scaled_shapes(const Val& self, const Val& mat2, const std::optional<Val>& bias) {
  require(self.rank() == 2, ErrorCode::runtime, "mat1 must be a matrix");
  require(mat2.rank() == 2, ErrorCode::runtime, "mat2 must be a matrix");
  require(self.size(1) == mat2.size(0), ErrorCode::runtime,
          fmt::format("mat_a and mat_b shapes cannot be multiplied ({}x{} and {}x{})",
                      self.size(0).hint(), self.size(1).hint(), mat2.size(0).hint(),
                      mat2.size(1).hint()));
  require(!bias || bias->numel() == mat2.size(1), ErrorCode::runtime,
          fmt::format("Bias must be size {} but got {}", mat2.size(1).hint(),
                      bias ? bias->numel().hint() : 0));
  require(!bias || !is_complex(bias->dtype()), ErrorCode::runtime,
          fmt::format("result type {} can't be cast to the desired output type Float; expected a "
                      "real bias",
                      aten_name(bias ? bias->dtype() : DType::f32)));
}

[[noreturn]] void invalid_scaling(const Val& self, const Val& mat2, const std::string& scales) {
  fail(
      ErrorCode::value,
      fmt::format("Invalid scaling configuration. - For TensorWise scaling, a and b should be "
                  "float8, scales should be float and singletons. - For RowWise scaling, a and b "
                  "should be float8, scales should be float, scale_a should be ({}, 1) and scale_b "
                  "should be (1, {}), and both should be contiguous. Got mat_a.dtype()={}, "
                  "mat_b.dtype()={}, {}",
                  self.size(0).hint(), mat2.size(1).hint(), aten_name(self.dtype()),
                  aten_name(mat2.dtype()), scales));
}

bool is_matrix_of(const Val& x, const SymInt& rows, const SymInt& columns) {
  return x.rank() == 2 && x.size(0) == rows && x.size(1) == columns;
}

void require_scales(const Val& self, const Val& mat2, const Val& a, const Val& b) {
  const bool types = is_float8(self.dtype()) && is_float8(mat2.dtype()) &&
                     a.dtype() == DType::f32 && b.dtype() == DType::f32;
  const bool singletons = a.numel() == SymInt(1) && b.numel() == SymInt(1);
  if (types &&
      (singletons || (is_matrix_of(a, self.size(0), 1) && is_matrix_of(b, 1, mat2.size(1)))))
    return;
  invalid_scaling(self, mat2,
                  fmt::format("scale_a.dtype()={}, scale_a.size()={}, scale_b.dtype()={}, "
                              "scale_b.size()={}",
                              aten_name(a.dtype()), shape_text(a.shape()), aten_name(b.dtype()),
                              shape_text(b.shape())));
}

// Numbers of one element count as numbers.
Val as_scale(const Val& s) {
  return s.numel() == SymInt(1) ? reshape(s, {}) : s;
}

Val scaled_product(Tracer& t, const Val& self, const Val& mat2, const Val& a, const Val& b,
                   const std::optional<Val>& bias, DType to) {
  const std::optional<Val> row = bias ? std::optional<Val>(flattened(*bias)) : std::nullopt;
  return t.prim1(Prim::scaled_matmul, {self, mat2, as_scale(a), as_scale(b), row.value_or(Val())},
                 {{"to", to}});
}

}  // namespace

// A result in float8 is divided by its own scale.
Val _scaled_mm::decompose(Tracer& t, const Val& self, const Val& mat2, const Val& scale_a,
                          const Val& scale_b, const std::optional<Val>& bias,
                          const std::optional<Val>& scale_result,
                          const std::optional<DType>& out_dtype, bool) {
  require_scaled_shapes(self, mat2, bias);
  require_scales(self, mat2, scale_a, scale_b);
  const DType to = out_dtype.value_or(self.dtype());
  if (!scale_result || !is_float8(to))
    return scaled_product(t, self, mat2, scale_a, scale_b, bias, to);
  const Val wide = scaled_product(t, self, mat2, scale_a, scale_b, bias, DType::f32);
  return convert(wide / convert(reshape(*scale_result, {}), DType::f32), to);
}

namespace {

// at::ScalingType, of those whose scales are f32.
enum Recipe : int64_t { kTensorWise = 0, kRowWise = 1, kBlock1x128 = 4, kBlock128x128 = 5 };

// The sizes of blocks along the rows and the contracted dim; a row for a rowwise scale.
bool fits_recipe(const Val& scale, const std::vector<int64_t>& recipe, const SymInt& outer,
                 const SymInt& contracted, bool transposed) {
  if (recipe.size() != 1 || scale.dtype() != DType::f32) return false;
  const auto is = [&](const SymInt& rows, const SymInt& columns) {
    return transposed ? is_matrix_of(scale, columns, rows) : is_matrix_of(scale, rows, columns);
  };
  switch (recipe[0]) {
    case kTensorWise:
      return scale.numel() == SymInt(1);
    case kRowWise:
      return is(outer, 1);
    case kBlock1x128:
      return is(outer, floor_div(contracted, 128));
    case kBlock128x128:
      return is(floor_div(outer, 128), floor_div(contracted, 128));
    default:
      return false;
  }
}

}  // namespace

Val _scaled_mm_v2::decompose(Tracer& t, const Val& self, const Val& mat2,
                             const std::vector<Val>& scale_a, const std::vector<int64_t>& recipe_a,
                             const std::vector<int64_t>& swizzle_a, const std::vector<Val>& scale_b,
                             const std::vector<int64_t>& recipe_b,
                             const std::vector<int64_t>& swizzle_b, const std::optional<Val>& bias,
                             const std::optional<DType>& out_dtype, const std::vector<int64_t>&,
                             bool) {
  for (const std::vector<int64_t>* swizzle : {&swizzle_a, &swizzle_b}) {
    for (int64_t s : *swizzle) require(s == 0, ErrorCode::value, "CPU does not support swizzle.");
  }
  require_scaled_shapes(self, mat2, bias);
  const bool fits = is_float8(self.dtype()) && is_float8(mat2.dtype()) && scale_a.size() == 1 &&
                    scale_b.size() == 1 &&
                    fits_recipe(scale_a[0], recipe_a, self.size(0), self.size(1), false) &&
                    fits_recipe(scale_b[0], recipe_b, mat2.size(1), self.size(1), true);
  if (!fits)
    invalid_scaling(
        self, mat2,
        fmt::format("{} and {} scales that fit no recipe", scale_a.size(), scale_b.size()));
  return scaled_product(t, self, mat2, scale_a[0], scale_b[0], bias,
                        out_dtype.value_or(self.dtype()));
}

// --- groups ---

namespace {

void require_groups(const Val& self, const Val& mat2, const std::optional<Val>& offs,
                    const std::optional<Val>& bias) {
  require(self.rank() == 2 || self.rank() == 3, ErrorCode::runtime, "mat_a has to be 2 or 3d");
  require(mat2.rank() == 2 || mat2.rank() == 3, ErrorCode::runtime, "mat_b has to be 2 or 3d");
  const bool flat = self.rank() == 2 || mat2.rank() == 2;
  require(offs.has_value() == flat, ErrorCode::runtime,
          "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d");
  require(self.size(-1) == mat2.size(-2), ErrorCode::runtime,
          "contraction dimension of mat_a and mat_b must match");
  require(!bias, ErrorCode::runtime, "Bias not supported yet");
  if (!offs) {
    require(self.size(0) == mat2.size(0), ErrorCode::runtime, "batched dimension has to match");
    return;
  }
  require(offs->rank() == 1, ErrorCode::runtime, "offs has to be 1D");
  require(offs->dtype() == DType::i32, ErrorCode::runtime, "Offsets have to be int32");
  for (const Val* x : {&self, &mat2}) {
    require(x->rank() == 2 || x->size(0) == offs->size(0), ErrorCode::runtime,
            "matrix batch sizes have to match");
  }
}

Val grouped_product(Tracer& t, const Val& self, const Val& mat2, const std::optional<Val>& offs) {
  return t.prim1(Prim::grouped_matmul, {self, mat2, offs.value_or(Val())});
}

}  // namespace

Val _grouped_mm::decompose(Tracer& t, const Val& self, const Val& mat2,
                           const std::optional<Val>& offs, const std::optional<Val>& bias,
                           const std::optional<DType>& out_dtype) {
  const DType type = self.dtype();
  require(type == DType::f32 || type == DType::bf16 || type == DType::f16, ErrorCode::runtime,
          fmt::format("Expected mat_a to be Float32, BFloat16 or Float16 matrix, got {}",
                      aten_name(type)));
  require_groups(self, mat2, offs, bias);
  require(mat2.dtype() == type, ErrorCode::runtime,
          fmt::format("expected m1 and m2 to have the same dtype, but got: {} != {}",
                      cpp_name(type), cpp_name(mat2.dtype())));
  require(out_dtype.value_or(type) == type, ErrorCode::runtime,
          "Grouped gemm output dtype must match `mat_a` dtype");
  return grouped_product(t, self, mat2, offs);
}

namespace {

// A scale for each row of self and column of mat2; where the groups part the contracted dim, for
// each group's, which makes them factors of the result.
Val scaled_groups(Tracer& t, const Val& self, const Val& mat2, const Val& scale_a,
                  const Val& scale_b, const std::optional<Val>& offs,
                  const std::optional<Val>& bias, const std::optional<DType>& out_dtype) {
  require(is_float8(self.dtype()) && is_float8(mat2.dtype()), ErrorCode::runtime,
          fmt::format("Expected mat_a and mat_b to be float8 matrices, got {} and {}",
                      aten_name(self.dtype()), aten_name(mat2.dtype())));
  require_groups(self, mat2, offs, bias);
  const bool by_terms = self.rank() == 2 && mat2.rank() == 2;
  SymInts rows, columns;
  if (by_terms || self.rank() == 3) rows.push_back(offs ? offs->size(0) : self.size(0));
  if (by_terms || mat2.rank() == 3) columns.push_back(offs ? offs->size(0) : mat2.size(0));
  rows.push_back(self.size(-2));
  columns.push_back(mat2.size(-1));
  const auto require_scale = [](const Val& s, const SymInts& shape, const char* name) {
    require(s.dtype() == DType::f32 && s.numel() == prims::product(shape), ErrorCode::runtime,
            fmt::format("{} must have {} numbers of float32, but got {} of size {}", name,
                        prims::product(shape).hint(), aten_name(s.dtype()), shape_text(s.shape())));
    return reshape(s, shape);
  };
  const Val a =
      unsqueeze(require_scale(scale_a, rows, "scale_a"), static_cast<int64_t>(rows.size()));
  const Val b = unsqueeze(require_scale(scale_b, columns, "scale_b"),
                          static_cast<int64_t>(columns.size()) - 1);
  const DType to = out_dtype.value_or(DType::bf16);
  const Val left = convert(self, DType::f32), right = convert(mat2, DType::f32);
  if (by_terms) return convert(grouped_product(t, left, right, offs) * a * b, to);
  return convert(grouped_product(t, left * a, right * b, offs), to);
}

}  // namespace

Val _scaled_grouped_mm::decompose(Tracer& t, const Val& self, const Val& mat2, const Val& scale_a,
                                  const Val& scale_b, const std::optional<Val>& offs,
                                  const std::optional<Val>& bias,
                                  const std::optional<Val>& scale_result,
                                  const std::optional<DType>& out_dtype, bool) {
  require(!scale_result, ErrorCode::runtime, "Scale result not supported yet");
  return scaled_groups(t, self, mat2, scale_a, scale_b, offs, bias, out_dtype);
}

Val _scaled_grouped_mm_v2::decompose(
    Tracer& t, const Val& self, const Val& mat2, const std::vector<Val>& scale_a,
    const std::vector<int64_t>& recipe_a, const std::vector<int64_t>& swizzle_a,
    const std::vector<Val>& scale_b, const std::vector<int64_t>& recipe_b,
    const std::vector<int64_t>& swizzle_b, const std::optional<Val>& offs,
    const std::optional<Val>& bias, const std::optional<DType>& out_dtype,
    const std::vector<int64_t>&, bool) {
  const auto plain = [](const std::vector<Val>& scale, const std::vector<int64_t>& recipe,
                        const std::vector<int64_t>& swizzle) {
    const bool unswizzled = swizzle.empty() || (swizzle.size() == 1 && swizzle[0] == 0);
    return scale.size() == 1 && recipe.size() == 1 && recipe[0] == kRowWise && unswizzled;
  };
  require(
      plain(scale_a, recipe_a, swizzle_a) && plain(scale_b, recipe_b, swizzle_b), ErrorCode::value,
      "_scaled_grouped_mm_v2: expected one scale of the recipe RowWise without swizzle for each "
      "matrix");
  return scaled_groups(t, self, mat2, scale_a[0], scale_b[0], offs, bias, out_dtype);
}

// --- weights of 8-bit integers ---

// bf16 and f16 hold every 8-bit integer.
Val _weight_int8pack_mm::decompose(Tracer& t, const Val& self, const Val& mat2, const Val& scales) {
  const DType type = self.dtype();
  require(is_floating(type) && type != DType::f64 && bits(type) >= 16, ErrorCode::runtime,
          "_weight_int8pack_mm_cpu : expect A to be either 32-bit or 16-bit float tensor.");
  require(self.rank() == 2 && mat2.rank() == 2, ErrorCode::runtime,
          fmt::format("_weight_int8pack_mm_cpu : expect A and B to be matrices, but got {} and {}",
                      shape_text(self.shape()), shape_text(mat2.shape())));
  require(mat2.dtype() == DType::i8, ErrorCode::runtime,
          "_weight_int8pack_mm_cpu : expect B to be int8 tensor.");
  require(mat2.size(1) == self.size(1), ErrorCode::runtime,
          fmt::format("_weight_int8pack_mm_cpu : expect B.size(1) == {}", self.size(1).hint()));
  require(scales.rank() == 1 && scales.size(0) == mat2.size(0), ErrorCode::runtime,
          fmt::format("_weight_int8pack_mm_cpu : expect scales to be 1d tensor with size {}",
                      mat2.size(0).hint()));
  require(scales.dtype() == type, ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(type),
                      aten_name(scales.dtype())));
  const Val weights = convert(mat2, type);
  const Val sum =
      t.wrap(t.builder().dot_general(self.id(), weights.id(), {1}, {1}, {}, {}, opmath_type(type)));
  return convert(sum * opmath(scales), type);
}

}  // namespace primset::decomps
