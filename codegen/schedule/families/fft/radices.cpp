#include "codegen/schedule/families/fft/radices.h"

#include <cstddef>

namespace primset::schedule {
namespace {

// Divides n by p as often as it goes; returns how often.
int take_out(int64_t& n, int64_t p) {
  int count = 0;
  for (; n % p == 0; n /= p) ++count;
  return count;
}

}  // namespace

bool is_smooth(int64_t n) {
  if (n < 1) return false;
  for (int64_t p : {2, 3, 5, 7}) take_out(n, p);
  return n == 1;
}

std::vector<int64_t> radices_of(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t p : {7, 5, 3}) out.insert(out.end(), static_cast<size_t>(take_out(n, p)), p);
  // Eights, and what is left as fours, of which two are better than an eight and a two.
  const int twos = take_out(n, 2);
  int eights = twos / 3, rest = twos % 3, fours = 0;
  if (rest == 1 && eights > 0) --eights, fours = 2, rest = 0;
  if (rest == 2) fours = 1, rest = 0;
  out.insert(out.end(), static_cast<size_t>(eights), 8);
  out.insert(out.end(), static_cast<size_t>(fours), 4);
  out.insert(out.end(), static_cast<size_t>(rest), 2);
  return out;
}

int64_t power_of_two_in(int64_t n, int64_t most) {
  int64_t p = 1;
  while (2 * p <= most && n % (2 * p) == 0) p *= 2;
  return p;
}

Split split_near_root(int64_t n, int64_t unit) {
  Split best;
  for (int64_t d = unit; d * d <= n; d += unit) {
    if (n % d == 0 && (n / d) % unit == 0) best = {d, n / d};
  }
  return best;
}

}  // namespace primset::schedule
