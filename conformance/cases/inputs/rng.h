// The numbers that cases are filled with: splitmix64, so that a seed means the same everywhere
// (the standard library's distributions differ between implementations).
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_RNG_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_RNG_H_

#include <cstdint>

namespace primset::conformance {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Below n > 0; the bias of the remainder does not matter to a test.
  uint64_t below(uint64_t n) { return next() % n; }
  int64_t between(int64_t low, int64_t high) {  // both included
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

 private:
  uint64_t state_;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_RNG_H_
