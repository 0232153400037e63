// How products of matrices are given to cuBLASLt, against a library that checks it
// (testing/fake_cublaslt.h). That the results are right is tested for every device:
// backends/common/contraction_test.cpp.
#include "backends/cuda/testing/fake_cublaslt.h"

#include <cstdlib>

#include "backends/common/testing/contractions.h"
#include "backends/cuda/contraction.h"
#include "backends/cuda/cublaslt_api.h"
#include "backends/cuda/testing/plugin_fixture.h"

namespace primset::plugin {
namespace {

using fake_cublaslt::Product;
using primset_backend_test::ContractionCall;
using primset_backend_test::random_numbers;
using primset_backend_test::TestContraction;
using primset_backend_test::TestNumbers;
using primset_backend_test::TestOperand;
using primset_cuda::LtCompute;
using primset_cuda::LtType;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

constexpr size_t kWorkspaceBytes = size_t{32} << 20;

class CublasLt : public CudaDevice {
 protected:
  void SetUp() override {
    for (const char* variable : {"PRIMSET_CUBLASLT", "PRIMSET_CUBLASLT_LEAST", "PRIMSET_CUDA_TF32"})
      unsetenv(variable);
    fake_cublaslt::reset();
    CudaDevice::SetUp();
  }
  void TearDown() override {
    CudaDevice::TearDown();
    EXPECT_EQ(fake_cublaslt::leaks(), "");
    for (const char* variable : {"PRIMSET_CUBLASLT", "PRIMSET_CUBLASLT_LEAST", "PRIMSET_CUDA_TF32"})
      unsetenv(variable);
  }
  // The dims and strides of two-dimensional operands, summed over the inner ones.
  static TestContraction matrices(int64_t m, int64_t n, int64_t k) {
    return {"matrices", {{m, k}, {k, 1}, {1}, {}}, {{k, n}, {n, 1}, {0}, {}}, 1, m, n, k};
  }

  bool finds(const TestContraction& c, uint32_t dtype = PRIMSET_F32,
             uint32_t result = PRIMSET_F32) {
    return ContractionCall(c, dtype, result).find(*device).has_value();
  }
  // What the library was given for the call.
  std::vector<Product> given(const TestContraction& c, uint32_t dtype = PRIMSET_F32,
                             uint32_t result = PRIMSET_F32) {
    fake_cublaslt::products();
    run_on(stream, c, dtype, result);
    return fake_cublaslt::products();
  }
  void run_on(const StreamHandle& on, const TestContraction& c, uint32_t dtype = PRIMSET_F32,
              uint32_t result = PRIMSET_F32) {
    ContractionCall call(c, dtype, result);
    const auto primitive = call.find(*device);
    ASSERT_TRUE(primitive) << c.name;
    call.run(*device, on, *primitive, random_numbers(c.a, dtype, 1), random_numbers(c.b, dtype, 2));
  }
};

// --- layouts -------------------------------------------------------------------------------------

Product f32_product(int64_t m, int64_t n, int64_t k) {
  Product p;
  p.compute = int(LtCompute::f32);
  p.m = m;
  p.n = n;
  p.k = k;
  p.lda = p.ldd = m;
  p.ldb = k;
  return p;
}

// Row-major c = a b is column-major c' = b' a'.
TEST_F(CublasLt, RowMajorMatricesArePlain) {
  EXPECT_THAT(given(matrices(5, 3, 7)), ElementsAre(f32_product(3, 5, 7)));
}

TEST_F(CublasLt, MatricesThatLieByColumnsAreTransposed) {
  const TestContraction c = {
      "", {{65, 33}, {33, 1}, {0}, {}}, {{40, 65}, {65, 1}, {1}, {}}, 1, 33, 40, 65};
  Product p = f32_product(40, 33, 65);
  p.transpose_a = p.transpose_b = true;
  p.lda = 65;
  p.ldb = 33;
  EXPECT_THAT(given(c), ElementsAre(p));
}

TEST_F(CublasLt, RowsMayBeLongerThanTheMatrix) {
  const TestContraction c = {"", {{5, 7}, {20, 1}, {1}, {}}, {{7, 3}, {9, 1}, {0}, {}}, 1, 5, 3, 7};
  Product p = f32_product(3, 5, 7);
  p.lda = 9;
  p.ldb = 20;
  EXPECT_THAT(given(c), ElementsAre(p));
}

TEST_F(CublasLt, BatchesOfOneStrideAreOneCall) {
  // Two dims that merge.
  const TestContraction c = {"",
                             {{2, 3, 4, 6}, {72, 24, 6, 1}, {3}, {0, 1}},
                             {{2, 3, 6, 5}, {90, 30, 5, 1}, {2}, {0, 1}},
                             6,
                             4,
                             5,
                             6};
  Product p = f32_product(5, 4, 6);
  p.batch = 6;
  p.stride_a = 30;
  p.stride_b = 24;
  p.stride_d = 20;
  EXPECT_THAT(given(c), ElementsAre(p));
}

// Attention heads that lie beside one another in each row: the longer of the two dims is strided.
TEST_F(CublasLt, BatchesOfTwoStridesAreAFewCalls) {
  const TestContraction c = {"",
                             {{5, 3, 4, 8}, {96, 8, 24, 1}, {3}, {0, 1}},
                             {{5, 3, 6, 8}, {144, 8, 24, 1}, {3}, {0, 1}},
                             15,
                             4,
                             6,
                             8};
  Product p = f32_product(6, 4, 8);
  p.transpose_a = true;
  p.lda = p.ldb = 24;
  p.batch = 5;
  p.stride_a = 144;
  p.stride_b = 96;
  p.stride_d = 72;
  EXPECT_THAT(given(c), ElementsAre(p, p, p));
}

TEST_F(CublasLt, NothingIsNotMultiplied) {
  for (const TestContraction& c : primset_backend_test::test_contractions())
    if (c.batch * c.m * c.n * c.k == 0) EXPECT_THAT(given(c), IsEmpty()) << c.name;
}

TEST_F(CublasLt, WhatIsNoMatrixIsRefused) {
  const TestOperand b{{7, 3}, {3, 1}, {0}, {}};
  EXPECT_FALSE(finds({"gaps", {{5, 7}, {20, 2}, {1}, {}}, b, 1, 5, 3, 7}));
  EXPECT_FALSE(finds({"repeated rows", {{5, 7}, {0, 1}, {1}, {}}, b, 1, 5, 3, 7}));
  EXPECT_FALSE(finds({"overlapping rows", {{5, 7}, {2, 1}, {1}, {}}, b, 1, 5, 3, 7}));
  EXPECT_FALSE(finds(
      {"rows apart", {{2, 5, 7}, {70, 7, 1}, {2}, {}}, {{7, 3}, {3, 1}, {0}, {}}, 1, 10, 3, 7}));
  EXPECT_THAT(fake_cublaslt::questions(), IsEmpty());
}

TEST_F(CublasLt, BatchesInTooManyPiecesAreRefused) {
  const auto heads = [](int64_t n) {
    return TestContraction{"",
                           {{n, n, 4, 8}, {4 * n * 8, 8, 8 * n, 1}, {3}, {0, 1}},
                           {{n, n, 4, 8}, {4 * n * 8, 8, 8 * n, 1}, {3}, {0, 1}},
                           n * n,
                           4,
                           4,
                           8};
  };
  EXPECT_TRUE(finds(heads(64)));
  EXPECT_FALSE(finds(heads(65)));
  EXPECT_FALSE(finds({"long",
                      {{65536, 1, 2}, {2, 2, 1}, {2}, {0}},
                      {{65536, 2, 1}, {2, 1, 1}, {1}, {0}},
                      65536,
                      1,
                      1,
                      2}));
}

// --- types ---------------------------------------------------------------------------------------

TEST_F(CublasLt, TypesAreSummedInEnoughBits) {
  struct Row {
    uint32_t operands, result;
    LtType type, result_type, scale;
    LtCompute compute;
  };
  const Row rows[] = {
      {PRIMSET_F16, PRIMSET_F32, LtType::f16, LtType::f32, LtType::f32, LtCompute::f32},
      {PRIMSET_F16, PRIMSET_F16, LtType::f16, LtType::f16, LtType::f32, LtCompute::f32},
      {PRIMSET_BF16, PRIMSET_F32, LtType::bf16, LtType::f32, LtType::f32, LtCompute::f32},
      {PRIMSET_BF16, PRIMSET_BF16, LtType::bf16, LtType::bf16, LtType::f32, LtCompute::f32},
      {PRIMSET_F32, PRIMSET_F32, LtType::f32, LtType::f32, LtType::f32, LtCompute::f32},
      {PRIMSET_F64, PRIMSET_F64, LtType::f64, LtType::f64, LtType::f64, LtCompute::f64},
      {PRIMSET_C64, PRIMSET_C64, LtType::c64, LtType::c64, LtType::c64, LtCompute::f32},
      {PRIMSET_C128, PRIMSET_C128, LtType::c128, LtType::c128, LtType::c128, LtCompute::f64},
  };
  for (const Row& r : rows)
    EXPECT_THAT(
        given(matrices(5, 3, 7), r.operands, r.result),
        ElementsAre(AllOf(
            Field(&Product::type, int(r.type)), Field(&Product::result_type, int(r.result_type)),
            Field(&Product::scale, int(r.scale)), Field(&Product::compute, int(r.compute)))))
        << r.operands;
  EXPECT_FALSE(finds(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F64));
  EXPECT_FALSE(finds(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F16));
  EXPECT_FALSE(finds(matrices(5, 3, 7), PRIMSET_I32, PRIMSET_I32));
  EXPECT_FALSE(finds(matrices(5, 3, 7), PRIMSET_I64, PRIMSET_I64));
}

TEST_F(CublasLt, Tf32IsASetting) {
  const auto compute = [&](uint32_t dtype) {
    return given(matrices(5, 3, 7), dtype, dtype).at(0).compute;
  };
  setenv("PRIMSET_CUDA_TF32", "1", 1);
  reopen();
  EXPECT_EQ(compute(PRIMSET_F32), int(LtCompute::f32_by_tf32));
  EXPECT_EQ(compute(PRIMSET_C64), int(LtCompute::f32_by_tf32));
  EXPECT_EQ(compute(PRIMSET_F16), int(LtCompute::f32));
  EXPECT_EQ(compute(PRIMSET_F64), int(LtCompute::f64));
  setenv("PRIMSET_CUDA_TF32", "0", 1);
  reopen();
  EXPECT_EQ(compute(PRIMSET_F32), int(LtCompute::f32));
}

// Tensor cores take integers by fours, a by rows and b by columns; and past 2^31 / 2^14 terms a sum
// may not fit.
TEST_F(CublasLt, IntegersGoWhereTheyFit) {
  const auto fits = [&](int64_t m, int64_t n, int64_t k) {
    return finds({"", {{m, k}, {k, 1}, {1}, {}}, {{k, n}, {1, k}, {0}, {}}, 1, m, n, k}, PRIMSET_I8,
                 PRIMSET_I32);
  };
  EXPECT_TRUE(fits(8, 12, 16));
  EXPECT_TRUE(fits(7, 12, 16));
  EXPECT_FALSE(fits(8, 11, 16));
  EXPECT_FALSE(fits(8, 12, 15));
  EXPECT_TRUE(fits(4, 4, 131068));
  EXPECT_FALSE(fits(4, 4, 131072));
  EXPECT_FALSE(finds(matrices(8, 12, 16), PRIMSET_I8, PRIMSET_I32)) << "b lies by rows";
  const TestContraction c = {
      "", {{8, 16}, {16, 1}, {1}, {}}, {{16, 12}, {1, 16}, {0}, {}}, 1, 8, 12, 16};
  ContractionCall call(c, PRIMSET_I8, PRIMSET_I32);
  call.operands[0].offset = 2;
  EXPECT_FALSE(call.find(*device)) << "a begins at an odd place";
}

// --- matmul --------------------------------------------------------------------------------------

using Form = ContractionCall::Form;

TEST_F(CublasLt, AMatmulIsRoundedInTheSameCall) {
  const auto only = [&](Form form, uint32_t dtype) {
    fake_cublaslt::products();
    ContractionCall call(matrices(5, 3, 7), dtype, dtype, form);
    const auto primitive = call.find(*device).value();
    EXPECT_EQ(primitive.least_products, primset_cuda::kMinMultiplications);
    const TestNumbers a = random_numbers({{5, 7}, {7, 1}, {}, {}}, dtype, 1),
                      b = random_numbers({{7, 3}, {3, 1}, {}, {}}, dtype, 2),
                      bias = random_numbers(call.bias(), dtype, 3);
    call.run(*device, stream, primitive, a, b, 0, form == Form::matmul ? nullptr : &bias);
    const std::vector<Product> products = fake_cublaslt::products();
    EXPECT_THAT(products, SizeIs(1));
    return products.at(0);
  };
  Product p = f32_product(3, 5, 7);
  EXPECT_EQ(only(Form::matmul, PRIMSET_F32), p);
  p.bias = true;
  EXPECT_EQ(only(Form::matmul_with_bias, PRIMSET_F32), p);
  p.bias = false;
  p.type = p.result_type = int(LtType::bf16);
  EXPECT_EQ(only(Form::matmul, PRIMSET_BF16), p);
  ContractionCall rounded_twice(matrices(5, 3, 7), PRIMSET_BF16, PRIMSET_BF16,
                                Form::matmul_with_bias);
  EXPECT_FALSE(rounded_twice.find(*device));
}

TEST_F(CublasLt, ABiasIsTheSameForEachRow) {
  const auto takes = [&](std::vector<int64_t> sizes, std::vector<int64_t> strides,
                         uint32_t dtype = PRIMSET_F32) {
    ContractionCall call(matrices(5, 3, 7), dtype, dtype, Form::matmul_with_bias);
    call.operands[2].rank = static_cast<uint32_t>(sizes.size());
    call.operands[2].sizes = sizes.data();
    call.operands[2].strides = strides.data();
    return call.find(*device).has_value();
  };
  EXPECT_TRUE(takes({3}, {1}));
  EXPECT_TRUE(takes({1, 3}, {9, 1}));
  EXPECT_TRUE(takes({5, 3}, {0, 1}));
  EXPECT_FALSE(takes({5, 3}, {3, 1})) << "a matrix";
  EXPECT_FALSE(takes({3}, {2})) << "with gaps";
  EXPECT_FALSE(takes({5, 1}, {1, 1})) << "a column";
  EXPECT_FALSE(takes({}, {})) << "a number";
  EXPECT_FALSE(takes({3}, {1}, PRIMSET_F64)) << "none of the library's";
  ContractionCall other(matrices(5, 3, 7), PRIMSET_BF16, PRIMSET_BF16, Form::matmul_with_bias);
  other.operands[2].dtype = PRIMSET_F32;
  EXPECT_FALSE(other.find(*device));
  EXPECT_FALSE(ContractionCall(matrices(5, 3, 0), PRIMSET_F32, PRIMSET_F32, Form::matmul_with_bias)
                   .find(*device))
      << "no product to add it to";
}

TEST_F(CublasLt, AnActivationOrAScaleIsLeftToKernels) {
  const auto takes = [&](double scale, const char* activation) {
    ContractionCall call(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F32, Form::matmul);
    primset_attr attrs[2] = {call.call.attrs[0], call.call.attrs[1]};
    attrs[0].kind = PRIMSET_ATTR_FLOAT;
    attrs[0].value.f = scale;
    attrs[1].value.string = activation;
    call.call.attrs = attrs;
    return call.find(*device).has_value();
  };
  EXPECT_TRUE(takes(1, "none"));
  EXPECT_FALSE(takes(0.5, "none"));
  EXPECT_FALSE(takes(1, "relu"));
}

TEST_F(CublasLt, AMatmulOfWhatIsNoNumberThereIsRefused) {
  EXPECT_FALSE(
      ContractionCall(matrices(8, 12, 16), PRIMSET_I8, PRIMSET_I8, Form::matmul).find(*device));
  EXPECT_FALSE(
      ContractionCall(matrices(5, 3, 7), PRIMSET_I64, PRIMSET_I64, Form::matmul).find(*device));
}

// The places of D may be less aligned than it is itself: the library reads the bias as it goes.
TEST_F(CublasLt, ABiasIsReadAsItLies) {
  ContractionCall call(matrices(8, 8, 8), PRIMSET_F32, PRIMSET_F32, Form::matmul_with_bias);
  call.operands[2].offset = 12;
  fake_cublaslt::questions();
  EXPECT_TRUE(call.find(*device));
  EXPECT_EQ(fake_cublaslt::questions().at(0).align_d, 4u);
}

TEST_F(CublasLt, ABiasThatCannotBeDescribedIsAnError) {
  ContractionCall call(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F32, Form::matmul_with_bias);
  const auto primitive = call.find(*device).value();
  const DeviceBuffer a = device->alloc(256), b = device->alloc(256), bias = device->alloc(256),
                     d = device->alloc(256);
  call.operands[0].buffer = a.handle();
  call.operands[1].buffer = b.handle();
  call.operands[2].buffer = bias.handle();
  call.result.buffer = d.handle();
  fake_cublaslt::fail("cublasLtMatmulDescCreate", primset_cuda::kLtAllocFailed);
  const auto [code, text] = error_of([&] { stream.run(primitive, call.call, "matmul"); });
  EXPECT_EQ(code, ErrorCode::out_of_memory);
  EXPECT_THAT(text, AllOf(HasSubstr("matmul"), HasSubstr("cublasLtMatmulDescCreate")));
  EXPECT_THAT(fake_cublaslt::products(), IsEmpty());
  stream.run(primitive, call.call, "matmul");
  stream.synchronize();
  EXPECT_THAT(fake_cublaslt::products(), SizeIs(1));
}

// --- what the library is asked -------------------------------------------------------------------

TEST_F(CublasLt, AskedForCodeThatGivesTheSameBitsEachTime) {
  fake_cublaslt::questions();
  EXPECT_TRUE(finds(matrices(5, 3, 7)));
  EXPECT_TRUE(finds(matrices(5, 3, 7), PRIMSET_C64, PRIMSET_C64));
  const auto asked = fake_cublaslt::questions();
  ASSERT_EQ(asked.size(), 2u);
  for (const auto& q : asked) {
    EXPECT_EQ(q.max_workspace_bytes, kWorkspaceBytes);
    EXPECT_EQ(q.reduction_schemes, primset_cuda::kLtSumInComputeType);
    EXPECT_EQ(q.align_a, 16u);
    EXPECT_EQ(q.align_b, 16u);
    EXPECT_EQ(q.align_c, 16u);
    EXPECT_EQ(q.align_d, 16u);
  }
  EXPECT_EQ(asked[0].implementations, ~uint64_t{0});
  EXPECT_EQ(asked[1].implementations, ~primset_cuda::kLtGaussian) << "four products, not three";
}

TEST_F(CublasLt, ToldHowMemoryIsAligned) {
  const auto asked = [&](uint64_t a, uint64_t b, uint64_t d) {
    ContractionCall call(matrices(8, 8, 8), PRIMSET_F32, PRIMSET_F32);
    call.operands[0].offset = a;
    call.operands[1].offset = b;
    call.result.offset = d;
    fake_cublaslt::questions();
    EXPECT_TRUE(call.find(*device));
    return fake_cublaslt::questions().at(0);
  };
  const auto q = asked(4, 24, 48);
  EXPECT_EQ(q.align_a, 8u);
  EXPECT_EQ(q.align_b, 4u);
  EXPECT_EQ(q.align_d, 16u);
  // Of several calls the worst counts.
  const TestContraction heads = {"",
                                 {{5, 3, 4, 9}, {108, 9, 27, 1}, {3}, {0, 1}},
                                 {{5, 3, 4, 9}, {108, 9, 27, 1}, {3}, {0, 1}},
                                 15,
                                 4,
                                 4,
                                 9};
  EXPECT_TRUE(finds(heads));
  EXPECT_EQ(fake_cublaslt::questions().at(0).align_a, 4u);
}

TEST_F(CublasLt, AskedOnceAShape) {
  fake_cublaslt::questions();
  for (int i = 0; i < 3; ++i) given(matrices(5, 3, 7));
  EXPECT_THAT(fake_cublaslt::questions(), SizeIs(1));
  given(matrices(5, 3, 8));
  EXPECT_THAT(fake_cublaslt::questions(), SizeIs(1));
}

TEST_F(CublasLt, ForgetsTheShapesThatAreNotUsed) {
  const TestContraction kept = matrices(3, 3, 3);
  ASSERT_TRUE(finds(kept));
  for (int64_t n = 1; n <= 2000; ++n) {
    ASSERT_TRUE(finds(matrices(4, n, 4)));
    if (n % 100 == 0) ASSERT_TRUE(finds(kept));
  }
  EXPECT_LE(fake_cublaslt::descriptors(), 1024u);
  fake_cublaslt::questions();
  EXPECT_TRUE(finds(kept));
  EXPECT_THAT(fake_cublaslt::questions(), IsEmpty());
  EXPECT_TRUE(finds(matrices(4, 1, 4)));
  EXPECT_THAT(fake_cublaslt::questions(), SizeIs(1));
}

TEST_F(CublasLt, SmallProductsAreLeftToKernels) {
  const auto least = [&] {
    return ContractionCall(matrices(2, 2, 2), PRIMSET_F32, PRIMSET_F32)
        .find(*device)
        .value()
        .least_products;
  };
  EXPECT_EQ(least(), primset_cuda::kMinMultiplications);
  setenv("PRIMSET_CUBLASLT_LEAST", "1000000", 1);
  reopen();
  EXPECT_EQ(least(), 1000000u);
}

// --- workspace -----------------------------------------------------------------------------------

TEST_F(CublasLt, WorkspaceIsMadeWhereItIsNeeded) {
  const auto allocations = [&] {
    fake_cuda::calls();
    ContractionCall call(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F32);
    const TestNumbers a = random_numbers({{5, 7}, {7, 1}, {}, {}}, PRIMSET_F32, 1),
                      b = random_numbers({{7, 3}, {3, 1}, {}, {}}, PRIMSET_F32, 2);
    const auto primitive = call.find(*device).value();
    call.run(*device, stream, primitive, a, b);
    return std::ranges::count(fake_cuda::calls(), "cuMemAllocAsync");
  };
  EXPECT_EQ(allocations(), 3) << "the test's own";
  fake_cublaslt::need_workspace(kWorkspaceBytes);
  reopen();
  EXPECT_EQ(allocations(), 4);
  EXPECT_EQ(allocations(), 3);
}

TEST_F(CublasLt, StreamsHaveWorkspacesOfTheirOwn) {
  fake_cublaslt::need_workspace(1 << 20);
  const StreamHandle other = device->create_stream();
  const TestContraction c = matrices(5, 3, 7);
  ContractionCall call(c, PRIMSET_F32, PRIMSET_F32);
  const auto primitive = call.find(*device).value();
  const DeviceBuffer a = device->alloc(256), b = device->alloc(256), d = device->alloc(256);
  call.operands[0].buffer = a.handle();
  call.operands[1].buffer = b.handle();
  call.result.buffer = d.handle();
  stream.run(primitive, call.call, "dot_general");
  other.run(primitive, call.call, "dot_general");
  stream.synchronize();
  other.synchronize();
}

TEST_F(CublasLt, NoMemoryForTheWorkspaceIsAnError) {
  fake_cublaslt::need_workspace(1 << 20);
  ContractionCall call(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F32);
  const auto primitive = call.find(*device).value();
  const DeviceBuffer a = device->alloc(256), b = device->alloc(256), d = device->alloc(256);
  call.operands[0].buffer = a.handle();
  call.operands[1].buffer = b.handle();
  call.result.buffer = d.handle();
  fake_cuda::fail("cuMemAllocAsync", primset_cuda::kErrorOutOfMemory);
  const auto [code, text] = error_of([&] { stream.run(primitive, call.call, "dot_general"); });
  EXPECT_EQ(code, ErrorCode::out_of_memory);
  EXPECT_THAT(text, HasSubstr("dot_general"));
  EXPECT_THAT(fake_cublaslt::products(), IsEmpty());
  stream.run(primitive, call.call, "dot_general");
  stream.synchronize();
  EXPECT_THAT(fake_cublaslt::products(), SizeIs(1));
}

// While a graph is captured nothing waits and nothing is made in the stream's order.
TEST_F(CublasLt, ProductsCanBeCaptured) {
  fake_cublaslt::need_workspace(1 << 20);
  ContractionCall call(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F32);
  const DeviceBuffer a = device->alloc(256), b = device->alloc(256), d = device->alloc(256);
  call.operands[0].buffer = a.handle();
  call.operands[1].buffer = b.handle();
  call.result.buffer = d.handle();
  fake_cuda::set_capturing(true);
  const auto primitive = call.find(*device).value();
  stream.run(primitive, call.call, "dot_general");
  EXPECT_EQ(fake_cuda::thread_capture_mode(), 0);
  fake_cuda::set_capturing(false);
  stream.synchronize();
}

// --- without the library -------------------------------------------------------------------------

TEST_F(CublasLt, MayBeOff) {
  setenv("PRIMSET_CUBLASLT", "off", 1);
  reopen();
  EXPECT_FALSE(finds(matrices(5, 3, 7)));
  EXPECT_THAT(logged_, IsEmpty());
}

TEST_F(CublasLt, AFileThatIsNotThereIsTold) {
  setenv("PRIMSET_CUBLASLT", "/nowhere/libcublasLt.so", 1);
  reopen();
  EXPECT_FALSE(finds(matrices(5, 3, 7)));
  EXPECT_FALSE(finds(matrices(5, 3, 8)));
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("PRIMSET_CUBLASLT=/nowhere/libcublasLt.so")));
}

TEST_F(CublasLt, ALibraryWithoutAFunctionIsTold) {
  setenv("PRIMSET_CUBLASLT", PRIMSET_POOR_CUBLASLT, 1);
  reopen();
  EXPECT_FALSE(finds(matrices(5, 3, 7)));
  EXPECT_THAT(logged_, ElementsAre(AllOf(HasSubstr("has no cublasLtGetStatusName"),
                                         HasSubstr("matrix products are generated kernels"))));
}

TEST_F(CublasLt, VersionsThatDoNotFitAreTold) {
  for (const size_t version : {110900, 140000}) {
    logged_.clear();
    fake_cublaslt::set_version(version);
    reopen();
    EXPECT_FALSE(finds(matrices(5, 3, 7)));
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("is version " + std::to_string(version))));
  }
  logged_.clear();
  fake_cublaslt::set_version(120905);
  reopen();
  EXPECT_TRUE(finds(matrices(5, 3, 7)));
  EXPECT_THAT(logged_, IsEmpty());
}

TEST_F(CublasLt, ALibraryThatDoesNotStartIsTold) {
  fake_cublaslt::fail("cublasLtCreate", primset_cuda::kLtNotInitialized);
  EXPECT_FALSE(finds(matrices(5, 3, 7)));
  EXPECT_FALSE(finds(matrices(5, 3, 7)));
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("cublasLtCreate")));
}

TEST_F(CublasLt, OtherPrimitivesAreNotLookedAt) {
  primset_primitive primitive{};
  primitive.struct_size = sizeof(primitive);
  ContractionCall call(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F32);
  primset_status* status =
      device->primitives()->find(device->handle(), "add", &call.call, &primitive);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->code, uint32_t{PRIMSET_UNSUPPORTED});
  status->release(status);
}

// --- failures ------------------------------------------------------------------------------------

TEST_F(CublasLt, WhatTheLibraryHasNoCodeForIsRefused) {
  fake_cublaslt::find_nothing();
  EXPECT_FALSE(finds(matrices(5, 3, 7)));
}

TEST_F(CublasLt, CodeThatNeedsTooMuchWorkspaceIsRefused) {
  fake_cublaslt::need_workspace(kWorkspaceBytes + 1);
  EXPECT_FALSE(finds(matrices(5, 3, 7)));
}

TEST_F(CublasLt, FailuresOfEveryCallAreTold) {
  for (const char* function :
       {"cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutSetAttribute",
        "cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute",
        "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute",
        "cublasLtMatmulAlgoGetHeuristic"}) {
    fake_cublaslt::fail(function, primset_cuda::kLtAllocFailed);
    const TestContraction c = {
        "", {{3, 4, 6}, {24, 6, 1}, {2}, {0}}, {{3, 6, 5}, {30, 5, 1}, {1}, {0}}, 3, 4, 5, 6};
    const auto [code, text] = error_of([&] { finds(c); });
    EXPECT_EQ(code, ErrorCode::out_of_memory) << function;
    EXPECT_THAT(text, HasSubstr(std::string(function) + ": CUBLAS_STATUS_FAKE (3)"));
  }
  fake_cublaslt::fail("cublasLtMatmul", primset_cuda::kLtNotSupported);
  const auto [code, text] = error_of([&] { given(matrices(5, 3, 7)); });
  EXPECT_EQ(code, ErrorCode::plugin);
  EXPECT_THAT(text, HasSubstr("cublasLtMatmul: CUBLAS_STATUS_NOT_SUPPORTED (15)"));
  // And afterwards all is well.
  EXPECT_THAT(given(matrices(5, 3, 7)), SizeIs(1));
}

TEST_F(CublasLt, ALostDeviceIsSaidToBeLost) {
  ContractionCall call(matrices(5, 3, 7), PRIMSET_F32, PRIMSET_F32);
  const auto primitive = call.find(*device).value();
  const DeviceBuffer a = device->alloc(256), b = device->alloc(256), d = device->alloc(256);
  call.operands[0].buffer = a.handle();
  call.operands[1].buffer = b.handle();
  call.result.buffer = d.handle();
  fake_cuda::fail("cuStreamSynchronize", primset_cuda::kErrorIllegalAddress, 0, true);
  error_of([&] { stream.synchronize(); });
  EXPECT_THAT(error_of([&] { stream.run(primitive, call.call, "dot_general"); }).second,
              AllOf(HasSubstr("device lost"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)")));
}

}  // namespace
}  // namespace primset::plugin
