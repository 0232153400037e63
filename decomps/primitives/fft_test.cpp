// Expected values: the reference's sums by definition, in long double. Errors are measured as
// FFTW's benchmark does, by the norm over all elements relative to that of the result.
#include <cmath>
#include <random>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

Array random_array(DType t, std::vector<int64_t> shape) {
  Array a = prims::reference::make_array(t, std::move(shape));
  std::mt19937_64 rng(a.data.size());
  const auto draw = [&] {
    return static_cast<long double>(static_cast<int64_t>(rng() % (1 << 21)) - (1 << 20)) * 0x1p-20L;
  };
  for (auto& e : a.data) {
    e.re = draw();
    if (is_complex(t)) e.im = draw();
  }
  return a;
}

double relative_error(const Array& got, const Array& want) {
  long double error = 0, size = 0;
  EXPECT_EQ(got.shape, want.shape);
  for (size_t i = 0; i < want.data.size(); ++i) {
    const auto &g = got.data[i], &w = want.data[i];
    error += (g.re - w.re) * (g.re - w.re) + (g.im - w.im) * (g.im - w.im);
    size += w.re * w.re + w.im * w.im;
  }
  return static_cast<double>(std::sqrt(error / size));
}

// The decomposition rounds to the dtype at every step as a device does. `bound`: in units of
// roundoff, a few times the root of log2 of the length.
void expect_transform(Prim p, const Array& x, std::vector<prims::Attr> attrs, double bound,
                      DeviceTraits device = {}) {
  const Array want = prims::reference::run_prim(p, {x}, attrs).outputs.at(0),
              got = derived(p, {x}, attrs, device);
  const double unit = real_type(x.dtype) == DType::f64 ? 0x1p-53 : 0x1p-24;
  EXPECT_EQ(got.dtype, want.dtype);
  EXPECT_LE(relative_error(got, want), bound * unit)
      << prims::info(p).name << " of length " << x.shape.back() << " in " << name(x.dtype);
}

// Each way to split a length: a matrix, a product of two, with a prime factor, a prime as a
// convolution.
TEST(Fft, OfEveryKindOfLength) {
  for (int64_t n : {1, 2, 3, 5, 8, 16, 30, 64, 81, 100, 61, 122, 67, 134, 331}) {
    for (DType t : {DType::c64, DType::c128}) {
      for (bool forward : {false, true})
        expect_transform(Prim::fft_c2c, random_array(t, {2, n}),
                         {{"dims", Dims{1}}, {"forward", forward}}, 24);
    }
  }
}

// Roots of unity are computed in f64 where that is fast, in the dtype elsewhere.
TEST(Fft, OnBothKindsOfDevices) {
  const Array x = random_array(DType::c64, {3, 120});
  for (bool fast : {false, true}) {
    DeviceTraits device;
    device.fast_f64 = fast;
    expect_transform(Prim::fft_c2c, x, {{"dims", Dims{1}}, {"forward", true}}, 12, device);
  }
}

TEST(Fft, AlongEachDim) {
  const Array x = random_array(DType::c128, {4, 6, 9});
  for (const Dims& dims : {Dims{0}, Dims{1}, Dims{0, 2}, Dims{2, 0, 1}})
    expect_transform(Prim::fft_c2c, x, {{"dims", dims}, {"forward", true}}, 12);
}

TEST(Fft, OfRealValuesAndBack) {
  for (int64_t n : {1, 2, 3, 4, 9, 30, 64, 134}) {
    for (DType t : {DType::f32, DType::f64}) {
      expect_transform(Prim::fft_r2c, random_array(t, {2, n}), {{"dims", Dims{1}}}, 24);
      expect_transform(Prim::fft_c2r, random_array(complex_type(t), {2, n / 2 + 1}),
                       {{"dims", Dims{1}}, {"n", prims::SymInt(n)}}, 24);
    }
  }
  expect_transform(Prim::fft_r2c, random_array(DType::f64, {4, 6, 5}), {{"dims", Dims{2, 0, 1}}},
                   12);
  expect_transform(Prim::fft_c2r, random_array(DType::c128, {4, 4, 5}),
                   {{"dims", Dims{2, 0, 1}}, {"n", prims::SymInt(6)}}, 12);
}

// PyTorch 2.13: torch.fft.fft(torch.tensor([1., 2, 4, -1])), and irfft of a half with imaginary
// ends, which it does not look at.
TEST(Fft, AsPyTorchHasIt) {
  const Array y = derived(Prim::fft_c2c, {complexes(DType::c128, {4}, {1, 0, 2, 0, 4, 0, -1, 0})},
                          {{"dims", Dims{0}}, {"forward", true}});
  const double want[] = {6, 0, -3, -3, 4, 0, -3, 3};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(static_cast<double>(y.data[i].re), want[2 * i], 1e-15);
    EXPECT_NEAR(static_cast<double>(y.data[i].im), want[2 * i + 1], 1e-15);
  }
  const Array x = derived(Prim::fft_c2r, {complexes(DType::c128, {3}, {1, 5, 2, -1, 4, 7})},
                          {{"dims", Dims{0}}, {"n", prims::SymInt(4)}});
  expect_near(x, {4}, {9, -1, 1, -5}, 1e-15);
}

}  // namespace
}  // namespace primset::decomps
