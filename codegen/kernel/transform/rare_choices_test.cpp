#include "codegen/kernel/transform/rare_choices.h"

#include <gtest/gtest.h>

#include "codegen/kernel/ir/text.h"
#include "codegen/kernel/verifier/verifier.h"

namespace primset::kir {
namespace {

// A kernel that stores what `body` makes, %r, of a vector %x and its condition %c. %s20 is x
// squared so many times.
std::string transformed(const std::string& body, int squares = 20) {
  std::string chain = "%s0 = fmul %x, %x : vec<f32, 8>\n";
  for (int i = 1; i <= squares; ++i) {
    const std::string before = "%s" + std::to_string(i - 1);
    chain += "%s" + std::to_string(i) + " = fmul " + before + ", " + before + " : vec<f32, 8>\n";
  }
  Kernel kernel = parse(
      "kernel @k(p: ptr<global> read write) group_size(1, 1, 1) {\n"
      "%p = param[0] : ptr<global>\n%i = const 0 : i32\n%zero = const 0.0 : vec<f32, 8>\n"
      "%x = load %p, %i align 4 : vec<f32, 8>\n%c = flt %x, %zero : vec<i1, 8>\n" +
      chain + body + "store %p, %i, %r align 4\n}");
  skip_rare_choices(kernel);
  TargetModel target;
  target.simt = false;
  verify(kernel, target);
  return print(kernel);
}

bool skips(const std::string& text) {
  return text.find(" if ") != std::string::npos;
}

TEST(RareChoices, AreSkippedWhereTheyAreLong) {
  const std::string choice = "%r = select %c, %s20, %x : vec<f32, 8>\n";
  EXPECT_TRUE(skips(transformed(choice)));
  EXPECT_FALSE(skips(transformed("%r = select %c, %s4, %x : vec<f32, 8>\n", 4)));
}

TEST(RareChoices, StayWhereOthersNeedThem) {
  EXPECT_FALSE(
      skips(transformed("%y = select %c, %s20, %x : vec<f32, 8>\n"
                        "%r = fadd %y, %s20 : vec<f32, 8>\n")));
  EXPECT_FALSE(skips(transformed("%r = select %c, %x, %s20 : vec<f32, 8>\n")));
  EXPECT_FALSE(skips(transformed("%r = select %c, %s20, %s20 : vec<f32, 8>\n")));
}

// Of both parts of a complex number, say; what is made of the first one goes behind both.
TEST(RareChoices, OfOneConditionAreSkippedTogether) {
  const std::string text = transformed(
      "%a = select %c, %s20, %x : vec<f32, 8>\n%b = fadd %a, %x : vec<f32, 8>\n"
      "%d = select %c, %s19, %zero : vec<f32, 8>\n%r = fadd %b, %d : vec<f32, 8>\n");
  EXPECT_TRUE(skips(text));
  EXPECT_LT(text.find(" if "), text.find("fadd"));
}

// One that chooses of what another has chosen cannot go beside it.
TEST(RareChoices, OfEachOtherStay) {
  EXPECT_FALSE(
      skips(transformed("%a = select %c, %s20, %x : vec<f32, 8>\n%b = fadd %a, %x : vec<f32, 8>\n"
                        "%r = select %c, %s19, %b : vec<f32, 8>\n")));
}

}  // namespace
}  // namespace primset::kir
