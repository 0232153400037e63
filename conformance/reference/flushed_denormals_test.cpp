#include "conformance/reference/flushed_denormals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "conformance/cases/tables/recipe.h"
#include "conformance/reference/reference_device.h"
#include "conformance/runner/execute.h"
#include "specs/bundle/reader.h"

namespace primset::conformance {
namespace {

const specs::Bundle& bundle() {
  return specs::embedded_bundle();
}

// Takes f32 denormals for zeros before and after it computes, and may say so.
class FlushingDevice final : public DeviceRunner {
 public:
  explicit FlushingDevice(bool says_so) : reference_(bundle()), claims_(reference_.claims()) {
    claims_.flush_f32 = says_so;
  }
  const DeviceClaims& claims() const override { return claims_; }
  Execution run_operator(const TestCase& test) override { return run(test); }
  Execution run_graph(const TestCase& test) override { return run(test); }

 private:
  Execution run(const TestCase& test) {
    TestCase flushed = test;
    flush_inputs(flushed);
    Execution out =
        flushed.graph ? reference_.run_graph(flushed) : reference_.run_operator(flushed);
    out.storages = test.storages;
    for (ActualTensor& t : out.results) {
      for (size_t at = 0; t.dtype == DType::f32 && at < t.values.size(); at += sizeof(float)) {
        float v;
        std::memcpy(&v, &t.values[at], sizeof(v));
        if (std::fpclassify(v) == FP_SUBNORMAL) v = std::copysign(0.0f, v);
        std::memcpy(&t.values[at], &v, sizeof(v));
      }
    }
    return out;
  }

  ReferenceDevice reference_;
  DeviceClaims claims_;
};

Verdict run(const std::string& id, bool says_so) {
  FlushingDevice device(says_so);
  return run_case(bundle(), make_case(bundle(), CaseId::parse(id), 0), device);
}

TEST(Flushed, ADeviceThatSaysSoMayFlushBeforeItComputes) {
  for (const char* id : {"sqrt:dtype=f32;case=special", "log:dtype=f32;case=special",
                         "rsqrt:dtype=f32;case=special", "reciprocal:dtype=f32;case=special",
                         "eq.Tensor:dtype=f32;case=special", "prim/abs:dtype=f32;case=special"}) {
    const Verdict v = run(id, true);
    EXPECT_EQ(v.outcome, Outcome::pass) << id << ": " << v.detail;
  }
}

TEST(Flushed, OthersMayNot) {
  for (const char* id : {"sqrt:dtype=f32;case=special", "log:dtype=f32;case=special",
                         "prim/abs:dtype=f32;case=special"}) {
    EXPECT_EQ(run(id, false).outcome, Outcome::fail) << id;
  }
}

TEST(Flushed, OnlyDenormalsOfF32Change) {
  TestCase f32 = make_case(bundle(), CaseId::parse("log:dtype=f32;case=special"), 0);
  EXPECT_TRUE(flush_inputs(f32));
  EXPECT_FALSE(flush_inputs(f32));
  for (const char* id :
       {"log:dtype=f64;case=special", "log:dtype=f16;case=special", "log:dtype=f32;case=empty"}) {
    TestCase test = make_case(bundle(), CaseId::parse(id), 0);
    const std::vector<HostStorage> before = test.storages;
    EXPECT_FALSE(flush_inputs(test)) << id;
    EXPECT_EQ(test.storages, before) << id;
  }
}

}  // namespace
}  // namespace primset::conformance
