// Products of matrices in workgroup memory: every way for the operands to lie, tiles that end
// early, beside the reference interpreter; and the machine code that becomes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codegen/emit/emitter.h"
#include "codegen/emit/llvm/testing/ptxas.h"
#include "codegen/schedule/families/contraction/testing/products.h"
#include "codegen/schedule/testing/program_runner.h"

namespace primset::schedule {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(GroupMatrix, ProductsAreTheReferences) {
  kir::TargetModel target = group_matrix_model();
  target.multiprocessors = 0;  // any tile is worth it
  target.max_groups_x = 2;
  // The last two have rows that are no multiple of what a copy takes.
  for (const Product& p : {Product{DType::bf16, 136, 264, 72},
                           {DType::f16, 128, 256, 320},
                           {DType::bf16, 131, 39, 65},
                           {DType::f16, 37, 259, 1}}) {
    for (int layout = 0; layout < 4; ++layout) {
      const std::string what = text_of(p) + ", layout " + std::to_string(layout);
      SCOPED_TRACE(what);
      auto graph = std::make_shared<prims::Graph>(product_of(p));
      const Options options = options_of(*graph, (layout & 1) != 0, (layout & 2) != 0);
      check_program(*graph, program_of(graph, options, target, "group_multiply_"), options, target,
                    {p.rows, p.k, p.columns}, {what});
    }
  }
}

// What a thread holds stays in registers, and products overlap.
TEST(GroupMatrix, PtxSpillsAndSerializesNothing) {
  if (!emit::has_ptxas()) GTEST_SKIP() << "ptxas is not installed";
  kir::TargetModel target = group_matrix_model();
  target.multiprocessors = 132;
  target.max_groups_x = 0x7fffffff;
  for (int layout = 0; layout < 4; ++layout) {
    auto graph = std::make_shared<prims::Graph>(product_of({DType::bf16, 4096, 4096, 4096}));
    const Options options = options_of(*graph, (layout & 1) != 0, (layout & 2) != 0);
    const Program program = program_of(graph, options, target, "group_multiply_");
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
