// Results that have a property instead of the expected values, where out= arguments take them.
#include <gtest/gtest.h>

#include <cstring>

#include "conformance/cases/tables/recipe.h"
#include "conformance/reference/call_arguments.h"
#include "conformance/reference/reference_device.h"
#include "conformance/runner/execute.h"
#include "specs/bundle/reader.h"

namespace primset::conformance {
namespace {

void scale_f32(std::vector<std::byte>& bytes, size_t offset, float by) {
  float value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  value *= by;
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

// Of linalg_lu_factor.out with the first number of U, in its out= argument, so many times as large.
std::string verdict_of_lu(float by) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  const TestCase test =
      make_case(bundle, CaseId::parse("linalg_lu_factor.out:dtype=f32;case=batch"), 0);
  ReferenceDevice reference(bundle);
  Execution actual = reference.run_operator(test);
  constexpr uint32_t kLu = 2;  // linalg_lu_factor.out(A, pivot, LU, pivots)
  const HostTensor& lu = argument_tensor(test, kLu);
  scale_f32(actual.storages.at(lu.storage), 4 * static_cast<size_t>(lu.offset), by);
  scale_f32(actual.results.at(0).values, 0, by);
  DeviceClaims claims;
  claims.dtypes = DTypeSet(~uint64_t{0});
  const Verdict v = judge(bundle, test, evaluate(bundle, test), actual, claims);
  return to_string(v.outcome, v.kind);
}

TEST(PropertyJudgement, FactorsInOutArgumentsAreJudgedByBeingFactors) {
  EXPECT_EQ(verdict_of_lu(1), "pass");
  EXPECT_EQ(verdict_of_lu(1 + 2e-5f), "pass") << "off by rounding, as other orders of sums are";
  EXPECT_EQ(verdict_of_lu(1.01f), "fail:numeric");
}

}  // namespace
}  // namespace primset::conformance
