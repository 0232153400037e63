#include "backends/cuda/contraction.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/common/call_attributes.h"
#include "backends/common/contraction.h"
#include "backends/common/element_bytes.h"

namespace primset_cuda {
namespace {

using primset_backend::ContractionDims;
using primset_backend::element_bytes;
using primset_backend::matrix_strides;

// A grid has so many blocks in its third dimension, over which batches are spread.
constexpr int64_t kMostBatches = 65535;
// Batches that no one stride steps through take a call for each of a few parts.
constexpr int64_t kMostCalls = 64;

// Sums are computed in f32 where the operands are f16 or bf16, and rounded once if at all.
bool takes_types(uint32_t dtype, uint32_t result) {
  switch (dtype) {
    case PRIMSET_F16:
    case PRIMSET_BF16:
      return result == PRIMSET_F32 || result == dtype;
    case PRIMSET_F32:
    case PRIMSET_F64:
    case PRIMSET_C64:
    case PRIMSET_C128:
      return result == dtype;
    case PRIMSET_I8:
      return result == PRIMSET_I32;
    default:
      return false;
  }
}

// --- batches -------------------------------------------------------------------------------------

// Batch dims that one stride steps through, in each of the three.
struct Level {
  int64_t size, a, b, d;
};

// The batch dims, outermost first, as few levels as their strides allow. `a` and `b` are the
// library's.
std::vector<Level> levels_of(const primset_tensor& a, const primset_tensor& b,
                             const ContractionDims& dims, int64_t matrix) {
  std::vector<Level> levels;
  int64_t d = matrix;
  for (size_t i = dims.a.batch.size(); i-- > 0;) {
    const uint32_t in_a = dims.b.batch[i], in_b = dims.a.batch[i];
    const Level level{a.sizes[in_a], a.strides[in_a], b.strides[in_b], d};
    d *= level.size;
    if (level.size == 1) continue;
    const bool merges = !levels.empty() && level.a == levels.front().size * levels.front().a &&
                        level.b == levels.front().size * levels.front().b;
    if (merges)
      levels.front().size *= level.size;
    else
      levels.insert(levels.begin(), level);
  }
  return levels;
}

// The longest level becomes the stride of the calls; the others make one call each. False when
// these are too many.
bool spread(const std::vector<Level>& levels, int64_t bytes, int64_t result_bytes,
            Matmuls& matmuls) {
  const auto longest = std::ranges::max_element(levels, {}, &Level::size);
  matmuls.places.assign(1, {});
  for (auto it = levels.begin(); it != levels.end(); ++it) {
    if (it == longest) continue;
    if (it->size > kMostCalls / static_cast<int64_t>(matmuls.places.size())) return false;
    std::vector<MatmulPlace> next;
    for (const MatmulPlace& p : matmuls.places)
      for (int64_t i = 0; i < it->size; ++i)
        next.push_back(
            {p.a + i * it->a * bytes, p.b + i * it->b * bytes, p.d + i * it->d * result_bytes});
    matmuls.places = std::move(next);
  }
  if (longest == levels.end()) return true;
  MatmulShape& s = matmuls.shape;
  s.batch = longest->size;
  s.stride_a = longest->a;
  s.stride_b = longest->b;
  s.stride_d = longest->d;
  return s.batch <= kMostBatches && s.stride_a >= 0 && s.stride_b >= 0;
}

// --- alignment -----------------------------------------------------------------------------------

// What every number of bytes is a multiple of, a power of two. A buffer begins at a multiple of
// more than kBestAlignment.
uint32_t alignment(uint64_t bits) {
  return static_cast<uint32_t>((bits | kBestAlignment) & -(bits | kBestAlignment));
}

void align(const primset_primitive_call& call, Matmuls& matmuls) {
  uint64_t a = call.operands[1].offset, b = call.operands[0].offset, d = call.results[0].offset;
  for (const MatmulPlace& p : matmuls.places) {
    a |= static_cast<uint64_t>(p.a);
    b |= static_cast<uint64_t>(p.b);
    d |= static_cast<uint64_t>(p.d);
  }
  MatmulShape& s = matmuls.shape;
  s.align_a = alignment(a);
  s.align_b = alignment(b);
  s.align_d = alignment(d);
  // The library asks for no alignment of the bias, which it reads as it writes D.
  if (s.bias) s.align_d = std::min(s.align_d, alignment(call.operands[2].offset));
}

// --- integers ------------------------------------------------------------------------------------

// The library multiplies integers on tensor cores alone, which take A transposed and B plain, and
// everything by fours. Past kMostTerms a sum of i8 products may leave an i32, where it had to wrap.
bool takes_integers(const MatmulShape& s) {
  constexpr int64_t kMostTerms = (int64_t{1} << 31) / (128 * 128) - 1;
  const auto by_fours = [](int64_t n) { return n % 4 == 0; };
  return s.transpose_a && !s.transpose_b && by_fours(s.m) && by_fours(s.k) && by_fours(s.lda) &&
         by_fours(s.ldb) && by_fours(s.stride_a) && by_fours(s.stride_b) && s.align_a >= 4 &&
         s.align_b >= 4 && s.align_d >= 4 && s.k <= kMostTerms;
}

// --- what a matmul does with the product ---------------------------------------------------------

bool keeps_the_product(const primset_primitive_call& call) {
  const std::string_view activation = primset_backend::text(call, "activation");
  return primset_backend::number(call, "scale", 1) == 1 &&
         (activation.empty() || activation == "none");
}

bool is_half(uint32_t dtype) {
  return dtype == PRIMSET_F16 || dtype == PRIMSET_BF16;
}

// Is the tensor, broadcast, one row of `n` numbers side by side?
bool is_row(const primset_tensor& t, int64_t n) {
  if (t.rank == 0 || t.sizes[t.rank - 1] != n || (n > 1 && t.strides[t.rank - 1] != 1))
    return false;
  for (uint32_t d = 0; d + 1 < t.rank; ++d)
    if (t.sizes[d] != 1 && t.strides[d] != 0) return false;
  return true;
}

std::optional<Matmuls> read_products(const primset_primitive_call& call,
                                     const std::optional<ContractionDims>& dims, bool bias) {
  if (!dims) return std::nullopt;
  const primset_tensor &a = call.operands[1], &b = call.operands[0];
  Matmuls x;
  MatmulShape& s = x.shape;
  s.dtype = a.dtype;
  s.result = call.results[0].dtype;
  if (!takes_types(s.dtype, s.result)) return std::nullopt;
  s.m = dims->n;
  s.n = dims->m;
  s.k = dims->k;
  s.bias = bias;
  const int64_t matrix = s.m * s.n, batches = primset_backend::size_of(a, dims->b.batch);
  x.result_bytes = static_cast<uint64_t>(matrix * batches * element_bytes(s.result));
  x.sums_nothing = s.k == 0;
  if (x.result_bytes == 0 || x.sums_nothing) return x;

  const auto in_a = matrix_strides(a, dims->b.contract, dims->b.free);
  const auto in_b = matrix_strides(b, dims->a.free, dims->a.contract);
  if (!in_a || !in_b) return std::nullopt;
  // a's rows are B's columns: one that lies by rows is plain.
  s.transpose_a = in_a->cols != 1;
  s.lda = s.transpose_a ? in_a->cols : in_a->rows;
  s.transpose_b = in_b->cols != 1;
  s.ldb = s.transpose_b ? in_b->cols : in_b->rows;
  if (!spread(levels_of(a, b, *dims, matrix), element_bytes(s.dtype), element_bytes(s.result), x))
    return std::nullopt;
  align(call, x);
  if (s.dtype == PRIMSET_I8 && !takes_integers(s)) return std::nullopt;
  return x;
}

}  // namespace

// A product of one number is a reduction of two vectors, which a generated kernel reads twice as
// fast as the library does (docs/decisions/cuda_matrix_products.md).
std::optional<Matmuls> read_dot_general(const primset_primitive_call& call) {
  const auto dims = primset_backend::contraction_dims(call);
  if (dims && dims->m == 1 && dims->n == 1) return std::nullopt;
  return read_products(call, dims, false);
}

std::optional<Matmuls> read_matmul(const primset_primitive_call& call) {
  const auto dims = primset_backend::matmul_dims(call);
  const bool bias = call.operand_count == 3;
  if (!dims || !keeps_the_product(call)) return std::nullopt;
  // Some of the library's ways round twice where a bias is added before f16 or bf16 is stored.
  // Where nothing is summed the library is not called, which would add the bias.
  if (bias &&
      (is_half(call.operands[0].dtype) || call.operands[2].dtype != call.operands[0].dtype ||
       dims->k == 0 || !is_row(call.operands[2], dims->n)))
    return std::nullopt;
  return read_products(call, dims, bias);
}

}  // namespace primset_cuda
