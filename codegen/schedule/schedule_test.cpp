// Every kernel family on both kinds of machine, against the reference interpreter: contiguous and
// permuted layouts, several sizes for one program.
#include "codegen/schedule/schedule.h"

#include <gtest/gtest.h>

#include <string>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

using prims::SymInts;

struct Case {
  const char* name;
  const char* text;         // a graph; its symbols' hints are the sizes of the first run
  int launches = -1;        // expected on the CPU; -1: any
  int64_t index_bound = 0;  // integer inputs are drawn below this
};

void PrintTo(const Case& c, std::ostream* os) {
  *os << c.name;
}

class Families : public testing::TestWithParam<Case> {
 protected:
  void run(const kir::TargetModel& target, bool permuted, bool index32, bool in_tables = false) {
    auto graph = std::make_shared<prims::Graph>(prims::parse(GetParam().text));
    ASSERT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
    Options options;
    options.index32 = index32;
    for (const auto& in : graph->inputs) {
      const SymInts& shape = graph->type(in.value).shape;
      options.inputs.push_back({permuted ? column_major(shape) : row_major(shape)});
    }
    for (const auto& out : graph->outputs) {
      // An output in an input's memory has the input's layout.
      const SymInts& shape = graph->type(out.value).shape;
      options.outputs.push_back(
          {out.writes_input ? options.inputs[*out.writes_input].strides : row_major(shape)});
    }
    const Program program = schedule(graph, target, options);
    std::vector<int64_t> symbols;
    for (size_t s = 0; s < graph->context().symbol_count(); ++s)
      symbols.push_back(graph->context().symbol_hint(s));
    check_program(*graph, program, options, target, symbols,
                  {GetParam().name, GetParam().index_bound, in_tables, 0});
    if (!target.simt && GetParam().launches >= 0 && !permuted) {
      EXPECT_EQ(program.steps.size(), static_cast<size_t>(GetParam().launches)) << print(program);
    }
  }
};

TEST_P(Families, Cpu) {
  run(emit::native_model(), false, true);
  run(emit::native_model(), true, false);
}

TEST_P(Families, Simt) {
  run(simt_model(), false, true);
  run(simt_model(), true, false);
}

// Threads of a subgroup exchange what they reduce and scan.
TEST_P(Families, SimtWithBallots) {
  run(ballot_model(16), false, true);
}

// On few multiprocessors, so that large tiles are worth it here; with two of them smaller ones are.
TEST_P(Families, MatrixUnits) {
  for (const uint32_t multiprocessors : {1u, 2u}) {
    kir::TargetModel target = matrix_model();
    target.multiprocessors = multiprocessors;
    run(target, false, true);
    run(target, true, false);
  }
}

TEST_P(Families, CpuInTables) {
  run(emit::native_model(), false, true, true);
}
TEST_P(Families, SimtInTables) {
  run(simt_model(), false, true, true);
}

const Case kCases[] = {
    {"add", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s0, s1]) {
  %2: f32[s0, s1] = add(%0, %1)
  return %2 r
}
)",
     1},
    {"broadcast_mixed", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f16[s0, s1], %1 y: i32[s1], %2 a: f64 scalar) {
  %3: f32[s0, s1] = convert(%0) {dtype = f32}
  %4: f32[s1] = convert(%1) {dtype = f32}
  %5: f32[s0, s1] = broadcast_in_dim(%4) {shape = [s0, s1], dims = (1)}
  %6: f32[] = convert(%2) {dtype = f32}
  %7: f32[s0, s1] = broadcast_in_dim(%6) {shape = [s0, s1], dims = ()}
  %8: f32[s0, s1] = mul(%5, %7)
  %9: f32[s0, s1] = add(%3, %8)
  %10: f16[s0, s1] = convert(%9) {dtype = f16}
  return %10 r
}
)",
     1},
    {"softmax", R"(symbol s0 = 5 min 2
symbol s1 = 77 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0] = reduce_max(%0) {dims = (1)}
  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (0)}
  %3: f32[s0, s1] = sub(%0, %2)
  %4: f32[s0, s1] = exp(%3)
  %5: f32[s0] = reduce_sum(%4) {dims = (1)}
  %6: f32[s0, s1] = broadcast_in_dim(%5) {shape = [s0, s1], dims = (0)}
  %7: f32[s0, s1] = div(%4, %6)
  return %7 r
}
)",
     1},
    {"softmax_in_place", R"(symbol s0 = 5 min 2
symbol s1 = 77 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0] = reduce_max(%0) {dims = (1)}
  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (0)}
  %3: f32[s0, s1] = sub(%0, %2)
  %4: f32[s0, s1] = exp(%3)
  %5: f32[s0] = reduce_sum(%4) {dims = (1)}
  %6: f32[s0, s1] = broadcast_in_dim(%5) {shape = [s0, s1], dims = (0)}
  %7: f32[s0, s1] = div(%4, %6)
  return %7 r writes 0
}
)",
     1},
    {"product_in_tiles", R"(symbol s0 = 2 min 2
symbol s1 = 70 min 2
symbol s2 = 37 min 2
symbol s3 = 45 min 2
graph(%0 x: f32[s0, s1, s2], %1 w: f16[s3, s2], %2 bias: f32[s3]) {
  %4: f32[s3, s2] = convert(%1) {dtype = f32}
  %3: f32[s0, s1, s3] = dot_general(%0, %4) {a_contract = (2), b_contract = (1), a_batch = (), b_batch = (), accumulate = f32}
  %5: f32[s0, s1, s3] = broadcast_in_dim(%2) {shape = [s0, s1, s3], dims = (2)}
  %6: f32[s0, s1, s3] = add(%3, %5)
  return %6 r
}
)"},
    {"bf16_product", R"(symbol s0 = 70 min 2
symbol s1 = 40 min 2
symbol s2 = 72 min 2
graph(%0 x: bf16[s0, s1], %1 y: bf16[s1, s2]) {
  %2: f32[s0, s2] = dot_general(%0, %1) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  %3: bf16[s0, s2] = convert(%2) {dtype = bf16}
  return %3 r
}
)"},
    {"bf16_product_in_large_tiles", R"(symbol s0 = 136 min 2
symbol s1 = 72 min 2
symbol s2 = 132 min 2
graph(%0 x: bf16[s0, s1], %1 y: bf16[s2, s1]) {
  %2: f32[s0, s2] = dot_general(%0, %1) {a_contract = (1), b_contract = (1), a_batch = (), b_batch = (), accumulate = f32}
  %3: bf16[s0, s2] = convert(%2) {dtype = bf16}
  return %3 r
}
)"},
    {"f16_linear_of_odd_sizes", R"(symbol s0 = 2 min 2
symbol s1 = 37 min 2
symbol s2 = 50 min 2
symbol s3 = 45 min 2
graph(%0 x: f16[s0, s1, s2], %1 w: f16[s3, s2], %2 bias: f16[s3]) {
  %3: f16[s0*s1, s2] = reshape(%0) {shape = [s0*s1, s2]}
  %4: f16[s2, s3] = transpose(%1) {permutation = (1, 0)}
  %5: f32[s0*s1, s3] = dot_general(%3, %4) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  %6: f32[s3] = convert(%2) {dtype = f32}
  %7: f32[s0*s1, s3] = broadcast_in_dim(%6) {shape = [s0*s1, s3], dims = (1)}
  %8: f32[s0*s1, s3] = add(%5, %7)
  %9: f16[s0*s1, s3] = convert(%8) {dtype = f16}
  %10: f16[s0, s1, s3] = reshape(%9) {shape = [s0, s1, s3]}
  return %10 r
}
)"},
    {"f16_batched_product", R"(symbol s0 = 3 min 2
symbol s1 = 33 min 2
graph(%0 x: f16[s0, s1, 64], %1 y: f16[s0, 64, 40]) {
  %2: f32[s0, s1, 40] = dot_general(%0, %1) {a_contract = (2), b_contract = (1), a_batch = (0), b_batch = (0), accumulate = f32}
  return %2 r
}
)"},
    {"f32_product_of_whole_chunks", R"(symbol s0 = 130 min 2
symbol s1 = 36 min 2
symbol s2 = 132 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s1, s2], %2 z: f32[s0, s2]) {
  %3: f32[s0, s2] = dot_general(%0, %1) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  %4: f32[s0, s2] = add(%3, %2)
  return %4 r
}
)"},
    {"f32_product_of_odd_sizes", R"(symbol s0 = 2 min 2
symbol s1 = 130 min 2
symbol s2 = 37 min 2
symbol s3 = 75 min 2
graph(%0 x: f32[s0, s1, s2], %1 y: f32[s0, s3, s2]) {
  %2: f32[s0, s1, s3] = dot_general(%0, %1) {a_contract = (2), b_contract = (2), a_batch = (0), b_batch = (0), accumulate = f32}
  return %2 r
}
)"},
    {"batched_product_in_tiles", R"(symbol s0 = 3 min 2
symbol s1 = 33 min 2
symbol s2 = 50 min 2
graph(%0 x: i64[s0, s1, s2], %1 y: i64[s2, s0, 40]) {
  %2: i64[s0, s1, 40] = dot_general(%0, %1) {a_contract = (2), b_contract = (0), a_batch = (0), b_batch = (1), accumulate = i64}
  return %2 r
}
)"},
    {"one_row", R"(symbol s0 = 77 min 2
graph(%0 x: f32[1, s0]) {
  %1: f32[1] = reduce_max(%0) {dims = (1)}
  %2: f32[1, 1] = reshape(%1) {shape = [1, 1]}
  %3: f32[1, s0] = broadcast_in_dim(%2) {shape = [1, s0], dims = (0, 1)}
  %4: f32[1, s0] = sub(%0, %3)
  return %4 r
}
)",
     1},
    {"sum_column", R"(symbol s0 = 70 min 2
symbol s1 = 19 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s1] = reduce_sum(%0) {dims = (0)}
  return %1 r
}
)",
     1},
    {"sum_all", R"(symbol s0 = 7 min 2
symbol s1 = 19 min 2
symbol s2 = 3 min 2
graph(%0 x: f32[s0, s1, s2]) {
  %1: f32[] = reduce_sum(%0) {dims = (0, 1, 2)}
  return %1 r
}
)",
     1},
    {"sum_long", R"(symbol s0 = 40000 min 2
graph(%0 x: f32[s0]) {
  %1: f32[] = reduce_sum(%0) {dims = (0)}
  return %1 r
}
)",
     2},
    {"amax_rows_long", R"(symbol s0 = 3 min 2
symbol s1 = 33000 min 2
graph(%0 x: f64[s0, s1]) {
  %1: f64[s0] = reduce_max(%0) {dims = (1)}
  return %1 r
}
)",
     2},
    {"sum_complex_long", R"(symbol s0 = 20001 min 2
graph(%0 x: c64[s0]) {
  %1: c64[] = reduce_sum(%0) {dims = (0)}
  return %1 r
}
)",
     2},
    {"argmax_long", R"(symbol s0 = 40000 min 2
graph(%0 x: f32[s0]) {
  %1: i64[] = argmax(%0) {dim = 0}
  return %1 r
}
)"},
    {"argmax", R"(symbol s0 = 6 min 2
symbol s1 = 50 min 2
graph(%0 x: f32[s0, s1]) {
  %1: i64[s0] = argmax(%0) {dim = 1}
  return %1 r
}
)",
     1},
    {"cumsum", R"(symbol s0 = 6 min 2
symbol s1 = 50 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0, s1] = scan_sum(%0) {dim = 1}
  return %1 r
}
)",
     1},
    {"cumsum_of_halves", R"(symbol s0 = 6 min 2
symbol s1 = 50 min 2
graph(%0 x: f16[s0, s1]) {
  %1: f16[s0, s1] = scan_sum(%0) {dim = 1}
  return %1 r
}
)",
     1},
    {"cumsum_made_use_of", R"(symbol s0 = 6 min 2
symbol s1 = 300 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s0]) {
  %2: f32[s0, s1] = scan_sum(%0) {dim = 1}
  %3: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (0)}
  %4: f32[s0, s1] = mul(%2, %3)
  %5: bool[s0, s1] = lt(%4, %0)
  %6: f32[s0, s1] = select(%5, %4, %2)
  return %6 r
}
)",
     1},
    {"cumsum_turned_round", R"(symbol s0 = 6 min 2
graph(%0 x: f32[s0, s0]) {
  %1: f32[s0, s0] = scan_sum(%0) {dim = 1}
  %2: f32[s0, s0] = mul(%1, %0)
  %3: f32[s0, s0] = transpose(%2) {permutation = (1, 0)}
  %4: f32[s0, s0] = add(%3, %2)
  return %4 r
}
)"},
    {"product_turned_round", R"(symbol s0 = 6 min 2
graph(%0 x: f32[s0, s0]) {
  %1: f32[s0, s0] = dot_general(%0, %0) {a_contract = (1), b_contract = (1), a_batch = (), b_batch = (), accumulate = f32}
  %2: f32[s0, s0] = sub(%1, %0)
  %3: f32[s0, s0] = transpose(%2) {permutation = (1, 0)}
  %4: f32[s0, s0] = add(%3, %0)
  return %4 r
}
)"},
    {"sums_of_other_rows", R"(symbol s0 = 6 min 2
symbol s1 = 40 min 2
graph(%0 x: f32[s0, s0, s1]) {
  %1: f32[s0, s0] = reduce_sum(%0) {dims = (2)}
  %2: f32[s0, s0] = transpose(%1) {permutation = (1, 0)}
  %3: f32[s0, s0] = sub(%1, %2)
  %4: f32[s0, s0, s1] = broadcast_in_dim(%2) {shape = [s0, s0, s1], dims = (0, 1)}
  %5: f32[s0, s0, s1] = mul(%4, %0)
  return %1 sums, %3 differences, %5 scaled
}
)"},
    {"cumsum_and_more", R"(symbol s0 = 6 min 2
symbol s1 = 50 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0, s1] = scan_sum(%0) {dim = 0}
  %2: f32[s0, s1] = mul(%1, %0)
  %3: f32[s1] = reduce_sum(%1) {dims = (0)}
  %4: f32[s0, s1] = broadcast_in_dim(%3) {shape = [s0, s1], dims = (1)}
  %5: f32[s0, s1] = sub(%2, %4)
  return %5 r, %1 sums
}
)"},
    {"cumsum_long", R"(symbol s0 = 40000 min 2
graph(%0 x: f32[s0]) {
  %1: f32[s0] = scan_sum(%0) {dim = 0}
  return %1 r
}
)"},
    {"cummax_long", R"(symbol s0 = 2 min 2
symbol s1 = 33000 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0, s1], %2: i64[s0, s1] = scan_max(%0) {dim = 1}
  return %1 r, %2 i
}
)"},
    {"cummax", R"(symbol s0 = 6 min 2
symbol s1 = 20 min 2
graph(%0 x: i32[s0, s1]) {
  %1: i32[s0, s1], %2: i64[s0, s1] = scan_max(%0) {dim = 0}
  return %1 r, %2 i
}
)",
     1},
    {"sort", R"(symbol s0 = 3 min 2
symbol s1 = 21 min 2
graph(%0 x: f32[s0, s1], %1 y: i64[s0, s1]) {
  %2: f32[s0, s1], %3: i64[s0, s1] = sort(%0, %1) {dim = 1, descending = false}
  return %2 r, %3 i
}
)"},
    {"dot", R"(symbol s0 = 5 min 2
symbol s1 = 21 min 2
symbol s2 = 18 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s1, s2]) {
  %2: f32[s0, s2] = dot_general(%0, %1) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  return %2 r
}
)",
     1},
    {"dot_of_what_is_computed", R"(symbol s0 = 5 min 2
symbol s1 = 21 min 2
symbol s2 = 18 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s1, s2]) {
  %2: f32[s0, s1] = exp(%0)
  %3: f32[s0, s2] = dot_general(%2, %1) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  %4: f32[s0, s2] = neg(%3)
  return %4 r
}
)",
     2},
    {"gather_rows", R"(symbol s0 = 9 min 2
symbol s1 = 21 min 2
symbol s2 = 18 min 2
graph(%0 x: f32[s0, s1], %1 i: i64[s2]) {
  %2: f32[s2, s1] = gather(%0, %1) {dims = (0), in_bounds = false, argument = "index"}
  return %2 r
}
)",
     1, 9},
    {"gather_bad", R"(symbol s0 = 9 min 2
symbol s1 = 21 min 2
symbol s2 = 18 min 2
graph(%0 x: f32[s0, s1], %1 i: i64[s2]) {
  %2: f32[s2, s1] = gather(%0, %1) {dims = (0), in_bounds = false, argument = "index"}
  return %2 r
}
)",
     1, 12},
    {"scatter_add", R"(symbol s0 = 9 min 2
symbol s1 = 21 min 2
symbol s2 = 18 min 2
graph(%0 x: f32[s0, s1], %1 i: i64[s2], %2 u: f32[s2, s1]) {
  %3: f32[s0, s1] = scatter_add(%0, %1, %2) {dims = (0), in_bounds = false, ordered = true, argument = "index"}
  return %3 r
}
)",
     2, 9},
    {"histogram", R"(symbol s0 = 70 min 2
symbol s1 = 50 min 2
graph(%0 i: i64[s0, s1]) {
  %1: i64[9] = constant() {value = #3, dtype = i64, shape = [9]}
  %2: i64[s0, s1] = constant() {value = #1, dtype = i64, shape = [s0, s1]}
  %3: i64[9] = scatter_add(%1, %0, %2) {dims = (0), in_bounds = true, ordered = false, argument = "index"}
  return %3 r
}
)",
     2, 9},
    {"scatter_add_in_planes", R"(symbol s0 = 3 min 2
symbol s1 = 9 min 2
symbol s2 = 18 min 2
graph(%0 x: f32[s0, s1], %1 i: i64[s2], %2 u: f32[s0, s2]) {
  %3: i64[s0, s2] = iota() {shape = [s0, s2], dim = 0, dtype = i64}
  %4: i64[s0, s2] = broadcast_in_dim(%1) {shape = [s0, s2], dims = (1)}
  %5: f32[s0, s1] = scatter_add(%0, %3, %4, %2) {dims = (0, 1), in_bounds = false, ordered = true, argument = "index"}
  return %5 r
}
)",
     2, 9},
    {"scatter_max_between_dims", R"(symbol s0 = 5 min 2
symbol s1 = 9 min 2
symbol s2 = 18 min 2
graph(%0 x: f32[s0, s1], %1 i: i64[s2], %2 u: f32[s2, s0]) {
  %3: f32[s0, s1] = scatter_max(%0, %1, %2) {dims = (1), in_bounds = false, ordered = true, argument = "index"}
  return %3 r
}
)",
     2, 9},
    {"scatter_max_at_summed_rows", R"(symbol s0 = 9 min 2
symbol s1 = 21 min 2
graph(%0 x: f32[s0, s1], %1 v: i64[3, 3], %2 u: f32[7, s1]) {
  %3: i64[7] = window_scatter_add(%1) {dims = (0), sizes = [3], strides = [2], dilations = [1], shape = [7]}
  %4: i64[7] = constant() {value = #8, dtype = i64, shape = [7]}
  %5: i64[7] = min(%3, %4)
  %6: f32[s0, s1] = scatter_max(%0, %5, %2) {dims = (0), in_bounds = false, ordered = true, argument = "index"}
  return %6 r
}
)",
     2, 5},
    {"scatter_donated", R"(symbol s0 = 9 min 2
symbol s1 = 21 min 2
symbol s2 = 18 min 2
graph(%0 x: f32[s0, s1], %1 i: i64[s2], %2 u: f32[s2, s1]) {
  %3: f32[s0, s1] = scatter_add(%0, %1, %2) {dims = (0), in_bounds = false, ordered = true, argument = "index"}
  return %3 r writes 0
}
)",
     1, 9},
    {"concat_pad_reverse", R"(symbol s0 = 4 min 2
symbol s1 = 21 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s0, s1]) {
  %2: f32[s0, 2*s1] = concatenate(%0, %1) {dim = 1}
  %3: f32[s0, 2*s1] = reverse(%2) {dims = (1)}
  %4: f32[] = constant() {value = #1.5, dtype = f32, shape = []}
  %5: f32[s0 + 3, 2*s1] = pad(%3, %4) {low = [1, 0], high = [2, 0], interior = [0, 0]}
  return %5 r
}
)",
     1},
    {"reshape_transpose", R"(symbol s0 = 4 min 2
symbol s1 = 6 min 2
symbol s2 = 5 min 2
graph(%0 x: f32[s0, s1, s2]) {
  %1: f32[s2, s0, s1] = transpose(%0) {permutation = (2, 0, 1)}
  %2: f32[s0*s2, s1] = reshape(%1) {shape = [s0*s2, s1]}
  %3: f32[s0*s1*s2] = reshape(%2) {shape = [s0*s1*s2]}
  return %3 r
}
)",
     1},
    {"in_place_unsafe", R"(symbol s0 = 64 min 2
graph(%0 x: f32[s0]) {
  %1: f32[s0] = reverse(%0) {dims = (0)}
  return %1 r writes 0
}
)",
     2},
    {"compact", R"(symbol s0 = 64 min 2
graph(%0 x: f32[s0], %1 m: bool[s0]) {
  %2: f32[s0], %3: i64[] = compact(%0, %1)
  return %2 r, %3 n
}
)"},
    {"two_results_of_one_reduction", R"(symbol s0 = 5 min 2
symbol s1 = 7 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0, s1] = constant() {value = 1, dtype = f32, shape = [s0, s1]}
  %2: f32[] = constant() {value = 0, dtype = f32, shape = []}
  %10: f32[s0], %11: f32[s0] = reduce(%0, %1, %2, %2) {dims = (1)} region(%3: f32[], %4: f32[], %5: f32[], %6: f32[]) {
    %7: f32[] = add(%3, %5)
    %8: f32[] = add(%4, %6)
    return %7, %8
  }
  %12: f32[s1, s0] = broadcast_in_dim(%11) {shape = [s1, s0], dims = (1)}
  return %10 total, %12 count
}
)"},
    {"sum_of_halves", R"(symbol s0 = 5 min 2
symbol s1 = 300 min 2
graph(%0 x: f16[s0, s1]) {
  %1: f16[s0] = reduce_sum(%0) {dims = (1)}
  %2: f16[s0, s1] = scan_sum(%0) {dim = 1}
  return %1 total, %2 running
}
)"},
    {"branch_in_place", R"(symbol s0 = 17 min 2
symbol s1 = 9 min 2
graph(%0 x: f32[s0], %1 y: f32[s0], %2 z: f32[s1], %3 f: f32[]) {
  %4: f32[] = constant() {value = #0.0, dtype = f32, shape = []}
  %5: bool[] = lt(%3, %4)
  %20: f32[s0], %21: f32[s0], %22: f32[s1] = cond(%5, %0, %1, %2) region(%6: f32[s0], %7: f32[s0], %8: f32[s1]) {
    return %6, %7, %8
  } region(%9: f32[s0], %10: f32[s0], %11: f32[s1]) {
    %12: f32[s0] = add(%9, %10)
    %13: f32[s0] = mul(%9, %12)
    %14: f32[s1] = exp(%11)
    return %12, %13, %14
  }
  return %20 a writes 0, %21 b writes 1, %22 c writes 2
}
)",
     2},
    {"branch_of_rows_and_copies", R"(symbol s0 = 17 min 2
symbol s1 = 9 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s0, s1], %2 f: i32[]) {
  %3: i32[] = constant() {value = #0, dtype = i32, shape = []}
  %4: bool[] = lt(%2, %3)
  %20: f32[s0, s1], %21: f32[s0], %22: f32[0] = cond(%4, %0, %1) region(%5: f32[s0, s1], %6: f32[s0, s1]) {
    %7: f32[s0] = reduce_sum(%5) {dims = (1)}
    %8: f32[0] = constant() {value = #1.0, dtype = f32, shape = [0]}
    return %6, %7, %8
  } region(%9: f32[s0, s1], %10: f32[s0, s1]) {
    %11: f32[s0] = reduce_max(%10) {dims = (1)}
    %12: f32[s0, s1] = reverse(%9) {dims = (0)}
    %13: f32[0] = constant() {value = #2.0, dtype = f32, shape = [0]}
    return %12, %11, %13
  }
  %23: f32[s0] = neg(%21)
  return %22 none, %20 a writes 0, %23 b
}
)"},
    {"exchange_in_place", R"(symbol s0 = 17 min 2
graph(%0 x: f32[s0], %1 f: i32[]) {
  %2: i32[] = constant() {value = #0, dtype = i32, shape = []}
  %3: bool[] = lt(%1, %2)
  %8: f32[s0] = cond(%3, %0) region(%4: f32[s0]) {
    %5: f32[s0] = reverse(%4) {dims = (0)}
    return %5
  } region(%6: f32[s0]) {
    %7: f32[s0] = neg(%6)
    return %7
  }
  return %8 a writes 0
}
)",
     3},
    {"number_made_once", R"(symbol s0 = 17 min 2
graph(%0 x: f32[s0], %1 y: f32[s0], %2 n: f32[]) {
  %3: f32[] = exp(%2)
  %4: f32[s0] = broadcast_in_dim(%3) {shape = [s0], dims = ()}
  %5: f32[s0] = add(%0, %4)
  %6: f32[s0] = mul(%0, %1)
  return %6 a writes 1, %5 b writes 0
}
)",
     2},
    {"read_before_it_is_overwritten", R"(symbol s0 = 17 min 2
symbol s1 = 9 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s1]) {
  %2: f32[s0, s1] = neg(%0)
  %3: f32[s1] = reduce_max(%0) {dims = (0)}
  %4: f32[s1] = mul(%1, %3)
  return %2 a writes 0, %4 b writes 1
}
)",
     2},
    {"for_loop", R"(symbol s0 = 17 min 2
graph(%0 x: f32[s0]) {
  %6: f32[s0] = for_loop(%0) {count = <5>, stacked = 0} region(%1: i64[], %2: f32[s0]) {
    %3: f32[] = convert(%1) {dtype = f32}
    %4: f32[s0] = broadcast_in_dim(%3) {shape = [s0], dims = ()}
    %5: f32[s0] = add(%2, %4)
    return %5
  }
  return %6 r
}
)"},
};

INSTANTIATE_TEST_SUITE_P(Schedule, Families, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Layers of a network, each a row's share of the last one, and a product with it added.
std::string network(int layers) {
  std::string text = "graph(%0 x: f32[64, 64], %1 w: f32[64, 64]) {\n";
  int last = 0, next = 2;
  const auto add = [&](const std::string& shape, const std::string& what) {
    text += "  %" + std::to_string(next) + ": f32[" + shape + "] = " + what + "\n";
    return next++;
  };
  const auto of = [](const char* prim, int a) { return prim + ("(%" + std::to_string(a)) + ")"; };
  const auto of_two = [](const char* prim, int a, int b) {
    return prim + ("(%" + std::to_string(a)) + ", %" + std::to_string(b) + ")";
  };
  for (int i = 0; i < layers; ++i) {
    const int sum = add("64", of("reduce_max", last) + " {dims = (1)}");
    const int wide = add("64, 64", of("broadcast_in_dim", sum) + " {shape = [64, 64], dims = (0)}");
    const int share = add("64, 64", of_two("sub", last, wide));
    const int product = add("64, 64", of_two("dot_general", share, 1) +
                                          " {a_contract = (1), b_contract = (0), a_batch = (), "
                                          "b_batch = (), accumulate = f32}");
    last = add("64, 64", of_two("add", share, product));
  }
  return text + "  return %" + std::to_string(last) + " r\n}\n";
}

// What a layer reads was computed by the one before, and not by each that comes after.
TEST(Schedule, LayersCostAlike) {
  for (const kir::TargetModel& target : {simt_model(), matrix_model(), emit::native_model()}) {
    const auto work = [&](int layers) {
      auto graph = std::make_shared<prims::Graph>(prims::parse(network(layers)));
      EXPECT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
      Options options;
      options.inputs.assign(2, {row_major({64, 64})});
      options.outputs.assign(1, {row_major({64, 64})});
      size_t instructions = 0;
      for (const kir::Kernel& k : schedule(graph, target, options).kernels)
        instructions += k.insts.size();
      return instructions;
    };
    EXPECT_EQ(work(6) - work(5), work(3) - work(2));
  }
}

// How often a kernel asks for what lies a page behind an element that it loads.
size_t page_prefetches(const char* text) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  kir::TargetModel wide = emit::native_model();
  wide.vector_bytes = 64;
  size_t count = 0;
  for (const kir::Kernel& k : schedule(graph, wide, row_major_options(*graph)).kernels)
    for (const kir::Inst& inst : k.insts)
      count += inst.op == kir::Op::Prefetch && inst.imm.count * kir::bytes(inst.imm.elem) >= 4096;
  return count;
}

// Behind a row that an index names lies what nobody asks for.
TEST(Schedule, RowsByIndexAreNotAskedForAhead) {
  EXPECT_EQ(page_prefetches(R"(graph(%0 x: f32[90, 64], %1 i: i64[90]) {
  %2: f32[90, 64] = gather(%0, %1) {dims = (0), in_bounds = false, argument = "index"}
  return %2 r
})"),
            0u);
  EXPECT_GT(page_prefetches(R"(graph(%0 x: f32[90, 64]) {
  %1: f32[90, 64] = exp(%0)
  return %1 r
})"),
            0u);
}

}  // namespace
}  // namespace primset::schedule
