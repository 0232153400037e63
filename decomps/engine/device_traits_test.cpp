// What decompositions make of what they know of a device.
#include "decomps/engine/device_traits.h"

#include <gtest/gtest.h>

#include "decomps/engine/decomposition.h"
#include "specs/bundle/reader.h"

namespace primset::decomps {
namespace {

DType widened(DType type, DeviceTraits device) {
  prims::Graph graph;
  Tracer t(graph, specs::embedded_bundle(), device);
  return wide_opmath(t.wrap(t.builder().tensor_input("x", {type, {3}}))).dtype();
}

TEST(DeviceTraits, LongComputationsAreInF64WhereThatIsQuick) {
  const DeviceTraits cpu{.fast_f64 = true}, other;
  EXPECT_EQ(widened(DType::f32, cpu), DType::f64);
  EXPECT_EQ(widened(DType::f32, other), DType::f32);
  EXPECT_EQ(widened(DType::c64, cpu), DType::c128);
  EXPECT_EQ(widened(DType::c64, other), DType::c64);
  // Those of halves have fewer digits to lose.
  EXPECT_EQ(widened(DType::bf16, cpu), DType::f32);
  EXPECT_EQ(widened(DType::f64, other), DType::f64);
}

}  // namespace
}  // namespace primset::decomps
