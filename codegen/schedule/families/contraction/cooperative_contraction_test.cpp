// Products by cooperative matrices: every way for the operands to lie, tiles that end early, what
// is computed of the sums, beside the reference interpreter.
#include "codegen/emit/emitter.h"
#include "codegen/schedule/families/contraction/testing/products.h"
#include "codegen/schedule/testing/program_runner.h"

namespace primset::schedule {
namespace {

TEST(CooperativeContraction, ProductsAreTheReferences) {
  kir::TargetModel target = cooperative_model();
  target.max_groups_x = 2;
  // Without multiprocessors the largest tiles are taken, on very many the least. On one the third
  // product has the second kind, the second and sixth the third. The last of each have rows or
  // k that is no multiple of what is read at once. Each product has two of the four layouts on
  // each, in turn.
  int turn = 0;
  for (const uint32_t multiprocessors : {0u, 1u, 1u << 20}) {
    target.multiprocessors = multiprocessors;
    for (const Product& p : {Product{DType::bf16, 136, 264, 72},
                             {DType::f16, 64, 128, 160},
                             {DType::bf16, 200, 104, 120},
                             {DType::f16, 40, 139, 72},
                             {DType::bf16, 131, 39, 65},
                             {DType::bf16, 72, 136, 200},
                             {DType::f16, 40, 72, 40},
                             {DType::f16, 37, 139, 1}}) {
      for (int layout = turn++ % 2; layout < 4; layout += 2) {
        const std::string what = text_of(p) + ", layout " + std::to_string(layout);
        SCOPED_TRACE(what);
        auto graph = std::make_shared<prims::Graph>(product_of(p));
        const Options options = options_of(*graph, (layout & 1) != 0, (layout & 2) != 0);
        check_program(*graph, program_of(graph, options, target, "cooperative_multiply"), options,
                      target, {p.rows, p.k, p.columns}, {what});
      }
    }
  }
}

TEST(CooperativeContraction, DtypesThatTheDeviceLacksAreMultipliedPlainly) {
  kir::TargetModel target = cooperative_model();
  target.cooperative_bf16 = false;
  auto graph = std::make_shared<prims::Graph>(product_of({DType::bf16, 64, 64, 64}));
  const Options options = options_of(*graph, false, false);
  EXPECT_THAT(print(schedule(graph, target, options)),
              testing::Not(testing::HasSubstr("cooperative_")));
}

}  // namespace
}  // namespace primset::schedule
