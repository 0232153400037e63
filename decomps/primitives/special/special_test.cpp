// Special functions within the bounds that the reference states, of what mpmath gives.
#include "decomps/primitives/testing/decompose.h"
#include "prims/reference/testing/special_samples.h"

namespace primset::decomps {
namespace {

namespace ref = prims::reference;

// f32 with and without f64 in between.
void expect_within_bounds(const ref::SpecialSamples& f, DType t, DeviceTraits device) {
  for (const ref::SpecialSample& s : f.samples) {
    std::vector<Array> inputs;
    for (double v : s.x) inputs.push_back(vector(t, {v}));
    const auto bound = ref::run_prim(f.prim, inputs, f.attrs).outputs.at(0).data[0].error;
    const auto got = derived(f.prim, inputs, f.attrs, device).data[0];
    EXPECT_FALSE(got.undecided);
    EXPECT_LE(std::fabs(got.re - s.want), bound)
        << prims::info(f.prim).name << " of " << s.x[0] << " in " << name(t) << " gives "
        << static_cast<double>(got.re) << ", expected " << static_cast<double>(s.want);
  }
}

TEST(SpecialFunctions, AreWithinTheirTolerance) {
  for (const ref::SpecialSamples& f : ref::kSpecialSamples) {
    expect_within_bounds(f, DType::f64, {});
    expect_within_bounds(f, DType::f32, {});
    expect_within_bounds(f, DType::f32, {.fast_f64 = true});
  }
}

}  // namespace
}  // namespace primset::decomps
