// How attention is given to cuDNN, and that it is right, against a library that checks it
// (testing/fake_toolkit.h).
#include <cmath>

#include "backends/common/testing/bf16.h"
#include "backends/cuda/libraries/cudnn_api.h"
#include "backends/cuda/testing/toolkit_fixture.h"

namespace primset::plugin {
namespace {

using primset_cuda_test::NativeCall;
using primset_cuda_test::Numbers;
using primset_cuda_test::product_of;
using primset_cuda_test::random_values;
using primset_cuda_test::Sizes;
using testing::HasSubstr;

using DnnAttention = Toolkit;

struct Heads {
  Sizes batch;  // of no, one or two dims
  int64_t queries, keys, width, value_width;
  bool causal;
};
const Heads kHeads[] = {{{2, 3}, 5, 7, 8, 8, false},  {{2, 3}, 5, 7, 8, 16, true},
                        {{2, 3}, 7, 4, 16, 8, true},  {{3}, 4, 6, 8, 8, false},
                        {{}, 4, 6, 8, 8, true},       {{2, 2}, 1, 9, 8, 8, false},
                        {{1, 1, 2}, 2, 2, 8, 8, true}};

Sizes with(Sizes batch, std::initializer_list<int64_t> more) {
  batch.insert(batch.end(), more);
  return batch;
}

// As they are in memory.
std::vector<double> halves(int64_t count, uint32_t seed) {
  std::vector<double> out;
  for (const auto& x : random_values(PRIMSET_BF16, count, seed))
    out.push_back(primset_backend_test::from_bf16(
        primset_backend_test::to_bf16(static_cast<float>(x.real()))));
  return out;
}
Numbers numbers(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

constexpr double kScale = 0.25;

struct Problem {
  const Heads& row;
  int64_t heads = product_of(row.batch);  // of all batches
  std::vector<double> q = halves(heads * row.queries * row.width, 1),
                      k = halves(heads * row.keys * row.width, 2),
                      v = halves(heads * row.keys * row.value_width, 3);

  // Heads `query` of one head: exponentials of the scores, and their sum.
  std::vector<double> powers(int64_t head, int64_t query) const {
    std::vector<double> out;
    const int64_t seen = row.causal ? std::min(row.keys, query + 1) : row.keys;
    for (int64_t key = 0; key < seen; ++key) {
      double sum = 0;
      for (int64_t i = 0; i < row.width; ++i)
        sum += q[static_cast<size_t>((head * row.queries + query) * row.width + i)] *
               k[static_cast<size_t>((head * row.keys + key) * row.width + i)];
      out.push_back(std::exp(kScale * sum));
    }
    return out;
  }
  // y and logsumexp by the definition.
  std::pair<std::vector<double>, std::vector<double>> results() const {
    std::pair<std::vector<double>, std::vector<double>> out;
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t query = 0; query < row.queries; ++query) {
        const std::vector<double> p = powers(head, query);
        double sum = 0;
        for (const double power : p) sum += power;
        out.second.push_back(std::log(sum));
        for (int64_t i = 0; i < row.value_width; ++i) {
          double y = 0;
          for (size_t key = 0; key < p.size(); ++key)
            y += p[key] / sum *
                 v[(static_cast<size_t>(head * row.keys) + key) *
                       static_cast<size_t>(row.value_width) +
                   static_cast<size_t>(i)];
          out.first.push_back(y);
        }
      }
    return out;
  }
};

// How a tensor [..., rows, columns] lies.
enum class Layout { dense, heads_inside, transposed, unaligned };

Sizes strides_of(const Sizes& sizes, Layout layout) {
  Sizes strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  const size_t rank = sizes.size();
  if (layout == Layout::heads_inside && rank >= 3) {  // [batch, rows, heads, columns]
    strides[rank - 3] = sizes[rank - 1];
    strides[rank - 2] = sizes[rank - 1] * sizes[rank - 3];
  }
  if (layout == Layout::transposed) {
    strides[rank - 1] = sizes[rank - 2];
    strides[rank - 2] = 1;
  }
  return strides;
}

void fill(NativeCall& call, const Problem& p, Layout layout, uint32_t dtype = PRIMSET_BF16) {
  const Heads& r = p.row;
  const int64_t first = layout == Layout::unaligned ? 1 : 0;
  const auto operand = [&](int64_t rows, int64_t columns, const std::vector<double>& values) {
    const Sizes sizes = with(r.batch, {rows, columns});
    call.operand(dtype, sizes, numbers(values), strides_of(sizes, layout), first);
  };
  operand(r.queries, r.width, p.q);
  operand(r.keys, r.width, p.k);
  operand(r.keys, r.value_width, p.v);
  const Sizes y = with(r.batch, {r.queries, r.value_width});
  call.result(dtype, y, strides_of(y, layout), first)
      .result(PRIMSET_F32, with(r.batch, {r.queries}), {}, first)
      .flag("causal", r.causal)
      .real("scale", kScale);
}

void expect_near(const Numbers& got, const std::vector<double>& want, double bound) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i].real(), want[i], bound) << "at " << i;
}

TEST_F(DnnAttention, ByTheDefinitionHoweverTensorsLie) {
  for (const Heads& r : kHeads)
    for (const Layout layout :
         {Layout::dense, Layout::heads_inside, Layout::transposed, Layout::unaligned}) {
      SCOPED_TRACE(testing::PrintToString(r.batch) + " layout " +
                   std::to_string(static_cast<int>(layout)));
      const Problem p{r};
      NativeCall call("attention");
      fill(call, p, layout);
      if (r.batch.size() == 3) {
        EXPECT_FALSE(call.find(*device)) << "of five dims";
        continue;
      }
      const auto want = p.results();
      const auto got = call.run(*device, stream);
      expect_near(got[0], want.first, 0.02);
      expect_near(got[1], want.second, 1e-5);
    }
}

TEST_F(DnnAttention, CopiesAndLargeWorkspacesAreNotRecorded) {
  const Problem p{kHeads[0]};
  const auto flags = [&](Layout layout) {
    NativeCall call("attention");
    fill(call, p, layout);
    call.make_memory(*device, stream);
    stream.synchronize();
    const auto found = call.find(*device);
    return found ? found->flags : 0;
  };
  constexpr uint32_t kStrided = PRIMSET_PRIMITIVE_STRIDED,
                     kUnrecorded = kStrided | PRIMSET_PRIMITIVE_UNRECORDED;
  EXPECT_EQ(flags(Layout::dense), kStrided);
  EXPECT_EQ(flags(Layout::heads_inside), kStrided);
  EXPECT_EQ(flags(Layout::transposed), kUnrecorded);
  EXPECT_EQ(flags(Layout::unaligned), kUnrecorded);
  fake_toolkit::need_workspace(size_t{40} << 20);
  reopen();
  EXPECT_EQ(flags(Layout::dense), kUnrecorded);
}

TEST_F(DnnAttention, WhatItDoesNotComputeIsRefused) {
  const auto finds = [&](const Heads& r, uint32_t dtype, bool masked = false) {
    const Problem p{r};
    NativeCall call("attention");
    fill(call, p, Layout::dense, dtype);
    if (masked)
      call.operand(PRIMSET_F32, with(r.batch, {r.queries, r.keys}),
                   Numbers(static_cast<size_t>(p.heads * r.queries * r.keys)));
    return call.find(*device).has_value();
  };
  EXPECT_TRUE(finds(kHeads[0], PRIMSET_BF16));
  EXPECT_FALSE(finds(kHeads[0], PRIMSET_BF16, true));
  EXPECT_FALSE(finds(kHeads[0], PRIMSET_F32));
  EXPECT_FALSE(finds(kHeads[0], PRIMSET_F64));
  EXPECT_FALSE(finds(kHeads[0], PRIMSET_F16)) << "this library says that it has no code";
  EXPECT_FALSE(finds({{2}, 3, 5, 12, 8, false}, PRIMSET_BF16)) << "nor for this head";
  EXPECT_FALSE(finds({{2}, 3, 0, 8, 8, false}, PRIMSET_BF16)) << "no keys";
}

TEST_F(DnnAttention, FailuresAreTold) {
  const Problem p{kHeads[0]};
  const auto run = [&] {
    NativeCall call("attention");
    fill(call, p, Layout::dense);
    call.run(*device, stream);
  };
  run();
  fake_toolkit::fail("cudnnBackendExecute", primset_cuda::kDnnExecutionFailed);
  EXPECT_THAT(error_of(run).second, HasSubstr("CUDNN_STATUS_EXECUTION_FAILED (5000)"));
  run();  // and afterwards all is well
}

}  // namespace
}  // namespace primset::plugin
