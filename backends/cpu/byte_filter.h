// Antialiasing filters as weights of bytes: integers of as many binary places as 16 bits hold, as
// ATen's arithmetic of pictures has them.
#ifndef PRIMSET_BACKENDS_CPU_BYTE_FILTER_H_
#define PRIMSET_BACKENDS_CPU_BYTE_FILTER_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace primset_cpu {

// What each place of a dim of another size is made of: weights of `taps` neighbours from first[i]
// on, those of one place side by side, zeros behind the last that counts.
struct ByteFilter {
  int64_t in, places, taps;
  int digits;  // binary places of the weights
  std::vector<int32_t> first;
  std::vector<int32_t> weights;

  const int32_t* of(int64_t place) const { return weights.data() + place * taps; }
};

// Of the filters of resample_antialias: `reach` bounds how many neighbours count.
ByteFilter byte_filter(std::string_view name, double scale, int64_t in, int64_t places,
                       int64_t reach);

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_BYTE_FILTER_H_
