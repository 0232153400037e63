// How convolutions are given to cuDNN, and that they are right, against a library that checks it
// (testing/fake_toolkit.h).
#include <numeric>

#include "backends/cuda/libraries/cudnn_api.h"
#include "backends/cuda/testing/toolkit_fixture.h"

namespace primset::plugin {
namespace {

using primset_cuda_test::NativeCall;
using primset_cuda_test::Numbers;
using primset_cuda_test::product_of;
using primset_cuda_test::random_values;
using primset_cuda_test::Sizes;
using primset_cuda_test::tolerance;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

using Dnn = Toolkit;

// x by w is y, with up to three spatial dims.
struct Row {
  Sizes x, w, y;
  int64_t stride, padding, dilation, groups;
};
const Row kRows[] = {
    {{2, 3, 6, 5}, {4, 3, 3, 2}, {2, 4, 6, 6}, 1, 1, 1, 1},
    {{1, 4, 7, 7}, {6, 2, 3, 3}, {1, 6, 3, 3}, 2, 0, 1, 2},
    {{2, 4, 6, 6}, {4, 1, 3, 3}, {2, 4, 4, 4}, 1, 1, 2, 4},
    {{2, 3, 9}, {2, 3, 4}, {2, 2, 4}, 2, 1, 1, 1},
    {{1, 2, 4, 5, 3}, {3, 2, 2, 2, 2}, {1, 3, 3, 4, 2}, 1, 0, 1, 1},
};

NativeCall& geometry(NativeCall& call, const Row& r, bool transposed) {
  const size_t n = r.x.size() - 2;
  return call.dims("stride", Sizes(n, r.stride))
      .dims("padding", Sizes(n, r.padding))
      .dims("dilation", Sizes(n, r.dilation))
      .flag("transposed", transposed)
      .number("groups", r.groups);
}

// Indices of a row-major tensor's element.
Sizes index_of(const Sizes& sizes, int64_t at) {
  Sizes i(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; at /= sizes[d]) i[d] = at % sizes[d];
  return i;
}
size_t element_at(const Sizes& sizes, const Sizes& i) {
  int64_t at = 0;
  for (size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + i[d];
  return static_cast<size_t>(at);
}

// What each x, w and y come to from the other two, by the definition.
struct Sums {
  Numbers x, w, y;
};
Sums sums_of(const Row& r, const Numbers& x, const Numbers& w, const Numbers& y) {
  Sums s{Numbers(x.size()), Numbers(w.size()), Numbers(y.size())};
  for (int64_t p = 0; p < product_of(r.y); ++p) {
    const Sizes at = index_of(r.y, p);
    for (int64_t k = 0; k < product_of(r.w); ++k) {
      const Sizes in = index_of(r.w, k);
      Sizes i{at[0], at[1] / (r.w[0] / r.groups) * r.w[1] + in[1]};
      bool inside = in[0] == at[1];
      for (size_t d = 2; d < r.x.size(); ++d) {
        i.push_back(at[d] * r.stride - r.padding + in[d] * r.dilation);
        inside = inside && i[d] >= 0 && i[d] < r.x[d];
      }
      if (!inside) continue;
      const size_t xi = element_at(r.x, i), wi = static_cast<size_t>(k),
                   yi = static_cast<size_t>(p);
      s.y[yi] += x[xi] * w[wi];
      s.x[xi] += y[yi] * w[wi];
      s.w[wi] += x[xi] * y[yi];
    }
  }
  return s;
}

Numbers with_bias(Numbers sums, const Sizes& sizes, const Numbers& bias) {
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] += bias[static_cast<size_t>(index_of(sizes, static_cast<int64_t>(i))[1])];
  return sums;
}

void expect_near(const Numbers& got, const Numbers& want, uint32_t dtype) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(got[i] - want[i]), 40 * tolerance(dtype)) << "at " << i;
}

// Of tensors whose channels lie innermost.
Sizes innermost_channels(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  int64_t step = sizes[1];
  for (size_t d = sizes.size(); d-- > 2; step *= sizes[d]) strides[d] = step;
  strides[0] = step;
  return strides;
}

// Tensors of a row, from element `first` of their memory on.
struct Filler {
  const Row& row;
  uint32_t dtype;
  int64_t first = 0;
  bool innermost = false;
  Numbers x = random_values(dtype, product_of(row.x), 1),
          w = random_values(dtype, product_of(row.w), 2),
          y = random_values(dtype, product_of(row.y), 3);

  void add(NativeCall& call, char tensor) const {
    const Numbers& values = tensor == 'x' ? x : tensor == 'w' ? w : y;
    call.operand(dtype, sizes(tensor), values, strides(tensor), first);
  }
  Sizes strides(char tensor) const {
    return innermost ? innermost_channels(sizes(tensor)) : Sizes{};
  }
  const Sizes& sizes(char tensor) const {
    return tensor == 'x' ? row.x : tensor == 'w' ? row.w : row.y;
  }
};

// A primitive's operands and result; the result of one that is not a gradient has a bias.
struct Computed {
  const char* name;
  const char* operands;
  char result;
  bool transposed;
};
constexpr Computed kComputed[] = {
    {"convolution", "xw", 'y', false},
    {"convolution", "yw", 'x', true},
    {"convolution_backward_input", "yw", 'x', false},
    {"convolution_backward_input", "xw", 'y', true},
    {"convolution_backward_weight", "yx", 'w', false},
    {"convolution_backward_weight", "xy", 'w', true},
};

void compare(const Filler& f, const Computed& c, PluginDevice& device, const StreamHandle& stream) {
  SCOPED_TRACE(c.name + testing::PrintToString(f.row.x) + testing::PrintToString(f.row.w));
  NativeCall call(c.name);
  for (const char* t = c.operands; *t; ++t) f.add(call, *t);
  const Sums sums = sums_of(f.row, f.x, f.w, f.y);
  Numbers want = c.result == 'x' ? sums.x : c.result == 'w' ? sums.w : sums.y;
  if (std::string_view(c.name) == "convolution") {
    const Numbers bias = random_values(f.dtype, f.sizes(c.result)[1], 4);
    call.operand(f.dtype, {f.sizes(c.result)[1]}, bias, {}, f.first);
    want = with_bias(std::move(want), f.sizes(c.result), bias);
  }
  geometry(call.result(f.dtype, f.sizes(c.result), f.strides(c.result), f.first), f.row,
           c.transposed);
  ASSERT_TRUE(call.find(device));
  expect_near(call.run(device, stream)[0], want, f.dtype);
}

// Engines without a workspace add to a bias that is laid out; others add the bias to their sums.
TEST_F(Dnn, ConvolutionsAndTheirGradients) {
  for (const size_t workspace : {4096, 0}) {
    fake_toolkit::need_workspace(workspace);
    reopen();
    for (const uint32_t dtype : {PRIMSET_F32, PRIMSET_F64, PRIMSET_BF16})
      for (const Row& r : kRows)
        for (const Computed& c : kComputed) compare({r, dtype}, c, *device, stream);
  }
}

TEST_F(Dnn, TensorsThatEnginesDoNotTakeAsTheyLie) {
  for (const uint32_t dtype : {PRIMSET_F32, PRIMSET_F64, PRIMSET_BF16})
    for (const Row& r : kRows)
      for (const Computed& c : kComputed) {
        compare({r, dtype, 1}, c, *device, stream);
        compare({r, dtype, 0, true}, c, *device, stream);
      }
}

void small(NativeCall& call, uint32_t dtype = PRIMSET_F32, Sizes strides = {}) {
  const Row& r = kRows[0];
  call.operand(dtype, r.x, Numbers(static_cast<size_t>(product_of(r.x))), std::move(strides))
      .operand(dtype, r.w, Numbers(static_cast<size_t>(product_of(r.w))))
      .result(dtype, r.y);
  geometry(call, r, false);
}

TEST_F(Dnn, WhatItDoesNotComputeIsRefused) {
  const auto finds = [&](uint32_t dtype, Sizes strides = {}) {
    NativeCall call("convolution");
    small(call, dtype, std::move(strides));
    return call.find(*device).has_value();
  };
  EXPECT_TRUE(finds(PRIMSET_F32));
  EXPECT_FALSE(finds(PRIMSET_I32));
  EXPECT_TRUE(finds(PRIMSET_F32, {90, 1, 15, 3})) << "channels innermost, which are copied";
  EXPECT_FALSE(finds(PRIMSET_F16)) << "this library says that it has no code";
}

// A filter for each channel; windows side by side, whose gradient is of one window a place.
TEST_F(Dnn, VolumesWhoseEnginesAreSlowAreGenerated) {
  const Row of_channels{{1, 2, 4, 4, 4}, {2, 1, 3, 3, 3}, {1, 2, 2, 2, 2}, 1, 0, 1, 2};
  const Row side_by_side{{1, 2, 4, 4, 4}, {3, 2, 2, 2, 2}, {1, 3, 2, 2, 2}, 2, 0, 1, 1};
  const auto finds = [&](const Row& r, const Computed& c) {
    const Filler f{r, PRIMSET_F32};
    NativeCall call(c.name);
    for (const char* t = c.operands; *t; ++t) f.add(call, *t);
    geometry(call.result(f.dtype, f.sizes(c.result)), r, c.transposed);
    return call.find(*device).has_value();
  };
  for (const Computed& c : kComputed) {
    EXPECT_EQ(finds(of_channels, c), c.result == 'w') << c.name;
    EXPECT_EQ(finds(side_by_side, c), c.result != 'x') << c.name;
  }
}

TEST_F(Dnn, LargeWorkspacesAreNotRecorded) {
  const auto flags = [&] {
    NativeCall call("convolution");
    small(call);
    const auto found = call.find(*device);
    EXPECT_TRUE(found);
    call.run(*device, stream);
    return found ? found->flags : 0;
  };
  EXPECT_EQ(flags(), uint32_t{PRIMSET_PRIMITIVE_STRIDED});
  fake_toolkit::need_workspace(size_t{40} << 20);
  reopen();
  EXPECT_EQ(flags(), uint32_t{PRIMSET_PRIMITIVE_STRIDED} | PRIMSET_PRIMITIVE_UNRECORDED);
  fake_toolkit::need_workspace(size_t{1} << 30);
  reopen();
  NativeCall call("convolution");
  small(call);
  EXPECT_FALSE(call.find(*device)) << "no algorithm with so little memory";
}

TEST_F(Dnn, SettingsAndVersions) {
  const auto finds = [&] {
    NativeCall call("convolution");
    small(call);
    return call.find(*device).has_value();
  };
  setenv("PRIMSET_CUDNN", "off", 1);
  reopen();
  EXPECT_FALSE(finds());
  EXPECT_THAT(logged_, IsEmpty());
  setenv("PRIMSET_CUDNN", PRIMSET_POOR_TOOLKIT, 1);
  reopen();
  EXPECT_FALSE(finds());
  EXPECT_THAT(logged_,
              ElementsAre(AllOf(HasSubstr("has no cudnnGetVersion"),
                                HasSubstr("convolutions and attention are generated kernels"))));
  setenv("PRIMSET_CUDNN", PRIMSET_FAKE_TOOLKIT, 1);
  for (const size_t version : {size_t{8907}, size_t{100000}}) {
    logged_.clear();
    fake_toolkit::set_cudnn_version(version);
    reopen();
    EXPECT_FALSE(finds());
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("is version " + std::to_string(version))));
  }
}

TEST_F(Dnn, FailuresOfEveryCallAreTold) {
  const auto run = [&] {
    NativeCall call("convolution");
    small(call);
    call.run(*device, stream);
  };
  run();
  for (const char* function : {"cudnnSetStream", "cudnnBackendExecute"}) {
    fake_toolkit::fail(function, primset_cuda::kDnnExecutionFailed);
    EXPECT_THAT(error_of(run).second, HasSubstr("CUDNN_STATUS_EXECUTION_FAILED (5000)"))
        << function;
  }
  run();  // and afterwards all is well
  reopen();
  fake_toolkit::fail("cudnnCreate", primset_cuda::kDnnInternalError);
  NativeCall call("convolution");
  small(call);
  EXPECT_FALSE(call.find(*device));
  EXPECT_THAT(logged_, Contains(HasSubstr("cudnnCreate: CUDNN_STATUS_INTERNAL_ERROR (4000)")));
}

}  // namespace
}  // namespace primset::plugin
