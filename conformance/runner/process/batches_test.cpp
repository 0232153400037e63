// Workers here are shell scripts: they answer, crash, hang, print garbage and die as told by ids.
#include "conformance/runner/process/batches.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace primset::conformance {
namespace {

namespace fs = std::filesystem;

// Each id's first word says what the script does with it. $STATE is a folder that outlives the
// process, for what must differ from one run to the next.
constexpr const char* kScript = R"(
while read -r id; do
  printf '{"begin":"%s"}\n' "$id" >&3
  case "$id" in
    pass*) out=pass ;;
    fail*) out=fail:numeric ;;
    crash*) echo "about to crash"; kill -SEGV $$ ;;
    exit*) exit 3 ;;
    quiet*) exit 0 ;;
    hang*) sleep 60 ;;
    fork*) sleep 60 & exit 0 ;;
    garbage*) echo "not json" >&3; continue ;;
    wrong*) printf '{"id":"other","outcome":"pass"}\n' >&3; continue ;;
    half*) printf '{"id":"%s","outc' "$id" >&3; exit 0 ;;
    noise*) echo "a plugin printed this"; echo '{"id":"x","outcome":"pass"}'; out=pass ;;
    once*) if [ -e "$STATE/$id" ]; then out=pass; else touch "$STATE/$id"; out=fail:shape; fi ;;
    oncecrash*) if [ -e "$STATE/$id" ]; then out=pass; else touch "$STATE/$id"; kill -ABRT $$; fi ;;
    lost*) printf '{"id":"%s","outcome":"device_lost"}\n' "$id" >&3; exit 0 ;;
  esac
  printf '{"id":"%s","outcome":"%s","detail":"d","max_ulp":1.5}\n' "$id" "$out" >&3
done
)";

class Batches : public testing::Test {
 protected:
  Batches() {
    folder_ = fs::temp_directory_path() / ("conformance_batches_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    setenv("STATE", folder_.c_str(), 1);
    options_.worker = {"/bin/bash", "-c", kScript};
    options_.timeout = std::chrono::milliseconds(1000);
    options_.batch_size = 4;
    options_.jobs = 2;
  }
  ~Batches() override { fs::remove_all(folder_); }

  std::map<std::string, CaseResult> run(const std::vector<std::string>& ids) {
    std::map<std::string, CaseResult> results;
    run_batches(options_, ids, [&](const CaseResult& r) {
      EXPECT_TRUE(results.emplace(r.id, r).second) << r.id << " was reported twice";
    });
    EXPECT_EQ(results.size(), ids.size());
    return results;
  }
  Outcome outcome(const std::string& id) { return run({id}).at(id).verdict.outcome; }

  BatchOptions options_;
  fs::path folder_;
};

TEST_F(Batches, OneBadCaseCostsNoOther) {
  auto results = run({"pass1", "crash", "pass2", "hang", "pass3", "garbage", "pass4", "exit",
                      "quiet", "half", "pass5", "wrong", "fail", "pass6"});
  for (int i = 1; i <= 6; ++i) {
    EXPECT_EQ(results.at("pass" + std::to_string(i)).verdict.outcome, Outcome::pass) << i;
  }
  EXPECT_EQ(results.at("crash").verdict.outcome, Outcome::crash);
  EXPECT_NE(results.at("crash").verdict.detail.find("signal 11"), std::string::npos);
  EXPECT_NE(results.at("crash").verdict.detail.find("about to crash"), std::string::npos);
  EXPECT_EQ(results.at("exit").verdict.outcome, Outcome::crash);
  EXPECT_NE(results.at("exit").verdict.detail.find("exit code 3"), std::string::npos);
  EXPECT_EQ(results.at("quiet").verdict.outcome, Outcome::crash);
  EXPECT_EQ(results.at("half").verdict.outcome, Outcome::crash);
  EXPECT_EQ(results.at("hang").verdict.outcome, Outcome::timeout);
  EXPECT_EQ(results.at("garbage").verdict.outcome, Outcome::test_bug);
  EXPECT_EQ(results.at("wrong").verdict.outcome, Outcome::test_bug);
  EXPECT_EQ(results.at("fail").verdict.outcome, Outcome::fail);
  EXPECT_EQ(results.at("fail").verdict.kind, FailKind::numeric);
  EXPECT_EQ(results.at("fail").verdict.max_ulp, 1.5);
}

TEST_F(Batches, PrintingDisturbsNothing) {
  EXPECT_EQ(outcome("noise"), Outcome::pass);
}

TEST_F(Batches, WhatPassesAloneIsAFlake) {
  auto results = run({"once", "oncecrash", "pass"});
  EXPECT_EQ(results.at("once").verdict.outcome, Outcome::flake);
  EXPECT_NE(results.at("once").verdict.detail.find("fail:shape"), std::string::npos);
  EXPECT_EQ(results.at("oncecrash").verdict.outcome, Outcome::flake);
}

TEST_F(Batches, WithoutRerunsAFailureStays) {
  options_.rerun_failures = false;
  EXPECT_EQ(outcome("once"), Outcome::fail);
}

TEST_F(Batches, AfterALostDeviceTheRestRunsInANewProcess) {
  auto results = run({"lost", "pass1", "pass2"});
  EXPECT_EQ(results.at("lost").verdict.outcome, Outcome::device_lost);
  EXPECT_EQ(results.at("pass2").verdict.outcome, Outcome::pass);
}

TEST_F(Batches, AWorkerThatNeverStartsEndsTheRun) {
  options_.worker = {"/nonexistent/worker"};
  EXPECT_EQ(outcome("pass"), Outcome::not_run);
  options_.worker = {"/bin/bash", "-c", "echo no device here >&2; exit 2"};
  auto results = run({"a", "b", "c", "d", "e"});
  EXPECT_EQ(results.at("e").verdict.outcome, Outcome::not_run);
  EXPECT_NE(results.at("e").verdict.detail.find("no device here"), std::string::npos);
}

TEST_F(Batches, AWorkerThatHangsBeforeItsFirstCase) {
  options_.worker = {"/bin/bash", "-c", "sleep 60"};
  options_.start_timeout = std::chrono::milliseconds(200);
  EXPECT_EQ(outcome("pass"), Outcome::not_run);
}

TEST_F(Batches, ProcessesLeftBehindDoNotHoldTheRunUp) {
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(outcome("fork"), Outcome::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(Batches, ManyCasesManyProcesses) {
  options_.jobs = 4;
  std::vector<std::string> ids;
  for (int i = 0; i < 300; ++i) ids.push_back((i % 97 == 5 ? "crash" : "pass") + std::to_string(i));
  auto results = run(ids);
  size_t crashed = 0;
  for (const auto& [id, r] : results) crashed += r.verdict.outcome == Outcome::crash;
  EXPECT_EQ(crashed, 4u);
}

}  // namespace
}  // namespace primset::conformance
