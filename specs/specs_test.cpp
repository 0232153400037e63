// The specs themselves: the whole ATen surface, and primitives that keep their promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "specs/bundle/reader.h"

namespace primset::specs {
namespace {

// A row of testdata/aten_surface.tsv: what PyTorch 2.13.0 declares.
struct SurfaceRow {
  std::string qualified, kind, family, scope, schema;
};

std::vector<SurfaceRow> read_surface() {
  std::ifstream in(PRIMSET_SOURCE_DIR "/specs/testdata/aten_surface.tsv");
  EXPECT_TRUE(in);
  std::vector<SurfaceRow> rows;
  std::string line;
  std::getline(in, line);  // the heads of the columns
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    rows.push_back({cells.at(0), cells.at(1), cells.at(2), cells.at(3), cells.at(10)});
  }
  return rows;
}

std::string_view kind_name(OverloadKind kind) {
  switch (kind) {
    case OverloadKind::functional:
      return "functional";
    case OverloadKind::inplace:
      return "inplace";
    case OverloadKind::out:
      return "out";
    case OverloadKind::mutable_op:
      return "mutable";
  }
  return "?";
}

TEST(Surface, EveryOverloadInScopeIsDeclaredByteForByte) {
  const Bundle& bundle = embedded_bundle();
  size_t in_scope = 0;
  for (const SurfaceRow& row : read_surface()) {
    const Overload* o = bundle.find_overload(row.qualified);
    if (row.scope != "in") {
      EXPECT_EQ(o, nullptr) << row.qualified << " is out of scope";
      continue;
    }
    ++in_scope;
    ASSERT_NE(o, nullptr) << row.qualified;
    EXPECT_EQ(o->schema, row.schema);
    EXPECT_EQ(o->family, row.family) << row.qualified;
    EXPECT_EQ(kind_name(o->kind), row.kind) << row.qualified;
  }
  EXPECT_EQ(in_scope, 2735u);
  EXPECT_EQ(std::ranges::count(bundle.overloads, false, &Overload::internal),
            static_cast<ptrdiff_t>(in_scope));
}

TEST(Surface, HasThirtyOneFamilies) {
  std::set<std::string> families;
  for (const Overload& o : embedded_bundle().overloads) {
    if (!o.internal) families.insert(o.family);
  }
  EXPECT_EQ(families.size(), 31u);
}

// What functions on the host are made of: whole, no names of ATen's, and in families of their own.
TEST(Surface, InternalOperatorsAreNoneOfATens) {
  std::set<std::string> aten, families;
  for (const SurfaceRow& row : read_surface()) {
    aten.insert(row.qualified.substr(0, row.qualified.find('.')));
    families.insert(row.family);
  }
  size_t internal = 0;
  for (const Overload& o : embedded_bundle().overloads) {
    if (!o.internal) continue;
    ++internal;
    EXPECT_FALSE(aten.contains(o.op)) << o.qualified;
    EXPECT_FALSE(families.contains(o.family)) << o.family;
    EXPECT_EQ(o.status, Status::implemented) << o.qualified;
  }
  EXPECT_GE(internal, 2u);
}

TEST(Surface, SchemasPrintToThemselves) {
  for (const Overload& o : embedded_bundle().overloads) {
    EXPECT_EQ(print_schema(o.qualified, o.args, o.returns), o.schema);
  }
}

TEST(HostFunctions, EachIsUsed) {
  const Bundle& bundle = embedded_bundle();
  std::set<std::string> used;
  for (const Overload& o : bundle.overloads) {
    used.insert(o.intrinsic);
    used.insert(o.sparse);
    used.insert(o.checks.begin(), o.checks.end());
    used.insert(o.written_checks.begin(), o.written_checks.end());
  }
  EXPECT_GE(bundle.intrinsics.size() + bundle.checks.size(), 20u);
  for (const auto* functions :
       {&bundle.intrinsics, &bundle.sparse_functions, &bundle.checks, &bundle.written_checks}) {
    for (const HostFunction& f : *functions) EXPECT_EQ(used.count(f.name), 1u) << f.name;
  }
}

TEST(Surface, InPlaceAndOutHaveABase) {
  // What has no functional overload in ATen. A longer list means that a link was lost.
  const std::set<std::string> alone = {"set_.source_Tensor_storage_offset",
                                       "_sobol_engine_ff_",
                                       "_sobol_engine_initialize_state_",
                                       "_sobol_engine_scramble_",
                                       "fill_diagonal_",
                                       "_cummax_helper",
                                       "_cummin_helper"};
  for (const Overload& o : embedded_bundle().overloads) {
    if (o.kind == OverloadKind::functional) continue;
    EXPECT_EQ(o.base == kNoIndex, alone.contains(o.qualified)) << o.qualified;
  }
}

TEST(Examples, Add) {
  const Bundle& bundle = embedded_bundle();
  const Overload& add = *bundle.find_overload("add.Tensor");
  EXPECT_EQ(add.promote.kind, PromoteKind::standard);
  EXPECT_EQ(add.broadcast, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(add.args[2].role, Role::runtime);
  EXPECT_EQ(add.args[2].rounding, ScalarRounding::storage);
  EXPECT_EQ(print(add.implementation.formula), "self + alpha * other");
  EXPECT_EQ(add.strides.kind, StrideKind::elementwise);
  EXPECT_EQ(bundle.find_overload("add_.Tensor")->base, bundle.index_of(add));
  EXPECT_EQ(bundle.find_overload("add.out")->base, bundle.index_of(add));
}

TEST(Primitives, CoreIsSmall) {
  std::map<Tier, size_t> count;
  for (const Primitive& p : embedded_bundle().primitives) ++count[p.tier];
  EXPECT_LE(count[Tier::core], 90u);
  EXPECT_EQ(count[Tier::region], 6u);
}

TEST(Primitives, SayWhatTheyMean) {
  std::set<std::string> labels;
  for (const Primitive& p : embedded_bundle().primitives) {
    EXPECT_GE(p.meaning.size(), 10u) << p.name;
    EXPECT_EQ(p.meaning.back(), '.') << p.name;
    for (const EdgeRule& edge : p.edges) {
      EXPECT_TRUE(labels.insert(edge.label).second) << edge.label;
      EXPECT_FALSE(edge.text.empty()) << edge.label;
    }
    for (const Operand& o : p.operands) EXPECT_FALSE(o.dtypes.empty()) << p.name << " " << o.name;
    EXPECT_EQ(p.tier == Tier::derived, p.decomposition.kind != ImplKind::none) << p.name;
  }
}

TEST(Primitives, KeepWithinTheStatedErrorBounds) {
  for (const Primitive& p : embedded_bundle().primitives) {
    if (p.tier != Tier::core) continue;
    const Tolerance f32 = tolerance_for(p.tolerance, DType::f32);
    const Tolerance f64 = tolerance_for(p.tolerance, DType::f64);
    const Tolerance i64 = tolerance_for(p.tolerance, DType::i64);
    EXPECT_EQ(i64.kind, ToleranceKind::exact) << p.name;
    if (f32.kind == ToleranceKind::ulp) EXPECT_LE(f32.number, 16) << p.name;
    if (f64.kind == ToleranceKind::ulp) EXPECT_LE(f64.number, 4) << p.name;
  }
}

TEST(DTypes, AgreeWithTheHeader) {
  const Bundle& bundle = embedded_bundle();
  size_t known = 0;
  for (int code = 0; code < kDTypeCodes; ++code) {
    known += info(static_cast<DType>(code)).bits != 0 ? 1 : 0;
  }
  EXPECT_EQ(bundle.dtypes.size(), known);
  for (const DTypeEntry& entry : bundle.dtypes) {
    const DTypeInfo expected = info(entry.code);
    EXPECT_EQ(entry.name, expected.name);
    EXPECT_EQ(entry.torch_name, expected.torch_name) << entry.name;
    EXPECT_EQ(entry.bits, expected.bits) << entry.name;
    EXPECT_EQ(entry.kind, expected.kind) << entry.name;
  }
}

TEST(DTypes, SetsAgreeWithTheHeader) {
  const Bundle& bundle = embedded_bundle();
  auto set = [&](std::string_view name) { return bundle.find_dtype_set(name)->dtypes; };
  for (const DTypeEntry& entry : bundle.dtypes) {
    const DType t = entry.code;
    EXPECT_TRUE(set("all").contains(t)) << entry.name;
    EXPECT_EQ(set("integral").contains(t), is_integral(t)) << entry.name;
    EXPECT_EQ(set("half").contains(t), is_half(t)) << entry.name;
    EXPECT_EQ(set("complex").contains(t), is_complex(t)) << entry.name;
    EXPECT_EQ(set("opmath_complex").contains(t), is_complex(t) && opmath_type(t) == t)
        << entry.name;
    if (bits(t) > 8) EXPECT_EQ(set("floating").contains(t), is_floating(t)) << entry.name;
  }
}

}  // namespace
}  // namespace primset::specs
