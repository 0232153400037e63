// How transforms are given to cuFFT, and that they are right, against a library that checks it
// (testing/fake_toolkit.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/cuda/libraries/cufft_api.h"
#include "backends/cuda/testing/toolkit_fixture.h"

namespace primset::plugin {
namespace {

using primset_cuda_test::complex_dtype;
using primset_cuda_test::NativeCall;
using primset_cuda_test::Number;
using primset_cuda_test::Numbers;
using primset_cuda_test::random_values;
using primset_cuda_test::real_dtype;
using primset_cuda_test::Sizes;
using primset_cuda_test::tolerance;
using testing::AllOf;
using testing::ElementsAre;

using Fft = Toolkit;

// The sums of the definition along one dim of a row-major array.
Numbers line_transforms(const Numbers& x, const Sizes& sizes, size_t dim, double sign) {
  int64_t inner = 1;
  for (size_t d = dim + 1; d < sizes.size(); ++d) inner *= sizes[d];
  const int64_t n = sizes[dim];
  Numbers y(x.size());
  for (int64_t at = 0; at < static_cast<int64_t>(x.size()); ++at) {
    const int64_t k = at / inner % n, first = at - k * inner;
    for (int64_t j = 0; j < n; ++j)
      y[static_cast<size_t>(at)] +=
          x[static_cast<size_t>(first + j * inner)] *
          std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % n) /
                              static_cast<double>(n));
  }
  return y;
}

Numbers transformed(Numbers x, const Sizes& sizes, const Sizes& dims, double sign) {
  for (const int64_t d : dims) x = line_transforms(x, sizes, static_cast<size_t>(d), sign);
  return x;
}

// The first n / 2 + 1 elements along a dim.
Numbers half_of(const Numbers& x, const Sizes& sizes, size_t dim) {
  int64_t inner = 1;
  for (size_t d = dim + 1; d < sizes.size(); ++d) inner *= sizes[d];
  Numbers half;
  for (size_t at = 0; at < x.size(); ++at)
    if (static_cast<int64_t>(at) / inner % sizes[dim] <= sizes[dim] / 2) half.push_back(x[at]);
  return half;
}

Sizes halved(Sizes sizes, int64_t dim) {
  int64_t& n = sizes[static_cast<size_t>(dim)];
  n = n / 2 + 1;
  return sizes;
}

void expect_near(const Numbers& got, const Numbers& want, uint32_t dtype, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(got[i] - want[i]), 10 * tolerance(dtype)) << what << " at " << i;
}

NativeCall& c2c(NativeCall& call, uint32_t dtype, const Sizes& sizes, const Sizes& dims,
                const Numbers& x, Sizes strides = {}) {
  return call.operand(dtype, sizes, x, std::move(strides)).result(dtype, sizes).dims("dims", dims);
}

TEST_F(Fft, OfComplexNumbersAlongAnyDims) {
  struct Row {
    Sizes sizes, dims, strides;
  };
  const Row rows[] = {
      {{3, 8}, {1}, {}},
      {{8, 3}, {0}, {}},
      {{2, 6, 5}, {1}, {}},
      {{4, 6}, {0, 1}, {}},
      {{2, 4, 6}, {1, 2}, {}},
      {{2, 3, 4, 2}, {1, 2, 3}, {}},
      {{4, 6, 3}, {0, 1}, {}},
      {{2, 4, 3, 2}, {1, 3}, {}},
      {{3, 8}, {1}, {20, 2}},
      {{3, 8}, {1}, {1, 3}},
      {{2, 3, 8}, {2}, {100, 30, 3}},
      {{16}, {0}, {}},
      {{4, 6}, {1, 0}, {}},
  };
  for (const uint32_t dtype : {PRIMSET_C64, PRIMSET_C128}) {
    for (const Row& r : rows) {
      const Numbers x = random_values(dtype, primset_cuda_test::product_of(r.sizes), 1);
      for (const bool forward : {true, false}) {
        NativeCall call("fft_c2c");
        c2c(call, dtype, r.sizes, r.dims, x, r.strides).flag("forward", forward);
        const std::string what = testing::PrintToString(r.sizes) + testing::PrintToString(r.dims);
        ASSERT_TRUE(call.find(*device)) << what;
        expect_near(call.run(*device, stream)[0], transformed(x, r.sizes, r.dims, forward ? -1 : 1),
                    dtype, what);
      }
    }
  }
}

TEST_F(Fft, OfRealValues) {
  for (const uint32_t dtype : {PRIMSET_F32, PRIMSET_F64}) {
    for (const auto& [sizes, dims] :
         std::initializer_list<std::pair<Sizes, Sizes>>{{{3, 8}, {1}},
                                                        {{2, 7}, {1}},
                                                        {{8, 3}, {0}},
                                                        {{4, 6}, {0, 1}},
                                                        {{2, 4, 3, 6}, {2, 1, 3}}}) {
      const Numbers x = random_values(dtype, primset_cuda_test::product_of(sizes), 2);
      NativeCall call("fft_r2c");
      call.operand(dtype, sizes, x)
          .result(complex_dtype(dtype), halved(sizes, dims.back()))
          .dims("dims", dims);
      ASSERT_TRUE(call.find(*device)) << testing::PrintToString(sizes);
      expect_near(call.run(*device, stream)[0],
                  half_of(transformed(x, sizes, dims, -1), sizes, static_cast<size_t>(dims.back())),
                  dtype, testing::PrintToString(sizes));
    }
  }
}

// The library reads a copy, in which the ends are real, and leaves the operand alone.
TEST_F(Fft, ToRealValuesTheEndsImaginaryPartsDoNotCount) {
  for (const uint32_t dtype : {PRIMSET_C64, PRIMSET_C128}) {
    for (const auto& [sizes, dim] : std::initializer_list<std::pair<Sizes, int64_t>>{
             {{3, 8}, 1}, {{2, 7}, 1}, {{6, 3}, 0}, {{2, 4, 3}, 1}, {{1}, 0}}) {
      const size_t d = static_cast<size_t>(dim);
      const Numbers signal = random_values(PRIMSET_F64, primset_cuda_test::product_of(sizes), 3);
      Numbers half = half_of(transformed(signal, sizes, {dim}, -1), sizes, d);
      Sizes sides = halved(sizes, dim);
      int64_t inner = 1;
      for (size_t k = d + 1; k < sizes.size(); ++k) inner *= sizes[k];
      for (size_t at = 0; at < half.size(); ++at) {
        const int64_t k = static_cast<int64_t>(at) / inner % sides[d];
        if (2 * k % sizes[d] == 0) half[at] += Number(0, 17);
      }
      NativeCall call("fft_c2r");
      call.operand(dtype, sides, half).result(real_dtype(dtype), sizes).dims("dims", {dim});
      ASSERT_TRUE(call.find(*device)) << testing::PrintToString(sizes);
      Numbers want = signal;
      for (Number& x : want) x *= static_cast<double>(sizes[d]);
      expect_near(call.run(*device, stream)[0], want, dtype, testing::PrintToString(sizes));
    }
  }
}

TEST_F(Fft, WhatNoPlanStepsThroughIsRefused) {
  const auto finds = [&](const char* name, uint32_t in, Sizes sizes, uint32_t out, Sizes to,
                         Sizes dims, Sizes strides = {}, int64_t first = 0) {
    NativeCall call(name);
    call.operand(in, sizes, Numbers(static_cast<size_t>(primset_cuda_test::product_of(sizes))),
                 strides, first)
        .result(out, to)
        .dims("dims", dims);
    return call.find(*device).has_value();
  };
  EXPECT_TRUE(finds("fft_c2c", PRIMSET_C64, {4, 8}, PRIMSET_C64, {4, 8}, {1}));
  EXPECT_FALSE(finds("fft_c2c", PRIMSET_C64, {4, 8}, PRIMSET_C64, {4, 8}, {1}, {0, 1}))
      << "the same line again and again";
  EXPECT_FALSE(finds("fft_c2c", PRIMSET_C64, {4, 8}, PRIMSET_C64, {4, 8}, {0, 1}, {1, 4}))
      << "by columns";
  EXPECT_FALSE(
      finds("fft_c2c", PRIMSET_C64, {2, 2, 2, 2}, PRIMSET_C64, {2, 2, 2, 2}, {0, 1, 2, 3}));
  EXPECT_FALSE(finds("fft_c2c", PRIMSET_C32, {8}, PRIMSET_C32, {8}, {0}));
  EXPECT_FALSE(finds("fft_r2c", PRIMSET_F32, {4, 8}, PRIMSET_C64, {3, 8}, {1, 0}))
      << "half a spectrum along a dim that is not the innermost";
  EXPECT_FALSE(finds("fft_r2c", PRIMSET_F32, {8}, PRIMSET_C64, {5}, {0}, {1}, 1)) << "not aligned";
  EXPECT_TRUE(finds("fft_r2c", PRIMSET_F32, {8}, PRIMSET_C64, {5}, {0}, {1}, 2));
  EXPECT_FALSE(finds("fft_c2r", PRIMSET_C64, {4, 5}, PRIMSET_F32, {4, 8}, {0, 1}))
      << "ends that only the second of two steps makes";
  EXPECT_FALSE(finds("fft_c2c", PRIMSET_C64, {65, 3, 66, 2}, PRIMSET_C64, {65, 3, 66, 2}, {1}))
      << "too many calls";
}

TEST_F(Fft, NothingIsNotTransformed) {
  NativeCall call("fft_c2c");
  c2c(call, PRIMSET_C64, {0, 8}, {1}, {});
  ASSERT_TRUE(call.find(*device));
  fake_toolkit::calls();
  call.run(*device, stream);
  EXPECT_THAT(fake_toolkit::calls(), IsEmpty());
}

// --- sizes ---------------------------------------------------------------------------------------

TEST_F(Fft, SmallTransformsAreLeftToKernels) {
  const auto finds = [&](const char* name, int64_t n) {
    const bool complex = std::string(name) == "fft_c2c";
    NativeCall call(name);
    call.operand(complex ? PRIMSET_C64 : PRIMSET_F32, {n}, Numbers(static_cast<size_t>(n)))
        .result(PRIMSET_C64, {complex ? n : n / 2 + 1})
        .dims("dims", {0});
    return call.find(*device).has_value();
  };
  unsetenv("PRIMSET_CUDA_TUNING");
  reopen();
  EXPECT_FALSE(finds("fft_c2c", 2048));
  EXPECT_TRUE(finds("fft_c2c", 4096));
  EXPECT_TRUE(finds("fft_r2c", 1024));
  EXPECT_FALSE(finds("fft_r2c", 512));
  EXPECT_TRUE(finds("fft_c2c", 11 * 13)) << "no generated kernel has this length";
  setenv("PRIMSET_CUDA_TUNING", "fft.points=1024", 1);
  reopen();
  EXPECT_TRUE(finds("fft_c2c", 2048));
}

TEST_F(Fft, ASettingThatIsNoneIsAnError) {
  for (const char* text :
       {"fft.point=3", "fft.points=", "fft.points=x", "fft.points", "=", "a=1"}) {
    setenv("PRIMSET_CUDA_TUNING", text, 1);
    close();
    restart();
    const auto [code, said] = error_of([&] { open(); });
    EXPECT_THAT(said, AllOf(HasSubstr("PRIMSET_CUDA_TUNING"), HasSubstr("svd.rotations_most")))
        << text;
  }
  setenv("PRIMSET_CUDA_TUNING", "", 1);
  reopen();
}

// --- plans ---------------------------------------------------------------------------------------

TEST_F(Fft, PlansAreMadeOnceAndForgotten) {
  const auto finds = [&](int64_t n) {
    NativeCall call("fft_c2c");
    c2c(call, PRIMSET_C64, {n}, {0}, Numbers(static_cast<size_t>(n)));
    return call.find(*device).has_value();
  };
  fake_toolkit::calls();
  EXPECT_TRUE(finds(8));
  EXPECT_TRUE(finds(8));
  EXPECT_EQ(std::ranges::count(fake_toolkit::calls(), "cufftXtMakePlanMany"), 1);
  for (int64_t n = 2; n < 300; ++n) EXPECT_TRUE(finds(n));
  EXPECT_LE(fake_toolkit::plans(), 128u);
}

// A recording keeps what it uses, and is given no memory that moves.
TEST_F(Fft, RecordingsKeepTheirPlans) {
  const Sizes sizes{2, 8};
  const Numbers x = random_values(PRIMSET_C64, 16, 4);
  NativeCall call("fft_c2c");
  c2c(call, PRIMSET_C64, sizes, {1}, x);
  const auto primitive = call.find(*device).value();
  EXPECT_EQ(primitive.flags & PRIMSET_PRIMITIVE_UNRECORDED, 0u);
  call.make_memory(*device, stream);
  stream.begin_recording();
  call.enqueue(stream, primitive);
  auto recording = stream.end_recording();
  for (int64_t n = 2; n < 300; ++n) {
    NativeCall other("fft_c2c");
    c2c(other, PRIMSET_C64, {n}, {0}, Numbers(static_cast<size_t>(n)));
    EXPECT_TRUE(other.find(*device));
  }
  stream.play(recording);
  expect_near(call.read_results(stream)[0], transformed(x, sizes, {1}, -1), PRIMSET_C64, "played");
}

TEST_F(Fft, LargeWorkspacesAreNotRecorded) {
  fake_toolkit::need_workspace(size_t{40} << 20);
  NativeCall call("fft_c2c");
  const Numbers x = random_values(PRIMSET_C64, 8, 5);
  c2c(call, PRIMSET_C64, {8}, {0}, x);
  const auto primitive = call.find(*device).value();
  EXPECT_NE(primitive.flags & PRIMSET_PRIMITIVE_UNRECORDED, 0u);
  expect_near(call.run(*device, stream)[0], transformed(x, {8}, {0}, -1), PRIMSET_C64, "large");
  stream.begin_recording();
  EXPECT_THAT(error_of([&] { call.enqueue(stream, primitive); }).second, HasSubstr("recording"));
  stream.abandon_recording();
}

TEST_F(Fft, NoMemoryForTheWorkspaceIsAnError) {
  for (const size_t bytes : {size_t{1} << 20, size_t{40} << 20}) {
    fake_toolkit::need_workspace(bytes);
    reopen();
    NativeCall call("fft_c2c");
    c2c(call, PRIMSET_C64, {8}, {0}, random_values(PRIMSET_C64, 8, 5));
    const auto primitive = call.find(*device).value();
    call.make_memory(*device, stream);
    fake_cuda::fail("cuMemAllocAsync", primset_cuda::kErrorOutOfMemory);
    EXPECT_EQ(error_of([&] { call.enqueue(stream, primitive); }).first, ErrorCode::out_of_memory);
    call.enqueue(stream, primitive);
    stream.synchronize();
  }
}

// --- without the library -------------------------------------------------------------------------

TEST_F(Fft, WithoutTheLibraryItIsLeftToKernels) {
  const auto finds = [&] {
    NativeCall call("fft_c2c");
    c2c(call, PRIMSET_C64, {8}, {0}, Numbers(8));
    return call.find(*device).has_value();
  };
  setenv("PRIMSET_CUFFT", "off", 1);
  reopen();
  EXPECT_FALSE(finds());
  EXPECT_THAT(logged_, IsEmpty());
  setenv("PRIMSET_CUFFT", "/nowhere/libcufft.so", 1);
  reopen();
  EXPECT_FALSE(finds());
  EXPECT_FALSE(finds());
  EXPECT_THAT(logged_, ElementsAre(AllOf(HasSubstr("PRIMSET_CUFFT=/nowhere/libcufft.so"),
                                         HasSubstr("expected a file of cuFFT"))));
  logged_.clear();
  setenv("PRIMSET_CUFFT", PRIMSET_POOR_TOOLKIT, 1);
  reopen();
  EXPECT_FALSE(finds());
  EXPECT_THAT(logged_, ElementsAre(AllOf(HasSubstr("has no cufftCreate"),
                                         HasSubstr("transforms are generated kernels"))));
  setenv("PRIMSET_CUFFT", PRIMSET_FAKE_TOOLKIT, 1);
  for (const int version : {10900, 13000}) {
    logged_.clear();
    fake_toolkit::set_versions(version, 13, 12000);
    reopen();
    EXPECT_FALSE(finds());
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("is version " + std::to_string(version))));
  }
}

TEST_F(Fft, ALibraryThatDoesNotStartIsTold) {
  fake_toolkit::fail("cufftCreate", primset_cuda::kFftInternalError);
  NativeCall call("fft_c2c");
  c2c(call, PRIMSET_C64, {8}, {0}, Numbers(8));
  EXPECT_FALSE(call.find(*device));
  EXPECT_FALSE(call.find(*device));
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("cufftCreate: CUFFT_INTERNAL_ERROR (5)")));
}

TEST_F(Fft, FailuresOfEveryCallAreTold) {
  const auto run = [&] {
    NativeCall call("fft_c2c");
    c2c(call, PRIMSET_C64, {8}, {0}, Numbers(8));
    call.run(*device, stream);
  };
  for (const char* function : {"cufftCreate", "cufftSetAutoAllocation", "cufftXtMakePlanMany"}) {
    reopen();
    run();  // opens the library
    NativeCall other("fft_c2c");
    c2c(other, PRIMSET_C64, {9}, {0}, Numbers(9));
    fake_toolkit::fail(function, primset_cuda::kFftAllocFailed);
    const auto [code, text] = error_of([&] { other.find(*device); });
    EXPECT_EQ(code, ErrorCode::out_of_memory) << function;
    EXPECT_THAT(text, HasSubstr(std::string(function) + ": CUFFT_ALLOC_FAILED (2)"));
  }
  for (const char* function : {"cufftSetStream", "cufftSetWorkArea", "cufftXtExec"}) {
    fake_toolkit::fail(function, primset_cuda::kFftExecFailed);
    EXPECT_THAT(error_of(run).second, HasSubstr("cufftXtExec: CUFFT_EXEC_FAILED (6)")) << function;
  }
  run();  // and afterwards all is well
  reopen();
  fake_toolkit::fail("cufftXtMakePlanMany", primset_cuda::kFftNotSupported);
  NativeCall call("fft_c2c");
  c2c(call, PRIMSET_C64, {8}, {0}, Numbers(8));
  EXPECT_FALSE(call.find(*device)) << "what the library has no code for is left to kernels";
}

TEST_F(Fft, ALostDeviceIsSaidToBeLost) {
  NativeCall call("fft_c2c");
  c2c(call, PRIMSET_C64, {8}, {0}, Numbers(8));
  const auto primitive = call.find(*device).value();
  call.make_memory(*device, stream);
  stream.synchronize();
  call.enqueue(stream, primitive);
  fake_cuda::fail("cuStreamSynchronize", primset_cuda::kErrorIllegalAddress, 0, true);
  error_of([&] { stream.synchronize(); });
  EXPECT_THAT(error_of([&] { call.enqueue(stream, primitive); }).second,
              AllOf(HasSubstr("device lost"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)")));
}

}  // namespace
}  // namespace primset::plugin
