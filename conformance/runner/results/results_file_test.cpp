#include "conformance/runner/results/results_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "primset/error.h"

namespace primset::conformance {
namespace {

namespace fs = std::filesystem;

TEST(ResultLine, RoundTrip) {
  CaseResult r{"a:dtype=f32;case=b",
               {Outcome::fail, FailKind::dtype, "got \"f16\"\nline 2\xff", HUGE_VAL, 0.25, 12, 3},
               0.5,
               "out/x.json",
               "",
               Resized{"self=T[6]", 3, 1, {"s0 < 5"}}};
  std::optional<CaseResult> back = parse_json_line(to_json_line(r));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->id, r.id);
  EXPECT_EQ(back->verdict.outcome, Outcome::fail);
  EXPECT_EQ(back->verdict.kind, FailKind::dtype);
  EXPECT_EQ(back->verdict.max_ulp, HUGE_VAL);
  EXPECT_EQ(back->verdict.max_share, 0.25);
  EXPECT_EQ(back->verdict.elements, 12u);
  EXPECT_EQ(back->verdict.undecided, 3u);
  EXPECT_EQ(back->seconds, 0.5);
  EXPECT_EQ(back->replay, "out/x.json");
  ASSERT_TRUE(back->resized);
  EXPECT_EQ(back->resized->text, "self=T[6]");
  EXPECT_EQ(back->resized->kernels, 3u);
  EXPECT_EQ(back->resized->unexplained, 1u);
  EXPECT_EQ(back->resized->guards, r.resized->guards);
  EXPECT_EQ(to_json_line(r).find('\n'), std::string::npos);
}

TEST(ResultLine, SecondsAreReadAsTheyAreWritten) {
  for (const double seconds : {1e-17, 4e-7, 0.0240944, 1e300, -1.0}) {
    const CaseResult r{"a:dtype=f32;case=b", Verdict::of(Outcome::refused), seconds};
    const auto first = parse_json_line(to_json_line(r));
    ASSERT_TRUE(first) << seconds;
    const std::string again = to_json_line(*first);
    EXPECT_EQ(to_json_line(*parse_json_line(again)), again) << seconds;
    EXPECT_LT(first->seconds, 1) << seconds;
  }
}

TEST(ResultLine, EmptyResultsAreSaid) {
  CaseResult r{"a:dtype=f32;case=b", Verdict::of(Outcome::pass)};
  for (const bool empty : {false, true}) {
    r.verdict.empty = empty;
    const std::optional<CaseResult> back = parse_kept_line(to_json_line(r));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->verdict.empty, empty);
  }
}

TEST(ResultLine, OfAnEarlierVersion) {
  struct {
    const char* line;
    std::optional<Outcome> outcome;
  } const kLines[] = {
      {R"({"id":"a","outcome":"pass","elements":4})", Outcome::pass},
      {R"({"id":"a","outcome":"pass","detail":"index: 7 is too much"})", Outcome::refused},
      {R"({"id":"a","outcome":"pass"})", std::nullopt},
      {R"({"id":"a","outcome":"crash","detail":"signal 11"})", Outcome::crash},
  };
  for (const auto& [line, outcome] : kLines) {
    const std::optional<CaseResult> r = parse_kept_line(line);
    EXPECT_EQ(r.has_value(), outcome.has_value()) << line;
    if (r && outcome) {
      EXPECT_EQ(r->verdict.outcome, *outcome) << line;
    }
  }
}

TEST(ResultLine, EveryOutcomeHasAName) {
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    auto outcome = static_cast<Outcome>(o);
    FailKind kind = outcome == Outcome::fail ? FailKind::shape : FailKind::none;
    std::optional<OutcomeText> back = parse_outcome(to_string(outcome, kind));
    ASSERT_TRUE(back) << o;
    EXPECT_EQ(back->outcome, outcome);
    EXPECT_EQ(back->kind, kind);
  }
  for (const char* text : {"", "fail", "fail:none", "fail:x", "pass:numeric", "good"}) {
    EXPECT_FALSE(parse_outcome(text)) << text;
  }
}

TEST(ResultLine, DamagedLinesAreNone) {
  for (const char* line :
       {"", "{", "[]", "null", "{\"id\":\"a\"}", "{\"outcome\":\"pass\"}",
        "{\"id\":1,\"outcome\":\"pass\"}", "{\"id\":\"a\",\"outcome\":\"ok\"}"}) {
    EXPECT_FALSE(parse_json_line(line)) << line;
  }
}

class Resume : public testing::Test {
 protected:
  ~Resume() override { fs::remove(path_); }
  fs::path path_ = fs::temp_directory_path() / ("results_" + std::to_string(getpid()) + ".jsonl");
  RunInfo info_{"cpu", "", 7, 99};
};

TEST_F(Resume, GoesOnWhereItStopped) {
  {
    ResultsFile file(path_, info_, true);
    EXPECT_TRUE(file.earlier().empty());
    file.append({"a:dtype=f32;case=x", Verdict::of(Outcome::crash)});
    file.append({"a:dtype=f32;case=x", Verdict::of(Outcome::pass)});
    file.append({"b:dtype=f32;case=x", Verdict::of(Outcome::not_run)});
  }
  std::ofstream(path_, std::ios::app) << "{\"id\":\"c:dtype=f32;ca";  // cut short
  {
    ResultsFile file(path_, info_, true);
    ASSERT_EQ(file.earlier().size(), 1u);
    EXPECT_EQ(file.earlier().at("a:dtype=f32;case=x").verdict.outcome, Outcome::pass);
    file.append({"d:dtype=f32;case=x", Verdict::of(Outcome::pass)});
  }
  EXPECT_EQ(ResultsFile(path_, info_, true).earlier().size(), 2u);
  EXPECT_TRUE(ResultsFile(path_, info_, false).earlier().empty());
  EXPECT_TRUE(ResultsFile(path_, info_, true).earlier().empty());
}

TEST_F(Resume, AHeaderCutShortIsCompleted) {
  {
    ResultsFile(path_, info_, false).finish();
  }
  const auto header = fs::file_size(path_);
  for (const uintmax_t left : {header - 1, header / 2, uintmax_t{1}}) {
    fs::resize_file(path_, left);
    for (const char* id : {"a:dtype=f32;case=x", "b:dtype=f32;case=x"}) {
      ResultsFile file(path_, info_, true);
      file.append({id, Verdict::of(Outcome::crash)});
    }
    EXPECT_EQ(ResultsFile(path_, info_, true).earlier().size(), 2u) << left;
  }
}

TEST_F(Resume, AFullDiskIsAnError) {
  EXPECT_THROW(ResultsFile("/dev/full", info_, false), Error);
  EXPECT_THROW(ResultsFile("/dev/full", info_, true), Error);
}

TEST_F(Resume, HostileLinesAreNoResults) {
  {
    ResultsFile(path_, info_, false).finish();
  }
  const std::string deep(1 << 20, '[');
  std::ofstream(path_, std::ios::app)
      << deep << "\n{\"a\":" << deep << "\n\xff\xfe\n"
      << std::string("a\0b\n", 4)
      << R"({"id":"a","outcome":"pass","resized":{"guards":{"x":1}},"seconds":"x"})" << "\n";
  EXPECT_TRUE(ResultsFile(path_, info_, true).earlier().empty());
}

TEST_F(Resume, ResultsOfAnotherRunAreRefused) {
  ResultsFile(path_, info_, false);
  RunInfo other = info_;
  other.seed = 8;
  EXPECT_THROW(ResultsFile(path_, other, true), Error);
  std::ofstream(path_, std::ios::trunc) << "\x1b[2J" << std::string(100000, 'x');
  try {
    ResultsFile(path_, info_, true);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_LT(std::string(e.what()).size(), 2000u);
    EXPECT_EQ(std::string(e.what()).find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace primset::conformance
