#include "backends/cuda/kernels/matrix_kernels.h"

#include <algorithm>
#include <string>

#include "backends/cuda/kernels/matrix_kernels_ptx.h"
#include "backends/cuda/module.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

constexpr const char* kNames[] = {
    "primset_copy",        "primset_copy_32",   "primset_copy_16",  "primset_count",
    "primset_permutation", "primset_addresses", "primset_diagonal", "primset_triangle",
    "primset_screen",      "primset_overwrite", "primset_info",     "primset_eigenvectors",
    "primset_spread_16",   "primset_spread_32"};

constexpr size_t kMostParameters = 16;

// Of the highest word of a real number.
constexpr uint32_t kNan32 = 0x7fc00000, kNan64 = 0x7ff80000, kExponent32 = 0x7f800000,
                   kExponent64 = 0x7ff00000;

uint64_t nan_of(const NumberType& t) {
  return t.part_words == 1 ? kNan32 : kNan64;
}
uint64_t bits(int64_t x) {
  return static_cast<uint64_t>(x);
}
int64_t parts_of(const NumberType& t) {
  return t.words / t.part_words;
}

}  // namespace

MatrixKernels::MatrixKernels(primset_device_t& device) : cu_(device.cu) {
  const RelaxedCapture relaxed(cu_);
  const std::string text = matrix_kernels_ptx();
  module_ = load_ptx(device, {text.c_str(), text.size() + 1}, "matrix_kernels");
  for (int i = 0; i < kKernels; ++i) {
    const Result result =
        cu_.cuModuleGetFunction(&functions_[static_cast<size_t>(i)], module_, kNames[i]);
    if (result == kSuccess) continue;
    cu_.cuModuleUnload(module_);
    fail(cu_, result, "cuModuleGetFunction");
  }
}

MatrixKernels::~MatrixKernels() {
  cu_.cuModuleUnload(module_);
}

void MatrixKernels::launch(primset_stream_t& stream, Kernel kernel, int64_t count,
                           std::initializer_list<uint64_t> parameters) const {
  if (count == 0) return;
  std::array<uint64_t, kMostParameters> block{bits(count)};
  std::ranges::copy(parameters, block.begin() + 1);
  size_t bytes = sizeof(uint64_t) * (parameters.size() + 1);
  void* extra[] = {kLaunchParamBufferPointer, block.data(), kLaunchParamBufferSize, &bytes,
                   kLaunchParamEnd};
  LaunchConfig config{};
  const uint64_t groups = (bits(count) + kMatrixKernelThreads - 1) / kMatrixKernelThreads;
  if (groups > INT32_MAX)
    throw BackendError(PRIMSET_UNSUPPORTED, std::to_string(count) + " words are too many");
  config.groups[0] = static_cast<unsigned>(groups);
  config.groups[1] = config.groups[2] = 1;
  config.threads[0] = kMatrixKernelThreads;
  config.threads[1] = config.threads[2] = 1;
  config.stream = stream.handle;
  PRIMSET_CUDA(cu_, cuLaunchKernelEx, &config, functions_[kernel], nullptr, extra);
}

void MatrixKernels::copy(primset_stream_t& stream, const WordCopy& c) const {
  const auto bytes = [&](int64_t words) { return bits(c.word_bytes * words); };
  const auto &n = c.sizes, &t = c.to_strides, &f = c.from_strides;
  const int64_t count = n[0] * n[1] * n[2] * n[3];
  const bool narrow = count <= UINT32_MAX;
  if (c.word_bytes != 4 && (c.word_bytes != 2 || !narrow || c.negated >= 0))
    throw BackendError(PRIMSET_INTERNAL, "no kernel copies such words");
  const Kernel kernel = c.word_bytes == 2 ? kCopy16 : narrow ? kCopy32 : kCopy;
  launch(stream, kernel, count,
         {c.to, c.from, bits(n[1]), bits(n[2]), bits(n[3]), bytes(t[0]), bytes(t[1]), bytes(t[2]),
          bytes(t[3]), bytes(f[0]), bytes(f[1]), bytes(f[2]), bytes(f[3]), bits(c.negated)});
}

void MatrixKernels::count_up(primset_stream_t& stream, DevicePointer to, int64_t count, int64_t n,
                             int64_t first) const {
  launch(stream, kCount, count, {to, bits(n), bits(first)});
}

void MatrixKernels::spread(primset_stream_t& stream, DevicePointer to, DevicePointer from,
                           int64_t element_bytes, const Channels& c) const {
  const bool is_half = element_bytes == 2;
  const int64_t words = is_half ? 1 : element_bytes / 4;
  launch(stream, is_half ? kSpread16 : kSpread32, c.batch * c.channels * c.places * words,
         {to, from, bits(words), bits(c.places), bits(c.channels)});
}

void MatrixKernels::permutation(primset_stream_t& stream, DevicePointer to, DevicePointer pivots,
                                int64_t matrices, int64_t rows, int64_t steps) const {
  launch(stream, kPermutation, matrices * rows, {to, pivots, bits(rows), bits(steps)});
}

void MatrixKernels::addresses(primset_stream_t& stream, DevicePointer to, DevicePointer first,
                              int64_t stride, int64_t count) const {
  launch(stream, kAddresses, count, {to, first, bits(stride)});
}

void MatrixKernels::finish_cholesky(primset_stream_t& stream, DevicePointer factors,
                                    DevicePointer info, const NumberType& t, int64_t matrices,
                                    int64_t n, bool upper) const {
  const uint64_t high = bits(t.part_words - 1);
  launch(stream, kDiagonal, matrices, {factors, info, bits(n), bits(t.words), high, nan_of(t)});
  launch(stream, kTriangle, matrices * n * n * t.words,
         {factors, info, bits(n), bits(t.words), high, nan_of(t), upper ? 1u : 0u});
}

void MatrixKernels::screen(primset_stream_t& stream, DevicePointer data, DevicePointer flags,
                           const NumberType& t, int64_t matrices, int64_t rows, int64_t columns,
                           bool lower) const {
  const int64_t parts = rows * columns * parts_of(t);
  launch(stream, kScreen, matrices * parts,
         {data, flags, bits(parts), bits(rows), bits(parts_of(t)), bits(t.part_words),
          t.part_words == 1 ? kExponent32 : kExponent64, lower ? 1u : 0u});
  const int64_t words = parts * t.part_words;
  launch(stream, kOverwrite, matrices * words, {data, flags, bits(words), bits(t.part_words), 0u});
}

void MatrixKernels::make_nan(primset_stream_t& stream, DevicePointer data, DevicePointer flags,
                             const NumberType& t, int64_t matrices, int64_t parts) const {
  const int64_t words = parts * t.part_words;
  launch(stream, kOverwrite, matrices * words,
         {data, flags, bits(words), bits(t.part_words), nan_of(t)});
}

void MatrixKernels::set_info(primset_stream_t& stream, DevicePointer info, DevicePointer flags,
                             int64_t matrices, const Infos& infos) const {
  launch(stream, kInfo, matrices,
         {info, flags, bits(infos.with_nan), bits(infos.with_infinity), bits(infos.more)});
}

void MatrixKernels::unpack_eigenvectors(primset_stream_t& stream, DevicePointer to,
                                        DevicePointer vectors, DevicePointer values,
                                        const NumberType& real, int64_t matrices, int64_t n) const {
  launch(stream, kEigenvectors, matrices * n * n,
         {to, vectors, values, bits(n), bits(real.part_words)});
}

}  // namespace primset_cuda
