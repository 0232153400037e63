#include "codegen/schedule/loops/lane_transpose.h"

namespace primset::schedule {

using kir::Value;

// In rounds: each exchanges blocks of half the size between the rows of a pair.
std::vector<Value> transposed(kir::Builder& b, std::vector<Value> rows) {
  const size_t n = rows.size();
  for (size_t half = n / 2; half > 0; half /= 2) {
    std::vector<uint16_t> upper, lower;
    for (size_t lane = 0; lane < n; ++lane) {
      const bool second = (lane & half) != 0;
      upper.push_back(static_cast<uint16_t>(second ? n + lane - half : lane));
      lower.push_back(static_cast<uint16_t>(second ? n + lane : lane + half));
    }
    for (size_t i = 0; i < n; ++i) {
      if ((i & half) != 0) continue;
      const Value a = rows[i], c = rows[i + half];
      rows[i] = b.shuffle(a, c, upper);
      rows[i + half] = b.shuffle(a, c, lower);
    }
  }
  return rows;
}

}  // namespace primset::schedule
