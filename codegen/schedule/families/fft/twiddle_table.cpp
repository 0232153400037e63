#include "codegen/schedule/families/fft/twiddle_table.h"

#include <cmath>
#include <cstring>
#include <numbers>

namespace primset::schedule {

// The angle is folded into an eighth of the circle in integers, so that it is exact up to one
// rounding, and multiples of an eighth are exact.
TwiddleTable::Root TwiddleTable::root(int64_t power, int64_t n) const {
  const int64_t turned = power % n * 8, eighth = turned / n, into = turned % n;
  const int64_t folded = eighth % 2 != 0 ? n - into : into;
  const long double angle = std::numbers::pi_v<long double> / 4 * static_cast<long double>(folded) /
                            static_cast<long double>(n);
  const auto c = static_cast<double>(std::cos(angle)), s = static_cast<double>(std::sin(angle));
  const bool swapped = ((eighth + 1) & 2) != 0;
  const double x = swapped ? s : c, y = swapped ? c : s;
  const bool left = ((eighth + 2) & 4) != 0, below = (eighth & 4) != 0;
  return {left ? -x : x, below != forward_ ? -y : y};
}

void TwiddleTable::add(double v) {
  const size_t at = bytes_.size(), width = byte_size(part_);
  bytes_.resize(at + width);
  const auto narrow = static_cast<float>(v);
  std::memcpy(bytes_.data() + at, width == 4 ? static_cast<const void*>(&narrow) : &v, width);
}

void TwiddleTable::add_steps(int64_t n, std::span<const int64_t> radices) {
  for (int64_t left = n; int64_t r : radices) {
    const int64_t rest = left / r;
    for (int64_t p = 0; rest > 1 && p < rest; ++p) {
      for (int64_t k = 1; k < r; ++k) {
        const Root w = root(p * k, left);
        add(w.re), add(w.im);
      }
    }
    left = rest;
  }
}

int64_t TwiddleTable::step_numbers(std::span<const int64_t> radices) {
  int64_t n = 1, numbers = 0;
  for (int64_t r : radices) n *= r;
  for (int64_t r : radices) {
    n /= r;
    if (n > 1) numbers += 2 * n * (r - 1);
  }
  return numbers;
}

void TwiddleTable::add_grid(int64_t n, int64_t rows, int64_t columns, int64_t lanes) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t first = 0; first < columns; first += lanes) add_vector(n, row, first, lanes);
  }
}

void TwiddleTable::add_powers(int64_t n, int64_t count, int64_t lanes) {
  for (int64_t first = 0; first < count; first += lanes) add_vector(n, 1, first, lanes);
}

void TwiddleTable::add_vector(int64_t n, int64_t step, int64_t first, int64_t lanes) {
  std::vector<Root> roots;
  for (int64_t l = 0; l < lanes; ++l) roots.push_back(root(step * (first + l), n));
  for (const Root& w : roots) add(w.re);
  for (const Root& w : roots) add(w.im);
}

}  // namespace primset::schedule
