#include "conformance/runner/results/expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "primset/error.h"

namespace primset::conformance {
namespace {

constexpr const char* kFile = R"(
- id: add.Tensor:dtype=f16;case=special
  device: acme:0
  kind: xfail
  outcome: fail:numeric
  reason: Overflow is rounded down.
  link: https://example.org/1
  expires: 2027-01-31
- id: relu:dtype=f32;case=a
  device: "*"
  kind: waived
  reason: Accepted.
  link: https://example.org/2
)";

CaseResult result(const char* id, Outcome outcome, FailKind kind = FailKind::none) {
  return {id, {outcome, kind, "why"}};
}

TEST(Expectations, Apply) {
  Expectations e = Expectations::parse(kFile, "x.yaml", "2026-06-01");
  constexpr const char* kAdd = "add.Tensor:dtype=f16;case=special";
  struct {
    const char* id;
    const char* device;
    Outcome before;
    FailKind kind;
    Outcome after;
  } const kCases[] = {
      {kAdd, "acme:0", Outcome::fail, FailKind::numeric, Outcome::xfail},
      {kAdd, "acme:0", Outcome::fail, FailKind::shape, Outcome::fail},
      {kAdd, "acme:0", Outcome::crash, FailKind::none, Outcome::crash},
      {kAdd, "acme:0", Outcome::pass, FailKind::none, Outcome::xpass},
      {kAdd, "acme:0", Outcome::refused, FailKind::none, Outcome::xpass},
      {kAdd, "acme:0", Outcome::unsupported, FailKind::none, Outcome::unsupported},
      {kAdd, "other:0", Outcome::fail, FailKind::numeric, Outcome::fail},
      {"relu:dtype=f32;case=a", "other:0", Outcome::crash, FailKind::none, Outcome::waived},
      {"relu:dtype=f32;case=b", "other:0", Outcome::crash, FailKind::none, Outcome::crash},
  };
  for (const auto& c : kCases) {
    CaseResult r = result(c.id, c.before, c.kind);
    e.apply(r, c.device);
    EXPECT_EQ(r.verdict.outcome, c.after) << c.id << " on " << c.device;
  }
}

TEST(Expectations, ExpiredEntriesCountForNothing) {
  Expectations e = Expectations::parse(kFile, "x.yaml", "2027-01-31");
  CaseResult r = result("add.Tensor:dtype=f16;case=special", Outcome::fail, FailKind::numeric);
  e.apply(r, "acme:0");
  EXPECT_EQ(r.verdict.outcome, Outcome::fail);
  EXPECT_THAT(
      e.complaints({"add.Tensor:dtype=f16;case=special"}),
      testing::ElementsAre(testing::HasSubstr("x.yaml:2"), testing::HasSubstr("no such case")));
}

TEST(Expectations, MistakesNameTheLine) {
  const std::pair<const char*, const char*> kCases[] = {
      {"- id: relu:dtype=f32;case=a\n  devise: x\n", "x.yaml:2: unknown key 'devise'"},
      {"- device: x\n", "x.yaml:1: 'id' is missing"},
      {"- id: relu\n  device: x\n  kind: xfail\n  reason: r\n  link: l\n  expires: 2026-01-01\n",
       "is not the id of a case"},
      {"- id: relu:dtype=f32;case=a\n  device: x\n  kind: maybe\n  reason: r\n  link: l\n",
       "kind is 'maybe'"},
      {"- id: relu:dtype=f32;case=a\n  device: x\n  kind: xfail\n  reason: r\n  link: l\n",
       "expires is ''"},
      {"- id: relu:dtype=f32;case=a\n  device: x\n  kind: waived\n  reason: r\n  link: l\n"
       "  outcome: pass\n",
       "outcome is 'pass'"},
      {"a: b\n", "the file is not a list"},
      {"- [\n", "x.yaml:"},
      {"- {id: 'relu:dtype=f32;case=a', device: x, kind: waived, reason: r, link: l}\n"
       "- {id: 'relu:dtype=f32;case=a', device: x, kind: waived, reason: r, link: l}\n",
       "x.yaml:2: relu:dtype=f32;case=a on x stands here twice"},
  };
  for (const auto& [yaml, message] : kCases) {
    try {
      Expectations::parse(yaml, "x.yaml", "2026-06-01");
      ADD_FAILURE() << "accepted: " << yaml;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(message));
    }
  }
}

}  // namespace
}  // namespace primset::conformance
