// What specgen writes beside the bundle.
#include <gtest/gtest.h>

#include "codegen/specgen/testing/source_texts.h"
#include "codegen/specgen/write/api.h"
#include "codegen/specgen/write/decomps.h"
#include "codegen/specgen/write/docs.h"
#include "codegen/specgen/write/file_writer.h"
#include "codegen/specgen/write/host_functions.h"
#include "codegen/specgen/write/prims.h"

namespace primset::specs {
namespace {

TEST(EmitPrims, OneLineEach) {
  const std::string list = emit_prim_list(small_bundle());
  EXPECT_NE(list.find("PRIMSET_PRIM(add, \"add\", core, \"base\", 2, false, 1, 0)\n"),
            std::string::npos);
  EXPECT_NE(list.find("PRIMSET_PRIM(sort, \"sort\", core, \"base\", 2, true, 2, 0)\n"),
            std::string::npos);
  EXPECT_NE(list.find("PRIMSET_PRIM(cond, \"cond\", region, \"base\", 2, true, 1, 2)\n"),
            std::string::npos);
}

TEST(EmitPrims, IdentifiersAvoidWordsOfCpp) {
  EXPECT_EQ(cpp_identifier("add"), "add");
  EXPECT_EQ(cpp_identifier("xor"), "xor_");
  EXPECT_EQ(cpp_identifier("and"), "and_");
  EXPECT_EQ(cpp_identifier("bit_xor"), "bit_xor");
}

TEST(EmitPrims, TheTableHasEveryOperandAndAttribute) {
  const std::string table = emit_prim_table(small_bundle());
  EXPECT_NE(table.find("PRIMSET_PRIM_OPERAND(scale, 1, \"bias\", false, true, 0x40)"),
            std::string::npos);
  EXPECT_NE(table.find("PRIMSET_PRIM_ATTRIBUTE(sort, 1, \"descending\", boolean, true)"),
            std::string::npos);
  EXPECT_NE(table.find("PRIMSET_PRIM_RESULT(convert, 0, \"y\", false, \"dtype\")"),
            std::string::npos);
}

TEST(EmitPrims, TraitsAreInitialisersInTheOrderOfTheirMembers) {
  const Bundle bundle = compile_file(
      "- category: mine\n  traits: {pattern: elementwise, cost: arithmetic}\n"
      "- {prim: p, tier: core, signature: (x) -> y, dtypes: f32, traits: {cost: division, "
      "monotone: increasing}, siblings: [not], meaning: P., tolerance: exact, discontinuous: "
      "true}\n"
      "- {prim: not, tier: core, signature: (x) -> y, dtypes: f32, siblings: p, meaning: Not., "
      "tolerance: exact}\n");
  const std::string table = emit_prim_traits(bundle);
  EXPECT_NE(
      table.find("PRIMSET_PRIM_TRAITS(p, .pattern = OpPattern::elementwise, .combiner = "
                 "Combiner::none, .cost = Cost::division, .nan = NanRule::none, .monotone = "
                 "Monotone::increasing, .derivative = Derivative::none, .associative = false, "
                 ".commutative = false, .idempotent = false, .fixed_zero_sign = false, .tier "
                 "= Tier::core, .exact = true, .discontinuous = true, .donates = false, "
                 ".shape_only = false, "
                 ".side_effect = false)\n"),
      std::string::npos)
      << table;
  EXPECT_NE(table.find("PRIMSET_PRIM_TRAITS(not_, .pattern = OpPattern::elementwise, .combiner = "
                       "Combiner::none, .cost = Cost::arithmetic,"),
            std::string::npos);
  EXPECT_NE(table.find("PRIMSET_PRIM_SIBLING(p, not_)\nPRIMSET_PRIM_SIBLING(not_, p)\n"),
            std::string::npos);
}

TEST(EmitHostFunctions, OneLineEach) {
  const std::string table = emit_host_functions(small_bundle());
  EXPECT_NE(
      table.find(
          "PRIMSET_INTRINSIC(read, false, false)\nPRIMSET_INTRINSIC(resize, true, false)\n"
          "PRIMSET_SPARSE(unpack)\nPRIMSET_CHECK(not_bool)\nPRIMSET_WRITTEN_CHECK(same_dtype)\n"),
      std::string::npos);
}

std::string signature_of(const std::string& schema, const std::string& settings = "") {
  const Bundle bundle = compile_file("- op: f\n  overloads: {default: \"" + schema + "\"}\n" +
                                     settings + "  decompose: {function: f}\n");
  const Overload* o = bundle.find_overload("f");
  return o == nullptr ? "" : cpp_signature(*o);
}

TEST(EmitDecomps, Types) {
  EXPECT_EQ(signature_of("(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d) -> Tensor"),
            "Val decompose(Tracer& t, const Val& a, const std::optional<Val>& b, "
            "const std::vector<Val>& c, const std::vector<std::optional<Val>>& d)");
  EXPECT_EQ(signature_of("(Scalar a, Scalar? b, SymInt c, SymInt? d, SymInt[] e) -> Tensor[]"),
            "std::vector<Val> decompose(Tracer& t, const ScalarArg& a, "
            "const std::optional<ScalarArg>& b, SymInt c, const std::optional<SymInt>& d, "
            "const SymInts& e)");
  EXPECT_EQ(signature_of("(int a, int[2] b, float c, float d, bool e, str g) -> (Tensor, Tensor)",
                         "  structural: [d]\n"),
            "std::tuple<Val, Val> decompose(Tracer& t, int64_t a, const std::vector<int64_t>& b, "
            "const ScalarArg& c, double d, bool e, const std::string& g)");
  EXPECT_EQ(signature_of("(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                         "Generator? generator=None, ScalarType to) -> ()"),
            "void decompose(Tracer& t, const std::optional<DType>& dtype, "
            "const std::optional<Layout>& layout, const std::optional<DeviceArg>& device, "
            "const RngArg& generator, DType to)");
}

TEST(EmitDecomps, WhatIsWrittenIsReturned) {
  EXPECT_EQ(signature_of("(Tensor(a!) self, Tensor(b!) state, int n) -> Tensor"),
            "std::tuple<Val, Val, Val> decompose(Tracer& t, const Val& self, const Val& state, "
            "int64_t n)");
}

TEST(EmitDecomps, HeadersAreSplitByFamilyAndDeclareOnce) {
  const std::string entry =
      "- op: OP\n  overloads: {default: (Tensor self) -> Tensor}\n"
      "  decompose: {function: shared}\n";
  auto with_name = [&](const std::string& name) {
    std::string text = entry;
    return text.replace(text.find("OP"), 2, name);
  };
  Diagnostics diagnostics;
  const Bundle bundle = compile_texts(
      small_bundle(), {{"one.yaml", with_name("f")}, {"two.yaml", with_name("g")}}, diagnostics);
  const auto files = emit_decomps(bundle);
  EXPECT_NE(files.at("operators/one.h").find("struct shared {\n  static Val decompose("),
            std::string::npos);
  EXPECT_EQ(files.at("operators/two.h").find("struct shared"), std::string::npos);
  EXPECT_NE(files.at("operators/two.h").find("#include \"decomps/operators/one.h\""),
            std::string::npos);
  EXPECT_NE(files.at("registry.inc").find("PRIMSET_DECOMP(shared, \"shared\")\n"),
            std::string::npos);
  EXPECT_NE(files.at("all.h").find("#include \"decomps/primitives/base.h\""), std::string::npos);
}

// The generated declaration of the operator `f` with this schema.
std::string function_of(const std::string& schema) {
  const Bundle bundle = compile_file("- op: f\n  overloads: {default: \"" + schema +
                                     "\"}\n  decompose: {function: f}\n");
  const std::string header = emit_api(bundle).at("ops/mine.h");
  const size_t begin = header.find("inline ");
  return header.substr(begin, header.find(" {\n", begin) - begin);
}

TEST(EmitApi, Types) {
  EXPECT_EQ(function_of("(Tensor a, Tensor? b, Tensor[] c, int d=1, *, Scalar e=2) -> Tensor"),
            "inline Tensor f(const Tensor& a, const std::optional<Tensor>& b, List<Tensor> c, "
            "int64_t d = 1, const Scalar& e = 2)");
  EXPECT_EQ(function_of("(SymInt[] a, int[1]? b=None, int[2] c=3, float d=1, bool e=True, "
                        "str g='none') -> Tensor[]"),
            "inline std::vector<Tensor> f(IntList a, OptionalList<int64_t> b = std::nullopt, "
            "IntList c = {3, 3}, double d = 1.0, bool e = true, std::string_view g = \"none\")");
  EXPECT_EQ(function_of("(Tensor a, *, ScalarType? dtype=None, Device? device=None, "
                        "Generator? generator=None) -> (Tensor, bool)"),
            "inline std::tuple<Tensor, bool> f(const Tensor& a, "
            "std::optional<DType> dtype = std::nullopt, "
            "std::optional<Device> device = std::nullopt, "
            "const std::optional<Generator>& generator = std::nullopt)");
}

TEST(EmitApi, ADefaultNeedsDefaultsAfterIt) {
  EXPECT_EQ(function_of("(Tensor a, int b=1, *, int c) -> Tensor"),
            "inline Tensor f(const Tensor& a, int64_t b, int64_t c)");
}

TEST(EmitApi, OutComesFirstAndDeclaredOverloadsHaveNoFunction) {
  const Bundle bundle = compile_file(
      "- op: f\n  overloads: {default: \"(Tensor self, *, int b=1) -> Tensor\"}\n"
      "  variants: [inplace, out]\n  decompose: {function: f}\n"
      "- op: g\n  overloads: {default: (Tensor a) -> Tensor}\n");
  const std::string header = emit_api(bundle).at("ops/mine.h");
  EXPECT_NE(
      header.find("inline Tensor f_out(const Tensor& out, const Tensor& self, int64_t b = 1)"),
      std::string::npos);
  EXPECT_NE(
      header.find("const detail::Arg args[] = {self, b, out};\n  detail::call_void(op, args);\n"
                  "  return out;\n"),
      std::string::npos);
  EXPECT_NE(header.find("inline Tensor f_(const Tensor& self, int64_t b = 1)"), std::string::npos);
  EXPECT_EQ(header.find(" g("), std::string::npos);
}

TEST(EmitApi, FunctionsThatCppCannotTellApartGetTheOverloadsName) {
  const Bundle bundle = compile_file(
      "- op: f\n  overloads:\n"
      "    one: {schema: (Tensor a) -> Tensor, decompose: exp(a)}\n"
      "    two: {schema: (Tensor b) -> Tensor, decompose: exp(b)}\n");
  const std::string header = emit_api(bundle).at("ops/mine.h");
  EXPECT_NE(header.find("inline Tensor f(const Tensor& a)"), std::string::npos);
  EXPECT_NE(header.find("inline Tensor f_two(const Tensor& b)"), std::string::npos);
}

TEST(EmitDocs, APageForEachFamilyAndCategory) {
  const auto pages = emit_docs(small_bundle());
  EXPECT_NE(pages.at("README.md").find("| [base](operators/base.md) | 2 | 1 |"), std::string::npos);
  EXPECT_NE(pages.at("operators/base.md")
                .find("## relu\n\n```\nrelu(Tensor self) -> Tensor\n```\n"
                      "\n- implemented\n\n```\nexp(self)\n```\n"),
            std::string::npos);
  EXPECT_NE(pages.at("primitives/base.md")
                .find("sort(keys, payloads...; dim:int, "
                      "descending:bool=false)"),
            std::string::npos);
}

TEST(FileWriter, WritesOnlyWhatChanges) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "specgen_writer" / "file.txt";
  std::filesystem::remove(path);
  EXPECT_TRUE(write_if_changed(path, "one"));
  const auto written = std::filesystem::last_write_time(path);
  EXPECT_FALSE(write_if_changed(path, "one"));
  EXPECT_EQ(std::filesystem::last_write_time(path), written);
  EXPECT_TRUE(write_if_changed(path, "two"));
  EXPECT_EQ(read_text(path), "two");
}

}  // namespace
}  // namespace primset::specs
