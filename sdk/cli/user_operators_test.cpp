// An operator that a user defines in a YAML file: it runs on every device and is checked by the
// conformance suite without a compiler. Files that hold no operators are refused with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sdk/cli/npy.h"

namespace primset::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kBlend = R"(
- op: blend
  overloads:
    Tensor: (Tensor self, Tensor other, *, Scalar weight=0.5) -> Tensor
  variants: [inplace, out]
  promote: {kind: int_to_float, args: [self, other]}
  broadcast: [self, other]
  runtime: [weight]
  decompose: self + weight * (other - self)
  strides: elementwise
  dtypes: numeric
  cases: elementwise_binary
)";

struct Result {
  int code;
  std::string text;  // what it wrote, errors included
};

class UserOperators : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(::testing::TempDir()) / ("primset_user_operators_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    write("my_ops.yaml", kBlend);
    write_npy(folder_ / "a.npy", Tensor::of<float>({1, 2, 3, 4}, {2, 2}, Device::cpu()));
    write_npy(folder_ / "i.npy", Tensor::of<int64_t>({10, 20}, {2}, Device::cpu()));
    write_npy(folder_ / "big.npy", Tensor::of<float>({1, 2, 3}, {3}, Device::cpu()));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Result primset(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.string() + "' && PRIMSET_FALLBACK=error '" +
                                PRIMSET_PROGRAM + "' " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    char block[4096];
    while (const size_t n = fread(block, 1, sizeof(block), pipe)) text.append(block, n);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text};
  }

  fs::path folder_;
};

class UserOperatorsOn : public UserOperators, public ::testing::WithParamInterface<const char*> {
 protected:
  // What `primset run` makes of the operator, on this device.
  Result run(const std::string& arguments) const {
    return primset("--specs my_ops.yaml run " + arguments + " --device " + GetParam());
  }
};

TEST_P(UserOperatorsOn, BroadcastPromoteWriteInPlaceAndOut) {
  EXPECT_THAT(run("blend a.npy i.npy --arg weight=0.25").text,
              HasSubstr("[[3.25, 6.5], [4.75, 8]]  f32[2, 2]"));
  EXPECT_THAT(run("blend i.npy i.npy").text, HasSubstr("[10, 20]  f32[2]"));
  EXPECT_THAT(run("blend_ a.npy i.npy").text, HasSubstr("[[5.5, 11], [6.5, 12]]  f32[2, 2]"));
  EXPECT_THAT(run("blend.Tensor_out a.npy i.npy --arg out=a.npy").text,
              HasSubstr("[[5.5, 11], [6.5, 12]]  f32[2, 2]"));
  const Result wrong = run("blend a.npy big.npy");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_THAT(wrong.text, HasSubstr("must match the size of tensor b (3)"));
  const Result cast = run("blend_ i.npy i.npy");
  EXPECT_EQ(cast.code, 3);
  EXPECT_THAT(cast.text, HasSubstr("result type Float can't be cast"));
}

TEST_P(UserOperatorsOn, AreConformanceCases) {
  const Result r = primset("--specs my_ops.yaml conform --tier smoke --filter 'blend*' --device " +
                           std::string(GetParam()));
  EXPECT_EQ(r.code, 0) << r.text;
  EXPECT_THAT(r.text, testing::ContainsRegex("my_ops +[1-9]"));
}

INSTANTIATE_TEST_SUITE_P(Devices, UserOperatorsOn, ::testing::Values("cpu", "vulkan:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

TEST_F(UserOperators, MistakesSayWhere) {
  write("bad.yaml",
        "- op: blend\n  overloads: {default: (Tensor self) -> Tensor}\n"
        "  decompose: self + oter\n");
  const Result r = primset("--specs bad.yaml ops");
  EXPECT_EQ(r.code, 3);
  EXPECT_THAT(r.text, HasSubstr("bad.yaml:3:"));
  EXPECT_THAT(r.text, HasSubstr("oter"));
}

std::string operator_text(const std::string& name, const std::string& formula) {
  return "- op: " + name +
         "\n  overloads: {default: (Tensor self) -> Tensor}\n  decompose: " + formula +
         "\n  promote: {kind: default, args: [self]}\n  dtypes: floating\n" +
         "  cases: {a: 'self=T[3]'}\n";
}

// Of `count` operators each calls the one before it.
std::string chain_of(int count, const std::string& calls) {
  std::string text = operator_text("op0", "self + 1");
  for (int i = 1; i < count; ++i) {
    std::string formula = calls;
    for (size_t at; (at = formula.find('@')) != std::string::npos;)
      formula.replace(at, 1, "op" + std::to_string(i - 1));
    text += operator_text("op" + std::to_string(i), formula);
  }
  return text;
}

TEST_F(UserOperators, FormulasMayCallOneAnotherWithinLimits) {
  write("chain.yaml", chain_of(199, "\"@(self)\""));
  EXPECT_THAT(primset("--specs chain.yaml run op198 '[1,2.5]'").text, HasSubstr("[2, 3.5]"));
  write("long.yaml", chain_of(30000, "\"@(self)\""));
  const Result too_long = primset("--specs long.yaml run op29999 '[1,2.5]'");
  EXPECT_EQ(too_long.code, 3) << too_long.text;
  EXPECT_THAT(too_long.text, HasSubstr("formulas call one another is longer than 200"));
  write("double.yaml", chain_of(40, "\"@(self) + @(self * 2)\""));
  const Result too_large = primset("--specs double.yaml run op39 '[1,2.5]'");
  EXPECT_EQ(too_large.code, 3) << too_large.text;
  EXPECT_THAT(too_large.text, HasSubstr("expands to more than 200000 terms"));
}

TEST_F(UserOperators, ANestedCallIsEvaluatedOnce) {
  std::string formula = "self";
  for (int i = 0; i < 60; ++i) formula = "relu(" + formula + ")";
  write("nested.yaml", operator_text("nested", formula));
  EXPECT_THAT(primset("--specs nested.yaml run nested '[-1,2.5]'").text, HasSubstr("[0, 2.5]"));
  std::string lines = "|\n    a0 = neg(self)\n";
  for (int i = 1; i < 30000; ++i)
    lines += "    a" + std::to_string(i) + " = neg(a" + std::to_string(i - 1) + ")\n";
  write("lines.yaml", operator_text("lines", lines + "    a29999\n"));
  EXPECT_THAT(primset("--specs lines.yaml run lines '[-1,2.5]'").text, HasSubstr("[-1, 2.5]"));
}

TEST_F(UserOperators, DamagedBundlesAreRefused) {
  std::ifstream in(PRIMSET_BUNDLE, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  write("whole.bundle", whole);
  EXPECT_EQ(primset("--specs whole.bundle run neg a.npy").code, 0);
  write("cut.bundle", whole.substr(0, whole.size() / 2));
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  write("flipped.bundle", flipped);
  write("empty.bundle", "");
  for (const std::string name : {"cut.bundle", "flipped.bundle", "empty.bundle", "none.bundle"}) {
    const Result r = primset("--specs " + name + " run neg a.npy");
    EXPECT_EQ(r.code, 3) << r.text;
    EXPECT_THAT(r.text, HasSubstr(name));
  }
}

}  // namespace
}  // namespace primset::cli
