#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "conformance/report/writers.h"
#include "conformance/runner/progress.h"
#include "sdk/base/printable.h"

namespace primset::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;

Report sample() {
  Report r;
  r.device = "acme:0";
  r.title = "Primset <conformance>";
  r.seed = 5;
  r.results = {
      {"add.Tensor:dtype=f32;case=a", {Outcome::pass, FailKind::none, "", 0.5, 0.9, 4, 0}, 0.25},
      {"add.Tensor:dtype=f16;case=a",
       {Outcome::fail, FailKind::numeric, "1 < 2 & \"x\",\nmore\x01"},
       1},
      {"add.Tensor:dtype=f64;case=a", Verdict::of(Outcome::unsupported, "no f64")},
      {"prim/exp:dtype=f32;case=b;layout=strided", Verdict::of(Outcome::crash, "signal 11")},
      {"add.Tensor:dtype=i8;case=a", Verdict::of(Outcome::refused, "shape: 2 is not 3")},
      {"add.Tensor:dtype=i8;case=b", Verdict::of(Outcome::pass)},
  };
  r.results.back().verdict.empty = true;
  r.family_of = [](std::string_view subject) {
    return std::string(subject.starts_with("prim/") ? "prim/elementwise" : "pointwise_binary");
  };
  r.reproduction = [](const CaseResult& c) { return "primset conform --filter '" + c.id + "'"; };
  return r;
}

template <typename Writer>
std::string written(Writer writer) {
  std::ostringstream out;
  writer(out, sample());
  return out.str();
}

TEST(Report, Summary) {
  std::string text = summary_text(sample());
  EXPECT_THAT(
      text, HasSubstr("acme:0: 6 cases: 1 computed and passed, 1 refused alike, 1 empty results, 2 "
                      "failed, 1 unsupported\n"));
  EXPECT_THAT(text, Not(HasSubstr("shape: 2 is not 3")));
  EXPECT_THAT(text, HasSubstr("fail:numeric add.Tensor:dtype=f16;case=a"));
  EXPECT_THAT(text,
              HasSubstr("primset conform --filter 'prim/exp:dtype=f32;case=b;layout=strided'"));
  EXPECT_THAT(text, HasSubstr("1 of 1 primitives and 1 of 1 operators fail"));
  EXPECT_THAT(text, HasSubstr("prim/exp                          1 of 1     crash 1  [f32]"));
  EXPECT_THAT(text,
              HasSubstr("add.Tensor                        1 of 5     fail:numeric 1  [f16]"));
  EXPECT_THAT(summary_text(sample(), 1), HasSubstr("... and 1 more"));
}

TEST(Report, JUnit) {
  std::string xml = written(write_junit);
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"pointwise_binary\" tests=\"5\" failures=\"1\" "
                             "errors=\"0\" skipped=\"2\""));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"prim/elementwise\" tests=\"1\" failures=\"0\" "
                             "errors=\"1\""));
  EXPECT_THAT(
      xml, HasSubstr("<failure type=\"fail:numeric\" message=\"1 &lt; 2 &amp; &quot;x&quot;,\">"));
  EXPECT_THAT(xml, Not(HasSubstr("\x01")));
  EXPECT_THAT(xml, HasSubstr("<property name=\"seed\" value=\"5\"/><property name=\"refused\" "
                             "value=\"1\"/><property name=\"empty\" value=\"1\"/>"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"refused: shape: 2 is not 3\"/>"));
}

TEST(Report, Csv) {
  std::string csv = written(write_csv);
  EXPECT_THAT(csv,
              HasSubstr("\r\nadd.Tensor:dtype=f32;case=a,add.Tensor,f32,a,contiguous,pass,none,"
                        "0,0.5,0.9,0.250000,0,\r\n"));
  EXPECT_THAT(csv, HasSubstr("\r\nadd.Tensor:dtype=i8;case=b,add.Tensor,i8,b,contiguous,pass,none,"
                             "1,0,0,0.000000,0,\r\n"));
  EXPECT_THAT(csv, HasSubstr("\"1 < 2 & \"\"x\"\",\nmore"));
}

TEST(Report, Html) {
  std::string html = written(write_html);
  EXPECT_THAT(html, HasSubstr("<title>Primset &lt;conformance&gt; on acme:0</title>"));
  EXPECT_THAT(html, HasSubstr("<th>i8</th><th>f16</th><th>f32</th><th>f64</th>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"bad\""));
  EXPECT_THAT(html, HasSubstr("<td class=\"good\""));
  EXPECT_THAT(html, HasSubstr("<td class=\"none\""));
  EXPECT_THAT(html, HasSubstr("1 refused\n1 of them with empty results\n"));
  EXPECT_THAT(html, HasSubstr("<p>6 cases: 1 computed and passed, 1 refused alike,"));
  EXPECT_THAT(html, Not(HasSubstr("http")));
}

// What a driver says goes into pages and terminals.
TEST(Report, TextOfDriversIsNoMarkupAndNoEscapeCode) {
  Report r = sample();
  r.device = "acme:0\x1b[2J\xff<b>";
  r.results[1].verdict.detail = "\x1b]0;title\x07 \xc3 <script>\"&'\u202e";
  r.results[3].verdict.detail = "signal 11; it printed:\n\xfe\x9b]]>";
  for (auto writer : {write_junit, write_html, write_csv}) {
    std::ostringstream out;
    writer(out, r);
    std::string text = out.str();
    std::erase(text, '\r');  // of CSV's line ends
    EXPECT_EQ(printable_lines(text), text);
    EXPECT_THAT(text, HasSubstr("\\x1b]0;title\\x07 \\xc3 "));
    EXPECT_THAT(text, HasSubstr("\\xfe\\x9b"));
    if (writer != write_csv) {
      EXPECT_THAT(text, Not(HasSubstr("<script>\"")));
      EXPECT_THAT(text, HasSubstr("&lt;script&gt;&quot;&amp;"));
    }
  }
  const nlohmann::json line = nlohmann::json::parse(to_json_line(r.results[1]));
  EXPECT_THAT(line.at("detail").get<std::string>(), HasSubstr("\ufffd"));
}

TEST(Report, OtherSizes) {
  Report r = sample();
  r.results[0].resized = Resized{"self=T[6]", 2, 0, {"add.Tensor: s0 - 5 < 0 (it is 1)"}};
  r.results[1].resized = Resized{"self=T[7]", 0, 0, {}};
  EXPECT_FALSE(has_unexplained_kernels(r));
  EXPECT_THAT(resized_text(r), HasSubstr("2 of 6 cases run again; 1 of them make 2 kernels, 0 of"));
  EXPECT_THAT(resized_text(r), HasSubstr("add.Tensor: s0 - 5 < 0 (it is 1)"));
  r.results[3].resized = Resized{"self=T[8]", 1, 1, {}};
  EXPECT_TRUE(has_unexplained_kernels(r));
  EXPECT_THAT(resized_text(r), HasSubstr("kernels that no guard explains:\n    1  prim/exp"));
}

OutcomeCounts counts(std::initializer_list<Outcome> outcomes) {
  OutcomeCounts c{};
  for (Outcome o : outcomes) ++c[static_cast<size_t>(o)];
  return c;
}

TEST(Report, ExitCodes) {
  using enum Outcome;
  EXPECT_EQ(exit_code(counts({pass})), ExitCode::green);
  EXPECT_EQ(exit_code(counts({pass, unsupported, xfail, waived})), ExitCode::green);
  EXPECT_EQ(exit_code(counts({pass, refused})), ExitCode::green);
  EXPECT_EQ(exit_code(counts({refused, unsupported})), ExitCode::nothing_ran);
  EXPECT_EQ(exit_code(counts({pass, fail})), ExitCode::failures);
  EXPECT_EQ(exit_code(counts({pass, crash, flake})), ExitCode::failures);
  EXPECT_EQ(exit_code(counts({pass, claim_broken})), ExitCode::failures);
  EXPECT_EQ(exit_code(counts({pass, flake})), ExitCode::unsound);
  EXPECT_EQ(exit_code(counts({pass, xpass})), ExitCode::unsound);
  EXPECT_EQ(exit_code(counts({pass, not_run})), ExitCode::unsound);
  EXPECT_EQ(exit_code(counts({unsupported})), ExitCode::nothing_ran);
  EXPECT_EQ(exit_code(counts({})), ExitCode::nothing_ran);
}

TEST(Progress, Line) {
  Progress p(200, stderr);
  EXPECT_EQ(p.line({}), "[  0/200]  ");
  for (int i = 0; i < 50; ++i) {
    p.count({"id" + std::to_string(i), Verdict::of(i == 9 ? Outcome::fail : Outcome::pass)});
  }
  EXPECT_EQ(p.line(std::chrono::seconds(30)), "[ 50/200] 49 pass, 1 fail  ETA 1:30  id49");
}

TEST(Progress, Durations) {
  EXPECT_EQ(duration_text(std::chrono::seconds(41)), "0:41");
  EXPECT_EQ(duration_text(std::chrono::seconds(3723)), "1:02:03");
}

}  // namespace
}  // namespace primset::conformance
