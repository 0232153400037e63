// Operators end to end on the current device: binding, plans, in-place, out=, views, errors. What
// operators compute is the conformance suite's business; here it is how calls are carried out.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "primset/detail/call.h"
#include "primset/invoke.h"
#include "primset/options.h"
#include "primset/statistics.h"

namespace primset {
namespace {

using Floats = std::vector<float>;

Tensor floats(Floats values, IntList sizes) {
  return Tensor::of<float>(std::span<const float>(values), sizes);
}
Tensor add(const Tensor& a, const Tensor& b) {
  return invoke("add.Tensor", {a, b})[0].tensor();
}

std::string message(const std::function<void()>& f, ErrorCode expected) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), expected) << e.what();
    return e.what();
  }
  return "no error";
}

TEST(Invoke, PositionsKeywordsDefaults) {
  const Tensor a = floats({1, 2, 3}, {3}), b = floats({10, 20, 30}, {3});
  EXPECT_EQ(add(a, b).to_vector<float>(), (Floats{11, 22, 33}));
  EXPECT_EQ(invoke("add.Tensor", {a, b}, {{"alpha", 2}})[0].tensor().to_vector<float>(),
            (Floats{21, 42, 63}));
  EXPECT_EQ(invoke("add.Tensor", {}, {{"other", b}, {"self", a}})[0].tensor().to_vector<float>(),
            (Floats{11, 22, 33}));
  EXPECT_EQ(Operator("add.Tensor")(a, b).tensor().to_vector<float>(), (Floats{11, 22, 33}));
}

TEST(Invoke, BaseNamesResolve) {
  const Tensor a = floats({1, 2}, {2});
  EXPECT_EQ(invoke("add", {a, a})[0].tensor().to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(invoke("add", {a, 2.5})[0].tensor().to_vector<float>(), (Floats{3.5, 4.5}));
  EXPECT_EQ(invoke("add.Tensor", {a, 2.5})[0].tensor().to_vector<float>(), (Floats{3.5, 4.5}));
  EXPECT_EQ(invoke("relu.default", {floats({-1, 1}, {2})})[0].tensor().to_vector<float>(),
            (Floats{0, 1}));
}

TEST(Invoke, SaysWhatIsWrong) {
  const Tensor a = floats({1, 2}, {2});
  EXPECT_NE(message([&] { invoke("add.Tensor", {a}); }, ErrorCode::type)
                .find("missing value for argument 'other'"),
            std::string::npos);
  EXPECT_NE(message([&] { invoke("add.Tensor", {a, a, 1}); }, ErrorCode::type).find("positional"),
            std::string::npos);
  EXPECT_NE(message([&] { invoke("add.Tensor", {a, a}, {{"beta", 1}}); }, ErrorCode::type)
                .find("Unknown keyword argument 'beta'"),
            std::string::npos);
  EXPECT_NE(message([&] { invoke("add.Tensor", {a, a}, {{"self", a}}); }, ErrorCode::type)
                .find("multiple values for argument 'self'"),
            std::string::npos);
  EXPECT_NE(
      message([&] { invoke("add", {a, "x"}); }, ErrorCode::type).find("instead found type 'str'"),
      std::string::npos);
  EXPECT_NE(message([&] { invoke("nonesuch", {a}); }, ErrorCode::not_implemented).find("nonesuch"),
            std::string::npos);
  EXPECT_NE(message([&] { add(a, floats({1, 2, 3}, {3})); }, ErrorCode::runtime)
                .find("must match the size of tensor b"),
            std::string::npos);
}

TEST(Invoke, OriginsOfResults) {
  Tensor a = floats({1, 2}, {2});
  std::vector<ResultOrigin> origins;
  const Value args[] = {a, a};
  invoke("add.Tensor", args, {}, &origins);
  EXPECT_EQ(origins[0].kind, ResultOrigin::Kind::fresh);
  invoke("add_.Tensor", args, {}, &origins);
  EXPECT_EQ(origins[0].kind, ResultOrigin::Kind::argument);
  EXPECT_EQ(origins[0].argument, 0u);
  const Value slice[] = {a, 0, 1, 2};
  invoke("slice.Tensor", slice, {}, &origins);
  EXPECT_EQ(origins[0].kind, ResultOrigin::Kind::view);
}

// Runs f(0) .. f(999) after f(first); says how many plans and kernels the thousand made.
std::pair<uint64_t, uint64_t> made_by_a_thousand(const std::function<void(int64_t)>& f) {
  f(1000);
  const Statistics before = statistics();
  for (int64_t i = 0; i < 1000; ++i) f(i);
  const Statistics after = statistics();
  auto kernels = [](const Statistics& s) { return s.kernels_compiled + s.kernel_disk_hits; };
  return {after.plans - before.plans, kernels(after) - kernels(before)};
}

using Made = std::pair<uint64_t, uint64_t>;

TEST(Plans, AThousandSizesMakeNoOther) {
  EXPECT_EQ(made_by_a_thousand([](int64_t i) {
              const Tensor t = Tensor::empty({i + 2, 3}, DType::f32);
              add(t, t);
            }),
            Made(0, 0));
  // Short rows are another way to reduce where many threads share one, and so are those of 4, 8, 16
  // and 32, which fill a thread's vectors; rows of a subgroup by how many of its lanes they take,
  // or how often all of them: guards say where.
  const Made sums = made_by_a_thousand([](int64_t i) {
    const Tensor t = Tensor::empty({3, i + 2}, DType::f32);
    invoke("sum.dim_IntList", {t, std::vector<int64_t>{1}});
  });
  EXPECT_LE(sums.first, current_device().is_cpu() ? 0u : 9u);
  EXPECT_LE(sums.second, sums.first);
  EXPECT_EQ(made_by_a_thousand([](int64_t i) { invoke("zeros", {std::vector<int64_t>{i + 2}}); }),
            Made(0, 0));
}

TEST(Plans, AThousandScalarsMakeNoOther) {
  const Tensor a = floats({1, 2}, {2});
  EXPECT_EQ(made_by_a_thousand([&](int64_t i) {
              const double factor = static_cast<double>(i) * 0.5;
              EXPECT_EQ(invoke("mul.Scalar", {a, factor})[0].tensor().to_vector<float>()[1],
                        static_cast<float>(i));
            }),
            Made(0, 0));
  EXPECT_EQ(made_by_a_thousand([&](int64_t i) {
              EXPECT_EQ(
                  invoke("add.Tensor", {a, a}, {{"alpha", i}})[0].tensor().to_vector<float>()[0],
                  static_cast<float>(1 + i));
            }),
            Made(0, 0));
}

TEST(Plans, AThousandSliceStartsMakeNoOther) {
  const Tensor a = invoke("arange", {3000})[0].tensor();
  EXPECT_EQ(made_by_a_thousand([&](int64_t i) {
              const Tensor s = invoke("slice.Tensor", {a, 0, i, i + 50})[0].tensor();
              EXPECT_EQ(invoke("neg", {s})[0].tensor().to_vector<int64_t>()[0], -i);
            }),
            Made(0, 0));
  EXPECT_EQ(made_by_a_thousand([&](int64_t i) { invoke("slice_copy.Tensor", {a, 0, i, i + 50}); }),
            Made(0, 0));
  EXPECT_EQ(made_by_a_thousand([&](int64_t i) {
              EXPECT_EQ(invoke("select.int", {a, 0, i})[0].tensor().item().to_int(), i);
            }),
            Made(0, 0));
}

// The plan that a valid number made does not serve one that is out of range, whose view would lie
// beside the tensor in memory that exists.
TEST(Plans, NumbersAreHeldToTheirRangeInEachCall) {
  Floats values(24);
  const Tensor part = floats(values, {24}).as_strided({6}, {1}, 12);
  const auto narrow = [&](int64_t start) { invoke("narrow", {part, 0, start, 1}); };
  narrow(-3);
  EXPECT_THROW(narrow(-7), Error);
  narrow(2);
  EXPECT_THROW(narrow(7), Error);
  const Tensor rows = Tensor::of<int64_t>({0, 0, 1}, {3});
  const auto compress = [&](int64_t count) { invoke("_compress_rows", {rows, count}); };
  compress(4);
  EXPECT_THROW(compress(-1), Error);
  const Tensor pointers = Tensor::of<int64_t>({0, 1, 2}, {3}),
               columns = Tensor::of<int64_t>({0, 1}, {2});
  const Tensor entries = floats({1, 2}, {2});
  const auto multiply = [&](int64_t products) {
    invoke("_csr_csr_matmul",
           {entries, pointers, columns, entries, pointers, columns, 2, products, 2});
  };
  multiply(2);
  EXPECT_THROW(multiply(-1), Error);
  const auto histogram = [&](int64_t dims) {
    const std::vector<int64_t> bins{3, 3};
    invoke("_histogramdd_from_bin_cts",
           {floats(Floats(static_cast<size_t>(4 * dims)), {4, dims}), bins});
  };
  histogram(2);
  EXPECT_THROW(histogram(3), Error);
}

TEST(Plans, LayoutsAgree) {
  Floats values(24);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor dense = floats(values, {4, 6});
  const Tensor expected = add(dense, dense);
  const Tensor padded = Tensor::empty({4, 10}, DType::f32).as_strided({4, 6}, {10, 1}, 2);
  Tensor(padded).copy_from_host(values.data(), values.size() * 4);
  EXPECT_EQ(add(padded, dense).to_vector<float>(), expected.to_vector<float>());
  const Tensor t = dense.as_strided({6, 4}, {1, 6}, 0);
  const Tensor sum = add(t, t);
  EXPECT_EQ(sum.strides()[0], 1);  // results follow the inputs' order of dims
  EXPECT_EQ(sum.as_strided({4, 6}, {6, 1}, 0).to_vector<float>(), expected.to_vector<float>());
  const Tensor row = dense.as_strided({4, 6}, {0, 1}, 6);
  EXPECT_EQ(add(row, row).to_vector<float>()[7], 14);
}

TEST(InPlace, WritesSelfOnly) {
  Tensor a = floats({1, 2, 3, 4}, {2, 2});
  const Tensor column = a.as_strided({2}, {2}, 1);
  const Tensor result = invoke("add_.Tensor", {column, floats({10, 20}, {2})})[0].tensor();
  EXPECT_TRUE(result.is_same(column));
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 12, 3, 24}));
  invoke("add_.Tensor", {a, a});
  EXPECT_EQ(a.to_vector<float>(), (Floats{2, 24, 6, 48}));
}

// One element into much memory: nothing of that size may be copied or made.
TEST(InPlace, IndexPutTouchesTheElementsItWrites) {
  constexpr int64_t kElements = 1 << 20;
  const Tensor index = Tensor::of<int64_t>({12345}, {1});
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::boolean, DType::i64, DType::c64}) {
    const Tensor x = invoke("zeros", {std::vector<int64_t>{kElements}}, {{"dtype", t}})[0].tensor();
    const Tensor one = invoke("ones", {std::vector<int64_t>{1}}, {{"dtype", t}})[0].tensor();
    for (bool accumulate : {false, true}) {
      // Halves are added in f32, complex numbers part by part: that takes another copy.
      if (accumulate && (byte_size(t) == 2 || is_complex(t))) continue;
      invoke("index_put_", {x, std::vector<Tensor>{index}, one, accumulate});
      const auto before = memory_statistics(x.device());
      const Statistics calls = statistics();
      invoke("index_put_", {x, std::vector<Tensor>{index}, one, accumulate});
      EXPECT_EQ(memory_statistics(x.device()).allocations, before.allocations) << name(t);
      EXPECT_EQ(statistics().copies, calls.copies) << name(t);
      EXPECT_EQ(statistics().launches, calls.launches + 1) << name(t);
    }
    const double total = invoke("sum", {x})[0].tensor().item().to_double();
    EXPECT_EQ(total, t == DType::f32 || t == DType::i64 ? 3 : 1) << name(t);
  }
}

TEST(InPlace, OverlapIsRefusedAsATenDoes) {
  const Tensor a = floats({1, 2, 3, 4}, {4});
  const Tensor low = a.as_strided({3}, {1}, 0), high = a.as_strided({3}, {1}, 1);
  EXPECT_NE(message([&] { invoke("add_.Tensor", {low, high}); }, ErrorCode::runtime)
                .find("some elements of the input tensor and the written-to tensor"),
            std::string::npos);
  const Tensor expanded = a.as_strided({4}, {0}, 0);
  EXPECT_NE(message([&] { invoke("add_.Tensor", {expanded, a}); }, ErrorCode::runtime)
                .find("more than one element of the written-to tensor"),
            std::string::npos);
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 2, 3, 4}));
}

TEST(InPlace, PromotionThatDoesNotFit) {
  const Tensor i = Tensor::of<int64_t>({1, 2}, {2});
  EXPECT_NE(message([&] { invoke("add_.Tensor", {i, floats({1, 2}, {2})}); }, ErrorCode::runtime)
                .find("result type Float can't be cast to the desired output type Long"),
            std::string::npos);
}

TEST(Out, RightSizeKeepsPointerAndStrides) {
  const Tensor a = floats({1, 2, 3, 4}, {2, 2});
  const Tensor out = Tensor::empty({2, 2}, DType::f32).as_strided({2, 2}, {1, 2}, 0);
  const void* data = out.storage().host_address();
  const Tensor result = invoke("add.out", {a, a}, {{"out", out}})[0].tensor();
  EXPECT_TRUE(result.is_same(out));
  EXPECT_EQ(out.storage().host_address(), data);
  EXPECT_EQ(out.strides()[0], 1);
  EXPECT_EQ(out.to_vector<float>(), (Floats{2, 4, 6, 8}));
}

TEST(Out, ResizesAndConverts) {
  const Tensor a = floats({1, 2, 3, 4}, {2, 2});
  Tensor out = Tensor::empty({0}, DType::f64);
  invoke("add.out", {a, a}, {{"out", out}});
  EXPECT_EQ(out.to_vector<double>(), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(out.dim(), 2);
  Tensor wrong = Tensor::empty({0}, DType::i64);
  EXPECT_NE(message([&] { invoke("add.out", {a, a}, {{"out", wrong}}); }, ErrorCode::runtime)
                .find("can't be cast to the desired output type Long"),
            std::string::npos);
}

// By what the specs say: aliases as what they stand for, index_add with self alone, gather with
// none.
TEST(Out, SharesWhatTheOperatorAllows) {
  const Tensor a = floats({1, 2, 3, 4, 5, 6}, {6});
  const Tensor low = a.as_strided({3}, {1}, 0), high = a.as_strided({3}, {1}, 1);
  const auto refused = [&](const char* op, std::initializer_list<Value> args, const Tensor& out) {
    const std::string said = message([&] { invoke(op, args, {{"out", out}}); }, ErrorCode::runtime);
    return said.find("some elements of the input tensor and the written-to tensor") !=
           std::string::npos;
  };
  const Tensor index = Tensor::of<int64_t>({0, 1, 2}, {3}), ones = floats({1, 1, 1}, {3});
  EXPECT_TRUE(refused("special_erf.out", {low}, high));
  EXPECT_TRUE(refused("index_add.out", {low, int64_t{0}, index, ones}, high));
  EXPECT_TRUE(refused("index_add.out", {ones, int64_t{0}, index, low}, low));
  EXPECT_TRUE(refused("gather.out", {low, int64_t{0}, index}, low));
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 2, 3, 4, 5, 6}));
  invoke("index_add.out", {low, int64_t{0}, index, ones}, {{"out", low}});
  EXPECT_EQ(a.to_vector<float>(), (Floats{2, 3, 4, 4, 5, 6}));
}

TEST(Attention, AMaskThatDoesNotFitIsRefused) {
  const Tensor q = floats(Floats(120, 0.5f), {1, 3, 5, 8});
  const Tensor mask = floats(Floats(10, 0), {2, 5});
  EXPECT_NE(
      message([&] { invoke("scaled_dot_product_attention", {q, q, q, mask}); }, ErrorCode::runtime)
          .find("The expanded size of the tensor (5) must match the existing size (2)"),
      std::string::npos);
}

// Elements of 8 bytes begin at every second one of 4.
TEST(View, OfWiderElementsBeginsAtOne) {
  const Tensor a = floats({1, 2, 3, 4, 5, 6}, {6});
  const Tensor even = a.as_strided({4}, {1}, 2), odd = a.as_strided({4}, {1}, 1);
  EXPECT_EQ(invoke("view.dtype", {even, DType::i64})[0].tensor().storage_offset(), 1);
  EXPECT_NE(message([&] { invoke("view.dtype", {odd, DType::i64}); }, ErrorCode::runtime)
                .find("self.storage_offset() must be divisible by 2 to view Float as Long"),
            std::string::npos);
}

TEST(View, CopiesOfWiderElementsTooBeginWhereTheyMay) {
  const Tensor bytes = Tensor::of<int8_t>({1, 0, 2, 0, 3, 0}, {6});
  const Tensor even = bytes.as_strided({2}, {1}, 2), odd = bytes.as_strided({2}, {1}, 1);
  const Tensor out = Tensor::empty({1}, DType::i16);
  invoke("view_copy.dtype_out", {even, DType::i16}, {{"out", out}});
  EXPECT_EQ(out.to_vector<int16_t>(), std::vector<int16_t>{2});
  const std::string copied =
      message([&] { invoke("view_copy.dtype", {odd, DType::i16}); }, ErrorCode::runtime);
  const std::string written =
      message([&] { invoke("view_copy.dtype_out", {odd, DType::i16}, {{"out", out}}); },
              ErrorCode::runtime);
  EXPECT_NE(copied.find("must be divisible by 2"), std::string::npos) << copied;
  EXPECT_NE(written.find("must be divisible by 2"), std::string::npos) << written;
}

TEST(Out, MayBeAnInput) {
  const Tensor a = floats({1, 2}, {2}), b = floats({10, 20}, {2});
  invoke("add.out", {a, b}, {{"out", b}});
  EXPECT_EQ(b.to_vector<float>(), (Floats{11, 22}));
}

TEST(Out, GetsASizeThatTheRunFindsOut) {
  const Tensor a = floats({0, 2, 0, 4}, {2, 2});
  const Tensor empty = Tensor::empty({0}, DType::i64);
  EXPECT_TRUE(invoke("nonzero.out", {a}, {{"out", empty}})[0].tensor().is_same(empty));
  EXPECT_EQ(empty.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(empty.dim(), 2);
  const Tensor memory = floats({9, 9, 9, 9}, {4}), out = memory.as_strided({2}, {2}, 1);
  const Tensor mask = invoke("gt.Scalar", {a, 1})[0].tensor();
  invoke("masked_select.out", {a, mask}, {{"out", out}});
  EXPECT_EQ(memory.to_vector<float>(), (Floats{9, 2, 9, 4}));  // keeps memory and strides
}

TEST(Out, ListsOfTensors) {
  const Tensor a = floats({1, 2, 3, 4}, {2, 2});
  const std::vector<Tensor> outs = {Tensor::empty({2}, DType::f32), Tensor::empty({2}, DType::f32)};
  invoke("unbind_copy.int_out", {a}, {{"out", outs}});
  EXPECT_EQ(outs[0].to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(outs[1].to_vector<float>(), (Floats{3, 4}));
}

TEST(Out, ForeignMemoryAsksItsOwnerToGrow) {
  const DeviceGuard on_cpu(Device::cpu());
  Floats memory(2);
  ForeignMemory foreign;
  foreign.grow = [&](uint64_t bytes) {
    memory.resize(bytes / sizeof(float));
    return static_cast<void*>(memory.data());
  };
  Tensor out = Tensor::from_memory(memory.data(), {2}, DType::f32, Device::cpu(), foreign);
  const Tensor a = floats({1, 2, 3}, {3});
  set_log([](LogLevel, std::string_view) {});  // a resize of a tensor with elements warns
  invoke("add.out", {a, a}, {{"out", out}});
  set_log({});
  EXPECT_EQ(memory, (Floats{2, 4, 6}));
  Floats fixed(2);
  Tensor small = Tensor::from_memory(fixed.data(), {0}, DType::f32);
  EXPECT_NE(message([&] { invoke("add.out", {a, a}, {{"out", small}}); }, ErrorCode::runtime)
                .find("not resizable"),
            std::string::npos);
}

TEST(Devices, MixedOnesAreRefused) {
  const Tensor a = floats({1, 2}, {2}), m = Tensor::empty({2}, DType::f32, "meta");
  EXPECT_NE(message([&] { add(a, m); }, ErrorCode::runtime)
                .find("Expected all tensors to be on the same device, but found at least two "
                      "devices, " +
                      current_device().to_string() + " and meta!"),
            std::string::npos);
}

TEST(Devices, ToMovesAndConverts) {
  const Tensor a = floats({1.5, 2}, {2});
  const Tensor b = invoke("to.device", {a, Device::cpu(), DType::f64})[0].tensor();
  EXPECT_TRUE(b.device().is_cpu());
  EXPECT_EQ(b.to_vector<double>(), (std::vector<double>{1.5, 2}));
  const Tensor c = invoke("to.device", {a, a.device(), DType::f32})[0].tensor();
  EXPECT_TRUE(c.is_alias_of(a));
  const Tensor d = invoke("_to_copy", {a}, {{"device", Device::cpu()}})[0].tensor();
  EXPECT_FALSE(d.is_alias_of(a));
  EXPECT_EQ(d.to_vector<float>(), (Floats{1.5, 2}));
}

TEST(Devices, MetaComputesShapes) {
  const Tensor m = Tensor::empty({3, 1}, DType::f16, "meta"),
               n = Tensor::empty({4}, DType::f32, "meta");
  const Tensor r = add(m, n);
  EXPECT_EQ(r.dtype(), DType::f32);
  EXPECT_EQ(std::vector<int64_t>(r.sizes().begin(), r.sizes().end()), (std::vector<int64_t>{3, 4}));
  EXPECT_TRUE(r.device().is_meta());
}

TEST(Numbers, WrappedOnesDoNotPromote) {
  const Tensor h = invoke("mul.Scalar", {Tensor::of<int32_t>({1, 2}, {2}), 3})[0].tensor();
  EXPECT_EQ(h.dtype(), DType::i32);
  const Tensor f = add(Tensor::of<int32_t>({1, 2}, {2}), Tensor::wrapped_number(0.5));
  EXPECT_EQ(f.dtype(), DType::f32);
  EXPECT_EQ(f.to_vector<float>(), (Floats{1.5, 2.5}));
}

TEST(Numbers, FloatsAboveSignedOnesAreU64) {
  const Tensor a = floats({0x1.8p63f, 5, 0x1p63f}, {3});
  const Tensor b = invoke("_to_copy", {a}, {{"dtype", DType::u64}})[0].tensor();
  EXPECT_EQ(b.to_vector<uint64_t>(),
            (std::vector<uint64_t>{13835058055282163712u, 5, 9223372036854775808u}));
  EXPECT_EQ(to_string(b).substr(0, 22), "[13835058055282163712,");
}

// 2^24 swallows ones in f32.
TEST(Numbers, FewTermsCancelWithoutALossOnCpus) {
  const Tensor a = floats({0x1p24f, 1, 1, 1, 1, -0x1p24f}, {6});
  if (!a.device().is_cpu()) GTEST_SKIP() << "f32 is added up in f32 here";
  EXPECT_EQ(invoke("sum", {a})[0].tensor().to_vector<float>(), (Floats{4}));
  const Tensor tiny = floats({0x1p100f, 0x1p100f, 0x1p-100f, 0x1p-100f}, {4});
  EXPECT_EQ(invoke("prod", {tiny})[0].tensor().to_vector<float>(), (Floats{1}));
}

TEST(Numbers, VariancesOnCpusAreThoseOfDoubles) {
  Floats values;
  for (int i = 0; i < 10; ++i) values.push_back(1e6f + static_cast<float>(i) / 16);
  const Tensor x = floats(values, {10});
  if (!x.device().is_cpu()) GTEST_SKIP() << "f32 is averaged in f32 here";
  // The mean 1000000.28125 is no f32.
  EXPECT_FLOAT_EQ(invoke("var", {x})[0].tensor().to_vector<float>()[0], 82.5f / 9 / 256);
}

TEST(Creation, StridesFitTheSizes) {
  EXPECT_NE(
      message(
          [] { invoke("empty_strided", {std::vector<int64_t>{3, 4}, std::vector<int64_t>{1}}); },
          ErrorCode::runtime)
          .find("dimensionality of sizes (2) must match dimensionality of strides (1)"),
      std::string::npos);
}

TEST(Empty, ComputesNothing) {
  const Tensor e = Tensor::empty({0, 3}, DType::f32);
  EXPECT_EQ(add(e, e).numel(), 0);
  EXPECT_EQ(add(e, floats({1, 2, 3}, {3})).size(1), 3);
}

// The message of an error that only the device sees: the CPU's comes with the call, another
// device's with the next synchronisation.
std::string device_error(const std::function<void()>& f) {
  const bool at_once = current_device().is_cpu();
  const std::string early = message([&] { f(); }, ErrorCode::index);
  EXPECT_EQ(early == "no error", !at_once) << early;
  const std::string late = message([] { synchronize(); }, ErrorCode::index);
  EXPECT_EQ(late == "no error", at_once) << late;
  return at_once ? early : late;
}

TEST(Empty, OfNoClassesAllTargetsAreIgnored) {
  const Tensor none = Tensor::empty({2, 0}, DType::f32);
  const auto losses = [&](std::vector<int64_t> target) {
    const Tensor classes = Tensor::of<int64_t>(std::span<const int64_t>(target), {2});
    return invoke("nll_loss_forward", {none, classes, Value(), 0, -100})[0].tensor();
  };
  EXPECT_EQ(losses({-100, -100}).to_vector<float>(), (Floats{0, 0}));
  EXPECT_NE(device_error([&] { losses({-100, 0}); }).find("Target 0 is out of bounds"),
            std::string::npos);
}

TEST(Empty, OnlyABatchOfBlocksMayBe) {
  const std::vector<int64_t> two{2, 2}, one{1, 1}, none{0, 0};
  const auto columns = [&](IntList sizes) {
    return invoke("im2col", {Tensor::empty(sizes, DType::f32), two, one, none, one})[0].tensor();
  };
  EXPECT_EQ(columns({0, 1, 4, 4}).numel(), 0);
  EXPECT_NE(
      message([&] { columns({1, 0, 4, 4}); }, ErrorCode::runtime).find("but got: [1, 0, 4, 4]"),
      std::string::npos);
}

TEST(Errors, AnIndexOutOfRangeIsReportedAndReadsNothing) {
  const Floats values = {1, 2, 3, 4, 5, 6};
  const Tensor weight = floats(values, {3, 2});
  for (int64_t bad : {7L, -1L, 1L << 40}) {
    const Tensor indices = Tensor::of<int64_t>({0, bad, 2}, {3});
    const std::string text = device_error([&] { invoke("embedding", {weight, indices}); });
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "embedding: index " + std::to_string(bad) +
                  " of 'indices' is out of bounds for dimension 0; expected one within its size");
    // A device that reports later does not know the call any more.
    EXPECT_EQ(text.ends_with("\n  in embedding(weight=f32[3, 2], indices=i64[3])"),
              weight.device().is_cpu());
    EXPECT_EQ(weight.to_vector<float>(), values);
    EXPECT_EQ(indices.to_vector<int64_t>(), (std::vector<int64_t>{0, bad, 2}));
  }
  const Tensor good = Tensor::of<int64_t>({2, 0}, {2});
  EXPECT_EQ(invoke("embedding", {weight, good})[0].tensor().to_vector<float>(),
            (Floats{5, 6, 1, 2}));
}

TEST(Errors, AnIndexOutOfRangeWritesNothing) {
  const Tensor memory = floats(Floats(12, 0.0f), {12}), middle = memory.as_strided({4}, {1}, 4);
  const Tensor indices = Tensor::of<int64_t>({1, 4, -5}, {3});
  const std::string error = device_error([&] {
    invoke("index_put_", {middle, std::vector<Tensor>{indices}, floats({7, 8, 9}, {3})});
  });
  EXPECT_TRUE(error.starts_with("index_put_: index ")) << error;
  EXPECT_NE(error.find(" of 'indices_0' is out of bounds for dimension 0"), std::string::npos)
      << error;
  EXPECT_EQ(memory.to_vector<float>(), (Floats{0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0}));
}

TEST(Errors, EagerReportsComeWithTheCall) {
  Options options = primset::options();
  const Options before = options;
  options.errors = ErrorReports::eager;
  set_options(options);
  const Tensor weight = floats({1, 2}, {2, 1}), indices = Tensor::of<int64_t>({2}, {1});
  EXPECT_NE(message([&] { invoke("embedding", {weight, indices}); }, ErrorCode::index)
                .find("index 2 of 'indices'"),
            std::string::npos);
  set_options(before);
  synchronize();
}

TEST(Threads, ShareThePlans) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  const Tensor shared = floats(Floats(64, 1.0f), {64});
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 200; ++i) {
        const int64_t n = 1 + (i * 7 + t) % 50;
        const Tensor a = floats(Floats(static_cast<size_t>(n), 2.0f), {n});
        const Floats r = add(a, a).to_vector<float>();
        if (r.size() != static_cast<size_t>(n) || r.back() != 4.0f) ++wrong;
        if (add(shared, shared).to_vector<float>()[63] != 2.0f) ++wrong;
        const Tensor s = invoke("slice.Tensor", {shared, 0, i % 10, 40})[0].tensor();
        if (invoke("neg", {s})[0].tensor().to_vector<float>()[0] != -1.0f) ++wrong;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Some drivers end a kernel's loops after 65535 rounds.
TEST(Launches, LoopsOfAnyLength) {
  for (int64_t n : {100, 65534, 65535, 65536, 200000}) {
    const Tensor ones = Tensor::of<int64_t>(std::vector<int64_t>(static_cast<size_t>(n), 1), {n});
    const Tensor sums = invoke("cumsum", {ones, 0})[0].tensor();
    const std::vector<int64_t> got = sums.to_vector<int64_t>();
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(got[static_cast<size_t>(i)], i + 1) << "of " << n;
  }
}

TEST(Detail, ArgumentsInSchemaOrder) {
  const detail::Op op("add.Tensor");
  const Tensor a = floats({1, 2}, {2});
  const Scalar alpha = 3;
  const detail::Arg args[] = {a, a, alpha};
  EXPECT_EQ(detail::call_tensor(op, args).to_vector<float>(), (Floats{4, 8}));
  const detail::Arg two[] = {a, a};
  EXPECT_EQ(detail::call_tensor(op, two).to_vector<float>(), (Floats{2, 4}));
  const detail::Arg one[] = {a};
  EXPECT_THROW(detail::call_tensor(op, one), Error);
}

}  // namespace
}  // namespace primset
