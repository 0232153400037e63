// What a device may return of a sparse layout: the elements that are expected, in parts that make a
// tensor, with as many entries as there must be.
#include <gtest/gtest.h>

#include <functional>

#include "conformance/cases/tables/recipe.h"
#include "conformance/reference/reference_device.h"
#include "conformance/runner/execute.h"
#include "specs/bundle/reader.h"

namespace primset::conformance {
namespace {

ActualTensor actual_part(const std::vector<HostStorage>& storages, const HostTensor& t) {
  ActualTensor out;
  out.dtype = t.dtype;
  out.sizes = t.sizes;
  out.strides = t.strides;
  out.values = packed_bytes(storages.at(t.storage), t);
  return out;
}

// The argument itself, as an operator that changes nothing would return it.
Execution returned(const TestCase& test) {
  const auto& self = std::get<HostTensor>(test.args[0]);
  ActualTensor result;
  result.dtype = self.dtype;
  result.sizes = self.sizes;
  result.layout = self.layout;
  result.coalesced = self.coalesced;
  for (const HostTensor& part : self.parts)
    result.parts.push_back(actual_part(test.storages, part));
  Execution out;
  out.storages = test.storages;
  out.results.push_back(std::move(result));
  return out;
}

struct Judged {
  const specs::Bundle& bundle = specs::embedded_bundle();
  TestCase test;
  DeviceClaims claims;

  explicit Judged(const char* id) : test(make_case(bundle, CaseId::parse(id), 0)) {
    claims.dtypes = DTypeSet(~uint64_t{0});
  }
  std::string verdict(const std::function<void(ActualTensor&)>& change) const {
    Execution actual = returned(test);
    change(actual.results[0]);
    const Verdict v = judge(bundle, test, evaluate(bundle, test), actual, claims);
    return to_string(v.outcome, v.kind);
  }
};

TEST(SparseJudgement, OfACoalescedTensor) {
  const Judged coalesce("coalesce:dtype=f32;case=coo");
  EXPECT_EQ(coalesce.verdict([](ActualTensor&) {}), "pass");
  EXPECT_EQ(coalesce.verdict([](ActualTensor& a) { a.coalesced = false; }), "fail:shape");
  EXPECT_EQ(coalesce.verdict([](ActualTensor& a) { a.layout = Layout::sparse_csr; }), "fail:shape");
  EXPECT_EQ(coalesce.verdict([](ActualTensor& a) { a.parts[0].values[0] ^= std::byte{0x7f}; }),
            "fail:shape");
  EXPECT_EQ(coalesce.verdict([](ActualTensor& a) { a.parts[1].values[3] ^= std::byte{0x80}; }),
            "fail:numeric");
  EXPECT_EQ(coalesce.verdict([](ActualTensor& a) { a.dtype = DType::f64; }), "fail:dtype");
}

TEST(SparseJudgement, EntriesThatWereNotMerged) {
  const Judged coalesce("coalesce:dtype=f32;case=coo_repeated");
  EXPECT_EQ(coalesce.verdict([](ActualTensor&) {}), "fail:shape");
  EXPECT_EQ(coalesce.verdict([](ActualTensor& a) { a.coalesced = true; }), "fail:shape");
}

TEST(SparseJudgement, PointersThatFitNoEntries) {
  const Judged same("to_sparse_csr:dtype=f32;case=of_itself");
  EXPECT_EQ(same.verdict([](ActualTensor&) {}), "pass");
  EXPECT_EQ(same.verdict([](ActualTensor& a) { a.parts[0].values[8] ^= std::byte{0x40}; }),
            "fail:shape");
}

TEST(SparseJudgement, TheReferenceItselfPasses) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  ReferenceDevice reference(bundle);
  Selection selection;
  selection.filters = {"to_sparse*", "to_dense", "coalesce", "values", "_nnz", "*_coo_tensor*"};
  selection.dtypes = {DType::f32};
  size_t passed = 0;
  for (const CaseId& id : select_cases(bundle, selection)) {
    const Verdict v = run_case(bundle, make_case(bundle, id, 0), reference);
    EXPECT_TRUE(agrees(v.outcome)) << id.to_string() << ": " << v.detail;
    passed += v.outcome == Outcome::pass;
  }
  EXPECT_GT(passed, 100u);
}

}  // namespace
}  // namespace primset::conformance
