// Random graphs by the thousand, for as long as one likes.
//
//   plan_fuzz --seeds 100000 --first-seed 1
//
// A failure is shrunk and printed, with its graph and its fusion plan; the exit status is 1.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "codegen/schedule/testing/random/check_case.h"
#include "codegen/schedule/testing/random/shrink.h"
#include "prims/graph/text.h"

namespace primset::schedule {
namespace {

struct Arguments {
  uint64_t seeds = 10000, first_seed = 1, most_failures = 1;
};

void print_coverage(const Coverage& c) {
  std::printf("values in memory, and why:\n");
  for (const auto& [why, count] : c.reasons)
    std::printf("  %8zu  %s\n", count, std::string(text(why)).c_str());
  std::printf("groups by family:\n");
  for (const auto& [family, count] : c.families)
    std::printf("  %8zu  %s\n", count, std::string(family).c_str());
  std::printf(
      "outputs in place of inputs %zu, computed aside %zu, in place already %zu; views %zu\n",
      c.overwriting, c.detached, c.in_place, c.views);
  std::printf("runs with failed checks %zu; elements %zu, of which nobody knows %zu\n",
              c.failed_checks, c.elements, c.undecided);
  std::printf("primitives:");
  for (const auto& [prim, count] : c.prims)
    std::printf(" %s %zu", std::string(prims::info(prim).name).c_str(), count);
  std::printf("\n");
}

void print_failure(const RandomCase& c, const RandomTarget& target, const std::string& what) {
  std::printf("\nseed %llu on %s\n%s\n", static_cast<unsigned long long>(c.seed),
              std::string(target.name).c_str(), what.c_str());
  const RandomCase small = shrunk(c, target);
  const auto why = check_case(small, target);
  std::printf("shrunk:\n%s%s\n", text(small).c_str(), why ? why->c_str() : "it no longer fails");
  std::fflush(stdout);
}

int fuzz(const Arguments& a) {
  Coverage coverage;
  uint64_t failures = 0;
  for (uint64_t seed = a.first_seed; seed < a.first_seed + a.seeds; ++seed) {
    const RandomTarget& target = target_of(seed);
    const RandomCase c = random_case(seed);
    const auto what = check_case(c, target, &coverage);
    if (what) print_failure(c, target, *what);
    if (what && ++failures == a.most_failures) break;
  }
  std::printf("%llu failures\n", static_cast<unsigned long long>(failures));
  print_coverage(coverage);
  return failures == 0 ? 0 : 1;
}

int main_of(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    uint64_t* value = name == "--seeds"        ? &a.seeds
                      : name == "--first-seed" ? &a.first_seed
                      : name == "--failures"   ? &a.most_failures
                                               : nullptr;
    char* end = nullptr;
    const char* number = i + 1 < argc ? argv[++i] : "";
    const uint64_t parsed = std::strtoull(number, &end, 10);
    if (value == nullptr || end == number || *end != '\0') {
      std::fprintf(stderr,
                   "plan_fuzz: '%s %s'; expected --seeds N, --first-seed N or --failures N\n",
                   std::string(name).c_str(), number);
      return 2;
    }
    *value = parsed;
  }
  return fuzz(a);
}

}  // namespace
}  // namespace primset::schedule

int main(int argc, char** argv) {
  return primset::schedule::main_of(argc, argv);
}
