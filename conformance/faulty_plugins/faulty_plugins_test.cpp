// Conformance is right when it names every fault: each plugin here has one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "conformance/runner/result.h"

namespace primset::conformance {
namespace {

namespace fs = std::filesystem;

struct FaultCase {
  const char* plugin;
  const char* filter;
  const char* faulty_id;  // a case that meets the fault
  const char* outcome;
  const char* sound_id;  // one of the same run that does not; null: all do
};

constexpr const char* kNegF32 = "prim/neg:dtype=f32*";
constexpr const char* kVector = "prim/neg:dtype=f32;case=vector";
constexpr const char* kLarge = "prim/neg:dtype=f32;case=large";
constexpr const char* kSpecial = "prim/neg:dtype=f32;case=special";

constexpr FaultCase kFaults[] = {
    {"wrong_bits", kNegF32, kVector, "fail:numeric", nullptr},
    {"lost_tail", kNegF32, kVector, "fail:numeric", nullptr},
    {"out_of_bounds", kNegF32, kVector, "fail:out_of_bounds_write", nullptr},
    {"ignored_offset", kNegF32, kVector, "fail:numeric", nullptr},
    {"crashes", kNegF32, kLarge, "crash", kVector},
    {"hangs", kNegF32, kLarge, "timeout", kVector},
    {"device_lost", kNegF32, kLarge, "device_lost", kVector},
    {"launch_error", kNegF32, kLarge, "fail:error_contract", kVector},
    {"loses_nan", kNegF32, kSpecial, "fail:numeric", kVector},
    {"flushes", kNegF32, kSpecial, "fail:numeric", kVector},
    {"claims_too_much", "prim/neg:dtype=f*", "prim/neg:dtype=f64;case=vector", "claim_broken",
     kVector},
    {"flaky", "prim/neg:dtype=*;case=vector*", "prim/neg:dtype=f32;case=vector", "flake",
     "prim/neg:dtype=u8;case=vector"},
};

class Faulty : public testing::TestWithParam<FaultCase> {
 protected:
  Faulty() {
    results_ = fs::temp_directory_path() /
               ("faulty_" + std::string(GetParam().plugin) + std::to_string(getpid()) + ".jsonl");
  }
  ~Faulty() override { fs::remove(results_); }

  // The program's exit code; outcomes by id are in outcomes_.
  int conform(const std::string& plugin, const std::string& filter) {
    std::string file = std::string(PRIMSET_FAULTY_DIR) + "/libfaulty_" + plugin + "_primset.so";
    std::string command = std::string(PRIMSET_PROGRAM) + " conform --plugin " + file +
                          " --tier standard --timeout 3000 --jobs 1 --filter '" + filter +
                          "' --results " + results_.string() + " >/dev/null";
    int status = std::system(command.c_str());
    std::ifstream in(results_);
    for (std::string line; std::getline(in, line);) {
      if (std::optional<CaseResult> r = parse_json_line(line)) {
        outcomes_[r->id] = to_string(r->verdict.outcome, r->verdict.kind);
        details_[r->id] = r->verdict.detail;
      }
    }
    return WEXITSTATUS(status);
  }

  fs::path results_;
  std::map<std::string, std::string> outcomes_, details_;
};

TEST_P(Faulty, IsNamed) {
  const FaultCase& fault = GetParam();
  int code = conform(fault.plugin, fault.filter);
  EXPECT_EQ(outcomes_[fault.faulty_id], fault.outcome) << details_[fault.faulty_id];
  if (fault.sound_id) {
    EXPECT_EQ(outcomes_[fault.sound_id], "pass") << details_[fault.sound_id];
  }
  bool is_flake = std::string(fault.outcome) == "flake";
  EXPECT_EQ(code, is_flake ? 6 : 1);
}

INSTANTIATE_TEST_SUITE_P(All, Faulty, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.plugin); });

// The sample without a fault passes what the faulty ones fail.
class Sound : public Faulty {};
TEST_P(Sound, Passes) {
  EXPECT_EQ(conform("none", kNegF32), 0);
  for (const auto& [id, outcome] : outcomes_) EXPECT_EQ(outcome, "pass") << id << details_[id];
  EXPECT_GE(outcomes_.size(), 10u);
}
INSTANTIATE_TEST_SUITE_P(Sample, Sound,
                         testing::Values(FaultCase{"none", kNegF32, kVector, "pass", nullptr}));

}  // namespace
}  // namespace primset::conformance
