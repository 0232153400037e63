// Operators called again with other sizes take the plans that they have: `primset conform --resize`
// as a process, over operators of every kind.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "conformance/runner/result.h"

namespace primset::conformance {
namespace {

namespace fs = std::filesystem;

class OtherSizes : public ::testing::TestWithParam<const char*> {
 protected:
  OtherSizes()
      : results_(fs::temp_directory_path() / ("resize_" + std::to_string(getpid()) + ".jsonl")) {}
  ~OtherSizes() override { fs::remove(results_); }

  std::vector<CaseResult> conform(const std::string& op, int expected_code) const {
    const std::string command = std::string(PRIMSET_PROGRAM) +
                                " conform --device cpu --resize --jobs 1 --dtype f32 --filter '" +
                                op + "' --results " + results_.string() + " >/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), expected_code) << command;
    std::vector<CaseResult> out;
    std::ifstream in(results_);
    for (std::string line; std::getline(in, line);) {
      if (std::optional<CaseResult> r = parse_json_line(line)) out.push_back(std::move(*r));
    }
    return out;
  }

  fs::path results_;
};

TEST_P(OtherSizes, CompileOnlyWhatAGuardExplains) {
  size_t again = 0;
  for (const CaseResult& r : conform(GetParam(), 0)) {
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
