// The cpu back end: damaged images, thread counts, and native matrix products.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>

#include <cstdlib>
#include <cstring>

#include "backends/common/element_bytes.h"
#include "backends/common/testing/contractions.h"
#include "backends/common/testing/kernels.h"
#include "sdk/runtime/plugin/loader.h"

// oneDNN keeps what it compiled for as long as the process lives.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libdnnl";
}

namespace primset::plugin {
namespace {

using primset_backend_test::ContractionCall;
using primset_backend_test::random_numbers;
using primset_backend_test::TestContraction;
using primset_backend_test::TestKernel;
using primset_backend_test::TestNumbers;
using primset_backend_test::TestOperand;
using testing::HasSubstr;

class Cpu : public testing::Test {
 protected:
  void open(const char* threads = nullptr) {
    stream.reset();
    device.reset();
    registry.reset();
    if (threads)
      setenv("PRIMSET_CPU_THREADS", threads, 1);
    else
      unsetenv("PRIMSET_CPU_THREADS");
    LoaderOptions options;
    options.path = {std::filesystem::path(PRIMSET_TEST_PLUGIN_DIR)};
    options.validation = ValidationOptions{};
    registry = std::make_unique<Registry>(std::move(options));
    device = registry->open("cpu:0");
    stream = device->create_stream();
  }
  void TearDown() override {
    EXPECT_THAT(registry->plugin("cpu")->validation()->findings(), testing::IsEmpty());
    unsetenv("PRIMSET_CPU_THREADS");
  }

  std::unique_ptr<Registry> registry;
  std::shared_ptr<PluginDevice> device;
  StreamHandle stream;
};

// --- images --------------------------------------------------------------------------------------

class CpuImage : public Cpu {
 protected:
  void SetUp() override {
    open();
    kernel = primset_backend_test::add_bias(PRIMSET_FORMAT_NATIVE_IMAGE);
    if (kernel.size == 0) GTEST_SKIP() << "no test kernel for this CPU";
  }
  // What loading says after `change` was made to the header.
  template <typename Change>
  std::string load_error(Change&& change) {
    TestKernel spoilt = kernel;
    primset_native_image header;
    std::memcpy(&header, spoilt.words.data(), sizeof(header));
    change(header, spoilt);
    std::memcpy(spoilt.words.data(), &header, sizeof(header));
    try {
      device->load_module(spoilt.desc(PRIMSET_FORMAT_NATIVE_IMAGE));
    } catch (const Error& e) {
      return e.what();
    }
    return "loaded";
  }
  TestKernel kernel;
};

TEST_F(CpuImage, DamagedOnesAreRefused) {
  using Header = primset_native_image;
  EXPECT_EQ(load_error([](Header&, TestKernel&) {}), "loaded");
  EXPECT_THAT(load_error([](Header& h, TestKernel&) { h.magic[0] = 'X'; }), HasSubstr("PSIMAGE1"));
  EXPECT_THAT(load_error([](Header& h, TestKernel&) { h.header_size = 8; }),
              HasSubstr("header_size is 8"));
  EXPECT_THAT(load_error([](Header& h, TestKernel&) { h.machine = 40; }),
              HasSubstr("ELF machine 40"));
  EXPECT_THAT(load_error([](Header& h, TestKernel&) { h.image_size += 1; }),
              HasSubstr("image_size"));
  EXPECT_THAT(load_error([](Header& h, TestKernel&) { h.image_size = 20; }),
              HasSubstr("image_size is 20"));
  EXPECT_THAT(load_error([](Header& h, TestKernel&) { h.entry_offset = h.image_size; }),
              HasSubstr("entry_offset"));
  EXPECT_THAT(load_error([](Header& h, TestKernel&) { h.entry_offset = 8; }),
              HasSubstr("entry_offset is 8"));
  EXPECT_THAT(load_error([](Header&, TestKernel& k) { k.size = 16; }), HasSubstr("hold no header"));
}

// --- threads -------------------------------------------------------------------------------------

TEST_F(Cpu, ThreadsAreAsAskedFor) {
  open("3");
  EXPECT_EQ(device->properties().threads, 3u);
  open();
  EXPECT_GE(device->properties().threads, 1u);
}

// Several launches from several threads, on more threads than there are cores: every group runs
// once.
TEST_F(Cpu, EveryGroupRunsOnce) {
  open("7");
  const TestKernel kernel = primset_backend_test::add_bias(PRIMSET_FORMAT_NATIVE_IMAGE);
  if (kernel.size == 0) GTEST_SKIP() << "no test kernel for this CPU";
  const ModuleHandle module = device->load_module(kernel.desc(PRIMSET_FORMAT_NATIVE_IMAGE));
  const auto work = [&] {
    const StreamHandle own = device->create_stream();
    for (uint32_t n : {1u, 2u, 6u, 7u, 8u, 1000u, 100'000u}) {
      const DeviceBuffer buffer = device->alloc(4 * uint64_t{n});
      const uint32_t zero = 0;
      own.fill(buffer.handle(), 0, buffer.bytes(), &zero, 4);
      const primset_binding both{buffer.handle(), 0, buffer.bytes(),
                                 PRIMSET_ACCESS_READ | PRIMSET_ACCESS_WRITE, 0};
      const primset_binding bindings[] = {both, both};
      const uint64_t one = 1;
      primset_launch launch{};
      launch.struct_size = sizeof(launch);
      launch.kernel = module.kernel();
      launch.groups[0] = n;
      launch.groups[1] = launch.groups[2] = 1;
      launch.binding_count = 2;
      launch.bindings = bindings;
      launch.scalars = &one;
      launch.scalar_bytes = 8;
      for (int i = 0; i < 50; ++i) own.launch(launch);
      std::vector<int32_t> out(n);
      own.copy_out(buffer.handle(), 0, out.data(), 4 * uint64_t{n});
      EXPECT_THAT(out, testing::Each(50)) << n;
    }
  };
  std::thread other(work);
  work();
  other.join();
}

// --- dot_general ---------------------------------------------------------------------------------

class CpuDot : public Cpu {
 protected:
  std::vector<char> run(const TestContraction& c, uint32_t dtype, const TestNumbers& a,
                        const TestNumbers& b) {
    ContractionCall call(c, dtype, result_of(dtype));
    const auto primitive = call.find(*device);
    if (!primitive) {
      ADD_FAILURE() << c.name << " is refused";
      return {};
    }
    return call.run(*device, stream, *primitive, a, b);
  }

  static uint32_t result_of(uint32_t dtype) { return dtype == PRIMSET_BF16 ? PRIMSET_F32 : dtype; }

  // False when there is no library here, or it has no code for the type.
  bool available(uint32_t dtype) {
    ContractionCall call(primset_backend_test::test_contractions()[0], dtype, result_of(dtype));
    return call.find(*device).has_value();
  }
};

// oneDNN's and OpenBLAS's.
constexpr uint32_t kTypes[] = {PRIMSET_F32, PRIMSET_BF16, PRIMSET_F64, PRIMSET_C64, PRIMSET_C128};

TEST_F(CpuDot, TheBitsDoNotDependOnThreads) {
  const TestContraction cases[] = {
      {"tall", {{500, 3000}, {1, 500}, {1}, {}}, {{3000, 3}, {3, 1}, {0}, {}}, 1, 500, 3, 3000},
      {"one row",
       {{1, 3000}, {3000, 1}, {1}, {}},
       {{3000, 700}, {700, 1}, {0}, {}},
       1,
       1,
       700,
       3000},
      {"deep", {{8, 20000}, {1, 8}, {1}, {}}, {{20000, 8}, {8, 1}, {0}, {}}, 1, 8, 8, 20000},
      {"square",
       {{400, 700}, {700, 1}, {1}, {}},
       {{700, 600}, {1, 700}, {0}, {}},
       1,
       400,
       600,
       700},
  };
  for (uint32_t dtype : kTypes) {
    for (const TestContraction& c : cases) {
      std::vector<char> first;
      for (const char* threads : {"1", "2", "5"}) {
        open(threads);
        if (!available(dtype)) break;
        const std::vector<char> out =
            run(c, dtype, random_numbers(c.a, dtype, 1), random_numbers(c.b, dtype, 2));
        if (first.empty()) first = out;
        EXPECT_TRUE(first == out) << c.name << " with " << threads << " threads";
      }
    }
  }
  open();
}

// By sizes that are the same in all calls of a plan: whether the batch has one matrix or several.
TEST_F(CpuDot, ProductsOfABatchMayBeSmaller) {
  open();
  if (!available(PRIMSET_F32)) GTEST_SKIP() << "no oneDNN here";
  const auto least = [&](int64_t batch) {
    const TestOperand a{{batch, 4, 4}, {16, 4, 1}, {2}, {0}},
        b{{batch, 4, 4}, {16, 4, 1}, {1}, {0}};
    return ContractionCall({"", a, b, batch, 4, 4, 4}, PRIMSET_F32, PRIMSET_F32)
        .find(*device)
        ->least_products;
  };
  EXPECT_GT(least(1), least(2));
  EXPECT_EQ(least(2), least(300));
  EXPECT_GT(least(2), 0u);
}

// Generated code reads a matrix that is multiplied by a vector once, and oneDNN copies it first.
TEST_F(CpuDot, MatrixTimesVectorIsRefused) {
  open();
  for (const auto& [m, n] : {std::pair{29, 1}, {1, 1}}) {
    const TestOperand a{{m, 300}, {300, 1}, {1}, {}}, b{{300, n}, {n, 1}, {0}, {}};
    ContractionCall call({"", a, b, 1, m, n, 300}, PRIMSET_F32, PRIMSET_F32);
    EXPECT_FALSE(call.find(*device).has_value()) << m << " x " << n;
  }
}

// A matrix in memory: by rows or by columns, with or without gaps.
struct Storage {
  const char* name;
  bool by_columns;
  int64_t gap;
};

TEST_F(CpuDot, TheBitsDoNotDependOnStrides) {
  open();
  const Storage storages[] = {{"rows", false, 0},
                              {"rows with gaps", false, 40},
                              {"columns", true, 0},
                              {"columns with gaps", true, 40}};
  const int64_t sizes[][3] = {{1, 5000, 70},   {1, 37, 4000},  {3, 100, 1000}, {7, 2050, 333},
                              {15, 65, 2000},  {12, 12, 32},   {12, 32, 12},   {2, 64, 300},
                              {29, 2, 32},     {13, 13, 32},   {64, 64, 64},   {130, 100, 70},
                              {256, 384, 96},  {300, 530, 70}, {33, 260, 410}, {500, 3, 3000},
                              {200, 384, 1536}};
  const auto operand = [](const Storage& storage, int64_t rows, int64_t cols, int64_t contract) {
    const std::vector<int64_t> strides = storage.by_columns
                                             ? std::vector<int64_t>{1, rows + storage.gap}
                                             : std::vector<int64_t>{cols + storage.gap, 1};
    return TestOperand{{rows, cols}, strides, {contract}, {}};
  };
  // The same elements, wherever they lie.
  const auto fill = [](const TestOperand& o, const TestNumbers& dense, size_t width) {
    TestNumbers data{std::vector<char>(elements(o) * width), {}};
    for (int64_t i = 0, at = 0; i < o.sizes[0]; ++i)
      for (int64_t j = 0; j < o.sizes[1]; ++j, ++at)
        std::memcpy(&data.bytes[static_cast<size_t>(i * o.strides[0] + j * o.strides[1]) * width],
                    &dense.bytes[static_cast<size_t>(at) * width], width);
    return data;
  };
  for (uint32_t dtype : kTypes) {
    if (!available(dtype)) continue;
    const size_t width = primset_backend::element_bytes(dtype);
    for (const auto& [m, n, k] : sizes) {
      const TestOperand a = operand(storages[0], m, k, 1), b = operand(storages[0], k, n, 0);
      const TestNumbers da = random_numbers(a, dtype, 1), db = random_numbers(b, dtype, 2);
      const std::vector<char> first = run({"", a, b, 1, m, n, k}, dtype, da, db);
      for (const Storage& sa : storages) {
        for (const Storage& sb : storages) {
          const TestOperand oa = operand(sa, m, k, 1), ob = operand(sb, k, n, 0);
          const std::vector<char> out =
              run({"", oa, ob, 1, m, n, k}, dtype, fill(oa, da, width), fill(ob, db, width));
          EXPECT_TRUE(first == out) << m << " x " << n << " x " << k << " of dtype " << dtype
                                    << ": a by " << sa.name << ", b by " << sb.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace primset::plugin
