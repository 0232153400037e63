// Operators called again with other sizes take the plans that they have: `primset conform --resize`
// as a process, over operators of every kind.
#include <gtest/gtest.h>

#include <cctype>

#include "conformance/runner/process/conform_process.h"

namespace primset::conformance {
namespace {

class OtherSizes : public ::testing::TestWithParam<const char*> {};

TEST_P(OtherSizes, CompileOnlyWhatAGuardExplains) {
  ConformProcess conform("resize");
  const std::string options = "--device cpu --resize --dtype f32 --filter '";
  EXPECT_EQ(conform.run(options + GetParam() + "'"), 0) << conform.summary();
  size_t again = 0;
  for (const CaseResult& r : conform.results()) {
    if (!r.resized) continue;
    ++again;
    EXPECT_EQ(r.resized->unexplained, 0u) << r.id << " as " << r.resized->text;
    EXPECT_EQ(r.resized->kernels > 0, !r.resized->guards.empty()) << r.id;
  }
  EXPECT_GE(again, 3u);
}

constexpr const char* kOperators[] = {"add.Tensor",
                                      "div.Tensor_mode",
                                      "where.self",
                                      "clamp",
                                      "gelu",
                                      "softmax.int",
                                      "sum.dim_IntList",
                                      "var_mean.correction",
                                      "cumsum",
                                      "cat",
                                      "flip",
                                      "roll",
                                      "index_select",
                                      "gather",
                                      "scatter_add",
                                      "embedding",
                                      "masked_fill.Scalar",
                                      "sort.stable",
                                      "mm",
                                      "addmm",
                                      "native_layer_norm",
                                      "constant_pad_nd",
                                      "tril",
                                      "_foreach_add.Scalar"};

std::string test_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Operators, OtherSizes, ::testing::ValuesIn(kOperators), test_name);

}  // namespace
}  // namespace primset::conformance
