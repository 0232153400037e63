// Tables of roots of unity, each rounded once from more digits.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_TWIDDLE_TABLE_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_TWIDDLE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "primset/dtype.h"

namespace primset::schedule {

// Collects a table of f32 or f64 numbers. Powers are of e^(-2 pi i / n), or backward of its
// conjugate.
class TwiddleTable {
 public:
  TwiddleTable(DType part, bool forward) : part_(part), forward_(forward) {}

  // What Stockham's algorithm multiplies by at each step but the last, in the order of radices: for
  // each p, powers p k of the root of what is left of the length, k from 1 on, parts side by side.
  void add_steps(int64_t n, std::span<const int64_t> radices);
  // How many numbers that are.
  static int64_t step_numbers(std::span<const int64_t> radices);
  // Rows of powers row * column of the n-th root. `lanes` columns at a time: their real parts, then
  // their imaginary ones.
  void add_grid(int64_t n, int64_t rows, int64_t columns, int64_t lanes);
  // One such row: powers 0, 1, ... of the n-th root, `count` of them up to whole vectors.
  void add_powers(int64_t n, int64_t count, int64_t lanes);

  // There is a number in any table.
  std::vector<std::byte> take() && {
    if (bytes_.empty()) add(0);
    return std::move(bytes_);
  }

 private:
  struct Root {
    double re, im;
  };
  Root root(int64_t power, int64_t n) const;
  void add(double v);
  // Powers step (first + lane): real parts, then imaginary ones.
  void add_vector(int64_t n, int64_t step, int64_t first, int64_t lanes);

  DType part_;
  bool forward_;
  std::vector<std::byte> bytes_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_TWIDDLE_TABLE_H_
