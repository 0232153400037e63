// Products of matrices whose types oneDNN does not have, over a BLAS: a product is cut into blocks
// by its shape alone, each computed by one thread.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_MATRIX_PRODUCT_H_
#define PRIMSET_BACKENDS_CPU_LINALG_MATRIX_PRODUCT_H_

#include <vector>

#include "backends/common/contraction.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

// An operand as matrices: element (i, j) of batch p at data[offsets[p] + rows[i] + columns[j]].
template <typename T>
struct ProductOperand {
  const T* data;
  std::vector<int64_t> offsets, rows, columns;

  ProductOperand(const primset_tensor& t, const primset_backend::Dims& batch,
                 const primset_backend::Dims& row_dims, const primset_backend::Dims& column_dims)
      : data(data_at<const T>(t)),
        offsets(primset_backend::offsets_of(t, batch)),
        rows(primset_backend::offsets_of(t, row_dims)),
        columns(primset_backend::offsets_of(t, column_dims)) {}
};

// The library's code, and with it the order of additions, is another where operands of small
// products lie otherwise: all are copied to rows.
template <typename T>
class MatrixProductCall {
 public:
  MatrixProductCall(const primset_primitive_call& call,
                    const primset_backend::ContractionDims& dims)
      : a_(call.operands[0], dims.a.batch, dims.a.free, dims.a.contract),
        b_(call.operands[1], dims.b.batch, dims.b.contract, dims.b.free),
        c_(data_at<T>(call.results[0])),
        m_(dims.m),
        n_(dims.n),
        k_(dims.k),
        rows_(part_of(m_)),
        columns_(part_of(n_)),
        depth_(std::clamp<int64_t>(k_, 1, kMostDepth)),
        row_blocks_((m_ + rows_ - 1) / rows_),
        column_blocks_((n_ + columns_ - 1) / columns_) {}

  void run(ThreadPool& pool) const {
    if (m_ == 0 || n_ == 0) return;
    const auto batches = static_cast<int64_t>(a_.offsets.size());
    in_parallel(pool, batches * row_blocks_ * column_blocks_, [&](int64_t first, int64_t end) {
      Copies copies(*this);
      for (int64_t block = first; block < end; ++block) {
        const int64_t batch = block / (row_blocks_ * column_blocks_);
        const int64_t row = block / column_blocks_ % row_blocks_ * rows_;
        const int64_t column = block % column_blocks_ * columns_;
        for (int64_t k = 0; k == 0 || k < k_; k += depth_) add(copies, batch, row, column, k);
      }
    });
  }

 private:
  static constexpr int64_t kMostOfBlock = 256, kMostDepth = 1024;

  // Which part of an operand a copy holds.
  struct Place {
    int64_t batch = -1, first = -1, k = -1;

    bool operator==(const Place&) const = default;
    bool moves_to(const Place& to) {
      const bool moves = !(*this == to);
      *this = to;
      return moves;
    }
  };

  // A thread's copies of what it multiplies.
  struct Copies {
    OwnedMatrix<T> left, right;
    Place in_left, in_right;

    explicit Copies(const MatrixProductCall& c)
        : left(c.depth_, c.rows_), right(c.columns_, c.depth_) {}
  };

  // Equal parts, at least one.
  static int64_t part_of(int64_t size) {
    const int64_t parts = std::max<int64_t>(1, (size + kMostOfBlock - 1) / kMostOfBlock);
    return std::max<int64_t>(1, (size + parts - 1) / parts);
  }

  static void copy_to_rows(const ProductOperand<T>& from, int64_t batch, int64_t first_row,
                           int64_t end_row, int64_t first_column, int64_t end_column, T* to) {
    const T* const data = from.data + from.offsets[static_cast<size_t>(batch)];
    const int64_t width = end_column - first_column;
    copy_columns(
        width, first_row, end_row,
        [&](int64_t j, int64_t i) {
          return data[from.rows[static_cast<size_t>(i)] +
                      from.columns[static_cast<size_t>(first_column + j)]];
        },
        [&](int64_t j, int64_t i) -> T& { return to[(i - first_row) * width + j]; });
  }

  // To a block the products from `k` on. What is a row here is a column to the library.
  void add(Copies& copies, int64_t batch, int64_t row, int64_t column, int64_t k) const {
    const int64_t end_row = std::min(row + rows_, m_), end_column = std::min(column + columns_, n_),
                  end_k = std::min(k + depth_, k_);
    T *const left = copies.left.data, *const right = copies.right.data;
    if (copies.in_left.moves_to({batch, row, k}))
      copy_to_rows(a_, batch, row, end_row, k, end_k, left);
    if (copies.in_right.moves_to({batch, column, k}))
      copy_to_rows(b_, batch, k, end_k, column, end_column, right);
    T* const to = c_ + (batch * m_ + row) * n_ + column;
    const int rows = as_int(end_column - column), columns = as_int(end_row - row),
              depth = as_int(end_k - k), stride = as_int(n_), left_stride = std::max(depth, 1);
    const T one = one_of<T>(), before = k == 0 ? T{} : one;
    blas<T>().gemm("N", "N", &rows, &columns, &depth, &one, right, &rows, left, &left_stride,
                   &before, to, &stride);
  }

  const ProductOperand<T> a_, b_;
  T* const c_;
  const int64_t m_, n_, k_;
  const int64_t rows_, columns_, depth_;  // of a block
  const int64_t row_blocks_, column_blocks_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_MATRIX_PRODUCT_H_
