// Sorting digit by digit and in a workgroup's memory, against a stable sort of the standard
// library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <regex>
#include <string>

#include "codegen/emit/emitter.h"
#include "codegen/emit/llvm/testing/ptxas.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"
#include "prims/reference/reference.h"

namespace primset::schedule {
namespace {

using prims::SymInts;
using prims::reference::Array;
using prims::reference::Element;

std::vector<DType> key_dtypes() {
  std::vector<DType> keys;
  for (int code = 0; code < kDTypeCodes; ++code) {
    const auto t = static_cast<DType>(code);
    if (bits(t) != 0 && !is_complex(t)) keys.push_back(t);
  }
  return keys;
}

struct Sizes {
  int64_t rows = 1, length = 1, inner = 1;
  int64_t elements() const { return rows * length * inner; }
};

// Sorts [rows, length, inner] along length: keys, where they stood, and another payload.
std::string graph_text(DType key, const Sizes& n, bool descending, const std::string& results) {
  const std::string shape = "[s0, s1, s2]", type = std::string(name(key)) + shape;
  return "symbol s0 = " + std::to_string(n.rows) + "\nsymbol s1 = " + std::to_string(n.length) +
         "\nsymbol s2 = " + std::to_string(n.inner) + "\ngraph(%0 x: " + type + ", %1 y: i16" +
         shape + ") {\n  %2: i64" + shape + " = iota() {shape = " + shape +
         ", dim = 1, dtype = i64}\n  %3: i16" + shape + " = neg(%1)\n  %4: " + type + ", %5: i64" +
         shape + ", %6: i16" + shape +
         " = sort(%0, %2, %3) {dim = 1, descending = " + (descending ? "true" : "false") +
         "}\n  return " + results + "\n}\n";
}

// Few numbers, so that many are equal; those that are special; and any bits.
std::vector<std::byte> random_keys(DType key, int64_t count, std::mt19937_64& rng) {
  const size_t width = byte_size(key);
  const uint64_t sign = uint64_t{1} << (8 * width - 1);
  std::vector<uint64_t> few = {0, 1, 2, 127, 255, sign, sign - 1, sign | 1, ~uint64_t{0}};
  if (is_floating(key)) {
    const FloatFormat& format = float_format(key);
    const uint64_t infinity = format.greatest() + (format.has_infinity() ? 1 : 0);
    for (uint64_t v : {infinity, infinity + 1, infinity - 1}) few.insert(few.end(), {v, v | sign});
  }
  std::vector<std::byte> out(static_cast<size_t>(count) * width);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t v = rng() % 2 != 0 ? few[rng() % few.size()] : rng();
    if (is_bool(key)) v &= 1;
    std::memcpy(out.data() + static_cast<size_t>(i) * width, &v, width);
  }
  return out;
}

bool goes_before(DType t, const Element& a, const Element& b) {
  if (is_floating(t)) return !std::isnan(a.re) && (std::isnan(b.re) || a.re < b.re);
  if (t == DType::u64) return static_cast<uint64_t>(a.integer) < static_cast<uint64_t>(b.integer);
  return a.integer < b.integer;
}

// For each element of the result, the position in its row that it comes from.
std::vector<int64_t> expected_positions(const Array& keys, const Sizes& n, bool descending) {
  std::vector<int64_t> out(keys.data.size());
  for (int64_t row = 0; row < n.rows * n.inner; ++row) {
    const auto place = [&](int64_t i) {
      return static_cast<size_t>((row / n.inner * n.length + i) * n.inner + row % n.inner);
    };
    std::vector<int64_t> order(static_cast<size_t>(n.length));
    std::iota(order.begin(), order.end(), 0);
    // std::stable_sort warns of its own library's buffer; positions make the order the same.
    std::ranges::sort(order, [&](int64_t a, int64_t b) {
      const Element &x = keys.data[place(a)], &y = keys.data[place(b)];
      const Element &low = descending ? y : x, &high = descending ? x : y;
      if (goes_before(keys.dtype, low, high)) return true;
      return !goes_before(keys.dtype, high, low) && a < b;
    });
    for (int64_t i = 0; i < n.length; ++i) out[place(i)] = order[static_cast<size_t>(i)];
  }
  return out;
}

template <typename T>
std::vector<T> as(const std::vector<std::byte>& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

struct SortTest : testing::Test {
  kir::TargetModel target = ballot_model(8);
  Options options;
  bool in_tables = false;

  std::string tuning = "sort.group_row=0,sort.radix_row=0,sort.least_subgroup=8";

  Program program_of(const std::shared_ptr<prims::Graph>& graph) {
    EXPECT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
    for (const auto& in : graph->inputs)
      options.inputs.push_back({row_major(graph->type(in.value).shape)});
    for (const auto& out : graph->outputs)
      options.outputs.push_back({row_major(graph->type(out.value).shape)});
    return schedule(graph, Machine(target, tuning), options);
  }

  void expect_sorted(DType key, const Sizes& n, bool descending) {
    const std::string what = std::string(name(key)) + " " + std::to_string(n.rows) + "x" +
                             std::to_string(n.length) + "x" + std::to_string(n.inner) +
                             (descending ? " descending" : " ascending");
    options.inputs.clear();
    options.outputs.clear();
    auto graph = std::make_shared<prims::Graph>(
        prims::parse(graph_text(key, n, descending, "%4 v, %5 i, %6 p")));
    const Program program = program_of(graph);
    std::mt19937_64 rng(static_cast<uint64_t>(n.elements()));
    const auto count = static_cast<size_t>(n.elements());
    const std::vector<std::byte> keys = random_keys(key, n.elements(), rng);
    std::vector<std::byte> payload(2 * count);
    for (std::byte& b : payload) b = static_cast<std::byte>(rng());
    const RunnerResult got = run_program(program, target, {{{keys}, {payload}}},
                                         {n.rows, n.length, n.inner}, {.in_tables = in_tables});

    const Array numbers = prims::reference::from_bytes(key, {n.rows, n.length, n.inner}, keys);
    const std::vector<int64_t> want = expected_positions(numbers, n, descending);
    ASSERT_EQ(as<int64_t>(got.outputs[1].bytes), want) << what << "\n" << print(program);
    const size_t width = byte_size(key);
    const auto y = as<int16_t>(payload), moved = as<int16_t>(got.outputs[2].bytes);
    for (size_t at = 0; at < count; ++at) {
      const int64_t row = static_cast<int64_t>(at) / (n.length * n.inner);
      const auto from = static_cast<size_t>((row * n.length + want[at]) * n.inner +
                                            static_cast<int64_t>(at) % n.inner);
      ASSERT_EQ(moved[at], static_cast<int16_t>(-y[from])) << what << " payload " << at;
      ASSERT_EQ(
          std::memcmp(got.outputs[0].bytes.data() + at * width, keys.data() + from * width, width),
          0)
          << what << " key " << at;
    }
  }
};

TEST_F(SortTest, EveryKeyBothWays) {
  for (DType key : key_dtypes()) {
    for (bool descending : {false, true}) expect_sorted(key, {1, 1500, 1}, descending);
  }
}

TEST_F(SortTest, LengthsAboutTiles) {
  // 64 threads with 20 items each, or 10 of 64 bits.
  for (int64_t length : {1, 2, 63, 639, 640, 641, 1279, 1280, 1281, 3900}) {
    expect_sorted(DType::f32, {1, length, 1}, length % 2 == 0);
    if (length < 1279) expect_sorted(DType::i64, {1, length, 1}, length % 2 == 0);
  }
}

// Counters and elements have memory of their own; and a group goes through several tiles.
TEST_F(SortTest, WhereAProcessorHasMuchMemory) {
  target.large_group_memory = 1 << 20;
  for (int64_t length : {1, 640, 1281}) {
    expect_sorted(DType::f32, {1, length, 1}, length % 2 == 0);
    expect_sorted(DType::i64, {1, length, 1}, length % 2 == 0);
  }
  target.max_groups_x = 2;
  for (uint32_t memory : {0, 1 << 20}) {
    target.large_group_memory = memory;
    expect_sorted(DType::f32, {2, 6500, 1}, false);
    expect_sorted(DType::i64, {1, 6500, 1}, true);
  }
}

TEST_F(SortTest, RowsWhereverTheyLie) {
  expect_sorted(DType::f32, {3, 1100, 1}, true);
  expect_sorted(DType::i16, {1, 1100, 3}, false);
  expect_sorted(DType::bf16, {2, 1030, 3}, true);
  expect_sorted(DType::boolean, {5, 40, 2}, false);
}

// Where each digit's counts are scanned by a group.
TEST_F(SortTest, ManyTiles) {
  expect_sorted(DType::u8, {1, 67000, 1}, false);
}

TEST_F(SortTest, WideIndices) {
  options.index32 = false;
  expect_sorted(DType::f32, {2, 1100, 2}, true);
  expect_sorted(DType::f64, {1, 600, 1}, false);
}

// Without the loop over tiles.
TEST_F(SortTest, AGroupForEachTile) {
  target.max_groups_x = 0x7fffffff;
  expect_sorted(DType::f32, {2, 2500, 2}, false);
}

TEST_F(SortTest, InTables) {
  in_tables = true;
  expect_sorted(DType::f16, {2, 1100, 1}, false);
}

TEST_F(SortTest, SubgroupsOfEverySize) {
  for (uint32_t lanes : {16, 32, 64}) {
    target = ballot_model(lanes);
    expect_sorted(DType::f32, {1, 2100, 1}, false);
    expect_sorted(DType::f16, {2, 70, 1}, true);
  }
  target = ballot_model(32);
  target.group_threads = 256;
  expect_sorted(DType::f32, {1, 9000, 1}, true);
  target = ballot_model(8);
  target.max_subgroup = 32;  // what a kernel runs with is known only then
  expect_sorted(DType::i32, {1, 2100, 1}, false);
}

TEST_F(SortTest, ColumnsInMemory) {
  auto graph = std::make_shared<prims::Graph>(
      prims::parse(graph_text(DType::i32, {2, 1100, 2}, false, "%4 v")));
  const SymInts shape = graph->type(graph->inputs[0].value).shape;
  options.inputs = {{{1, shape[0], shape[0] * shape[1]}}, {row_major(shape)}};
  options.outputs = {{{shape[1], 1, shape[0] * shape[1]}}};
  const Program program = schedule(graph, Machine(target, tuning), options);
  std::mt19937_64 rng(5);
  std::vector<std::byte> x(4400 * 4), y(4400 * 2);
  for (std::byte& b : x) b = static_cast<std::byte>(rng());
  const RunnerResult got = run_program(program, target, {{{x}, {y}}}, {2, 1100, 2});
  const auto in = as<int32_t>(x), out = as<int32_t>(got.outputs[0].bytes);
  for (size_t row : {0, 1}) {
    for (size_t inner : {0, 1}) {
      std::vector<int32_t> want, sorted;
      for (size_t i = 0; i < 1100; ++i) want.push_back(in[row + 2 * i + 2200 * inner]);
      for (size_t i = 0; i < 1100; ++i) sorted.push_back(out[1100 * row + i + 2200 * inner]);
      std::ranges::sort(want);
      EXPECT_EQ(sorted, want) << row << " " << inner;
    }
  }
}

// Only what is asked for is moved.
TEST_F(SortTest, KeysAloneAndPositionsAlone) {
  const auto steps_and_positions = [&](const char* results) {
    options.inputs.clear();
    options.outputs.clear();
    auto graph = std::make_shared<prims::Graph>(
        prims::parse(graph_text(DType::f32, {1, 1100, 1}, false, results)));
    const Program program = program_of(graph);
    const auto positions = std::ranges::count(program.buffers, "positions", &Buffer::note);
    return std::pair(program.steps.size(), positions);
  };
  EXPECT_EQ(steps_and_positions("%4 v"), std::pair(size_t{12}, std::ptrdiff_t{0}));
  EXPECT_EQ(steps_and_positions("%5 i"), std::pair(size_t{12}, std::ptrdiff_t{2}));
}

// A key that takes the memory of its input over, in one pass, is read before it is written.
TEST_F(SortTest, InPlace) {
  auto graph = std::make_shared<prims::Graph>(
      prims::parse(graph_text(DType::u8, {1, 1100, 1}, false, "%4 v writes 0")));
  const Program program = program_of(graph);
  std::mt19937_64 rng(5);
  std::vector<std::byte> x = random_keys(DType::u8, 1100, rng);
  const RunnerResult got =
      run_program(program, target, {{{x}, {std::vector<std::byte>(2200)}}}, {1, 1100, 1});
  std::ranges::sort(x);
  EXPECT_EQ(got.outputs[0].bytes, x);
}

TEST_F(SortTest, ShortRowsAndPlainDevicesMerge) {
  const auto kernels = [&](int64_t radix_length, const kir::TargetModel& model) {
    options.inputs.clear();
    options.outputs.clear();
    tuning =
        "sort.group_row=0,sort.least_subgroup=8,sort.radix_row=" + std::to_string(radix_length);
    target = model;
    auto graph = std::make_shared<prims::Graph>(
        prims::parse(graph_text(DType::f32, {1, 1100, 1}, false, "%4 v")));
    const Program program = program_of(graph);
    return std::pair(program.kernels.back().name, graph->context().guards().size());
  };
  EXPECT_EQ(kernels(1100, ballot_model(8)).first, "merge");
  EXPECT_EQ(kernels(1099, ballot_model(8)).first, "radix_scatter");
  EXPECT_GT(kernels(1099, ballot_model(8)).second, size_t{0});
  EXPECT_EQ(kernels(0, simt_model()), std::pair(std::string("merge"), size_t{0}));
}

// In a workgroup's memory.
struct GroupSortTest : SortTest {
  GroupSortTest() {
    target = simt_model();
    tuning = "sort.group_threads=16";
  }
};

TEST_F(GroupSortTest, EveryKeyBothWays) {
  for (DType key : key_dtypes()) {
    for (bool descending : {false, true}) expect_sorted(key, {3, 77, 1}, descending);
  }
}

// A thread has 8 elements, a workgroup 128 of one row or of several.
TEST_F(GroupSortTest, LengthsAboutThreadsAndGroups) {
  for (int64_t length : {1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 200, 256, 1000}) {
    expect_sorted(DType::f32, {5, length, 1}, length % 2 == 0);
    expect_sorted(DType::bf16, {2, length, 3}, length % 2 == 1);
  }
}

TEST_F(GroupSortTest, RowsWhereverTheyLie) {
  expect_sorted(DType::f32, {1, 9, 100}, true);
  expect_sorted(DType::i16, {7, 40, 11}, false);
  expect_sorted(DType::f64, {2, 30, 33}, true);
  expect_sorted(DType::boolean, {300, 2, 2}, false);
}

TEST_F(GroupSortTest, AGroupForEachBlockOrForMany) {
  target.max_groups_x = 0x7fffffff;
  expect_sorted(DType::f32, {40, 10, 3}, false);
  target.max_groups_x = 2;
  expect_sorted(DType::f32, {40, 10, 3}, false);
  expect_sorted(DType::i64, {40, 10, 1}, true);
}

TEST_F(GroupSortTest, WideIndicesAndTables) {
  options.index32 = false;
  expect_sorted(DType::f32, {2, 110, 2}, true);
  in_tables = true;
  expect_sorted(DType::f16, {2, 110, 1}, false);
}

// A key that takes the memory of its input over is read before it is written.
TEST_F(GroupSortTest, InPlace) {
  auto graph = std::make_shared<prims::Graph>(
      prims::parse(graph_text(DType::u8, {3, 100, 1}, false, "%4 v writes 0")));
  const Program program = program_of(graph);
  std::mt19937_64 rng(5);
  std::vector<std::byte> x = random_keys(DType::u8, 300, rng);
  const RunnerResult got =
      run_program(program, target, {{{x}, {std::vector<std::byte>(600)}}}, {3, 100, 1});
  for (auto row = x.begin(); row != x.end(); row += 100) std::sort(row, row + 100);
  EXPECT_EQ(got.outputs[0].bytes, x);
}

// One element of each row, its value and where the first one equal to it stood.
struct GroupSelectTest : GroupSortTest {
  // Of a row whose elements have this order: the place in order, counted from 0.
  using Place = std::function<int64_t(int64_t numbers, int64_t length)>;

  void expect_selected(DType key, const Sizes& n, const std::string& prim, const Place& place) {
    options.inputs.clear();
    options.outputs.clear();
    const std::string type = name(key).data();
    auto graph = std::make_shared<prims::Graph>(prims::parse(
        "symbol s0 = " + std::to_string(n.rows) + "\nsymbol s1 = " + std::to_string(n.length) +
        "\nsymbol s2 = " + std::to_string(n.inner) + "\ngraph(%0 x: " + type +
        "[s0, s1, s2]) {\n  %1: " + type + "[s0, s2], %2: i64[s0, s2] = " + prim +
        "}\n  return %1 v, %2 i\n}\n"));
    const Program program = program_of(graph);
    std::mt19937_64 rng(static_cast<uint64_t>(n.elements()));
    const std::vector<std::byte> bytes = random_keys(key, n.elements(), rng);
    const RunnerResult got = run_program(program, target, {{{bytes}}}, {n.rows, n.length, n.inner});

    const Array keys = prims::reference::from_bytes(key, {n.rows, n.length, n.inner}, bytes);
    const std::vector<int64_t> order = expected_positions(keys, n, false);
    const auto indices = as<int64_t>(got.outputs[1].bytes);
    const size_t width = byte_size(key);
    for (int64_t row = 0; row < n.rows * n.inner; ++row) {
      const auto at = [&](int64_t i) {
        return static_cast<size_t>((row / n.inner * n.length + i) * n.inner + row % n.inner);
      };
      const auto of = [&](int64_t i) { return keys.data[at(order[at(i)])]; };
      int64_t numbers = 0;
      for (int64_t i = 0; i < n.length; ++i)
        numbers += is_floating(key) && std::isnan(of(i).re) ? 0 : 1;
      int64_t first = place(numbers, n.length);
      while (first > 0 && !goes_before(key, of(first - 1), of(first))) --first;
      const auto r = static_cast<size_t>(row);
      ASSERT_EQ(indices[r], order[at(first)]) << name(key) << " " << prim << " row " << row;
      ASSERT_EQ(std::memcmp(got.outputs[0].bytes.data() + r * width,
                            bytes.data() + at(order[at(first)]) * width, width),
                0)
          << name(key) << " " << prim << " row " << row;
    }
  }

  void expect_all_selected(const std::vector<Sizes>& sizes) {
    const auto middle = [](int64_t count) { return (count - 1) / 2; };
    for (DType key : {DType::boolean, DType::u8, DType::i8, DType::i16, DType::i32, DType::i64,
                      DType::f16, DType::bf16, DType::f32, DType::f64}) {
      for (const Sizes& n : sizes) {
        expect_selected(key, n, "kth_value(%0) {k = <3>, dim = 1",
                        [](int64_t, int64_t) { return 2; });
        expect_selected(key, n, "median(%0) {dim = 1, ignore_nan = false",
                        [&](int64_t numbers, int64_t length) {
                          return numbers == length ? middle(length) : length - 1;
                        });
        expect_selected(key, n, "median(%0) {dim = 1, ignore_nan = true",
                        [&](int64_t numbers, int64_t length) {
                          return numbers > 0 ? middle(numbers) : length - 1;
                        });
      }
    }
  }
};

TEST_F(GroupSelectTest, EveryKey) {
  expect_all_selected({{9, 5, 1}, {3, 78, 2}});
}

TEST_F(GroupSelectTest, LongRowsByDigits) {
  tuning = "sort.group_row=0,sort.select_bytes=16";
  expect_all_selected({{1, 3000, 1}, {2, 700, 3}});
  target.max_groups_x = 2;
  expect_all_selected({{3, 2100, 1}});
}

// The greatest stack frame of a kernel, as ptxas says it.
int stack_bytes(const std::string& said) {
  static const std::regex frame("([0-9]+) bytes stack frame");
  int most = -1;
  for (std::sregex_iterator i(said.begin(), said.end(), frame), end; i != end; ++i)
    most = std::max(most, std::stoi((*i)[1]));
  return most;
}

// What is put aside is what a thread knows before and needs behind all passes.
TEST_F(GroupSortTest, PtxSpillsLittle) {
  if (!emit::has_ptxas()) GTEST_SKIP() << "ptxas is not installed";
  target.format = kir::Format::ptx;
  target.cpu = "sm_90";
  target.group_memory = 49152;
  target.large_group_memory = 232448;
  target.max_groups_x = 0x7fffffff;
  tuning = "";
  for (DType key : {DType::f16, DType::f32, DType::i64}) {
    for (int64_t length : {77, 8000}) {
      options.inputs.clear();
      options.outputs.clear();
      auto graph = std::make_shared<prims::Graph>(
          prims::parse(graph_text(key, {2, length, 3}, false, "%4 v, %5 i, %6 p")));
      const Program program = program_of(graph);
      ASSERT_EQ(program.kernels.size(), size_t{1});
      const emit::Binary binary = emit::emit(program.kernels[0], target);
      const emit::Assembled all =
          emit::assemble(reinterpret_cast<const char*>(binary.bytes.data()), target.cpu);
      EXPECT_TRUE(all.ok) << all.said;
      EXPECT_LE(stack_bytes(all.said), 176) << all.said;
    }
  }
}

// What a thread holds stays in registers, but for a few numbers of tiles that are faster than
// smaller ones all the same.
TEST_F(SortTest, PtxSpillsLittle) {
  if (!emit::has_ptxas()) GTEST_SKIP() << "ptxas is not installed";
  target = ballot_model(32);
  target.format = kir::Format::ptx;
  target.group_threads = 256;
  target.group_memory = 49152;
  target.max_groups_x = 0x7fffffff;
  for (const auto& [cpu, memory] : {std::pair{"sm_75", 65536u}, std::pair{"sm_90", 232448u}}) {
    target.cpu = cpu;
    target.large_group_memory = memory;
    for (DType key : {DType::f16, DType::f32, DType::i64}) {
      options.inputs.clear();
      options.outputs.clear();
      auto graph = std::make_shared<prims::Graph>(
          prims::parse(graph_text(key, {2, 9000, 3}, false, "%4 v, %5 i, %6 p")));
      const Program program = program_of(graph);
      // The first two and the last pass.
      for (size_t k = 0; k < program.kernels.size(); ++k) {
        if (k >= 6 && k + 3 < program.kernels.size()) continue;
        const emit::Binary binary = emit::emit(program.kernels[k], target);
        const emit::Assembled all =
            emit::assemble(reinterpret_cast<const char*>(binary.bytes.data()), cpu);
        EXPECT_TRUE(all.ok) << all.said;
        EXPECT_GE(stack_bytes(all.said), 0) << all.said;
        EXPECT_LE(stack_bytes(all.said), memory > 65536u ? 40 : 0) << all.said;
      }
    }
  }
}

}  // namespace
}  // namespace primset::schedule
