// Operators over lists of tensors, on the current device.
#include <gtest/gtest.h>

#include "primset/invoke.h"
#include "primset/statistics.h"
#include "sdk/runtime/graph/plain_sgd.h"

namespace primset {
namespace {

using Floats = std::vector<float>;
using List = std::vector<Tensor>;

Tensor filled(int64_t size, float first) {
  Floats values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
  return Tensor::of<float>(std::span<const float>(values), {size});
}

List list(int length, float first) {
  List out;
  for (int i = 0; i < length; ++i) out.push_back(filled(2 + 37 * i, first + static_cast<float>(i)));
  return out;
}

TEST(ListCall, OnePlanAndOneLaunchForAnyLength) {
  invoke("_foreach_add.List", {list(2, 0), list(2, 1)});
  const Statistics before = statistics();
  const List a = list(60, 1), b = list(60, 100);
  const List sum = invoke("_foreach_add.List", {a, b}, {{"alpha", 2}})[0].as<List>();
  const Statistics after = statistics();
  EXPECT_EQ(after.plans, before.plans);
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_EQ(after.launches - before.launches, 1u);
  ASSERT_EQ(sum.size(), a.size());
  for (size_t i = 0; i < sum.size(); ++i) {
    const Floats x = a[i].to_vector<float>(), y = b[i].to_vector<float>();
    const Floats z = sum[i].to_vector<float>();
    for (size_t k = 0; k < z.size(); ++k) ASSERT_EQ(z[k], x[k] + 2 * y[k]) << i << ", " << k;
  }
}

TEST(ListCall, EachElementHasItsNumber) {
  const List a = list(5, 1);
  const std::vector<Scalar> factors{1, 2, 3, 4, 5};
  invoke("_foreach_mul_.ScalarList", {a, factors});
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(a[i].to_vector<float>()[1], (2.0f + static_cast<float>(i)) * factors[i].to_double());
}

TEST(ListCall, InPlaceInOrderWhereElementsMeet) {
  const Tensor x = filled(4, 1);
  invoke("_foreach_mul_.Scalar", {List{x, x, x}, 2});
  EXPECT_EQ(x.to_vector<float>(), (Floats{8, 16, 24, 32}));
  // Element 1 reads what element 0 writes.
  const Tensor y = filled(4, 1), z = filled(4, 10);
  invoke("_foreach_add_.List", {List{y, z}, List{z, y}});
  EXPECT_EQ(y.to_vector<float>(), (Floats{11, 13, 15, 17}));
  EXPECT_EQ(z.to_vector<float>(), (Floats{21, 24, 27, 30}));
}

TEST(ListCall, DifferentDtypesLayoutsAndNothing) {
  const Tensor halves = invoke("to.dtype", {filled(6, 1), DType::f16})[0].tensor(),
               none = filled(0, 0);
  const Tensor turned = invoke("reshape", {filled(6, 1), std::vector<int64_t>{2, 3}})[0].tensor();
  const Tensor t = invoke("t", {turned})[0].tensor();
  const List out = invoke("_foreach_neg", {List{halves, none, t, filled(3, 5)}})[0].as<List>();
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0].dtype(), DType::f16);
  EXPECT_EQ(out[1].sizes()[0], 0);
  EXPECT_EQ(invoke("clone", {out[2]}, {{"memory_format", MemoryFormat::contiguous}})[0]
                .tensor()
                .to_vector<float>(),
            (Floats{-1, -4, -2, -5, -3, -6}));
  EXPECT_EQ(out[3].to_vector<float>(), (Floats{-5, -6, -7}));
}

TEST(ListCall, NothingIsWrittenWhenOneElementIsWrong) {
  const Tensor good = filled(3, 1), bad = filled(2, 1);
  EXPECT_THROW(invoke("_foreach_add_.List", {List{good, bad}, List{good, filled(3, 1)}}), Error);
  EXPECT_EQ(good.to_vector<float>(), (Floats{1, 2, 3}));
  EXPECT_THROW(invoke("_foreach_add.List", {List{good, bad}, List{good}}), Error);
}

Tensor number(float v) {
  return Tensor::of<float>(std::span<const float>(&v, 1), {});
}

std::vector<Value> sgd(const List& params, const List& grads, const List& buffers,
                       double momentum) {
  return runtime::plain_sgd("_fused_sgd", {params, grads, buffers}, momentum);
}

TEST(ListCall, EveryReturnedListHasTheLengthOfItsArgument) {
  const auto step = sgd(list(2, 0), list(2, 1), list(2, 2), 0.5);
  ASSERT_EQ(step.size(), 3u);
  for (const Value& v : step) EXPECT_EQ(v.as<List>().size(), 2u);
  EXPECT_EQ(step[2].as<List>()[1].to_vector<float>()[0], 3.5f);
  const auto plain = sgd(list(3, 0), list(3, 1), {}, 0);
  EXPECT_EQ(plain[1].as<List>().size(), 3u);
  EXPECT_EQ(plain[2].as<List>().size(), 0u);
  const auto wrong = [] {
    return sgd(list(3, 0), list(3, 1), {}, 0.5)[0].as<List>()[0].to_vector<float>();
  };
  EXPECT_THROW(wrong(), Error);
  EXPECT_EQ(sgd({}, {}, {}, 0.5)[0].as<List>().size(), 0u);
}

// Every parameter less one.
void step_of(const List& params) {
  List ones;
  for (const Tensor& p : params) ones.push_back(invoke("ones_like", {p})[0].tensor());
  runtime::plain_sgd("_fused_sgd_", {params, ones, List()});
}

TEST(ListCall, ASkippedStepTouchesNothing) {
  const List params = list(3, 1), grads = list(3, 2), sums = list(3, 3);
  const List steps{number(1), number(2), number(3)};
  auto launches = [&](const Value& found_inf) {
    const uint64_t before = statistics().launches;
    invoke("_fused_adagrad_", {params, grads, sums, steps},
           {{"lr", 1.0},
            {"lr_decay", 0.0},
            {"weight_decay", 0.0},
            {"eps", 0.0},
            {"maximize", false},
            {"grad_scale", number(2)},
            {"found_inf", found_inf}});
    return statistics().launches - before;
  };
  EXPECT_EQ(launches(number(1)), 1u);  // what asks whether to skip
  EXPECT_EQ(params[0].to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(grads[2].to_vector<float>()[0], 4);
  EXPECT_EQ(launches(number(0)), 4u);
  EXPECT_EQ(grads[2].to_vector<float>()[0], 2);
  EXPECT_EQ(sums[0].to_vector<float>(), (Floats{4, 6.25}));
  EXPECT_EQ(params[0].to_vector<float>()[0], 0.5f);
}

TEST(ListCall, OneTensorIsNotRenewedTwice) {
  const Tensor x = filled(4, 1);
  EXPECT_THROW(step_of({x, filled(4, 2), x}), Error);
  EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2, 3, 4}));
  const Tensor halves = filled(4, 1);
  const Tensor front = invoke("slice.Tensor", {halves, 0, 0, 2})[0].tensor(),
               back = invoke("slice.Tensor", {halves, 0, 2, 4})[0].tensor();
  step_of({front, back});
  EXPECT_EQ(halves.to_vector<float>(), (Floats{0, 1, 2, 3}));
}

}  // namespace
}  // namespace primset
