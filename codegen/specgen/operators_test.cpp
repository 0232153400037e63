// Schemas, variants and settings of operators.
#include <gtest/gtest.h>

#include "codegen/specgen/parse/schema_parser.h"
#include "codegen/specgen/testing/source_texts.h"
#include "specs/bundle/writer.h"

namespace primset::specs {
namespace {

TEST(Schema, PrintsToItself) {
  for (const char* text :
       {"(Tensor self, *, Scalar alpha=1) -> Tensor", "() -> ()", "(Tensor(a) self) -> Tensor(a)",
        "(Tensor(a!)[] self, Tensor(b!)[] grads, *, float lr) -> ()",
        "(Tensor(a -> *) self, int split_size=2) -> Tensor(a)[]",
        "(Tensor?[] indices, int[2] k=[0,1], SymInt[]? s=None) -> (Tensor values, Tensor[] rest)",
        "(str m=\"L\", str n='none', float e=1e-05, int r=Mean, ScalarType t=long) -> int",
        "(Tensor self, bool[3] m, MemoryFormat f=contiguous_format, Device? d=None) -> Scalar"}) {
    Diagnostics diagnostics;
    diagnostics.add_file("schema");
    const YamlNode node = scalar(text);
    const Schema schema = parse_schema(node, diagnostics);
    EXPECT_EQ(diagnostics.text(), "");
    EXPECT_EQ(print_schema("f", schema.args, schema.returns), std::string("f") + text);
  }
}

TEST(Schema, Defaults) {
  Diagnostics diagnostics;
  diagnostics.add_file("schema");
  const YamlNode node = scalar(
      "(Tensor self, int[2] stride=1, int r=Mean, ScalarType t=long, float e=1, Scalar s=0.5, "
      "str? m=None) -> Tensor");
  const Schema schema = parse_schema(node, diagnostics);
  ASSERT_EQ(schema.args.size(), 7u);
  EXPECT_EQ(schema.args[1].default_value.list, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(schema.args[2].default_value.integer, 1);
  EXPECT_EQ(schema.args[3].default_value.integer, static_cast<int64_t>(DType::i64));
  EXPECT_EQ(schema.args[4].default_value.floating, 1.0);
  EXPECT_EQ(schema.args[5].default_value.kind, DefaultKind::floating);
  EXPECT_EQ(schema.args[6].default_value.kind, DefaultKind::none);
}

TEST(Variants, AreDerivedMechanically) {
  const Bundle bundle = compile_file(R"(- op: f
  overloads:
    Tensor: (Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
    pair: (Tensor self, int dim) -> (Tensor values, Tensor indices)
    many: (Tensor self) -> (Tensor, Tensor[])
    like: (Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
  variants: {inplace: [Tensor], out: {Tensor: out, pair: values, many: many_out, like: like_out}}
- op: __and__
  overloads: {Tensor: "(Tensor self, Tensor other) -> Tensor"}
  variants: [inplace]
- op: _foreach_f
  overloads: {default: "(Tensor[] self) -> Tensor[]"}
  variants: [inplace, out]
)");
  for (const char* schema :
       {"f_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        "f.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        "f.values(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> "
        "(Tensor(a!) values, Tensor(b!) indices)",
        "f.many_out(Tensor self, *, Tensor(a!) out0, Tensor(b!)[] out1) -> Tensor(a!)",
        "f.like_out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> "
        "Tensor(a!)",
        "__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        "_foreach_f_(Tensor(a!)[] self) -> ()",
        "_foreach_f.out(Tensor[] self, *, Tensor(a!)[] out) -> ()"}) {
    const std::string name(schema, std::string_view(schema).find('('));
    const Overload* o = bundle.find_overload(name);
    ASSERT_NE(o, nullptr) << name;
    EXPECT_EQ(o->schema, schema);
    EXPECT_TRUE(o->derived);
    EXPECT_EQ(bundle.overloads[o->base].kind, OverloadKind::functional);
  }
}

TEST(Variants, MayTakeOtherDtypes) {
  const Bundle bundle = compile_file(R"(- op: f
  overloads:
    default: (Tensor self) -> Tensor
    Tensor: (Tensor self, Tensor other) -> Tensor
  variants: {inplace: {default: {dtypes: [f32]}, Tensor: Tensor}, out: [default]}
  dtypes: [f32, bool]
)");
  const auto takes = [&](const char* name) {
    const Overload* o = bundle.find_overload(name);
    return o != nullptr && o->dtypes.contains(DType::boolean);
  };
  EXPECT_TRUE(takes("f") && takes("f.Tensor") && takes("f_.Tensor") && takes("f.out"));
  EXPECT_FALSE(takes("f_"));
  EXPECT_NE(bundle.find_overload("f_"), nullptr);
}

TEST(Variants, OutsAreLaidOutAsTheirKeySays) {
  const Bundle bundle = compile_file(R"(- op: derived
  overloads: {default: (Tensor self) -> Tensor}
  variants: [inplace, out]
  strides: {function: preserve}
  outs: {strides: contiguous}
- op: written
  overloads: {default: (Tensor self) -> Tensor}
  variants:
    inplace:
      default:
        schema: (Tensor(a!) self) -> Tensor(a!)
    out:
      default:
        schema: (Tensor self, *, Tensor(a!) y) -> Tensor(a!)
  strides: {function: preserve}
  outs: {strides: contiguous}
)");
  for (const std::string op : {"derived", "written"}) {
    EXPECT_EQ(bundle.find_overload(op)->strides.function, "preserve") << op;
    EXPECT_EQ(bundle.find_overload(op + "_")->strides.function, "preserve") << op;
    EXPECT_EQ(bundle.find_overload(op + ".out")->strides.kind, StrideKind::contiguous) << op;
  }
}

TEST(Settings, FunctionsOnTheHostAreOfTheKindsThatAreNamed) {
  const Bundle b = compile_file(
      "- op: f\n  overloads: {default: (Tensor self) -> Tensor}\n  variants: [inplace, out]\n"
      "  intrinsic: {inplace: resize, out: read}\n  checks: not_bool\n"
      "  written_checks: [same_dtype]\n"
      "- op: g\n  overloads: {default: (Tensor self) -> Tensor}\n  variants: [out]\n"
      "  intrinsic: read\n");
  EXPECT_EQ(b.find_overload("f")->intrinsic, "");
  EXPECT_EQ(b.find_overload("f_")->intrinsic, "resize");
  EXPECT_EQ(b.find_overload("f.out")->intrinsic, "read");
  EXPECT_EQ(b.find_overload("f")->checks, std::vector<std::string>{"not_bool"});
  EXPECT_EQ(b.find_overload("f_")->written_checks, std::vector<std::string>{"same_dtype"});
  EXPECT_EQ(b.find_overload("g")->intrinsic, "read");
  EXPECT_EQ(b.find_overload("g.out")->intrinsic, "");
}

TEST(Settings, OfTheEntryAreForAllAndThoseOfAnOverloadWin) {
  const Bundle bundle = compile_file(R"(- op: f
  overloads:
    Tensor: (Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
    Scalar:
      schema: (Tensor self, Scalar other, int dim, float eps) -> Tensor
      decompose: {function: f_scalar}
      structural: [eps]
  variants: [inplace, out]
  promote: {kind: int_to_float, args: [self, other], into: self}
  broadcast: [self, other]
  scalar: {alpha: storage, other: tensor}
  decompose: self + alpha * other
  dtypes: [f32, bool]
  random: {counters: 4}
  cases: [binary, {generator: special, limit: 3}, {plain: "self=T[2] other=T[2]"}]
  tolerance: {f32: {ulp: 2}}
  tags: [core, pointwise, nondeterministic_seeded]
  callable: {functional: both, inplace: method}
)");
  const Overload& tensor = *bundle.find_overload("f.Tensor");
  const Overload& scalar = *bundle.find_overload("f.Scalar");
  const Overload& inplace = *bundle.find_overload("f_.Tensor");
  const Overload& out = *bundle.find_overload("f.Tensor_out");
  EXPECT_EQ(tensor.implementation.kind, ImplKind::formula);
  EXPECT_EQ(scalar.implementation.function, "f_scalar");
  EXPECT_EQ(tensor.promote.kind, PromoteKind::int_to_float);
  EXPECT_EQ(scalar.promote.args, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(scalar.promote.into, 0u);
  EXPECT_EQ(out.promote.into, 0u);
  EXPECT_EQ(tensor.broadcast, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(scalar.broadcast, (std::vector<uint32_t>{0}));
  EXPECT_EQ(tensor.strides.kind, StrideKind::elementwise);
  EXPECT_EQ(tensor.args[2].rounding, ScalarRounding::storage);
  EXPECT_EQ(scalar.args[1].rounding, ScalarRounding::tensor);
  EXPECT_EQ(scalar.args[2].rounding, ScalarRounding::opmath);
  EXPECT_EQ(tensor.args[2].role, Role::runtime);
  EXPECT_EQ(scalar.args[2].role, Role::structural);
  EXPECT_EQ(scalar.args[3].role, Role::structural);
  EXPECT_EQ(tensor.dtypes, (DTypeSet{DType::f32, DType::boolean}));
  EXPECT_EQ(tensor.random.counters_per_element, 4);
  EXPECT_TRUE(tensor.random.seeded);
  ASSERT_EQ(tensor.cases.size(), 3u);
  EXPECT_EQ(tensor.cases[1].parameters[0].second, "3");
  EXPECT_EQ(tensor.cases[2].generator, specs::kWrittenCases);
  EXPECT_EQ(tensor.cases[2].parameters[0].first, "plain");
  EXPECT_EQ(tolerance_for(tensor.tolerance, DType::f32).number, 2);
  EXPECT_TRUE(tensor.method && tensor.function);

  EXPECT_EQ(inplace.status, Status::implemented);
  EXPECT_EQ(inplace.args[2].rounding, ScalarRounding::storage);
  EXPECT_EQ(inplace.promote.args, (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(inplace.method && !inplace.function);
  EXPECT_FALSE(inplace.has_tag("core"));
  EXPECT_TRUE(inplace.has_tag("pointwise"));
  EXPECT_EQ(&bundle.computed_by(out), &tensor);
  EXPECT_TRUE(out.args.back().is_out);
}

TEST(Compile, AnAliasTakesTheOutTensorsOfWhatItStandsFor) {
  const Bundle b = compile_file(
      "- op: f\n  overloads: {default: \"(Tensor self, Tensor other) -> Tensor\"}\n  variants: "
      "[out]\n"
      "  broadcast: [self, other]\n  outs: {dtype: exact, shared: self}\n"
      "  decompose: exp(self)\n"
      "- op: g\n  overloads: {default: \"(Tensor self, Tensor other) -> Tensor\"}\n  variants: "
      "[out]\n"
      "  decompose: {alias: f}\n"
      "- op: h\n  overloads: {default: \"(Tensor self, Tensor other) -> Tensor\"}\n  variants: "
      "[out]\n"
      "  outs: {shared: refused}\n  decompose: {alias: f}\n");
  const Overload &f = *b.find_overload("f.out"), &g = *b.find_overload("g.out");
  EXPECT_EQ(f.outs.shared, SharedMemory::self);
  EXPECT_EQ(f.outs.dtype, OutDType::exact);
  EXPECT_EQ(g.outs, f.outs);
  EXPECT_EQ(b.find_overload("h.out")->outs.shared, SharedMemory::refused);
}

TEST(Merge, AddsAnOperatorToCompiledSpecs) {
  const Bundle first = compile_file(
      "- op: f\n  overloads: {default: (Tensor self) -> Tensor}\n"
      "  decompose: |\n    t = exp(self)\n    t + t\n");
  Diagnostics diagnostics;
  Bundle second = compile_texts(
      first,
      {{"more.yaml",
        "- op: g\n  overloads: {default: (Tensor self) -> Tensor}\n"
        "  decompose: op::f(self) + exp(self)\n"
        "- op: h\n  overloads: {default: (Tensor x) -> Tensor}\n  decompose: {alias: g}\n"}},
      diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  const Overload* g = second.find_overload("g");
  ASSERT_NE(g, nullptr);
  EXPECT_EQ(g->family, "more");
  EXPECT_EQ(second.files[g->file], "more.yaml");
  EXPECT_EQ(&second.computed_by(*second.find_overload("h")), g);
  EXPECT_NE(second.find_overload("f"), nullptr);
  EXPECT_EQ(*second.find_overload("f"), *first.find_overload("f"));
}

TEST(Compile, IsDeterministic) {
  Diagnostics diagnostics;
  Bundle a = compile({source_path("specs")}, diagnostics);
  Bundle b = compile({source_path("specs")}, diagnostics);
  EXPECT_EQ(write_bundle(a), write_bundle(b));
  EXPECT_EQ(a.content_hash, b.content_hash);
}

TEST(Compile, OfNothingReadableSaysSo) {
  Diagnostics diagnostics;
  compile({"no_such_file.yaml"}, diagnostics);
  EXPECT_EQ(diagnostics.text(), "no_such_file.yaml:1:1: cannot be opened; expected a YAML file\n");
}

}  // namespace
}  // namespace primset::specs
