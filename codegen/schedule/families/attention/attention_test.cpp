// The fused kernel of attention, against sums in double of the numbers it is given.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "codegen/emit/emitter.h"
#include "codegen/emit/llvm/testing/ptxas.h"
#include "codegen/schedule/families/attention/attention_kernel.h"
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

struct Call {
  DType dtype = DType::bf16;
  int64_t batch = 1, queries = 1, keys = 1, head = 64, columns = 64;
  bool causal = false;
  double scale = 0.125;
  bool transposed = false;  // the operands lie column-major
};

std::string graph_text(const Call& c, const std::string& results) {
  const std::string t(name(c.dtype)), h = std::to_string(c.head), w = std::to_string(c.columns);
  return "symbol s0 = " + std::to_string(c.batch) + "\nsymbol s1 = " + std::to_string(c.queries) +
         "\nsymbol s2 = " + std::to_string(c.keys) + "\ngraph(%0 q: " + t + "[s0, s1, " + h +
         "], %1 k: " + t + "[s0, s2, " + h + "], %2 v: " + t + "[s0, s2, " + w +
         "]) {\n  %3: " + t + "[s0, s1, " + w +
         "], %4: f32[s0, s1] = attention(%0, %1, %2, none) {causal = " +
         (c.causal ? "true" : "false") + ", scale = #" + std::to_string(c.scale) + "}\n  return " +
         results + "\n}\n";
}

struct Operand {
  Array array;  // row-major
  SymInts strides;
  std::vector<std::byte> bytes;
};

// Numbers about 1 that the dtype holds.
Operand random_operand(DType dtype, std::vector<int64_t> shape, bool transposed,
                       std::mt19937_64& rng) {
  Array a{dtype, shape, {}};
  a.data.resize(static_cast<size_t>(a.size()));
  for (auto& e : a.data)
    e.re = static_cast<long double>(static_cast<int64_t>(rng() % 255) - 127) / 64;
  Operand o{std::move(a), {shape[1] * shape[2], shape[2], 1}, {}};
  o.bytes = prims::reference::to_bytes(o.array);
  if (!transposed) return o;
  o.strides = {shape[1] * shape[2], 1, shape[1]};
  const std::vector<std::byte> rows = o.bytes;
  for (int64_t i = 0; i < o.array.size(); ++i) {
    const int64_t row = i / shape[2] % shape[1], column = i % shape[2];
    const int64_t to = i / (shape[1] * shape[2]) * shape[1] * shape[2] + column * shape[1] + row;
    std::memcpy(o.bytes.data() + 2 * to, rows.data() + 2 * i, 2);
  }
  return o;
}

struct Expected {
  std::vector<double> y, spread, logarithm;  // spread: sum of weight * |value|
};

Expected expected(const Call& c, const Array& q, const Array& k, const Array& v) {
  Expected out;
  const auto at = [](const Array& a, int64_t b, int64_t i, int64_t j) {
    return static_cast<double>(
        a.data[static_cast<size_t>((b * a.shape[1] + i) * a.shape[2] + j)].re);
  };
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t i = 0; i < c.queries; ++i) {
      const int64_t seen = c.causal ? std::min(c.keys, i + 1) : c.keys;
      std::vector<double> weights;
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t j = 0; j < seen; ++j) {
        double score = 0;
        for (int64_t d = 0; d < c.head; ++d) score += at(q, b, i, d) * at(k, b, j, d);
        weights.push_back(score * c.scale);
        most = std::max(most, weights.back());
      }
      for (double& w : weights) sum += w = std::exp(w - most);
      for (int64_t d = 0; d < c.columns; ++d) {
        double y = 0, spread = 0;
        for (int64_t j = 0; j < seen; ++j) {
          const double term = weights[static_cast<size_t>(j)] / sum * at(v, b, j, d);
          y += term;
          spread += std::abs(term);
        }
        out.y.push_back(y);
        out.spread.push_back(spread);
      }
      out.logarithm.push_back(std::log(sum) + most);
    }
  }
  return out;
}

kir::TargetModel with_arithmetic(kir::TargetModel target) {
  target.fast_exp2 = target.fused_fma = target.f16 = true;
  target.max_groups_x = 3;  // each goes through several tiles
  return target;
}
kir::TargetModel attention_model() {
  kir::TargetModel target = with_arithmetic(matrix_model());
  target.rounds_bf16 = true;
  return target;
}
// Each kind of matrix units.
std::vector<kir::TargetModel> attention_models() {
  return {attention_model(), with_arithmetic(cooperative_model())};
}

Program program_of(const std::shared_ptr<prims::Graph>& graph, const kir::TargetModel& target,
                   std::span<const Operand> operands) {
  EXPECT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  Options options;
  for (const Operand& o : operands) options.inputs.push_back({o.strides});
  for (const auto& out : graph->outputs)
    options.outputs.push_back({row_major(graph->type(out.value).shape)});
  for (prims::NodeId n : graph->body.nodes) EXPECT_TRUE(is_legal_derived(*graph, n, target));
  return schedule(graph, target, options);
}

std::vector<Operand> operands_of(const Call& c) {
  std::mt19937_64 rng(static_cast<uint64_t>(c.queries * 1000 + c.keys));
  return {random_operand(c.dtype, {c.batch, c.queries, c.head}, c.transposed, rng),
          random_operand(c.dtype, {c.batch, c.keys, c.head}, c.transposed, rng),
          random_operand(c.dtype, {c.batch, c.keys, c.columns}, c.transposed, rng)};
}

void expect_attention_of(const kir::TargetModel& target, const Call& c, const std::string& results,
                         bool in_parts) {
  SCOPED_TRACE(graph_text(c, results) + (target.cooperative ? "cooperative" : ""));
  const std::vector<Operand> in = operands_of(c);
  auto graph = std::make_shared<prims::Graph>(prims::parse(graph_text(c, results)));
  const Program program = program_of(graph, target, in);
  EXPECT_EQ(program.kernels.size() > 1, in_parts);
  const RunnerResult got =
      run_program(program, target, {{{in[0].bytes}, {in[1].bytes}, {in[2].bytes}}},
                  {c.batch, c.queries, c.keys});
  const Expected want = expected(c, in[0].array, in[1].array, in[2].array);
  const double unit = c.dtype == DType::bf16 ? 0x1p-8 : 0x1p-11;
  for (size_t j = 0; j < graph->outputs.size(); ++j) {
    const bool y = graph->outputs[j].value == 3;
    const std::vector<double>& numbers = y ? want.y : want.logarithm;
    const std::vector<int64_t> count{static_cast<int64_t>(numbers.size())};
    const Array array =
        prims::reference::from_bytes(y ? c.dtype : DType::f32, count, got.outputs[j].bytes);
    for (size_t i = 0; i < numbers.size(); ++i) {
      // The result is rounded to the dtype, and so is each weight.
      const double bound = y ? 1.01 * unit * (std::abs(numbers[i]) + want.spread[i]) + 2e-7
                             : 3e-6 * (1 + std::abs(numbers[i]));
      ASSERT_NEAR(static_cast<double>(array.data[i].re), numbers[i], bound) << j << " " << i;
    }
  }
}

void expect_attention(const Call& c, const std::string& results = "%3 y, %4 l",
                      bool in_parts = false) {
  for (const kir::TargetModel& target : attention_models())
    expect_attention_of(target, c, results, in_parts);
}

TEST(Attention, TilesOfEverySize) {
  for (DType t : {DType::bf16, DType::f16}) {
    expect_attention({t, 2, 130, 70, 64, 64});
    expect_attention({t, 1, 3, 200, 64, 64});
    expect_attention({t, 2, 65, 33, 128, 128});
  }
  expect_attention({DType::bf16, 3, 40, 65, 8, 24});
  expect_attention({DType::f16, 1, 17, 1, 33, 5});
  expect_attention({DType::f16, 1, 70, 40, 80, 64});
}

TEST(Attention, Causal) {
  expect_attention({DType::bf16, 2, 150, 150, 64, 64, true});
  expect_attention({DType::f16, 1, 70, 40, 32, 32, true});
  expect_attention({DType::bf16, 1, 40, 100, 128, 100, true});
}

// A few workgroups' keys are gone through by more of them, in parts of one size and what is left.
TEST(Attention, ManyKeysInParts) {
  expect_attention({DType::bf16, 2, 5, 2048, 64, 64}, "%3 y, %4 l", true);
  expect_attention({DType::f16, 1, 3, 1100, 32, 16}, "%3 y, %4 l", true);
}

TEST(Attention, OneResult) {
  expect_attention({DType::bf16, 1, 20, 20, 16, 16}, "%3 y");
  expect_attention({DType::bf16, 1, 20, 20, 16, 16}, "%4 l");
}

// A negative scale turns the order of the scores round, a great one leaves one key.
TEST(Attention, Scales) {
  for (double scale : {-0.5, 0.0, 30.0})
    for (bool causal : {false, true})
      expect_attention({DType::bf16, 1, 40, 90, 32, 32, causal, scale});
}

TEST(Attention, ColumnMajorOperands) {
  expect_attention({DType::bf16, 2, 72, 48, 64, 64, false, 0.125, true});
  expect_attention({DType::f16, 1, 30, 70, 16, 40, true, 0.25, true});
}

// A number that is none makes its rows none, an infinite score too; without keys y is 0.
TEST(Attention, SpecialNumbers) {
  const Call c{DType::bf16, 1, 3, 70, 16, 16};
  std::vector<Operand> in = operands_of(c);
  const auto put = [&](size_t operand, size_t at, uint16_t bits) {
    std::memcpy(in[operand].bytes.data() + 2 * at, &bits, 2);
  };
  put(0, 0, 0x7fc0);                      // NaN in query 0
  put(0, 16, 0x7f80), put(1, 0, 0x3f80);  // infinity times 1 in query 1
  put(2, 5, 0xff80);                      // -infinity in column 5 of every value
  for (const kir::TargetModel& target : attention_models()) {
    auto graph = std::make_shared<prims::Graph>(prims::parse(graph_text(c, "%3 y, %4 l")));
    const Program program = program_of(graph, target, in);
    const RunnerResult got =
        run_program(program, target, {{{in[0].bytes}, {in[1].bytes}, {in[2].bytes}}}, {1, 3, 70});
    const Array y = prims::reference::from_bytes(DType::bf16, {3, 16}, got.outputs[0].bytes);
    for (size_t i = 0; i < 32; ++i) EXPECT_TRUE(std::isnan(y.data[i].re)) << i;
    for (size_t i = 32; i < 48; ++i) EXPECT_EQ(std::isinf(y.data[i].re), i == 37) << i;
  }
}

TEST(Attention, NoKeys) {
  const Call c{DType::f16, 2, 3, 0, 16, 16};
  const std::vector<Operand> in = operands_of(c);
  for (const kir::TargetModel& target : attention_models()) {
    auto graph = std::make_shared<prims::Graph>(prims::parse(graph_text(c, "%3 y, %4 l")));
    const Program program = program_of(graph, target, in);
    const RunnerResult got =
        run_program(program, target, {{{in[0].bytes}, {in[1].bytes}, {in[2].bytes}}}, {2, 3, 0});
    const Array y = prims::reference::from_bytes(DType::f16, {96}, got.outputs[0].bytes);
    for (const auto& e : y.data) EXPECT_EQ(e.re, 0);
    const Array l = prims::reference::from_bytes(DType::f32, {6}, got.outputs[1].bytes);
    for (const auto& e : l.data)
      EXPECT_EQ(static_cast<double>(e.re), -std::numeric_limits<double>::infinity());
  }
}

// Long heads, masks and devices without matrix units or the instructions beside them are left to
// the decomposition.
TEST(Attention, WhatIsDecomposed) {
  const auto own = [](const Call& c, const kir::TargetModel& target) {
    const prims::Graph g = prims::parse(graph_text(c, "%3 y"));
    return is_legal_derived(g, g.body.nodes[0], target);
  };
  const Call c{DType::bf16, 1, 3, 70, 16, 16};
  EXPECT_TRUE(own(c, attention_model()));
  for (bool kir::TargetModel::* needed :
       {&kir::TargetModel::matrix, &kir::TargetModel::fast_exp2, &kir::TargetModel::rounds_bf16}) {
    kir::TargetModel target = attention_model();
    target.*needed = false;
    EXPECT_FALSE(own(c, target));
  }
  for (bool kir::TargetModel::* needed :
       {&kir::TargetModel::cooperative_bf16, &kir::TargetModel::fused_fma}) {
    kir::TargetModel target = with_arithmetic(cooperative_model());
    EXPECT_TRUE(own(c, target));
    target.*needed = false;
    EXPECT_FALSE(own(c, target));
  }
  Call wide = c;
  wide.head = 129;
  EXPECT_FALSE(own(wide, attention_model()));
  Call exact = c;
  exact.dtype = DType::f32;
  EXPECT_FALSE(own(exact, attention_model()));
}

// Everything a thread holds stays in registers.
TEST(Attention, PtxSpillsNothing) {
  if (!emit::has_ptxas()) GTEST_SKIP() << "ptxas is not installed";
  kir::TargetModel target = attention_model();
  target.cpu = "sm_90";
  target.max_groups_x = 0x7fffffff;
  for (int64_t head : {64, 128}) {
    for (bool causal : {false, true}) {
      const Call c{DType::bf16, 8, 4096, 4096, head, head, causal};
      auto graph = std::make_shared<prims::Graph>(prims::parse(graph_text(c, "%3 y")));
      std::vector<Operand> in(3);
      for (Operand& o : in) o.strides = {4096 * head, head, 1};
      const Program program = program_of(graph, target, in);
      const emit::Binary binary = emit::emit(program.kernels[0], target);
      const emit::Assembled all =
          emit::assemble(reinterpret_cast<const char*>(binary.bytes.data()), target.cpu);
      EXPECT_TRUE(all.ok) << all.said;
      EXPECT_NE(all.said.find("0 bytes spill stores, 0 bytes spill loads"), std::string::npos)
          << all.said;
      RecordProperty("registers", all.said);
    }
  }
}

}  // namespace
}  // namespace primset::schedule
