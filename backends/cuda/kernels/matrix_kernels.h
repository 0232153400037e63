// Kernels that come with the plugin: what lies between a call's tensors, which are row-major and
// may have any strides, and libraries that want column-major matrices without gaps. They work on
// words of 32 bits, whatever the dtype is, and copies of halves on 16.
#ifndef PRIMSET_BACKENDS_CUDA_KERNELS_MATRIX_KERNELS_H_
#define PRIMSET_BACKENDS_CUDA_KERNELS_MATRIX_KERNELS_H_

#include <primset/plugin.h>

#include <array>
#include <cstdint>
#include <initializer_list>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/libraries/number_type.h"

namespace primset_cuda {

// Elements of four dims, the last of them their words. Sizes and strides count words.
struct WordCopy {
  DevicePointer to = 0, from = 0;
  std::array<int64_t, 4> sizes{}, to_strides{}, from_strides{};
  int64_t negated = -1;    // the word of each element whose sign is turned
  int64_t word_bytes = 4;  // or 2, of fewer than 2^32 words none of which is negated
};

// Row-major images: at each of `places` a number for each channel.
struct Channels {
  int64_t batch = 1, channels = 1, places = 1;
};

// Loaded when it is made; the device's context is current then, and for every call.
class MatrixKernels {
 public:
  // Throws BackendError.
  explicit MatrixKernels(primset_device_t& device);
  ~MatrixKernels();
  MatrixKernels(const MatrixKernels&) = delete;
  MatrixKernels& operator=(const MatrixKernels&) = delete;

  void copy(primset_stream_t& stream, const WordCopy& copy) const;
  // to[i] = i mod n + first, for `count` numbers.
  void count_up(primset_stream_t& stream, DevicePointer to, int64_t count, int64_t n,
                int64_t first) const;
  // to[image, channel, place] = from[channel], for fewer than 2^31 numbers of 2, 4 or 8 bytes.
  void spread(primset_stream_t& stream, DevicePointer to, DevicePointer from, int64_t element_bytes,
              const Channels& channels) const;
  // Of `matrices`: which row of A is row i of what the exchanges of row k and pivots[k] - 1 made.
  void permutation(primset_stream_t& stream, DevicePointer to, DevicePointer pivots,
                   int64_t matrices, int64_t rows, int64_t steps) const;
  // A table of addresses, from `first` on, `stride` bytes apart.
  void addresses(primset_stream_t& stream, DevicePointer to, DevicePointer first, int64_t stride,
                 int64_t count) const;
  // Finishes Cholesky factors of n x n, by rows: a NaN on the diagonal is a failure, from a failure
  // on they are NaN, and outside of their triangle 0.
  void finish_cholesky(primset_stream_t& stream, DevicePointer factors, DevicePointer info,
                       const NumberType& type, int64_t matrices, int64_t n, bool upper) const;

  // --- matrices that are not finite --------------------------------------------------------------
  // Libraries may not come back from them, so that they are computed as zeros. `flags` has 32 bits
  // for each matrix.

  // `flags`, zeros before, become 1 for matrices that have infinities, 3 for NaN. Then the numbers
  // of those become 0. `lower`: only what is on and below the diagonal counts. By columns.
  void screen(primset_stream_t& stream, DevicePointer data, DevicePointer flags,
              const NumberType& type, int64_t matrices, int64_t rows, int64_t columns,
              bool lower) const;
  // Results of `parts` real numbers a matrix become NaN.
  void make_nan(primset_stream_t& stream, DevicePointer data, DevicePointer flags,
                const NumberType& type, int64_t matrices, int64_t parts) const;
  struct Infos {
    int64_t with_nan, with_infinity, more = 0;  // `more` is added to what is greater than 0 else
  };
  void set_info(primset_stream_t& stream, DevicePointer info, DevicePointer flags, int64_t matrices,
                const Infos& infos) const;

  // Complex eigenvectors by rows, of the columns that LAPACK's geev makes for real matrices.
  void unpack_eigenvectors(primset_stream_t& stream, DevicePointer to, DevicePointer vectors,
                           DevicePointer values, const NumberType& real, int64_t matrices,
                           int64_t n) const;

 private:
  enum Kernel : int {
    kCopy,
    kCopy32,
    kCopy16,
    kCount,
    kPermutation,
    kAddresses,
    kDiagonal,
    kTriangle,
    kScreen,
    kOverwrite,
    kInfo,
    kEigenvectors,
    kSpread16,
    kSpread32,
    kKernels,
  };
  void launch(primset_stream_t& stream, Kernel kernel, int64_t count,
              std::initializer_list<uint64_t> parameters) const;

  const DriverApi& cu_;
  Module module_ = nullptr;
  std::array<Function, kKernels> functions_{};
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_KERNELS_MATRIX_KERNELS_H_
