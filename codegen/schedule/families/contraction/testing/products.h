// Products of matrices as programs, for tests of each way to make them.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_TESTING_PRODUCTS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_TESTING_PRODUCTS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"

namespace primset::schedule {

struct Product {
  DType dtype;
  int64_t rows, columns, k;
};

inline std::string text_of(const Product& p) {
  return std::to_string(p.rows) + " x " + std::to_string(p.columns) + " of " + std::to_string(p.k);
}

inline prims::Graph product_of(const Product& p) {
  const std::string t(name(p.dtype));
  return prims::parse(
      "symbol s0 = " + std::to_string(p.rows) + "\nsymbol s1 = " + std::to_string(p.k) +
      "\nsymbol s2 = " + std::to_string(p.columns) + "\ngraph(%0 a: " + t + "[s0, s1], %1 b: " + t +
      "[s1, s2]) {\n  %2: f32[s0, s2] = dot_general(%0, %1) {a_contract = (1), "
      "b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}\n  %3: " +
      t + "[s0, s2] = convert(%2) {dtype = " + t + "}\n  return %3 r\n}\n");
}

// Whose text has `operation` in it.
inline Program program_of(const std::shared_ptr<prims::Graph>& graph, const Options& options,
                          const kir::TargetModel& target, const std::string& operation) {
  Program program = schedule(graph, target, options);
  EXPECT_THAT(print(program), testing::HasSubstr(operation));
  return program;
}

inline Options options_of(const prims::Graph& g, bool a_by_columns, bool b_by_columns) {
  Options options;
  size_t i = 0;
  for (const bool by_columns : {a_by_columns, b_by_columns}) {
    const prims::SymInts& shape = g.type(g.inputs[i++].value).shape;
    options.inputs.push_back({by_columns ? column_major(shape) : row_major(shape)});
  }
  options.outputs.push_back({row_major(g.type(g.outputs[0].value).shape)});
  return options;
}

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_TESTING_PRODUCTS_H_
