// The cpu back end: damaged images, thread counts, and native matrix products.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "backends/common/test_kernels.h"
#include "sdk/runtime/plugin/loader.h"

// oneDNN keeps what it compiled for as long as the process lives.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libdnnl";
}

namespace primset::plugin {
namespace {

using primset_backend_test::TestKernel;
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

struct Operand {
  std::vector<int64_t> sizes, strides;
  std::vector<int64_t> contract, batch;
};

struct Case {
  const char* name;
  Operand a, b;
  int64_t batch, m, n, k;
};

const Case kCases[] = {
    {"plain", {{5, 7}, {7, 1}, {1}, {}}, {{7, 3}, {3, 1}, {0}, {}}, 1, 5, 3, 7},
    {"blocks", {{300, 70}, {70, 1}, {1}, {}}, {{70, 530}, {530, 1}, {0}, {}}, 1, 300, 530, 70},
    {"transposed", {{65, 33}, {33, 1}, {0}, {}}, {{40, 65}, {65, 1}, {1}, {}}, 1, 33, 40, 65},
    {"batched", {{3, 4, 6}, {24, 6, 1}, {2}, {0}}, {{3, 6, 5}, {30, 5, 1}, {1}, {0}}, 3, 4, 5, 6},
    {"batch_last",
     {{4, 6, 3}, {18, 3, 1}, {1}, {2}},
     {{6, 5, 3}, {15, 3, 1}, {0}, {2}},
     3,
     4,
     5,
     6},
    {"two_contracted",
     {{2, 3, 4}, {12, 4, 1}, {1, 2}, {}},
     {{3, 4, 5}, {20, 5, 1}, {0, 1}, {}},
     1,
     2,
     5,
     12},
    {"swapped_contracted",
     {{2, 3, 4}, {12, 4, 1}, {2, 1}, {}},
     {{4, 3, 5}, {15, 5, 1}, {0, 1}, {}},
     1,
     2,
     5,
     12},
    {"gaps", {{5, 7}, {20, 2}, {1}, {}}, {{7, 3}, {9, 3}, {0}, {}}, 1, 5, 3, 7},
    {"broadcast", {{5, 7}, {0, 1}, {1}, {}}, {{7, 3}, {1, 0}, {0}, {}}, 1, 5, 3, 7},
    {"row", {{1, 9}, {9, 1}, {1}, {}}, {{9, 4}, {4, 1}, {0}, {}}, 1, 1, 4, 9},
    {"column", {{6, 9}, {9, 1}, {1}, {}}, {{9, 1}, {1, 1}, {0}, {}}, 1, 6, 1, 9},
    {"outer", {{4, 1}, {1, 1}, {1}, {}}, {{1, 6}, {6, 1}, {0}, {}}, 1, 4, 6, 1},
    {"vectors", {{8}, {1}, {0}, {}}, {{8}, {1}, {0}, {}}, 1, 1, 1, 8},
    {"nothing_contracted", {{3, 0}, {1, 1}, {1}, {}}, {{0, 2}, {2, 1}, {0}, {}}, 1, 3, 2, 0},
    {"empty", {{0, 4}, {4, 1}, {1}, {}}, {{4, 2}, {2, 1}, {0}, {}}, 1, 0, 2, 4},
    {"no_batch", {{0, 2, 2}, {4, 2, 1}, {2}, {0}}, {{0, 2, 2}, {4, 2, 1}, {1}, {0}}, 0, 2, 2, 2},
};

float bf16_value(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float f;
  std::memcpy(&f, &wide, 4);
  return f;
}

class CpuDot : public Cpu {
 protected:
  static uint64_t elements(const Operand& o) {
    uint64_t last = 0;
    for (size_t d = 0; d < o.sizes.size(); ++d) {
      if (o.sizes[d] == 0) return 0;
      last += static_cast<uint64_t>((o.sizes[d] - 1) * o.strides[d]);
    }
    return last + 1;
  }

  // Random values as both their bits in memory and floats.
  struct Data {
    std::vector<char> bytes;
    std::vector<float> values;
  };
  static Data random_data(const Operand& o, uint32_t dtype, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Data data;
    for (uint64_t i = 0; i < elements(o); ++i) {
      float x = normal(random);
      uint32_t bits;
      std::memcpy(&bits, &x, 4);
      const auto half = static_cast<uint16_t>(bits >> 16);
      if (dtype == PRIMSET_BF16) x = bf16_value(half);
      const char* from = reinterpret_cast<const char*>(
          dtype == PRIMSET_BF16 ? static_cast<const void*>(&half) : static_cast<const void*>(&x));
      data.bytes.insert(data.bytes.end(), from, from + (dtype == PRIMSET_BF16 ? 2 : 4));
      data.values.push_back(x);
    }
    return data;
  }

  // Every element's offset, batch dims first, then free, then contracted.
  static std::vector<int64_t> walk(const Operand& o) {
    std::vector<size_t> order(o.batch.begin(), o.batch.end());
    for (size_t d = 0; d < o.sizes.size(); ++d)
      if (std::count(o.batch.begin(), o.batch.end(), d) == 0 &&
          std::count(o.contract.begin(), o.contract.end(), d) == 0)
        order.push_back(d);
    order.insert(order.end(), o.contract.begin(), o.contract.end());
    std::vector<int64_t> offsets{0};
    for (size_t d : order) {
      std::vector<int64_t> next;
      for (int64_t base : offsets)
        for (int64_t i = 0; i < o.sizes[d]; ++i) next.push_back(base + i * o.strides[d]);
      offsets = next;
    }
    return offsets;
  }

  std::vector<float> run(const Case& c, uint32_t dtype, const Data& a, const Data& b) {
    const DeviceBuffer da = device->alloc(a.bytes.size() + 64),
                       db = device->alloc(b.bytes.size() + 64);
    const auto results = static_cast<uint64_t>(c.batch * c.m * c.n);
    const DeviceBuffer dc = device->alloc(4 * results + 64);
    stream.copy_in(da.handle(), 0, a.bytes.data(), a.bytes.size());
    stream.copy_in(db.handle(), 0, b.bytes.data(), b.bytes.size());
    const auto tensor = [](const DeviceBuffer& buffer, uint32_t type, const auto& sizes,
                           const auto& strides) {
      primset_tensor t{};
      t.struct_size = sizeof(t);
      t.dtype = type;
      t.buffer = buffer.handle();
      t.rank = static_cast<uint32_t>(sizes.size());
      t.sizes = sizes.data();
      t.strides = strides.data();
      return t;
    };
    const primset_tensor operands[] = {tensor(da, dtype, c.a.sizes, c.a.strides),
                                       tensor(db, dtype, c.b.sizes, c.b.strides)};
    const std::vector<int64_t> sizes{c.batch, c.m, c.n}, strides{c.m * c.n, c.n, 1};
    const primset_tensor result = tensor(dc, PRIMSET_F32, sizes, strides);
    const auto ints = [](const char* name, const std::vector<int64_t>& list) {
      primset_attr attr{};
      attr.name = name;
      attr.kind = PRIMSET_ATTR_INTS;
      attr.count = static_cast<uint32_t>(list.size());
      attr.value.ints = list.data();
      return attr;
    };
    const primset_attr attrs[] = {ints("a_contract", c.a.contract),
                                  ints("b_contract", c.b.contract), ints("a_batch", c.a.batch),
                                  ints("b_batch", c.b.batch)};
    primset_primitive_call call{};
    call.struct_size = sizeof(call);
    call.operand_count = 2;
    call.operands = operands;
    call.result_count = 1;
    call.results = &result;
    call.attr_count = 4;
    call.attrs = attrs;
    primset_primitive primitive{};
    primitive.struct_size = sizeof(primitive);
    check(device->primitives()->find(device->handle(), "dot_general", &call, &primitive), "cpu:0",
          "find");
    stream.run(primitive, call, "dot_general");
    std::vector<float> out(results);
    stream.copy_out(dc.handle(), 0, out.data(), 4 * results);
    stream.synchronize();  // an empty copy_out waits for nothing
    return out;
  }

  // False when there is no oneDNN here, or it has no code for the type.
  bool available(uint32_t dtype) {
    if (!device->primitives()) return false;
    const Case& c = kCases[0];
    try {
      run(c, dtype, random_data(c.a, dtype, 1), random_data(c.b, dtype, 2));
      return true;
    } catch (const Error& e) {
      return e.code() != ErrorCode::not_implemented;
    }
  }
};

TEST_F(CpuDot, IsRight) {
  open();
  for (uint32_t dtype : {PRIMSET_F32, PRIMSET_BF16}) {
    if (!available(dtype)) continue;
    for (const Case& c : kCases) {
      const Data a = random_data(c.a, dtype, 1), b = random_data(c.b, dtype, 2);
      const std::vector<float> out = run(c, dtype, a, b);
      const std::vector<int64_t> oa = walk(c.a), ob = walk(c.b);
      for (int64_t i = 0; i < c.batch * c.m * c.n; ++i) {
        const int64_t batch = i / (c.m * c.n), row = i / c.n % c.m, col = i % c.n;
        double sum = 0, size = 0;
        for (int64_t k = 0; k < c.k; ++k) {
          const double x =
              a.values[static_cast<size_t>(oa[static_cast<size_t>((batch * c.m + row) * c.k + k)])];
          const double y =
              b.values[static_cast<size_t>(ob[static_cast<size_t>((batch * c.n + col) * c.k + k)])];
          sum += x * y;
          size += std::abs(x * y);
        }
        ASSERT_NEAR(out[static_cast<size_t>(i)], sum, size * static_cast<double>(c.k + 1) * 0x1p-24)
            << c.name << " element " << i;
      }
    }
  }
}

TEST_F(CpuDot, TheBitsDoNotDependOnThreads) {
  const Case cases[] = {
      {"tall", {{500, 3000}, {1, 500}, {1}, {}}, {{3000, 3}, {3, 1}, {0}, {}}, 1, 500, 3, 3000},
      {"deep", {{8, 20000}, {1, 8}, {1}, {}}, {{20000, 8}, {8, 1}, {0}, {}}, 1, 8, 8, 20000},
      {"square",
       {{400, 700}, {700, 1}, {1}, {}},
       {{700, 600}, {1, 700}, {0}, {}},
       1,
       400,
       600,
       700},
  };
  for (uint32_t dtype : {PRIMSET_F32, PRIMSET_BF16}) {
    for (const Case& c : cases) {
      std::vector<float> first;
      for (const char* threads : {"1", "2", "5"}) {
        open(threads);
        if (!available(dtype)) break;
        const std::vector<float> out =
            run(c, dtype, random_data(c.a, dtype, 1), random_data(c.b, dtype, 2));
        if (first.empty()) first = out;
        EXPECT_EQ(std::memcmp(first.data(), out.data(), 4 * out.size()), 0)
            << c.name << " with " << threads << " threads";
      }
    }
  }
  open();
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
  const int64_t sizes[][3] = {{12, 12, 32},   {12, 32, 12},   {1, 64, 300},   {29, 1, 32},
                              {13, 13, 32},   {64, 64, 64},   {130, 100, 70}, {256, 384, 96},
                              {300, 530, 70}, {33, 260, 410}, {500, 3, 3000}, {200, 384, 1536}};
  const auto operand = [](const Storage& storage, int64_t rows, int64_t cols, int64_t contract) {
    const std::vector<int64_t> strides = storage.by_columns
                                             ? std::vector<int64_t>{1, rows + storage.gap}
                                             : std::vector<int64_t>{cols + storage.gap, 1};
    return Operand{{rows, cols}, strides, {contract}, {}};
  };
  // The same elements, wherever they lie.
  const auto fill = [](const Operand& o, const Data& dense, size_t width) {
    Data data{std::vector<char>(elements(o) * width), {}};
    for (int64_t i = 0, at = 0; i < o.sizes[0]; ++i)
      for (int64_t j = 0; j < o.sizes[1]; ++j, ++at)
        std::memcpy(&data.bytes[static_cast<size_t>(i * o.strides[0] + j * o.strides[1]) * width],
                    &dense.bytes[static_cast<size_t>(at) * width], width);
    return data;
  };
  for (uint32_t dtype : {PRIMSET_F32, PRIMSET_BF16}) {
    if (!available(dtype)) continue;
    const size_t width = dtype == PRIMSET_BF16 ? 2 : 4;
    for (const auto& [m, n, k] : sizes) {
      const Operand a = operand(storages[0], m, k, 1), b = operand(storages[0], k, n, 0);
      const Data da = random_data(a, dtype, 1), db = random_data(b, dtype, 2);
      const std::vector<float> first = run({"", a, b, 1, m, n, k}, dtype, da, db);
      for (const Storage& sa : storages) {
        for (const Storage& sb : storages) {
          const Operand oa = operand(sa, m, k, 1), ob = operand(sb, k, n, 0);
          const std::vector<float> out =
              run({"", oa, ob, 1, m, n, k}, dtype, fill(oa, da, width), fill(ob, db, width));
          EXPECT_EQ(std::memcmp(first.data(), out.data(), 4 * out.size()), 0)
              << m << " x " << n << " x " << k << " of dtype " << dtype << ": a by " << sa.name
              << ", b by " << sb.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace primset::plugin
