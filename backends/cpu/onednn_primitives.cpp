// dot_general through oneDNN, and of small matrices and few rows by loops of our own: f32, and bf16
// accumulated in f32; int8_matmul. (oneDNN has no f64, and this version no f16 on CPUs: those are
// left to generated kernels.)
//
// oneDNN itself gives other bits for other numbers of threads. So each product is cut into blocks,
// by its shape alone; a block is computed by one thread, whichever; and the bits are the same on
// any number of them.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/common/element_bytes.h"
#include "backends/common/status.h"
#include "backends/cpu/contraction.h"
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/few_rows_product.h"
#include "backends/cpu/linalg/support.h"
#include "backends/cpu/objects.h"
#include "backends/cpu/onednn_matmul.h"
#include "backends/cpu/primitives.h"
#include "backends/cpu/small_products.h"
#include "backends/cpu/transposed_copy.h"

namespace primset_cpu {
namespace {

using primset_backend::guarded;
using primset_backend::make_status;

// A block is at most this large, so that oneDNN's copies of its operands pay and stay in the cache,
// and at least kSmall where a product has few blocks, so that several threads have work.
constexpr int64_t kLargeRows = 256, kLargeCols = 512, kSmallRows = 128, kSmallCols = 256;
constexpr int64_t kEnoughBlocks = 8;

// Equal parts of at most `largest`, a multiple of 16.
int64_t part_of(int64_t size, int64_t largest) {
  const int64_t parts = (size + largest - 1) / largest;
  return ((size + parts - 1) / parts + 15) / 16 * 16;
}

int64_t parts(int64_t size, int64_t part) {
  return (size + part - 1) / part;
}

// bf16 as f32 where the processor does not multiply it: oneDNN's own code takes three times as
// long.
bool is_widened(uint32_t dtype) {
  return dtype == PRIMSET_BF16 && !cpu_info().bf16_products;
}

dnnl_data_type_t dnnl_type(uint32_t dtype) {
  if (dtype == PRIMSET_I8) return dnnl_s8;
  return dtype == PRIMSET_BF16 && !is_widened(dtype) ? dnnl_bf16 : dnnl_f32;
}

// Products with fewer rows or columns are oneDNN's matrix times vector and the like.
constexpr int64_t kNarrow = 16;

// Copied first, to rows or to columns without gaps?
enum class Packing : uint8_t { none, rows, columns };

// How blocks of one size are computed.
struct BlockKind {
  std::shared_ptr<const Matmul> matmul;
  Packing a = Packing::none, b = Packing::none;
  bool widened = false;  // the copies are of f32
};

// The order in which a product's terms are added may not depend on how its operands lie in memory:
// where oneDNN's choice of code does, they are copied.
std::optional<BlockKind> block_kind(const OneDnn& dnn, const Contraction& x, int64_t m, int64_t n) {
  MatmulShape shape{dnnl_type(x.dtype), m, n, x.k, x.k, 1, n, 1, x.n};
  BlockKind kind;
  const auto dense = Matmul::get(dnn, shape);
  if (!dense) return std::nullopt;
  const bool narrow = m < kNarrow || n < kNarrow;
  if (narrow || dense->batched_kernel()) {
    const bool columns_fit = !narrow && x.b.rows == 1 && x.b.cols == x.k;
    if (x.a.rows != x.k || x.a.cols != 1) kind.a = Packing::rows;
    if (!(x.b.rows == n && x.b.cols == 1) && !columns_fit) kind.b = Packing::rows;
  } else if (dnn.order_by_direction) {
    // As a linear layer has them.
    if (x.a.cols != 1) kind.a = Packing::rows;
    if (x.b.rows != 1) kind.b = Packing::columns;
  }
  kind.widened = is_widened(x.dtype);
  if (kind.widened) {
    const bool as_columns = !narrow && !dense->batched_kernel() && dnn.order_by_direction;
    kind.a = Packing::rows;
    kind.b = as_columns ? Packing::columns : Packing::rows;
  }
  if (kind.a == Packing::none) shape.a_rows = x.a.rows, shape.a_cols = x.a.cols;
  if (kind.b == Packing::none) shape.b_rows = x.b.rows, shape.b_cols = x.b.cols;
  if (kind.b == Packing::columns) shape.b_rows = 1, shape.b_cols = x.k;
  kind.matmul = Matmul::get(dnn, shape);
  return kind.matmul ? std::optional(std::move(kind)) : std::nullopt;
}

// A block of an operand.
struct Block {
  const char* data;
  int64_t rows, cols, row_stride, col_stride;
};

template <typename T>
void copy_rows(const Block& r, T* to) {
  const auto* from = reinterpret_cast<const T*>(r.data);
  if (r.col_stride != 1) return copy_to_rows(from, r.rows, r.cols, r.row_stride, r.col_stride, to);
  for (int64_t i = 0; i < r.rows; ++i)
    std::copy_n(from + i * r.row_stride, r.cols, to + i * r.cols);
}

struct Widen {
  PRIMSET_INLINE void operator()(const uint16_t* from, int64_t count, uint32_t* to) const {
    for (int64_t i = 0; i < count; ++i) to[i] = uint32_t{from[i]} << 16;
  }
};

// bf16 to f32; elements apart are brought together first.
void copy_widened(const Block& r, uint32_t* to, ThreadScratch& scratch) {
  if (r.col_stride == 1) {
    const auto* from = reinterpret_cast<const uint16_t*>(r.data);
    for (int64_t i = 0; i < r.rows; ++i)
      vector_code(Widen(), from + i * r.row_stride, r.cols, to + i * r.cols);
    return;
  }
  const int64_t count = r.rows * r.cols;
  void* const narrow = scratch.memory(ThreadScratch::kNarrow, static_cast<size_t>(count) * 2);
  copy_rows(r, static_cast<uint16_t*>(narrow));
  vector_code(Widen(), static_cast<const uint16_t*>(narrow), count, to);
}

// The block as its kind wants it, in the space if that is elsewhere.
const char* packed(const Block& b, Packing how, const BlockKind& kind, int64_t bytes,
                   ThreadScratch& scratch, ThreadScratch::Space space) {
  if (how == Packing::none) return b.data;
  const Block r =
      how == Packing::rows ? b : Block{b.data, b.cols, b.rows, b.col_stride, b.row_stride};
  void* const to =
      scratch.memory(space, static_cast<size_t>(b.rows * b.cols * (kind.widened ? 4 : bytes)));
  if (kind.widened)
    copy_widened(r, static_cast<uint32_t*>(to), scratch);
  else if (bytes == 1)
    copy_rows(r, static_cast<uint8_t*>(to));
  else if (bytes == 2)
    copy_rows(r, static_cast<uint16_t*>(to));
  else
    copy_rows(r, static_cast<uint32_t*>(to));
  return static_cast<const char*>(to);
}

// A contraction and its blocks. All blocks have one of four sizes: whole or rest, in rows and
// columns.
struct Blocks {
  const OneDnn* dnn = nullptr;
  Contraction x;
  int64_t rows = 0, cols = 0;  // of a whole block
  int64_t row_blocks = 0, col_blocks = 0;
  std::optional<BlockKind> kinds[2][2];  // [last row block][last column block]
  std::atomic<int> failure{dnnl_success};

  bool prepare();
  uint64_t count() const {
    return x.a.offsets.size() * static_cast<uint64_t>(row_blocks * col_blocks);
  }
  void run(uint64_t first, uint64_t end, ThreadScratch& scratch);

 private:
  void cut(int64_t largest_rows, int64_t largest_cols);
  bool find_kinds();
};

void Blocks::cut(int64_t largest_rows, int64_t largest_cols) {
  rows = part_of(x.m, largest_rows);
  cols = part_of(x.n, largest_cols);
  row_blocks = parts(x.m, rows);
  col_blocks = parts(x.n, cols);
}

bool Blocks::prepare() {
  if (x.m < kNarrow) return cut(kLargeRows, kSmallCols), find_kinds();
  cut(kLargeRows, kLargeCols);
  if (count() < kEnoughBlocks) cut(kSmallRows, kLargeCols);
  if (count() < kEnoughBlocks) cut(kSmallRows, kSmallCols);
  return find_kinds();
}

bool Blocks::find_kinds() {
  const int64_t last_rows = x.m - (row_blocks - 1) * rows;
  const int64_t last_cols = x.n - (col_blocks - 1) * cols;
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 2; ++c) {
      if ((r == 0 && row_blocks == 1) || (c == 0 && col_blocks == 1)) continue;
      kinds[r][c] = block_kind(*dnn, x, r ? last_rows : rows, c ? last_cols : cols);
      if (!kinds[r][c]) return false;
    }
  }
  return true;
}

// Blocks are numbered batch by batch, and row by row in each. The blocks at the lower and the right
// edge may be smaller and have kinds of their own. Operands that oneDNN does not take as they lie
// are packed first.
void Blocks::run(uint64_t first, uint64_t end, ThreadScratch& scratch) {
  std::optional<MatmulRun> runs[2][2];
  const auto per_batch = static_cast<uint64_t>(row_blocks * col_blocks);
  const auto bytes = static_cast<int64_t>(primset_backend::element_bytes(x.dtype));
  for (uint64_t block = first; block < end; ++block) {
    const uint64_t batch = block / per_batch;
    const auto place = static_cast<int64_t>(block % per_batch);
    const int64_t rb = place / col_blocks, cb = place % col_blocks;
    const int64_t i = rb * rows, j = cb * cols;
    const Block a{x.a.data + (x.a.offsets[batch] + i * x.a.rows) * bytes, std::min(rows, x.m - i),
                  x.k, x.a.rows, x.a.cols};
    const Block b{x.b.data + (x.b.offsets[batch] + j * x.b.cols) * bytes, x.k,
                  std::min(cols, x.n - j), x.b.rows, x.b.cols};
    char* c = x.c + 4 * (static_cast<int64_t>(batch) * x.m * x.n + i * x.n + j);
    const bool last_row = rb == row_blocks - 1, last_col = cb == col_blocks - 1;
    const BlockKind& kind = *kinds[last_row][last_col];
    const char* left = packed(a, kind.a, kind, bytes, scratch, ThreadScratch::kPackedA);
    const char* right = packed(b, kind.b, kind, bytes, scratch, ThreadScratch::kPackedB);
    std::optional<MatmulRun>& run = runs[last_row][last_col];
    if (!run) run.emplace(*kind.matmul, scratch);
    if (const dnnl_status_t status = run->run(left, right, c); status != dnnl_success)
      failure.store(status, std::memory_order_relaxed);
  }
}

// A primset_native_entry: the pool runs blocks as it runs workgroups.
void run_blocks(const void* params, uint64_t first, uint64_t end, uint64_t) {
  Blocks& blocks = **static_cast<Blocks* const*>(params);
  const OneThread one(*blocks.dnn);
  try {
    std::unique_ptr<ThreadScratch> scratch = ThreadScratch::take(*blocks.dnn);
    blocks.run(first, end, *scratch);
    ThreadScratch::give_back(std::move(scratch));
  } catch (const std::bad_alloc&) {  // a pool thread has nobody to throw to
    blocks.failure.store(dnnl_out_of_memory, std::memory_order_relaxed);
  }
}

// From so many multiplications on oneDNN is the faster way: its calls take longer than a loop does
// for fewer. The products of a batch share the costs of a call, and those of small matrices are
// loops of our own (small_products.h), where generated kernels take the least.
constexpr uint64_t kMinMultiplicationsAlone = uint64_t{1} << 14,
                   kMinMultiplicationsOfBatch = uint64_t{1} << 13,
                   kMinMultiplicationsOfSmall = uint64_t{1} << 9;

bool is_small(const Contraction& x) {
  return x.dtype != PRIMSET_I8 && x.a.offsets.size() > 1 &&
         static_cast<uint64_t>(x.m * x.n * x.k) < kMinMultiplicationsOfBatch;
}

void run_small(ThreadPool& pool, const Contraction& x) {
  in_parallel(pool, static_cast<int64_t>(x.a.offsets.size()), [&](int64_t first, int64_t end) {
    const auto run = [&]<typename T>(SmallProducts<T> products) {
      products.run(static_cast<uint64_t>(first), static_cast<uint64_t>(end));
    };
    x.dtype == PRIMSET_BF16 ? run(SmallProducts<uint16_t>(x)) : run(SmallProducts<float>(x));
  });
}

primset_status* run_contraction(primset_stream stream, const char* name,
                                const primset_primitive_call& call,
                                const std::optional<primset_backend::ContractionDims>& dims) {
  return guarded(name, [&]() -> primset_status* {
    if (!dims) return make_status(PRIMSET_INVALID_ARGUMENT, "%s: find refuses this call", name);
    Blocks blocks;
    blocks.dnn = onednn();
    blocks.x = place_contraction(call, *dims);
    const Contraction& x = blocks.x;
    if (x.m == 0 || x.n == 0 || x.a.offsets.empty()) return nullptr;
    if (x.k == 0) {
      std::memset(x.c, 0, 4 * x.a.offsets.size() * static_cast<size_t>(x.m * x.n));
      return nullptr;
    }
    if (is_small(x)) {
      run_small(*stream->device->pool, x);
      return nullptr;
    }
    if (x.m <= kFewRows && x.dtype != PRIMSET_I8) {
      run_few_rows_product(*stream->device->pool, x);
      return nullptr;
    }
    if (!blocks.prepare())
      return make_status(PRIMSET_INTERNAL,
                         "%s: oneDNN refuses %" PRId64 " x %" PRId64 " x %" PRId64, name, x.m, x.n,
                         x.k);
    const Blocks* params = &blocks;
    const uint64_t count = blocks.count();
    if (count == 1)
      run_blocks(&params, 0, 1, 1);
    else
      stream->device->pool->run({run_blocks, &params, 0, count, count});
    const int failure = blocks.failure.load(std::memory_order_relaxed);
    if (failure == dnnl_success) return nullptr;
    return make_status(failure == dnnl_out_of_memory ? PRIMSET_OUT_OF_MEMORY : PRIMSET_INTERNAL,
                       "%s: oneDNN status %d", name, failure);
  });
}

primset_status* run_dot_general(primset_stream stream, const void*,
                                const primset_primitive_call* call) {
  return run_contraction(stream, "dot_general", *call, primset_backend::contraction_dims(*call));
}
primset_status* run_int8_matmul(primset_stream stream, const void*,
                                const primset_primitive_call* call) {
  return run_contraction(stream, "int8_matmul", *call, primset_backend::matmul_dims(*call));
}

// Whether oneDNN has code for the type on this CPU; the sizes do not matter.
bool has_code(uint32_t dtype) {
  const MatmulShape probe{dnnl_type(dtype), 16, 16, 16, 16, 1, 16, 1, 16};
  return Matmul::get(*onednn(), probe) != nullptr;
}

// 8-bit integers added up in 32 bits.
bool find_int8_product(const primset_primitive_call& call, primset_primitive* out) {
  const auto dims = primset_backend::matmul_dims(call);
  const bool fits = dims && call.operand_count == 2 && call.operands[0].dtype == PRIMSET_I8 &&
                    call.results[0].dtype == PRIMSET_I32;
  if (!fits || !onednn() || !has_code(PRIMSET_I8)) return false;
  return answer(out, run_int8_matmul, PRIMSET_PRIMITIVE_STRIDED, kMinMultiplicationsAlone);
}

}  // namespace

bool find_matrix_product(const char* name, const primset_primitive_call& call,
                         primset_primitive* out) {
  if (std::string_view(name) == "int8_matmul") return find_int8_product(call, out);
  if (std::string_view(name) != "dot_general") return false;
  const auto dims = primset_backend::contraction_dims(call);
  const bool fits =
      dims && call.results[0].dtype == PRIMSET_F32 &&
      (call.operands[0].dtype == PRIMSET_F32 || call.operands[0].dtype == PRIMSET_BF16);
  if (!fits || !onednn() || !has_code(call.operands[0].dtype)) return false;
  // A matrix times a vector reads the matrix once, by a generated reduction: it needs no copies and
  // takes all threads. (A size of 1 is the same in all calls of a plan, so the answer holds.)
  if (primset_backend::size_of(call.operands[1], dims->b.free) == 1) return false;
  const bool alone = primset_backend::size_of(call.operands[0], dims->a.batch) == 1;
  return answer(out, run_dot_general, PRIMSET_PRIMITIVE_STRIDED,
                alone ? kMinMultiplicationsAlone : kMinMultiplicationsOfSmall);
}

}  // namespace primset_cpu
