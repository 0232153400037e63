// Texts, layouts, values and the catalogue: what cases are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "conformance/cases/ids/coverage.h"
#include "conformance/cases/ids/few_cases.h"
#include "conformance/cases/inputs/case_text.h"
#include "conformance/cases/inputs/make_operator.h"
#include "conformance/cases/inputs/resize.h"
#include "conformance/cases/inputs/values.h"
#include "conformance/cases/tables/recipe.h"
#include "specs/bundle/reader.h"

namespace primset::conformance {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CaseText, SplitsOutsideOfBrackets) {
  CaseText t = CaseText::parse("self=T[2,3]{special} tensors=(T[1], none) mode=\"a b\" !index");
  ASSERT_EQ(t.items.size(), 3u);
  EXPECT_EQ(*t.find("self"), "T[2,3]{special}");
  EXPECT_EQ(*t.find("tensors"), "(T[1], none)");
  EXPECT_EQ(*t.find("mode"), "\"a b\"");
  EXPECT_EQ(t.expected_error, ErrorCode::index);
}

TEST(CaseText, Mistakes) {
  for (const char* text : {"self", "self=", "=3", "self=T[2", "self=T[2]]", "a=1 a=2", "!oops"}) {
    EXPECT_THROW(CaseText::parse(text), Error) << text;
  }
  Rng rng(0);
  std::vector<HostStorage> storages;
  ValueReader reader(DType::f32, LayoutKind::contiguous, rng, storages);
  for (const char* text : {"T", "X[3]", "T[3]{oops}", "T[3]@oops", "&missing", "T[2,3]{spd}"}) {
    EXPECT_THROW(reader.tensor(text), Error) << text;
  }
}

TEST(CaseText, Values) {
  Rng rng(0);
  std::vector<HostStorage> storages;
  ValueReader reader(DType::c64, LayoutKind::strided, rng, storages);
  HostTensor t = reader.tensor("R[2,3]");
  EXPECT_EQ(t.dtype, DType::f32);
  EXPECT_THAT(t.strides, ElementsAre(6, 2));
  EXPECT_THAT(reader.tensor("T[2,3]@transposed").strides, ElementsAre(1, 2));
  EXPECT_EQ(reader.tensors("(T[1],none,i64[2]{0..4})").size(), 3u);
  EXPECT_EQ(std::get<Scalar>(reader.read(specs::ArgKind::scalar, "s", "1-2j")).imag(), -2);
  EXPECT_TRUE(read_scalar("3").is_integer());
  EXPECT_TRUE(read_scalar("inf").is_floating());
  EXPECT_THAT(read_integers("[1,-2]"), ElementsAre(1, -2));
  ArgValue first = reader.read(specs::ArgKind::tensor, "self", "T[2]");
  EXPECT_EQ(std::get<HostTensor>(reader.read(specs::ArgKind::tensor, "other", "&self")),
            std::get<HostTensor>(first));
}

TEST(HostTensor, EveryLayoutReadsBackWhatWasPlaced) {
  Rng rng(1);
  for (DType t : {DType::f16, DType::boolean, DType::c128, DType::i64}) {
    Array values = fill(rng, t, {2, 3, 4, 5}, {});
    for (std::string_view name : kLayoutNames) {
      std::vector<HostStorage> storages;
      LayoutKind layout = layout_from_name(name);
      HostTensor placed = place(storages, values, layout);
      EXPECT_EQ(placed.strides, strides_for(layout, values.shape));
      std::vector<std::byte> got = prims::reference::to_bytes(read(storages, placed));
      std::vector<std::byte> want = prims::reference::to_bytes(values);
      // An expanded tensor repeats its first slice.
      size_t compared = layout == LayoutKind::expanded ? want.size() / 2 : want.size();
      EXPECT_TRUE(std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(compared),
                             want.begin()))
          << name;
      EXPECT_EQ(storages[0].front(), poison(0));
      EXPECT_EQ(storages[0].back(), poison(storages[0].size() - 1));
    }
  }
}

TEST(Values, InterestingOnesHoldTheEdges) {
  auto any = [](const std::vector<Element>& values, auto f) {
    return std::any_of(values.begin(), values.end(), f);
  };
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    std::vector<Element> v = interesting_values(t);
    EXPECT_TRUE(any(v, [](const Element& e) { return std::isnan(e.re); }));
    EXPECT_TRUE(any(v, [](const Element& e) { return std::isinf(e.re) && e.re < 0; }));
    EXPECT_TRUE(any(v, [](const Element& e) { return e.re == 0 && std::signbit(e.re); }));
    EXPECT_LE(v.size(), 40u) << "special_outer and special_inner meet 40 values";
  }
  std::vector<Element> v = interesting_values(DType::i8);
  EXPECT_TRUE(any(v, [](const Element& e) { return e.integer == -128; }));
  EXPECT_TRUE(any(v, [](const Element& e) { return e.integer == 127; }));
}

TEST(Values, Fills) {
  Rng rng(3);
  Array p = fill(rng, DType::i64, {50}, Fill::parse("permutation"));
  std::set<int64_t> seen;
  for (const Element& e : p.data) seen.insert(e.integer);
  EXPECT_EQ(seen.size(), 50u);
  for (const Element& e : fill(rng, DType::i64, {200}, Fill::parse("-3..4")).data) {
    EXPECT_GE(e.integer, -3);
    EXPECT_LT(e.integer, 4);
  }
  Array s = fill(rng, DType::f32, {4, 4}, Fill::parse("spd"));
  EXPECT_EQ(s.data[1].re, s.data[4].re);
  EXPECT_THROW(Fill::parse("5..2"), Error);
}

TEST(Values, IntegerRangesMeetTheirEndsAndZero) {
  Rng rng(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<int64_t> seen;
    for (const Element& e : fill(rng, DType::i64, {4}, Fill::parse("-900..700")).data) {
      seen.push_back(e.integer);
    }
    EXPECT_THAT(seen, testing::UnorderedElementsAre(-900, 699, 0, -1));
  }
  // A single place is any of them.
  std::set<int64_t> single;
  for (int round = 0; round < 50; ++round) {
    single.insert(fill(rng, DType::i64, {1}, Fill::parse("0..9")).data[0].integer);
  }
  EXPECT_GT(single.size(), 4u);
}

TEST(Values, WrappedIndicesAreEveryPlaceOnce) {
  Rng rng(1);
  std::set<int64_t> places;
  size_t from_the_end = 0;
  for (const Element& e : fill(rng, DType::i64, {9}, Fill::parse("wrapped")).data) {
    EXPECT_GE(e.integer, -9);
    from_the_end += e.integer < 0;
    places.insert((e.integer + 9) % 9);
  }
  EXPECT_EQ(places.size(), 9u);
  EXPECT_THAT(from_the_end, testing::AnyOf(4u, 5u));
}

TEST(Values, NansAmongNumbers) {
  Rng rng(1);
  size_t nans = 0;
  for (const Element& e : fill(rng, DType::f32, {400}, Fill::parse("2..3+nan")).data) {
    nans += std::isnan(e.re);
    EXPECT_TRUE(std::isnan(e.re) || (e.re >= 2 && e.re < 3)) << static_cast<double>(e.re);
  }
  EXPECT_GT(nans, 60u);
  EXPECT_LT(nans, 140u);
  for (const Element& e : fill(rng, DType::i32, {9}, Fill::parse("2..5+nan")).data) {
    EXPECT_TRUE(e.integer >= 2 && e.integer < 5);
  }
}

TEST(Catalogue, IdsAreUniqueAndCasesReproducible) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  Selection selection;
  selection.tier = CaseTier::full;
  std::vector<CaseId> ids = select_cases(bundle, selection);
  std::set<CaseId> unique(ids.begin(), ids.end());
  EXPECT_EQ(unique.size(), ids.size());
  EXPECT_GT(ids.size(), 10000u);
  CaseId id = CaseId::parse("prim/add:dtype=f32;case=matrix;layout=padded");
  TestCase a = make_case(bundle, id, 5), b = make_case(bundle, id, 5), c = make_case(bundle, id, 6);
  EXPECT_EQ(a.storages, b.storages);
  EXPECT_NE(a.storages, c.storages);
  EXPECT_THROW(make_case(bundle, CaseId::parse("prim/add:dtype=f32;case=nonesuch"), 0), Error);
}

TEST(Catalogue, EveryPrimitiveHasCases) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  for (const specs::Primitive& p : bundle.primitives) {
    for (DType t : primitive_dtypes(p)) {
      EXPECT_FALSE(primitive_recipes(p, t).empty()) << p.name << " " << name(t);
    }
    EXPECT_FALSE(primitive_dtypes(p).empty()) << p.name;
  }
}

TEST(Catalogue, EveryImplementedOverloadHasSixCases) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  for (const specs::Overload& o : bundle.overloads) {
    if (o.status != specs::Status::implemented) continue;
    for (DType t : operator_dtypes(bundle, o)) {
      EXPECT_GE(operator_recipes(bundle, o, t).size(), 6u) << o.qualified << " " << name(t);
    }
  }
}

TEST(Resize, SizesChangeTogether) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  auto first = [&](const char* op, const char* text) {
    return resized_texts(*bundle.find_overload(op), text).front();
  };
  EXPECT_EQ(first("add.Tensor", "self=T[5,1,0]{special} other=f32[5,7]@transposed alpha=2"),
            "self=T[6,1,0]{special} other=f32[6,8]@transposed alpha=2");
  EXPECT_EQ(first("cat", "tensors=(T[2,3], i64[4]{0..3}) dim=-1"),
            "tensors=(T[3,4], i64[5]{0..3}) dim=-1");
  // A view has the sizes that it is told.
  EXPECT_THAT(resized_texts(*bundle.find_overload("view"), "self=T[6] size=[2,3]"),
              Contains("self=T[12] size=[4,3]").Times(0));
  EXPECT_THAT(resized_texts(*bundle.find_overload("view"), "self=T[6] size=[6]"),
              Contains("self=T[7] size=[7]"));
  EXPECT_THAT(resized_texts(*bundle.find_overload("neg"), "self=T[1,0]"), IsEmpty());
}

TEST(Resize, WhatTheOperatorTakes) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  auto text = [&](const char* id) {
    std::optional<TestCase> made = make_resized_case(bundle, CaseId::parse(id), 0);
    return made ? made->text : std::string();
  };
  EXPECT_THAT(text("neg:dtype=f32;case=matrix"), HasSubstr("T[6,8]"));
  EXPECT_THAT(text("neg.out:dtype=f32;case=matrix"), HasSubstr("T[6,8]"));
  EXPECT_EQ(text("neg:dtype=f32;case=scalar"), "");
  EXPECT_EQ(text("prim/neg:dtype=f32;case=matrix"), "");
}

TEST(Catalogue, EveryImplementedOverloadComputes) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  auto computes = [&](const CaseId& id) { return reference_computes(bundle, id); };
  // A sample. `primset conform --tier standard` looks at all of them.
  Selection selection;
  selection.shards = std::getenv("PRIMSET_SHARDS") ? 1 : 64;
  const Coverage coverage = find_coverage(bundle, selection, computes);
  EXPECT_GT(coverage.pairs, 50u);
  EXPECT_TRUE(coverage.shortfalls.empty()) << coverage_text(coverage);
}

TEST(FewCases, OfOperatorsThatThereAre) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  for (const auto& [pair, reason] : few_cases()) {
    const specs::Overload* o = bundle.find_overload(pair.first);
    ASSERT_TRUE(o) << pair.first;
    EXPECT_THAT(operator_dtypes(bundle, *o), Contains(pair.second)) << pair.first;
  }
}

TEST(FewCases, MistakesNameTheLine) {
  const std::pair<const char*, const char*> kCases[] = {
      {"- {overloads: [a], dtypes: [f32]}\n", "few_cases.yaml:1: 'reason' is missing"},
      {"- {overloads: [a], dtypes: [f33], reason: r}\n", "'f33' is no dtype"},
      {"- {overloads: [a], dtypes: [f32], reason: ''}\n", "'reason' is empty"},
      {"- {overloads: [a], dtypes: [f32], reason: r}\n"
       "- {overloads: [a], dtypes: [f32], reason: r}\n",
       "few_cases.yaml:2: a stands here twice"},
      {"- [\n", "few_cases.yaml:"},
  };
  for (const auto& [yaml, message] : kCases) {
    try {
      parse_few_cases(yaml);
      ADD_FAILURE() << "accepted: " << yaml;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(message));
    }
  }
}

TEST(Coverage, CountsWhatIsKnown) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  Selection selection;
  selection.filters = {"add.Tensor"};
  auto coverage = [&](std::optional<bool> vector, std::optional<bool> others) {
    return find_coverage(bundle, selection, [=](const CaseId& id) {
      return id.case_name == "vector" ? vector : others;
    });
  };
  EXPECT_TRUE(coverage(true, true).shortfalls.empty());
  EXPECT_EQ(coverage(true, std::nullopt).pairs, 0u);
  const Coverage few = coverage(true, false);
  EXPECT_GT(few.pairs, 10u);
  ASSERT_EQ(few.shortfalls.size(), few.pairs);
  EXPECT_LT(few.shortfalls[0].computing, kMinComputing);
  EXPECT_THAT(coverage_text(few), HasSubstr("\n  add.Tensor f32: "));
}

TEST(Catalogue, ShardsPartTheCases) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  Selection s;
  s.filters = {"prim/*"};
  size_t whole = select_cases(bundle, s).size(), sum = 0;
  s.shards = 3;
  for (s.shard = 0; s.shard < s.shards; ++s.shard) {
    size_t part = select_cases(bundle, s).size();
    EXPECT_GT(part, whole / 4);
    sum += part;
  }
  EXPECT_EQ(sum, whole);
}

}  // namespace
}  // namespace primset::conformance
