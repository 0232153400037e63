// Matrices as LAPACK has them, and copies of those of a call.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_COLUMN_MAJOR_H_
#define PRIMSET_BACKENDS_CPU_LINALG_COLUMN_MAJOR_H_

#include <cstdint>
#include <memory>

namespace primset_cpu {

template <typename T>
struct ColumnMajor {
  T* data;
  int64_t rows, columns, stride;  // stride from column to column

  T* column(int64_t j) const { return data + j * stride; }
  ColumnMajor part(int64_t i, int64_t j, int64_t m, int64_t n) const {
    return {data + i + j * stride, m, n, stride};
  }
};

// With memory of its own, which is not set.
template <typename T>
class OwnedMatrix : public ColumnMajor<T> {
 public:
  OwnedMatrix(int64_t rows, int64_t columns)
      : ColumnMajor<T>{nullptr, rows, columns, rows},
        memory_(new T[static_cast<size_t>(rows * columns)]) {
    this->data = memory_.get();
  }

 private:
  std::unique_ptr<T[]> memory_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_COLUMN_MAJOR_H_
