// Products of many narrow matrices, beside the reference interpreter.
#include "codegen/schedule/families/contraction/testing/products.h"
#include "codegen/schedule/testing/program_runner.h"

namespace primset::schedule {
namespace {

// As the scores of attention are computed: an operand's batches lie apart by two strides.
prims::Graph batched_product_of(const Product& p, int64_t batch) {
  const std::string t(name(p.dtype));
  const auto symbol = [](const char* name, int64_t value) {
    return "symbol " + std::string(name) + " = " + std::to_string(value) + "\n";
  };
  return prims::parse(symbol("s0", batch) + symbol("s1", p.rows) + symbol("s2", p.k) +
                      symbol("s3", p.columns) + "graph(%0 a: " + t + "[s0, s1, 3, s2], %1 b: " + t +
                      "[s0, s3, 3, s2]) {\n  %2: " + t +
                      "[s0, 3, s1, s3] = dot_general(%0, %1) {a_contract = (3), b_contract = (3), "
                      "a_batch = (0, 2), b_batch = (0, 2), accumulate = " +
                      t + "}\n  return %2 r\n}\n");
}

TEST(NarrowProducts, AreTheReferences) {
  for (kir::TargetModel target : {simt_model(), matrix_model()}) {
    target.multiprocessors = 6;
    target.group_threads = 128;
    for (const Product& p : {Product{DType::f32, 29, 29, 32},
                             {DType::f32, 16, 16, 1},
                             {DType::f64, 32, 200, 33},
                             {DType::i32, 70, 17, 16},
                             {DType::i64, 33, 31, 20}}) {
      SCOPED_TRACE(text_of(p));
      auto graph = std::make_shared<prims::Graph>(batched_product_of(p, 2));
      const Options options = row_major_options(*graph);
      const Program program = program_of(graph, options, target, "@contraction");
      EXPECT_THAT(print(program), testing::HasSubstr("group_size(64, 1, 1)"));
      check_program(*graph, program, options, target, {2, p.rows, p.k, p.columns},
                    {text_of(p), 100});
    }
  }
}

// A tile each keeps fewer multiprocessors busy than rows and columns one by one.
TEST(NarrowProducts, OfWhichThereAreFewAreNoTiles) {
  kir::TargetModel target = simt_model();
  target.group_threads = 128;
  for (const auto& [multiprocessors, product] : {std::pair{6u, Product{DType::f32, 29, 29, 32}},
                                                 {7u, Product{DType::f32, 29, 29, 32}},
                                                 {6u, Product{DType::f32, 15, 40, 32}},
                                                 {7u, Product{DType::f32, 32, 32, 32}}}) {
    target.multiprocessors = multiprocessors;
    auto graph = std::make_shared<prims::Graph>(batched_product_of(product, 2));
    const bool tiles = product.rows >= 32 || (product.rows >= 16 && multiprocessors <= 6);
    program_of(graph, row_major_options(*graph), target, tiles ? "@contraction" : "@reduce");
  }
}

}  // namespace
}  // namespace primset::schedule
