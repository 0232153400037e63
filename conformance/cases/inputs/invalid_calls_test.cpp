// No operator may answer arguments that do not fit with a mistake of its own.
#include "conformance/cases/inputs/invalid_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "conformance/cases/tables/recipe.h"
#include "conformance/reference/expected_results.h"
#include "specs/bundle/reader.h"

namespace primset::conformance {
namespace {

constexpr size_t kCasesOfAnOverload = 3;

// Empty where the call is traced, or refused with a reason that a caller can act on.
std::string mistake(const specs::Bundle& bundle, const TestCase& test) {
  try {
    trace_case(bundle, test);
  } catch (const Error& e) {
    return e.code() == ErrorCode::internal ? e.what() : "";
  } catch (const std::exception& e) {
    return fmt::format("an exception of the standard library: {}", e.what());
  }
  return "";
}

class InvalidCalls : public testing::TestWithParam<int> {};
constexpr int kShards = 4;
INSTANTIATE_TEST_SUITE_P(, InvalidCalls, testing::Range(0, kShards));

TEST_P(InvalidCalls, IsRefusedOrTaken) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  Selection selection;
  selection.tier = CaseTier::smoke;
  selection.shard = static_cast<uint32_t>(GetParam());
  selection.shards = kShards;
  std::map<std::string, size_t> cases;
  std::map<std::string, std::string> mistakes;  // by overload and what was done: one each
  size_t calls = 0;
  for (const CaseId& id : select_cases(bundle, selection)) {
    const specs::Overload* overload = bundle.find_overload(id.subject);
    if (overload == nullptr || cases[id.subject]++ >= kCasesOfAnOverload) continue;
    const TestCase test = make_case(bundle, id, 0);
    for_each_invalid_call(*overload, test, [&](const TestCase& changed, const std::string& how) {
      ++calls;
      const std::string what = mistake(bundle, changed);
      if (!what.empty())
        mistakes.emplace(id.subject + ", " + how, fmt::format("{}: {}", id.to_string(), what));
    });
  }
  RecordProperty("calls", std::to_string(calls));
  EXPECT_GT(calls, 10'000u);
  std::string list;
  for (const auto& [how, what] : mistakes) list += fmt::format("{}\n    {}\n", how, what);
  EXPECT_TRUE(mistakes.empty()) << mistakes.size()
                                << " invalid calls end in a mistake of Primset's own\n"
                                << list;
}

}  // namespace
}  // namespace primset::conformance
