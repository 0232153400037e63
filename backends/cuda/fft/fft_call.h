// A transform as cuFFT takes it: lines, planes or blocks that one stride steps through.
#ifndef PRIMSET_BACKENDS_CUDA_FFT_FFT_CALL_H_
#define PRIMSET_BACKENDS_CUDA_FFT_FFT_CALL_H_

#include <primset/plugin.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/cuda/kernels/strided_copy.h"
#include "backends/cuda/library_tuning.h"

namespace primset_cuda {

enum class FftKind : uint8_t { complex, to_half, from_half };

// Element (i, j, k) of transform b lies at
// b * distance + ((i * embed[1] + j) * embed[2] + k) * stride, in elements.
struct FftSide {
  std::array<long long, 3> embed{};
  long long stride = 1, distance = 1;
  auto operator<=>(const FftSide&) const = default;
};

// One call of the library, all but its addresses and direction.
struct FftShape {
  FftKind kind = FftKind::complex;
  bool wide = false;  // f64
  int rank = 1;
  std::array<long long, 3> sizes{};  // of the real side, where one is
  FftSide in, out;
  long long batch = 1;
  auto operator<=>(const FftShape&) const = default;
};

// Where a call's transforms begin, in bytes after the tensors' first elements.
struct FftPlace {
  int64_t in = 0, out = 0;
};

struct FftCall {
  FftShape shape;
  std::vector<FftPlace> places;
  bool forward = true, is_empty = false;
  // From half a spectrum: the library writes to what it reads, and looks at imaginary parts that
  // must not count. So it reads a copy, in which the numbers of these elements are real.
  std::optional<StridedCopy> copied;
  uint64_t copied_bytes = 0;
  StridedCopy made_real;
};

// Nullopt when the call is none of "fft_c2c", "fft_r2c" and "fft_c2r" that one of the library's
// plans computes, or one that generated kernels compute as fast.
std::optional<FftCall> read_fft(std::string_view name, const primset_primitive_call& call,
                                const LibraryTuning& tuning);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_FFT_FFT_CALL_H_
