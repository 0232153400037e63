#include "codegen/kernel/ir/text.h"

#include <gtest/gtest.h>

#include "codegen/kernel/ir/builder.h"
#include "codegen/kernel/verifier/verifier.h"
#include "primset/error.h"

namespace primset::kir {
namespace {

constexpr const char* kEverything =
    R"(kernel @everything(p: ptr<global> read write, "odd \"name\"": ptr<global> read invariant kept, n: i64) group_size(64, 1, 1) resident(2) {
  %0 = param[0] : ptr<global>
  %1 = param[2] : i64
  %2 = group_id[1] : i32
  %3 = const -3 : i32
  %4 = const 0.1 : vec<f32, 4>
  %5 = const 0x7fc00000 : f32
  %6 = const -0.0 : f64
  %7 = const 1e+30 : f32
  %8 = const true : i1
  %9 = const 0x3c00 : f16
  %10 = group_alloc[f32 x 256] : ptr<group>
  %11 = shuffle[3, 2, 1, 0] %4, %4 : vec<f32, 4>
  %12 = extract[2] %11 : f32
  %13 = atomic_rmw[fadd] %10, %3, %12 align 4 : f32
  %14 = fne %4, %11 : vec<i1, 4>
  copy_async[f32 x 4] %10, %3, %0, %1, %8
  copy_wait[2]
  barrier
  %15 = subgroup_ballot[1] %8 : i32
  %16 = subgroup_shuffle %12, %15 : f32
  %17 = popcount %15 : i32
  %18, %19 = for %1, %1, %1, %16, %17 : f32, i32 do (%20: i64, %21: f32, %22: i32) {
    %23 = if %8 : f32 then {
      yield %21
    } else {
      store %10, %3, %21 align 4
      yield %12
    }
    yield %23, %22
  }
  while cond {
    yield %8
  } do {
    masked_store %0, %1, %4, %14 align 16
    yield
  }
}
)";

TEST(TextTest, PrintIsTheInverseOfParse) {
  EXPECT_EQ(print(parse(kEverything)), kEverything);
}

TEST(TextTest, ParseIsTheInverseOfPrint) {
  TargetModel target;
  Builder b("sum", target);
  const Value p = b.pointer_param("p", true, true), n = b.scalar_param("n", kI64);
  const Value zero = b.constant_f({Scalar::f64, 8}, 0.1);
  const Value sum = b.for_loop(b.i64(0), n, b.i64(8), {zero}, [&](Value i, auto carried) {
    return Builder::Values{b.fadd(carried[0], b.load({Scalar::f64, 8}, p, i, 8))};
  })[0];
  b.store(p, b.i64(0), sum, 8);
  const Kernel built = std::move(b).finish();
  const Kernel parsed = parse(print(built));
  EXPECT_EQ(print(parsed), print(built));
  EXPECT_TRUE(verify(parsed, target).empty());
}

TEST(TextTest, AcceptsNamesAndComments) {
  const Kernel k = parse(R"(
      kernel @k(out: ptr<global> write) group_size(1, 1, 1) {
        %out = param[0] : ptr<global>  // where it goes
        %seven = const 7 : i32
        store %out, %seven, %seven align 4
      })");
  EXPECT_EQ(k.insts.size(), 3u);
  EXPECT_EQ(print(k, 2), "store %0, %1, %1 align 4");
  EXPECT_TRUE(verify(k, {}).empty());
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::value);
    return e.what();
  }
  return "no error";
}

TEST(TextTest, ErrorsPointAtThePlace) {
  const std::string head = "kernel @k() group_size(1, 1, 1) {\n";
  EXPECT_EQ(error_of("kernel k"), "kernel text: line 1, column 8: expected '@', saw 'k'");
  EXPECT_EQ(error_of(head + "  %0 = frob %1 : i32 }"),
            "kernel text: line 2, column 8: expected an operation, saw 'frob'");
  EXPECT_EQ(error_of(head + "  %0 = const 300 : i8 }"),
            "kernel text: line 2, column 14: expected a constant of type i8, saw '300'");
  EXPECT_EQ(error_of(head + "  %0 = const 3 : i8\n %0 = const 3 : i9 }"),
            "kernel text: line 3, column 17: expected a scalar type, saw 'i9'");
  EXPECT_EQ(error_of(head + "  %0 = const 3 : i8\n  %1 = add %0, %2 : i8 }"),
            "kernel text: line 3, column 16: expected a %value defined before, saw '%2'");
  std::string deep = head + "%c = const true : i1\n";
  for (int i = 0; i < 100000; ++i) deep += "if %c then { ";
  EXPECT_EQ(error_of(deep),
            "kernel text: line 3, column 3340: expected fewer nested regions, saw '{'");
  EXPECT_EQ(error_of(head), "kernel text: line 2, column 1: expected an operation, saw the end");
}

}  // namespace
}  // namespace primset::kir
