// Products in blocks on CPUs, beside the reference interpreter: whole and cut blocks, steps and
// tiles, either order of each operand and of the result, and operands computed where they are
// packed.
#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/families/contraction/testing/products.h"
#include "codegen/schedule/testing/program_runner.h"

namespace primset::schedule {
namespace {

std::vector<kir::TargetModel> cpu_models() {
  kir::TargetModel wide = emit::native_model(), narrow = wide;
  narrow.vector_bytes = 32;
  return {wide, narrow};
}

// A batch of two, an operand that is converted and one that is scaled, and a result that is added
// to a row.
prims::Graph fused_product_of(const Product& p) {
  const std::string t(name(p.dtype));
  const auto symbol = [](const char* name, int64_t value) {
    return "symbol " + std::string(name) + " = " + std::to_string(value) + "\n";
  };
  return prims::parse(
      symbol("s0", p.rows) + symbol("s1", p.k) + symbol("s2", p.columns) + "graph(%0 a: " + t +
      "[2, s0, s1], %1 b: " + t + "[2, s1, s2], %2 c: " + t + "[s2]) {\n  %3: " + t +
      "[2, s1, s2] = add(%1, %1)\n  %4: " + t +
      "[2, s0, s2] = dot_general(%0, %3) {a_contract = (2), b_contract = (1), a_batch = (0), "
      "b_batch = (0), accumulate = " +
      t + "}\n  %5: " + t +
      "[2, s0, s2] = broadcast_in_dim(%2) {shape = [2, s0, s2], dims = (2)}\n  %6: " + t +
      "[2, s0, s2] = add(%4, %5)\n  return %6 r\n}\n");
}

constexpr Product kProducts[] = {
    {DType::f32, 97, 131, 257}, {DType::f32, 4, 8, 8},    {DType::f32, 13, 33, 129},
    {DType::f64, 99, 130, 70},  {DType::f64, 7, 9, 65},   {DType::i32, 20, 70, 130},
    {DType::i64, 100, 17, 66},  {DType::bf16, 6, 64, 40},
};

// With the result in columns.
prims::Graph transposed_product_of(const Product& p) {
  std::string text = prims::print(product_of(p));
  const std::string end = "return %3";
  text.replace(text.find(end), end.size(),
               "%4: " + std::string(name(p.dtype)) +
                   "[s2, s0] = transpose(%3) {permutation = (1, 0)}\n  return %4");
  return prims::parse(text);
}

TEST(BlockedContraction, InEitherOrderIsTheReferences) {
  for (const kir::TargetModel& target : cpu_models()) {
    for (const Product& p : kProducts) {
      if (!is_floating(p.dtype) || p.dtype == DType::f64) continue;  // sums are of f32
      for (const auto& made : {product_of(p), transposed_product_of(p)}) {
        auto graph = std::make_shared<prims::Graph>(made);
        for (const int order : {0, 1, 2, 3}) {
          SCOPED_TRACE(text_of(p) + ", order " + std::to_string(order));
          const Options options = options_of(*graph, order & 1, order & 2);
          const Program program = program_of(graph, options, target, "@contraction");
          check_program(*graph, program, options, target, {p.rows, p.k, p.columns}, {text_of(p)});
        }
      }
    }
  }
}

TEST(BlockedContraction, FusesOperandsAndResults) {
  for (const kir::TargetModel& target : cpu_models()) {
    for (const Product& p : kProducts) {
      if (is_half(p.dtype)) continue;
      SCOPED_TRACE(text_of(p) + " of " + std::string(name(p.dtype)));
      auto graph = std::make_shared<prims::Graph>(fused_product_of(p));
      const Options options = row_major_options(*graph);
      const Program program = program_of(graph, options, target, "@contraction");
      check_program(*graph, program, options, target, {p.rows, p.k, p.columns}, {text_of(p), 100});
    }
  }
}

// They are read once, which a reduction does faster than packing.
TEST(BlockedContraction, FewOfOneSideAreSums) {
  const kir::TargetModel target = emit::native_model();
  for (const Product& p : {Product{DType::f32, 3, 64, 64}, Product{DType::f32, 64, 4, 64},
                           Product{DType::f32, 64, 64, 4}}) {
    auto graph = std::make_shared<prims::Graph>(product_of(p));
    program_of(graph, row_major_options(*graph), target, "@reduce");
  }
}

}  // namespace
}  // namespace primset::schedule
