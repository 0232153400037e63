// Random graphs on machines of every kind: their plans keep what every plan has to, and their
// programs compute what the reference interpreter does.
#include <gtest/gtest.h>

#include <set>

#include "codegen/schedule/testing/random/check_case.h"
#include "codegen/schedule/testing/random/random_nodes.h"
#include "codegen/schedule/testing/random/shrink.h"
#include "prims/graph/text.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

constexpr uint64_t kSeeds = 8000;

std::string shrunk_failure(const RandomCase& c, const RandomTarget& target) {
  const RandomCase small = shrunk(c, target);
  return "seed " + std::to_string(c.seed) + " on " + std::string(target.name) + ":\n" +
         text(small) + check_case(small, target).value_or("");
}

// One walk over the seeds serves all tests.
const Coverage& covered() {
  static const Coverage* coverage = [] {
    auto* c = new Coverage;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const RandomCase random = random_case(seed);
      const RandomTarget& target = target_of(seed);
      const auto wrong = check_case(random, target, c);
      if (wrong) {
        ADD_FAILURE() << *wrong << "\n" << shrunk_failure(random, target);
        break;
      }
    }
    return c;
  }();
  return *coverage;
}

TEST(RandomPlans, ComputeWhatTheReferenceDoes) {
  const Coverage& c = covered();
  EXPECT_GT(c.elements, 100000u);
  EXPECT_LT(c.undecided * 5, c.elements) << "most results are to be compared";
}

TEST(RandomPlans, EveryReasonForMemoryIsSeen) {
  for (int i = 0; i <= static_cast<int>(NotFused::fusion_off); ++i) {
    const auto why = static_cast<NotFused>(i);
    if (why == NotFused::waiting_rows) continue;  // of an element's loop, which no rule makes
    EXPECT_TRUE(covered().reasons.contains(why)) << text(why);
  }
}

TEST(RandomPlans, EveryKindOfGroupIsSeen) {
  std::vector<const Family*> all(families().begin(), families().end());
  all.insert(all.end(), {&pointwise_family, &reduction_family, &read_size_family});
  for (const Family* f : all) {
    if (f->name() == "attention") continue;  // of a derived primitive
    EXPECT_TRUE(covered().families.contains(f->name())) << f->name();
  }
  EXPECT_GT(covered().detached, 0u);
  EXPECT_GT(covered().in_place, 0u);
  EXPECT_GT(covered().views, 0u);
  EXPECT_GT(covered().failed_checks, 0u);
}

TEST(RandomPlans, EveryPrimitiveIsSeen) {
  for (int i = 0; i < prims::prim_count(); ++i) {
    const auto p = static_cast<prims::Prim>(i);
    if (prims::traits(p).tier == specs::Tier::derived && !node_rule(p)) continue;
    EXPECT_NE(node_rule(p), nullptr) << prims::info(p).name;
    EXPECT_TRUE(covered().prims.contains(p)) << prims::info(p).name;
  }
}

TEST(RandomGraphs, ASeedStandsForOneCase) {
  for (uint64_t seed = 1; seed < 50; ++seed) {
    const RandomCase a = random_case(seed), b = random_case(seed);
    EXPECT_EQ(text(a), text(b));
    const std::string graph = prims::print(*a.graph);
    EXPECT_EQ(prims::print(prims::parse(graph)), graph);
  }
}

}  // namespace
}  // namespace primset::schedule
