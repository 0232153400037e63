// The primitives qr, householder_product and apply_reflectors. A block of reflectors is applied at
// once, as 1 - V T V* (Schreiber and Van Loan, 1989); what it is applied to is divided into stripes
// that threads share.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_QR_H_
#define PRIMSET_BACKENDS_CPU_LINALG_QR_H_

#include <vector>

#include "backends/cpu/linalg/column_major.h"
#include "backends/cpu/linalg/lapack_api.h"
#include "backends/cpu/linalg/small_qr.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

inline constexpr int64_t kReflectorBlock = 32;

// Reflectors `first` to first + count, packed in columns of v.
template <typename T>
struct ReflectorBlock {
  ColumnMajor<T> v;  // from the row of its first diagonal entry on
  T factor[kReflectorBlock * kReflectorBlock];

  ReflectorBlock(const ColumnMajor<T>& whole, const T* tau, int64_t first, int64_t count)
      : v(whole.part(first, first, whole.rows - first, count)) {
    const int n = as_int(v.rows), k = as_int(count), ldv = as_int(v.stride);
    const int ldt = static_cast<int>(kReflectorBlock);
    lapack<T>().larft("F", "C", &n, &k, v.data, &ldv, tau + first, factor, &ldt);
  }

  // c becomes H c, H* c, c H or c H*.
  void apply(const ColumnMajor<T>& c, bool left, bool adjoint, std::vector<T>& work) const {
    const int m = as_int(c.rows), n = as_int(c.columns), k = as_int(v.columns);
    const int ldv = as_int(v.stride), ldc = as_int(c.stride), other = left ? n : m;
    const int ldt = static_cast<int>(kReflectorBlock), ldwork = std::max(other, 1);
    if (m == 0 || n == 0) return;
    work.resize(static_cast<size_t>(ldwork) * static_cast<size_t>(k));
    const char* adjointed = kIsComplex<T> ? "C" : "T";
    lapack<T>().larfb(left ? "L" : "R", adjoint ? adjointed : "N", "F", "C", &m, &n, &k, v.data,
                      &ldv, factor, &ldt, c.data, &ldc, work.data(), &ldwork);
  }
};

// The reflectors of a few columns at a time, which are then applied to those behind them.
template <typename T, typename ForStripes>
void factor_qr(const ColumnMajor<T>& a, T* tau, const ForStripes& for_stripes) {
  const int64_t steps = std::min(a.rows, a.columns);
  std::vector<T> work(static_cast<size_t>(kReflectorBlock * kReflectorBlock));
  for (int64_t k = 0; k < steps; k += kReflectorBlock) {
    const int64_t width = std::min(kReflectorBlock, steps - k), behind = k + width;
    const ColumnMajor<T> panel = a.part(k, k, a.rows - k, width);
    const int m = as_int(panel.rows), n = as_int(width), lda = as_int(a.stride);
    const int lwork = as_int(static_cast<int64_t>(work.size()));
    int info = 0;
    lapack<T>().geqrf(&m, &n, panel.data, &lda, tau + k, work.data(), &lwork, &info);
    if (behind == a.columns) continue;
    const ReflectorBlock<T> block(a, tau, k, width);
    for_stripes(a.columns - behind, [&](int64_t from, int64_t to, std::vector<T>& scratch) {
      block.apply(a.part(k, behind + from, a.rows - k, to - from), true, true, scratch);
    });
  }
}

// c becomes Q c or Q* c, or, from the right, c Q or c Q*, for the reflectors' product Q. In Q c and
// in c Q* the last block meets c first.
template <typename T, typename ForStripes>
void apply_q(const ColumnMajor<T>& v, const T* tau, int64_t count, const ColumnMajor<T>& c,
             bool left, bool adjoint, const ForStripes& for_stripes) {
  const int64_t blocks = (count + kReflectorBlock - 1) / kReflectorBlock;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t first = (left == adjoint ? i : blocks - 1 - i) * kReflectorBlock;
    const ReflectorBlock<T> block(v, tau, first, std::min(kReflectorBlock, count - first));
    for_stripes(left ? c.columns : c.rows, [&](int64_t from, int64_t to, std::vector<T>& scratch) {
      const ColumnMajor<T> part = left ? c.part(first, from, c.rows - first, to - from)
                                       : c.part(from, first, to - from, c.columns - first);
      block.apply(part, left, adjoint, scratch);
    });
  }
}

// Runs f(b, for_stripes) for each matrix of a batch: small matrices are shared by the threads, and
// of large ones the stripes.
template <typename T, typename F>
void for_each_by_stripes(ThreadPool& pool, int64_t count, bool large, const F& f) {
  if (large) {
    for (int64_t b = 0; b < count; ++b) {
      f(b, [&](int64_t extent, const auto& of_stripe) {
        const int64_t stripes = (extent + kStripe - 1) / kStripe;
        in_parallel(pool, stripes, [&](int64_t first, int64_t end) {
          std::vector<T> scratch;
          for (int64_t s = first; s < end; ++s)
            of_stripe(s * kStripe, std::min((s + 1) * kStripe, extent), scratch);
        });
      });
    }
    return;
  }
  in_parallel(pool, count, [&](int64_t first, int64_t end) {
    std::vector<T> scratch;
    for (int64_t b = first; b < end; ++b)
      f(b, [&](int64_t extent, const auto& of_stripe) { of_stripe(0, extent, scratch); });
  });
}

template <typename T>
class QrCall {
 public:
  explicit QrCall(const primset_primitive_call& call)
      : a_(call.operands[0]), v_(data_at<T>(call.results[0])), tau_(data_at<T>(call.results[1])) {}

  void run(ThreadPool& pool) {
    const int64_t steps = std::min(a_.rows, a_.columns);
    for_each_by_stripes<T>(
        pool, a_.count(), steps >= kLargeOrder, [&](int64_t b, const auto& for_stripes) {
          T *const v = v_ + b * a_.rows * a_.columns, *const tau = tau_ + b * steps;
          if (factor_small(a_, b, v, tau)) return;
          const OwnedMatrix<T> own(a_.rows, a_.columns);
          copy_from<T>(a_, b, own);
          factor_qr<T>(own, tau, for_stripes);
          copy_by_rows<T>(own, v);
        });
  }

 private:
  const StridedMatrices<T> a_;
  T *const v_, *const tau_;
};

template <typename T>
class HouseholderProductCall {
 public:
  explicit HouseholderProductCall(const primset_primitive_call& call)
      : v_(call.operands[0]), tau_(call.operands[1]), q_(data_at<T>(call.results[0])) {}

  void run(ThreadPool& pool) {
    for_each_by_stripes<T>(pool, v_.count(), v_.columns >= kLargeOrder,
                           [&](int64_t b, const auto& for_stripes) {
                             T* const to = q_ + b * v_.rows * v_.columns;
                             const std::vector<T> tau = tau_.vector(b);
                             if (form_small(v_, b, tau, to)) return;
                             const OwnedMatrix<T> own(v_.rows, v_.columns), q(v_.rows, v_.columns);
                             copy_from<T>(v_, b, own);
                             for (int64_t j = 0; j < q.columns; ++j) {
                               std::fill_n(q.column(j), q.rows, T{});
                               q.column(j)[j] = one_of<T>();
                             }
                             form(own, tau, q, for_stripes);
                             copy_by_rows<T>(q, to);
                           });
  }

 private:
  // Q's first columns are Q times those of the identity. When a block is applied, those to its left
  // still are the identity's, which it leaves alone.
  template <typename ForStripes>
  static void form(const ColumnMajor<T>& v, const std::vector<T>& tau, const ColumnMajor<T>& q,
                   const ForStripes& for_stripes) {
    const auto count = static_cast<int64_t>(tau.size());
    for (int64_t end = count; end > 0;) {
      const int64_t first = (end - 1) / kReflectorBlock * kReflectorBlock;
      const ReflectorBlock<T> block(v, tau.data(), first, end - first);
      for_stripes(q.columns - first, [&](int64_t from, int64_t to, std::vector<T>& scratch) {
        block.apply(q.part(first, first + from, q.rows - first, to - from), true, false, scratch);
      });
      end = first;
    }
  }

  const StridedMatrices<T> v_;
  const StridedVectors<T> tau_;
  T* const q_;
};

template <typename T>
class ApplyReflectorsCall {
 public:
  explicit ApplyReflectorsCall(const primset_primitive_call& call)
      : v_(call.operands[0]),
        tau_(call.operands[1]),
        c_(call.operands[2]),
        y_(data_at<T>(call.results[0])),
        left_(flag(call, "left")),
        adjoint_(flag(call, "adjoint")) {}

  void run(ThreadPool& pool) {
    const bool large = std::min(v_.columns, std::max(c_.rows, c_.columns)) >= kLargeOrder;
    for_each_by_stripes<T>(pool, v_.count(), large, [&](int64_t b, const auto& for_stripes) {
      const OwnedMatrix<T> own(v_.rows, v_.columns), c(c_.rows, c_.columns);
      copy_from<T>(v_, b, own);
      copy_from<T>(c_, b, c);
      const std::vector<T> tau = tau_.vector(b);
      apply_q<T>(own, tau.data(), static_cast<int64_t>(tau.size()), c, left_, adjoint_,
                 for_stripes);
      copy_by_rows<T>(c, y_ + b * c_.rows * c_.columns);
    });
  }

 private:
  const StridedMatrices<T> v_;
  const StridedVectors<T> tau_;
  const StridedMatrices<T> c_;
  T* const y_;
  const bool left_, adjoint_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_QR_H_
