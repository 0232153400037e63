// Each pass alone rewrites what it is for and keeps the graph's meaning; all together leave nothing
// for any of them to do.
#include "codegen/schedule/legalize/legalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "codegen/schedule/testing/program_runner.h"
#include "prims/graph/builder.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"
#include "prims/reference/reference.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::NodeId;
using prims::Prim;
using prims::ValueId;
using prims::reference::Array;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A CPU, and a GPU that takes denormals for zeros.
kir::TargetModel cpu() {
  return kir::TargetModel();
}
kir::TargetModel flushing_gpu() {
  kir::TargetModel target = simt_model();
  target.flush_denormals_f32 = true;
  return target;
}

Legalized legalized(const Graph& g, const kir::TargetModel& target = cpu(),
                    std::span<const Pass> passes = legalize_passes(), const IsNative& native = {}) {
  EXPECT_THAT(prims::verify(g), IsEmpty());
  Legalized legal = legalize(g, Machine(target), native, passes);
  EXPECT_THAT(prims::verify(legal.graph), IsEmpty()) << print(legal.graph);
  return legal;
}

// Numbers of both signs, some of them equal.
Array numbers(const prims::ValueType& t) {
  Array a{t.dtype, {}, {}};
  size_t count = 1;
  for (const prims::SymInt& s : t.shape) {
    a.shape.push_back(s.hint());
    count *= static_cast<size_t>(s.hint());
  }
  for (size_t i = 0; i < count; ++i) {
    const auto n = static_cast<int64_t>((i * 37 + 11) % 101);
    prims::reference::Element e;
    if (is_floating(t.dtype) || is_complex(t.dtype))
      e.re = static_cast<long double>(n - 50) / 8;
    else
      e.integer = t.dtype == DType::boolean ? n % 2 : n % 5;
    if (is_complex(t.dtype)) e.im = static_cast<long double>(n % 7);
    a.data.push_back(e);
  }
  return a;
}

std::vector<Array> run(const Graph& g) {
  std::vector<Array> inputs;
  for (const prims::Input& i : g.inputs) inputs.push_back(numbers(g.type(i.value)));
  std::vector<int64_t> symbols;
  for (size_t s = 0; s < g.context().symbol_count(); ++s)
    symbols.push_back(g.context().symbol_hint(s));
  return prims::reference::run(g, inputs, symbols).outputs;
}

void expect_same_values(const Graph& a, const Graph& b) {
  const std::vector<Array> want = run(a), got = run(b);
  ASSERT_EQ(want.size(), got.size());
  for (size_t j = 0; j < want.size(); ++j) {
    ASSERT_EQ(want[j].shape, got[j].shape);
    for (size_t i = 0; i < want[j].data.size(); ++i) {
      const auto &w = want[j].data[i], &g = got[j].data[i];
      const bool integer = !is_floating(want[j].dtype) && !is_complex(want[j].dtype);
      if (integer) {
        ASSERT_EQ(w.integer, g.integer) << "output " << j << " element " << i;
        continue;
      }
      const long double unit = std::abs(w.re) * (is_half(want[j].dtype) ? 0x1p-8L : 0x1p-22L);
      ASSERT_LE(std::hypot(w.re - g.re, w.im - g.im), w.error + g.error + unit)
          << "output " << j << " element " << i << ": " << static_cast<double>(w.re) << " and "
          << static_cast<double>(g.re);
    }
  }
}

struct PassCase {
  const char* pass;
  bool gpu;
  const char* before;  // what the graph has, and what it has instead when the pass is done
  const char* after;
  const char* text;
};

void PrintTo(const PassCase& c, std::ostream* os) {
  *os << c.pass;
}

const PassCase kPassCases[] = {
    {"capture_operands", false, "region(%3: f32[4])", "region() {\n    return %0\n",
     R"(graph(%0 x: f32[4], %1 p: bool[]) {
  %2: f32[4] = exp(%0)
  %6: f32[4] = cond(%1, %0) region(%3: f32[4]) {
    return %3
  } region(%4: f32[4]) {
    %5: f32[4] = neg(%4)
    return %5
  }
  return %6 y, %2 z
})"},
    {"widen_accumulation", true, "bf16[3] = reduce_sum(", "f32[3] = reduce_sum(",
     R"(graph(%0 x: bf16[3, 9]) {
  %1: bf16[3] = reduce_sum(%0) {dims = (1)}
  return %1 y
})"},
    {"widen_accumulation", false, "f32[3] = reduce_sum(", "f64[3] = reduce_sum(",
     R"(graph(%0 x: f32[3, 9]) {
  %1: f32[3] = reduce_sum(%0) {dims = (1)}
  return %1 y
})"},
    {"widen_accumulation", false, "f32[7] = scan_sum(", "f64[7] = scan_sum(",
     R"(graph(%0 x: f32[7]) {
  %1: f32[7] = scan_sum(%0) {dim = 0}
  return %1 y
})"},
    {"expand_contraction", false, "dot_general(", "reduce_sum(",
     R"(graph(%0 x: f32[2, 3, 5], %1 y: f32[5, 2, 4]) {
  %2: f32[2, 3, 4] = dot_general(%0, %1) {a_contract = (2), b_contract = (0), a_batch = (0), b_batch = (1), accumulate = f32}
  return %2 z
})"},
    {"expand_contraction", true, "dot_general(", "complex(",
     R"(graph(%0 x: c64[3, 5], %1 y: c64[4, 5]) {
  %2: c64[3, 4] = dot_general(%0, %1) {a_contract = (1), b_contract = (1), a_batch = (), b_batch = (), accumulate = c64}
  return %2 z
})"},
    {"expand_arg_reduce", false, "argmax(", "reduce(",
     R"(graph(%0 x: f32[3, 300]) {
  %1: i64[3] = argmax(%0) {dim = 1}
  return %1 y
})"},
    {"expand_arg_reduce", false, "argmin(", "reduce(",
     R"(graph(%0 x: i32[300, 2]) {
  %1: i64[2] = argmin(%0) {dim = 0}
  return %1 y
})"},
    {"expand_extremum_scan", false, "scan_max(", "scan(",
     R"(graph(%0 x: f32[2, 20000]) {
  %1: f32[2, 20000], %2: i64[2, 20000] = scan_max(%0) {dim = 1}
  return %1 y, %2 i
})"},
    {"split_long_scan", true, "i32[20000] = scan_sum(", "i32[5, 4096] = scan_sum(",
     R"(graph(%0 x: i32[20000]) {
  %1: i32[20000] = scan_sum(%0) {dim = 0}
  return %1 y
})"},
    {"expand_compact", false, "compact(", "scatter(",
     R"(graph(%0 x: f32[20000], %1 p: bool[20000]) {
  %2: f32[20000], %3: i64[] = compact(%0, %1)
  %4: f32[9000] = slice(%2) {start = [0], limit = [9000], stride = [1]}
  return %4 y, %3 n
})"},
    {"check_count", false, "set_dim(%0, %1)", "check(",
     R"(symbol u0 = 3
graph(%0 x: f32[5], %1 n: i64[]) {
  %2: f32[u0] = set_dim(%0, %1) {dim = 0}
  return %2 y
})"},
    {"reduce_in_steps", false, "dims = (0, 2)", "f32[3, 4] = reduce_max(",
     R"(graph(%0 x: f32[3, 4, 50]) {
  %1: f32[4] = reduce_max(%0) {dims = (0, 2)}
  return %1 y
})"},
    {"reduce_in_steps", false, "dims = (0, 1)", "f32[3] = reduce_max(",
     R"(graph(%0 x: f32[3, 300]) {
  %1: f32[] = reduce_max(%0) {dims = (0, 1)}
  return %1 y
})"},
    {"merge_reduced_dims", false, "dims = (2, 0)", "dims = (1)",
     R"(graph(%0 x: f32[3, 4, 5, 6]) {
  %1: f32[4, 6] = reduce_max(%0) {dims = (2, 0)}
  return %1 y
})"},
    {"split_long_reduction", false, "i64[2] = reduce_sum(%0)", "i64[2, 3] = reduce_sum(",
     R"(graph(%0 x: i64[2, 40000]) {
  %1: i64[2] = reduce_sum(%0) {dims = (1)}
  return %1 y
})"},
    {"reduce_bits", true, "reduce_max(", "bitcast(",
     R"(graph(%0 x: bf16[3, 40]) {
  %1: bf16[3] = reduce_max(%0) {dims = (1)}
  return %1 y
})"},
    {"reduce_bits", true, "reduce_min(", "bitcast(",
     R"(graph(%0 x: f32[40, 3]) {
  %1: f32[3] = reduce_min(%0) {dims = (0)}
  return %1 y
})"},
};

const Pass* find_pass(std::string_view name) {
  const auto passes = legalize_passes();
  const auto at = std::ranges::find(passes, name, &Pass::name);
  return at == passes.end() ? nullptr : &*at;
}

class Passes : public testing::TestWithParam<PassCase> {};

TEST_P(Passes, AloneRewritesAndKeepsTheMeaning) {
  const PassCase& c = GetParam();
  const Pass* pass = find_pass(c.pass);
  ASSERT_NE(pass, nullptr);
  const Graph g = prims::parse(c.text);
  const Legalized legal = legalized(g, c.gpu ? flushing_gpu() : cpu(), {pass, 1});
  EXPECT_THAT(print(g), AllOf(HasSubstr(c.before), Not(HasSubstr(c.after))));
  EXPECT_THAT(print(legal.graph), AllOf(HasSubstr(c.after), Not(HasSubstr(c.before))));
  expect_same_values(g, legal.graph);
}

class AllPasses : public testing::TestWithParam<PassCase> {};

// What one pass makes is rewritten by those behind it, so that a second run finds nothing.
TEST_P(AllPasses, LeaveNothingToDo) {
  const PassCase& c = GetParam();
  const kir::TargetModel target = c.gpu ? flushing_gpu() : cpu();
  const Graph g = prims::parse(c.text);
  const Legalized once = legalized(g, target), twice = legalized(once.graph, target);
  EXPECT_EQ(print(twice.graph), print(once.graph));
  expect_same_values(g, once.graph);
}

std::string case_name(const testing::TestParamInfo<PassCase>& info) {
  return std::string(info.param.pass) + "_" + std::to_string(info.index);
}

// Nothing remembers that a count was checked.
std::vector<PassCase> repeatable_cases() {
  std::vector<PassCase> cases(std::begin(kPassCases), std::end(kPassCases));
  std::erase_if(cases, [](const PassCase& c) { return c.pass == std::string_view("check_count"); });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Passes, testing::ValuesIn(kPassCases), case_name);
INSTANTIATE_TEST_SUITE_P(All, AllPasses, testing::ValuesIn(repeatable_cases()), case_name);

TEST(LegalizePasses, EachHasANameAReasonAndATest) {
  std::set<std::string_view> names,
      tested{"split_concatenate", "expand_var_mean", "split_attention"};
  for (const PassCase& c : kPassCases) tested.insert(c.pass);
  for (const Pass& p : legalize_passes()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_FALSE(p.reason.empty()) << p.name;
  }
  EXPECT_EQ(names, tested);
}

// --- what spans passes ---------------------------------------------------------------------------

size_t count_nodes(const Graph& g, Prim prim) {
  size_t n = 0;
  for (NodeId id = 0; id < g.node_count(); ++id) n += g.node(id).prim == prim;
  return n;
}

TEST(Legalize, AnIndexOfALongRowIsFoundInTwoSteps) {
  const Graph g = prims::parse(R"(graph(%0 x: f32[40000]) {
  %1: i64[] = argmax(%0) {dim = 0}
  return %1 y
})");
  const Legalized legal = legalized(g);
  EXPECT_EQ(count_nodes(legal.graph, Prim::reduce), 2u);
  expect_same_values(g, legal.graph);
}

// What it comes to is tested with the family's kernels.
TEST(Legalize, FewQueriesAttendToManyKeysInParts) {
  const auto attentions = [](int64_t queries, int64_t keys) {
    const auto type = [](int64_t rows) { return "bf16[1, " + std::to_string(rows) + ", 64]"; };
    const Graph g = prims::parse(
        "graph(%0 q: " + type(queries) + ", %1 k: " + type(keys) + ", %2 v: " + type(keys) +
        ") {\n  %3: " + type(queries) + ", %4: f32[1, " + std::to_string(queries) +
        "] = attention(%0, %1, %2, none) {causal = false, scale = #0.125}\n  return %3 y\n}");
    const Legalized legal = legalized(g, flushing_gpu(), {find_pass("split_attention"), 1});
    return count_nodes(legal.graph, Prim::attention);
  };
  EXPECT_EQ(attentions(8, 4096), 1u);
  EXPECT_EQ(attentions(8, 4100), 2u);  // and what is left of the keys
  EXPECT_EQ(attentions(1, 4100), 1u);  // its scores go through memory
  const Graph few = prims::parse(R"(graph(%0 q: bf16[1, 1, 64], %1 k: bf16[1, 900, 64]) {
  %2: bf16[1, 1, 64], %3: f32[1, 1] = attention(%0, %1, %1, none) {causal = false, scale = #0.125}
  return %2 y
})");
  EXPECT_EQ(print(legalized(few, flushing_gpu()).graph), print(few));
}

// The reference knows derived primitives by their decompositions alone.
TEST(Legalize, AVarianceIsOfSums) {
  const Graph g = prims::parse(R"(graph(%0 x: f32[3, 40]) {
  %1: f32[3], %2: f32[3] = var_mean(%0) {dims = (1), correction = 1}
  return %1 v, %2 m
})");
  const Legalized legal = legalized(g, flushing_gpu(), {find_pass("expand_var_mean"), 1});
  EXPECT_EQ(count_nodes(legal.graph, Prim::reduce_sum), 3u);
  EXPECT_EQ(legal.contractible.size(), 2u);
  const Array x = numbers(g.type(g.inputs[0].value));
  const std::vector<Array> got = run(legal.graph);
  for (size_t row = 0; row < 3; ++row) {
    long double mean = 0, squares = 0;
    for (size_t i = 0; i < 40; ++i) mean += x.data[row * 40 + i].re / 40;
    for (size_t i = 0; i < 40; ++i) squares += std::pow(x.data[row * 40 + i].re - mean, 2);
    EXPECT_NEAR(static_cast<double>(got[0].data[row].re), static_cast<double>(squares / 39), 1e-5);
    EXPECT_NEAR(static_cast<double>(got[1].data[row].re), static_cast<double>(mean), 1e-6);
  }
}

// Far from 0, where squares in f32 would have no digit left; and of an infinity there is none.
TEST(Legalize, AVarianceOnACpuIsOfTwoSums) {
  const Graph g = prims::parse(R"(graph(%0 x: f32[2, 3, 4]) {
  %1: f32[3], %2: f32[3] = var_mean(%0) {dims = (0, 2), correction = 1}
  return %1 v, %2 m
})");
  const Legalized legal = legalized(g, cpu(), {find_pass("expand_var_mean"), 1});
  EXPECT_EQ(count_nodes(legal.graph, Prim::reduce_sum), 4u);  // each in two parts
  Array x = numbers(g.type(g.inputs[0].value));
  for (auto& e : x.data) e.re += 1e6f;
  x.data[23].re = HUGE_VALF;
  const std::vector<Array> inputs = {x};
  const std::vector<Array> got = prims::reference::run(legal.graph, inputs, {}).outputs;
  for (size_t row = 0; row < 3; ++row) {
    long double mean = 0, squares = 0;
    const auto at = [&](size_t i) { return x.data[i / 4 * 12 + row * 4 + i % 4].re; };
    for (size_t i = 0; i < 8; ++i) mean += at(i) / 8;
    for (size_t i = 0; i < 8; ++i) squares += std::pow(at(i) - mean, 2);
    const auto variance = static_cast<double>(got[0].data[row].re);
    if (row == 2)
      EXPECT_TRUE(std::isnan(variance));
    else
      EXPECT_NEAR(variance, static_cast<double>(squares / 7), 1e-6 * static_cast<double>(squares));
    EXPECT_FLOAT_EQ(static_cast<float>(got[1].data[row].re), static_cast<float>(mean));
  }
}

TEST(Legalize, CountsOfCompactAreNotChecked) {
  const Graph g = prims::parse(R"(symbol u0 = 3
graph(%0 x: f32[5], %1 p: bool[5]) {
  %2: f32[5], %3: i64[] = compact(%0, %1)
  %4: f32[u0] = set_dim(%2, %3) {dim = 0}
  return %4 y
})");
  const Legalized legal = legalized(g);
  EXPECT_EQ(count_nodes(legal.graph, Prim::check), 0u);
  EXPECT_EQ(type_text(legal.graph, legal.graph.type(legal.graph.outputs[0].value)), "f32[u0]");
}

TEST(Legalize, NativeNodesStayAndTheirOperandsAreInMemory) {
  const Graph g = prims::parse(R"(graph(%0 x: f32[4, 4]) {
  %1: f32[4, 4] = exp(%0)
  %2: f32[4, 4] = transpose(%1) {permutation = (1, 0)}
  %3: f32[4, 4] = dot_general(%2, %0) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  return %3 y
})");
  const IsNative native = [](const Graph& graph, NodeId id) {
    return graph.node(id).prim == Prim::dot_general;
  };
  const Legalized legal = legalized(g, cpu(), legalize_passes(), native);
  EXPECT_EQ(print(legal.graph), print(g));
  EXPECT_EQ(legal.reused, std::unordered_set<ValueId>{1});
}

TEST(Legalize, AnOperandThatIsRoundedIsStoredRounded) {
  const Graph g = prims::parse(R"(graph(%0 x: bf16[4, 4]) {
  %1: f32[4, 4] = convert(%0) {dtype = f32}
  %2: f32[4, 4] = exp(%1)
  %3: bf16[4, 4] = convert(%2) {dtype = bf16}
  %4: bf16[4, 4] = transpose(%3) {permutation = (1, 0)}
  %5: f32[4, 4] = dot_general(%4, %0) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  return %5 y
})");
  const IsNative native = [](const Graph& graph, NodeId id) {
    return graph.node(id).prim == Prim::dot_general;
  };
  EXPECT_EQ(legalized(g, cpu(), legalize_passes(), native).reused, std::unordered_set<ValueId>{3});
}

TEST(Legalize, ANumberThatTakesEffortIsComputedOnce) {
  const Graph g = prims::parse(R"(graph(%0 x: f32[1], %1 y: f32[9]) {
  %2: f32[1] = exp(%0)
  %3: f32[1] = neg(%2)
  %4: f32[9] = broadcast_in_dim(%3) {shape = [9], dims = (0)}
  %5: f32[1] = neg(%0)
  %6: f32[9] = broadcast_in_dim(%5) {shape = [9], dims = (0)}
  %7: f32[9] = exp(%1)
  %8: f32[9] = add(%4, %6)
  %9: f32[9] = add(%7, %8)
  return %9 z
})");
  EXPECT_EQ(legalized(g).reused, std::unordered_set<ValueId>{3});
}

// --- many operands -------------------------------------------------------------------------------

Graph concatenation(size_t count, size_t rank) {
  Graph g;
  prims::Builder b(g);
  std::vector<ValueId> xs;
  for (size_t i = 0; i < count; ++i) {
    prims::SymInts shape(rank, prims::SymInt(2));
    shape[0] = static_cast<int64_t>(i % 3);
    xs.push_back(b.tensor_input("x" + std::to_string(i), {DType::i32, shape}));
  }
  b.output("y", b.concatenate(xs, 0));
  return g;
}

size_t most_operands(const Graph& g) {
  size_t most = 0;
  for (NodeId id = 0; id < g.node_count(); ++id) most = std::max(most, g.node(id).operands.size());
  return most;
}

TEST(LongConcatenations, AreCutIntoPartsThatFit) {
  for (const size_t rank : {1u, 2u, 6u}) {
    for (const size_t count : {100u, 500u, 20000u}) {
      const Graph g = concatenation(count, rank);
      const Legalized legal = legalized(g, flushing_gpu());
      EXPECT_LE(most_operands(legal.graph), 4096u / 2 / (8 + 16));
      EXPECT_EQ(legal.parts.size() + 1, legal.graph.node_count());
      if (count <= 500) expect_same_values(g, legal.graph);
    }
  }
}

// A CPU copies operands one by one, unless there are very many.
TEST(LongConcatenations, OfACpuHaveAStepForEachOperand) {
  EXPECT_EQ(most_operands(legalized(concatenation(500, 2)).graph), 500u);
  EXPECT_LE(most_operands(legalized(concatenation(20000, 1)).graph), 1024u);
}

TEST(LongConcatenations, ShortOnesStay) {
  const Graph g = concatenation(40, 2);
  const Legalized legal = legalized(g);
  EXPECT_EQ(print(legal.graph), print(g));
  EXPECT_THAT(legal.parts, IsEmpty());
}

}  // namespace
}  // namespace primset::schedule
