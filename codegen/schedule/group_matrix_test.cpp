// Products of matrices in workgroup memory: every way for the operands to lie, tiles that end
// early, beside the reference interpreter; and the machine code that becomes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codegen/emit/emitter.h"
#include "codegen/emit/llvm/ptxas.h"
#include "codegen/schedule/program_runner.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/schedule_test_util.h"
#include "prims/graph/text.h"

namespace primset::schedule {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Product {
  DType dtype;
  int64_t rows, columns, terms;
};

prims::Graph product_of(const Product& p) {
  const std::string t(name(p.dtype));
  return prims::parse(
      "symbol s0 = " + std::to_string(p.rows) + "\nsymbol s1 = " + std::to_string(p.terms) +
      "\nsymbol s2 = " + std::to_string(p.columns) + "\ngraph(%0 a: " + t + "[s0, s1], %1 b: " + t +
      "[s1, s2]) {\n  %2: f32[s0, s2] = dot_general(%0, %1) {a_contract = (1), "
      "b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}\n  %3: " +
      t + "[s0, s2] = convert(%2) {dtype = " + t + "}\n  return %3 r\n}\n");
}

Program program_of(const std::shared_ptr<prims::Graph>& graph, const Options& options,
                   const kir::TargetModel& target) {
  Program program = schedule(graph, target, options);
  EXPECT_THAT(print(program), HasSubstr("group_multiply_"));
  return program;
}

Options options_of(const prims::Graph& g, bool a_by_columns, bool b_by_columns) {
  Options options;
  size_t i = 0;
  for (const bool by_columns : {a_by_columns, b_by_columns}) {
    const prims::SymInts& shape = g.type(g.inputs[i++].value).shape;
    options.inputs.push_back({by_columns ? column_major(shape) : row_major(shape)});
  }
  options.outputs.push_back({row_major(g.type(g.outputs[0].value).shape)});
  return options;
}

TEST(GroupMatrix, ProductsAreTheReferences) {
  kir::TargetModel target = group_matrix_model();
  target.processors = 0;  // any tile is worth it
  target.max_groups_x = 2;
  // The last two have rows that are no multiple of what a copy takes.
  for (const Product& p : {Product{DType::bf16, 136, 264, 72},
                           {DType::f16, 128, 256, 320},
                           {DType::bf16, 131, 39, 65},
                           {DType::f16, 37, 259, 1}}) {
    for (int layout = 0; layout < 4; ++layout) {
      const std::string what = std::to_string(p.rows) + " x " + std::to_string(p.columns) + " of " +
                               std::to_string(p.terms) + ", layout " + std::to_string(layout);
      SCOPED_TRACE(what);
      auto graph = std::make_shared<prims::Graph>(product_of(p));
      const Options options = options_of(*graph, (layout & 1) != 0, (layout & 2) != 0);
      check_program(*graph, program_of(graph, options, target), options, target,
                    {p.rows, p.terms, p.columns}, {what});
    }
  }
}

// What a thread holds stays in registers, and products overlap.
TEST(GroupMatrix, PtxSpillsAndSerializesNothing) {
  if (!emit::has_ptxas()) GTEST_SKIP() << "ptxas is not installed";
  kir::TargetModel target = group_matrix_model();
  target.processors = 132;
  target.max_groups_x = 0x7fffffff;
  for (int layout = 0; layout < 4; ++layout) {
    auto graph = std::make_shared<prims::Graph>(product_of({DType::bf16, 4096, 4096, 4096}));
    const Options options = options_of(*graph, (layout & 1) != 0, (layout & 2) != 0);
    const Program program = program_of(graph, options, target);
    const emit::Binary binary = emit::emit(program.kernels[0], target);
    const emit::Assembled all =
        emit::assemble(reinterpret_cast<const char*>(binary.bytes.data()), "sm_90a");
    EXPECT_TRUE(all.ok) << all.said;
    EXPECT_THAT(all.said, HasSubstr("0 bytes spill stores, 0 bytes spill loads"));
    EXPECT_THAT(all.said, Not(HasSubstr("serialized")));
    RecordProperty("registers", all.said);
  }
}

}  // namespace
}  // namespace primset::schedule
