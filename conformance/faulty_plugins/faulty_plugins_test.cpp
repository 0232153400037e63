// Conformance is right when it names every fault: each plugin here has one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "conformance/runner/process/conform_process.h"
#include "sdk/base/printable.h"

namespace primset::conformance {
namespace {

struct FaultCase {
  const char* plugin;
  const char* filter;
  const char* faulty_id;  // a case that meets the fault
  const char* outcome;
  const char* sound_id;  // one of the same run that does not; null: all do
  const char* named;     // what the summary or the detail says of it
};

constexpr const char* kNegF32 = "prim/neg:dtype=f32*";
constexpr const char* kNegOrAbsF32 = "/^prim/(neg|abs):dtype=f32/";
constexpr const char* kVector = "prim/neg:dtype=f32;case=vector";
constexpr const char* kLarge = "prim/neg:dtype=f32;case=large";
constexpr const char* kSpecial = "prim/neg:dtype=f32;case=special";

constexpr FaultCase kFaults[] = {
    {"wrong_bits", kNegF32, kVector, "fail:numeric", nullptr, "got"},
    {"lost_tail", kNegF32, kVector, "fail:numeric", nullptr, "at [16]: got"},
    {"out_of_bounds", kNegF32, kVector, "fail:out_of_bounds_write", nullptr,
     "behind the last element"},
    {"ignored_offset", kNegF32, kVector, "fail:numeric", nullptr, "got"},
    {"crashes", kNegF32, kLarge, "crash", kVector, "crash 1  [f32]"},
    {"hangs", kNegF32, kLarge, "timeout", kVector, "no result after 3000 ms"},
    {"device_lost", kNegF32, kLarge, "device_lost", kVector, "the device is gone"},
    {"launch_error", kNegF32, kLarge, "fail:error_contract", kVector, "launch: refused"},
    {"loses_nan", kNegF32, kSpecial, "fail:numeric", kVector, "got 0, expected -nan"},
    {"flushes", kNegF32, kSpecial, "fail:numeric", kVector, "got 0, expected"},
    {"claims_too_much", "prim/neg:dtype=f*", "prim/neg:dtype=f64;case=vector", "claim_broken",
     kVector, "claim_broken 13  [f64]"},
    {"flaky", "prim/neg:dtype=*;case=vector*", "prim/neg:dtype=f32;case=vector", "flake",
     "prim/neg:dtype=u8;case=vector", "passed when run alone"},
    {"wrong_neg", kNegOrAbsF32, kVector, "fail:numeric", "prim/abs:dtype=f32;case=vector",
     "1 of 2 primitives and 0 of 0 operators fail:\n  prim/neg "},
    {"ignored_strides", kNegOrAbsF32, "prim/neg:dtype=f32;case=matrix;layout=strided",
     "fail:numeric", kVector, "prim/neg "},
    {"odd_sizes", "neg:dtype=f32*", "neg:dtype=f32;case=vector", "fail:numeric",
     "neg:dtype=f32;case=channels_last;layout=channels_last", "at [16]: got"},
    {"second_launch", kNegF32, kVector, "fail:numeric", nullptr, "the same call made again"},
    {"does_not_wait", kNegF32, kVector, "fail:numeric", nullptr, "got"},
    {"off_by_an_ulp", kNegF32, kVector, "fail:numeric", nullptr, "(1 ulp off)"},
    {"leaks", "prim/neg:dtype=*;case=vector*", "prim/neg:dtype=f64;case=vector", "flake",
     "prim/neg:dtype=u8;case=vector", "is memory given back?"},
};

class Faulty : public testing::TestWithParam<FaultCase> {
 protected:
  // The program's exit code; outcomes by id are in outcomes_.
  int conform(const std::string& plugin, const std::string& filter) {
    const int code =
        process_.run("--plugin " PRIMSET_FAULTY_DIR "/libfaulty_" + plugin +
                     "_primset.so --tier standard --timeout 3000 --filter '" + filter + "'");
    for (const CaseResult& r : process_.results()) {
      outcomes_[r.id] = to_string(r.verdict.outcome, r.verdict.kind);
      details_[r.id] = r.verdict.detail;
    }
    return code;
  }
  const std::string& text() const { return process_.summary(); }

  ConformProcess process_{"faulty_" + std::string(GetParam().plugin)};
  std::map<std::string, std::string> outcomes_, details_;
};

TEST_P(Faulty, IsNamed) {
  const FaultCase& fault = GetParam();
  int code = conform(fault.plugin, fault.filter);
  EXPECT_EQ(outcomes_[fault.faulty_id], fault.outcome) << details_[fault.faulty_id];
  if (fault.sound_id) {
    EXPECT_EQ(outcomes_[fault.sound_id], "pass") << details_[fault.sound_id];
  }
  EXPECT_NE(text().find(fault.named), std::string::npos) << "'" << fault.named << "' in\n"
                                                         << text();
  bool is_flake = std::string(fault.outcome) == "flake";
  EXPECT_EQ(code, is_flake ? 6 : 1);
}

INSTANTIATE_TEST_SUITE_P(All, Faulty, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.plugin); });

// The line under a failure, typed as it stands, runs the case alone.
class Reproduced : public Faulty {};
TEST_P(Reproduced, ByTheLineThatIsPrinted) {
  conform("wrong_neg", kVector);
  const size_t at = text().find(" conform --device faulty_wrong_neg:0 ");
  ASSERT_NE(at, std::string::npos) << text();
  const size_t from = text().rfind('\n', at) + 1;
  const std::string line = text().substr(from, text().find('\n', at) - from);
  EXPECT_EQ(process_.run_line(line), 1) << line;
  EXPECT_NE(text().find("faulty_wrong_neg:0: 1 case: 0 computed and passed, 0 refused alike, 0 "
                        "empty results, 1 failed, 0 unsupported"),
            std::string::npos)
      << text();
}
INSTANTIATE_TEST_SUITE_P(Sample, Reproduced,
                         testing::Values(FaultCase{"wrong_neg", "", "", "", nullptr, ""}));

// A saved case that crashed or hung its process does so again, and the program says it.
class Replayed : public Faulty {};
TEST_P(Replayed, InAProcessOfItsOwn) {
  const FaultCase& fault = GetParam();
  const std::string folder = testing::TempDir() + "/replayed_" + fault.plugin;
  const std::string options = std::string(" conform --timeout 3000 --jobs 1 --plugin ") +
                              PRIMSET_FAULTY_DIR "/libfaulty_" + fault.plugin + "_primset.so ";
  const std::string conform = PRIMSET_PROGRAM + options;
  EXPECT_EQ(
      process_.run_line(conform + "--failures " + folder + " --filter '" + fault.filter + "'"), 1);
  EXPECT_EQ(process_.run_line(conform + "--replay " + folder + "/*.json"), 1);
  EXPECT_NE(text().find(fault.named), std::string::npos) << text();
  if (std::string_view(fault.plugin) == "wrong_bits") {
    EXPECT_EQ(process_.run_line(conform + "--in-process --replay " + folder + "/*.json"), 1);
    EXPECT_NE(text().find(fault.named), std::string::npos) << text();
  }
  // Where failures cannot be saved, the run does not go on as if they were.
  std::filesystem::remove_all(folder);
  EXPECT_EQ(process_.run_line("ulimit -f 2; trap '' XFSZ; " + conform + "--failures " + folder +
                              " --filter '" + fault.filter + "'"),
            3);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}
INSTANTIATE_TEST_SUITE_P(
    All, Replayed,
    testing::Values(FaultCase{"crashes", kLarge, "", "", nullptr, "crash on faulty_crashes:0"},
                    FaultCase{"hangs", kLarge, "", "", nullptr, "timeout on faulty_hangs:0"},
                    FaultCase{"wrong_bits", kLarge, "", "", nullptr,
                              "fail:numeric on faulty_wrong_bits:0"}),
    [](const auto& info) { return std::string(info.param.plugin); });

// Neither a terminal nor a page nor a JSON parser gets a plugin's text as it is.
class HostileText : public Faulty {};
TEST_P(HostileText, IsEscaped) {
  const std::filesystem::path folder = testing::TempDir() + "/hostile_text";
  std::filesystem::create_directories(folder);
  const std::string path =
      "PRIMSET_PLUGIN_PATH=" PRIMSET_FAULTY_DIR "/libfaulty_hostile_text_primset.so ";
  const std::string pages = "--html " + (folder / "r.html").string() + " --junit " +
                            (folder / "r.xml").string() + " --csv " + (folder / "r.csv").string();
  EXPECT_EQ(process_.run_line(path +
                              PRIMSET_PROGRAM " conform --jobs 1 --device "
                                              "faulty_hostile_text:0 --filter '" +
                              kLarge + "' " + pages + " 2>&1"),
            1);
  EXPECT_EQ(printable_lines(text()), text());
  EXPECT_NE(text().find("Acme \\x1b[31m\\xff<b>"), std::string::npos) << text();
  EXPECT_NE(text().find("launch: \\x1b[2J\\x07 \\xfe\\x9b"), std::string::npos) << text();
  for (const auto& page : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(page.path());
    std::string contents(std::istreambuf_iterator<char>(in), {});
    std::erase(contents, '\r');  // of CSV's line ends
    EXPECT_EQ(printable_lines(contents), contents) << page;
    EXPECT_NE(contents.find("\\x1b[2J\\x07 \\xfe"), std::string::npos) << page;
    EXPECT_TRUE(page.path().extension() == ".csv" ||
                contents.find("<script>\"") == std::string::npos)
        << page;
  }
  std::filesystem::remove_all(folder);
  EXPECT_EQ(process_.run_line(path + PRIMSET_PROGRAM " devices"), 0);
  EXPECT_EQ(printable_lines(text()), text());
  EXPECT_EQ(process_.run_line(path + PRIMSET_PROGRAM " devices --json"), 0);
  const nlohmann::json devices = nlohmann::json::parse(text());
  EXPECT_TRUE(std::ranges::any_of(devices, [](const nlohmann::json& d) {
    return d.at("name") == "faulty_hostile_text:0" && d.at("title") == "Acme \\x1b[31m\\xff<b>";
  })) << text();
}
INSTANTIATE_TEST_SUITE_P(Sample, HostileText,
                         testing::Values(FaultCase{"hostile_text", "", "", "", nullptr, ""}));

TEST(NoDevice, IsSaidAtOnce) {
  const std::string command =
      std::string(PRIMSET_PROGRAM) + " conform --device nonesuch:0 --filter neg 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe));
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 3);
  EXPECT_NE(text.find("the device cannot be opened"), std::string::npos) << text;
  EXPECT_NE(text.find("nonesuch"), std::string::npos) << text;
}

// The sample without a fault passes what the faulty ones fail.
class Sound : public Faulty {};
TEST_P(Sound, Passes) {
  EXPECT_EQ(conform("none", kNegF32), 0);
  for (const auto& [id, outcome] : outcomes_) EXPECT_EQ(outcome, "pass") << id << details_[id];
  EXPECT_GE(outcomes_.size(), 10u);
}
INSTANTIATE_TEST_SUITE_P(Sample, Sound,
                         testing::Values(FaultCase{"none", kNegF32, kVector, "pass", nullptr, ""}));

}  // namespace
}  // namespace primset::conformance
