// Philox 4x32-10: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC
// 2011).
#include <utility>

#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

constexpr int64_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
constexpr int64_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;  // golden ratio, sqrt(3) - 1
constexpr int kRounds = 10;

}  // namespace

std::array<Value, 4> philox4x32_10(Builder& b, std::array<Value, 4> counter,
                                   std::array<Value, 2> key) {
  auto [c0, c1, c2, c3] = counter;
  auto [k0, k1] = key;
  Value m0 = b.constant_bits(b.type(c0), kMultiplier0);
  Value m1 = b.constant_bits(b.type(c0), kMultiplier1);
  for (int round = 0; round < kRounds; ++round) {
    Value high0 = b.mul_hi_u(c0, m0), low0 = b.mul(c0, m0);
    Value high1 = b.mul_hi_u(c2, m1), low1 = b.mul(c2, m1);
    c0 = b.xor_(b.xor_(high1, c1), k0);
    c2 = b.xor_(b.xor_(high0, c3), k1);
    c1 = low1;
    c3 = low0;
    k0 = b.add(k0, b.constant_bits(b.type(k0), kWeyl0));
    k1 = b.add(k1, b.constant_bits(b.type(k1), kWeyl1));
  }
  return {c0, c1, c2, c3};
}

}  // namespace primset::kir::math
