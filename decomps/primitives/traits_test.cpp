// The traits of specs/prims/*.yaml against what the primitives compute.
#include "prims/graph/traits.h"

#include "decomps/primitives/testing/decompose.h"
#include "prims/graph/signature.h"

namespace primset::decomps {
namespace {

using namespace primset::prims;  // NOLINT(google-build-using-namespace)
using prims::reference::Element;
using prims::reference::plain;

static_assert(is_elementwise(Prim::convert) && !is_elementwise(Prim::map));
static_assert(is_indexable(Prim::gather) && !is_indexable(Prim::sort));
static_assert(accumulates(Prim::window_scatter_add) && !accumulates(Prim::reduce_max));

std::vector<Prim> all_prims() {
  std::vector<Prim> out;
  for (int i = 0; i < prim_count(); ++i) out.push_back(static_cast<Prim>(i));
  return out;
}

// Elementwise primitives of `operands` operands that all may be of dtype `t`, and give it.
std::vector<Prim> closed_over(DType t, size_t operands) {
  std::vector<Prim> out;
  for (Prim p : all_prims()) {
    const Signature& s = signature(p);
    const bool fits =
        is_elementwise(p) && s.operands.size() == operands && s.results.size() == 1 &&
        s.attributes.empty() &&
        std::ranges::all_of(s.operands, [&](const auto& o) { return o.dtypes.contains(t); });
    if (!fits) continue;
    Graph g;
    Builder b(g);
    const Builder::Values xs(operands, b.tensor_input("x", {t, {}}));
    if (b.dtype(b.add(p, xs)[0]) == t) out.push_back(p);
  }
  return out;
}

// f(x, y) for each x and y of `values`, x by rows.
std::vector<double> operator_table(Prim p, DType t, const std::vector<double>& values) {
  std::vector<double> xs, ys, out;
  for (double x : values) {
    for (double y : values) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  for (const Element& e : derived(p, {vector(t, xs), vector(t, ys)}).data)
    out.push_back(plain(t, e));
  return out;
}

std::vector<double> map_values(Prim p, DType t, const std::vector<double>& values) {
  std::vector<double> out;
  for (const Element& e : derived(p, {vector(t, values)}).data) out.push_back(plain(t, e));
  return out;
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

const std::vector<double> kSmallNumbers = {1, 2, 3, 4, 5, 6, 7};

// The law holds of small positive integers exactly where the trait says so; that is enough to tell
// the primitives apart.
TEST(Traits, CommutativeAndIdempotentAreSeenInTheTable) {
  for (DType t : {DType::i32, DType::f32}) {
    for (Prim p : closed_over(t, 2)) {
      const std::vector<double> f = operator_table(p, t, kSmallNumbers);
      bool commutes = true, idempotent = true;
      for (size_t i = 0; i < kSmallNumbers.size(); ++i) {
        idempotent = idempotent && f[i * kSmallNumbers.size() + i] == kSmallNumbers[i];
        for (size_t j = 0; j < i; ++j) {
          commutes =
              commutes && same(f[i * kSmallNumbers.size() + j], f[j * kSmallNumbers.size() + i]);
        }
      }
      EXPECT_EQ(commutes, traits(p).commutative) << info(p).name;
      // gcd(x, x) is |x|, and copysign(x, x) is x as any two of one sign are.
      if (traits(p).idempotent) EXPECT_TRUE(idempotent) << info(p).name;
    }
  }
}

TEST(Traits, AssociativeIsSeenOfSmallIntegers) {
  const std::vector<double> range = {-1, 0, 1, 2, 3};
  size_t seen = 0;
  for (Prim p : closed_over(DType::i32, 2)) {
    bool associates = true;
    for (double z : range) {
      const std::vector<double> f = operator_table(p, DType::i32, range);
      for (size_t i = 0; i < f.size(); ++i) {
        const double x = range[i / range.size()], y = range[i % range.size()];
        const auto apply = [&](double a, double b) {
          return plain(DType::i32,
                       derived(p, {vector(DType::i32, {a}), vector(DType::i32, {b})}).data[0]);
        };
        associates = associates && apply(f[i], z) == apply(x, apply(y, z));
      }
    }
    EXPECT_EQ(associates, traits(p).associative) << info(p).name;
    seen += associates ? 1 : 0;
  }
  EXPECT_GE(seen, 7u);
}

TEST(Traits, IdempotentOfOneOperand) {
  const std::vector<double> values = {-2.5, -1, -0.75, 0, 0.5, 1, 1.5, 3.25};
  for (Prim p : closed_over(DType::f32, 1)) {
    const std::vector<double> once = map_values(p, DType::f32, values);
    const std::vector<double> twice = map_values(p, DType::f32, once);
    EXPECT_EQ(std::ranges::equal(once, twice, same), traits(p).idempotent) << info(p).name;
  }
}

// Where a value is NaN the function is outside its domain.
Monotone monotone_along(const std::vector<double>& f) {
  bool rises = true, falls = true;
  for (size_t i = 1; i < f.size(); ++i) {
    if (std::isnan(f[i - 1]) || std::isnan(f[i])) continue;
    rises = rises && f[i - 1] <= f[i];
    falls = falls && f[i - 1] >= f[i];
  }
  return rises ? Monotone::increasing : falls ? Monotone::decreasing : Monotone::none;
}

TEST(Traits, MonotoneIsSeenOnAGrid) {
  std::vector<double> grid;
  for (int i = -64; i <= 64; ++i) grid.push_back(i / 8.0);
  size_t seen = 0;
  for (Prim p : closed_over(DType::f32, 1)) {
    const Monotone found = monotone_along(map_values(p, DType::f32, grid));
    EXPECT_EQ(specs::trait_name(found), specs::trait_name(traits(p).monotone)) << info(p).name;
    seen += found != Monotone::none ? 1 : 0;
  }
  EXPECT_GE(seen, 20u);
}

// What one operand's NaN gives beside numbers.
NanRule nan_rule(Prim p, size_t operands) {
  bool all_nan = true, all_other = true;
  for (size_t at = 0; at < operands; ++at) {
    for (double beside : {0.0, 1.0, -2.5, kInf}) {
      std::vector<Array> xs(operands, vector(DType::f32, {beside}));
      xs[at] = vector(DType::f32, {kNan});
      const double y = plain(DType::f32, derived(p, xs).data[0]);
      all_nan = all_nan && std::isnan(y);
      all_other = all_other && operands > 1 && y == beside;
    }
  }
  return all_nan ? NanRule::propagates : all_other ? NanRule::ignored : NanRule::special;
}

TEST(Traits, NanRulesOfElementwisePrimitives) {
  size_t seen = 0;
  for (size_t operands : {1, 2, 3}) {
    for (Prim p : closed_over(DType::f32, operands)) {
      EXPECT_EQ(specs::trait_name(nan_rule(p, operands)), specs::trait_name(traits(p).nan))
          << info(p).name;
      ++seen;
    }
  }
  EXPECT_GE(seen, 50u);
}

// A combiner's identity aside, a reduction of two elements is its combiner of them.
TEST(Traits, ReductionsCombineByTheirCombiner) {
  size_t seen = 0;
  for (Prim p : all_prims()) {
    const std::optional<Prim> combiner = combiner_prim(p);
    if (!combiner) continue;
    EXPECT_TRUE(traits(*combiner).associative && traits(*combiner).commutative) << info(p).name;
    if (!is_reduction(p)) continue;
    const Array reduced = derived(p, {integers(DType::i32, {6, 3})}, {{"dims", Attr::Ints{0}}});
    const Array combined =
        derived(*combiner, {integers(DType::i32, {6}), integers(DType::i32, {3})});
    EXPECT_EQ(reduced.data[0].integer, combined.data[0].integer) << info(p).name;
    ++seen;
  }
  EXPECT_EQ(seen, 7u);
}

TEST(Traits, SiblingsAreMutual) {
  size_t seen = 0;
  for (Prim p : all_prims()) {
    for (Prim other : siblings(p)) {
      const std::span<const Prim> back = siblings(other);
      EXPECT_NE(std::ranges::find(back, p), back.end()) << info(p).name << " " << info(other).name;
      ++seen;
    }
  }
  EXPECT_GE(seen, 80u);
}

}  // namespace
}  // namespace primset::decomps
