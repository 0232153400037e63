// Sparse tensors of cases: what a text makes of each layout, what it means dense, and which parts
// are no tensor.
#include "conformance/cases/inputs/sparse_values.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "conformance/cases/inputs/case_text.h"
#include "prims/reference/array.h"
#include "primset/error.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using Ints = std::vector<int64_t>;

SparseValues made(const char* text, LayoutKind memory = LayoutKind::contiguous) {
  std::vector<HostStorage> storages;
  Rng rng(7);
  ValueReader reader(DType::f32, memory, rng, storages);
  return read_sparse(storages, reader.tensor(text));
}

Array array(DType dtype, Ints shape, const std::vector<double>& numbers) {
  Array out = ref::make_array(dtype, std::move(shape));
  for (size_t i = 0; i < numbers.size(); ++i) {
    out.data[i].re = numbers[i];
    out.data[i].integer = static_cast<int64_t>(numbers[i]);
  }
  return out;
}

std::vector<double> numbers(const Array& a) {
  std::vector<double> out;
  for (const Element& e : a.data) out.push_back(static_cast<double>(e.re));
  return out;
}

TEST(SparseText, MakesTensorsOfEveryLayout) {
  for (const char* text :
       {"coo(T[3,4])", "coo(T[])", "coo(T[3,4,2], dense=2)", "coo(T[3,0])", "coo(T[3,4], repeated)",
        "csr(T[2,3,4,2], dense=1, index=i32)", "csc(T[5,7], entries=30)",
        "bsr(T[4,6], block=[2,3])", "bsc(T[2,4,6,2], block=[4,2], dense=1)"}) {
    for (LayoutKind memory : {LayoutKind::contiguous, LayoutKind::strided, LayoutKind::transposed,
                              LayoutKind::offset, LayoutKind::expanded}) {
      const SparseValues t = made(text, memory);
      EXPECT_EQ(pattern_mistake(t), "") << text;
      EXPECT_EQ(made_dense(t).shape, t.sizes) << text;
    }
  }
}

TEST(SparseText, EntriesAreAsManyAsAsked) {
  EXPECT_EQ(made("coo(T[3,4])").entries(), 6);
  EXPECT_EQ(made("coo(T[3,4], entries=5)").entries(), 5);
  EXPECT_EQ(made("csr(T[2,3,4], entries=5)").entries(), 5);
  EXPECT_EQ(made("bsr(T[4,6], block=[2,3], entries=3)").entries(), 3);
  const SparseValues t = made("coo(T[30], entries=30, repeated)");
  std::set<int64_t> places;
  for (const Element& e : t.parts[0].data) places.insert(e.integer);
  EXPECT_EQ(places.size(), 20u);
  EXPECT_FALSE(t.coalesced);
}

TEST(SparseText, Mistakes) {
  for (const char* text :
       {"coo()", "coo(T[3,4], entries=13)", "coo(T[3,4], dense=3)", "coo(T[3,4], entry=1)",
        "csr(T[3])", "csr(T[3,4], repeated)", "csr(T[3,4], block=[1,1])", "bsr(T[4,6])",
        "bsr(T[4,6], block=[3,2])", "csr(T[3,4], index=f32)"}) {
    EXPECT_THROW(made(text), Error) << text;
  }
}

TEST(SparseValues, MeanDenseTensors) {
  SparseValues coo{Layout::sparse_coo, {2, 3}, {}, false};
  coo.parts = {array(DType::i64, {2, 3}, {1, 0, 1, 2, 0, 2}), array(DType::f32, {3}, {4, 5, 6})};
  EXPECT_EQ(numbers(made_dense(coo)), (std::vector<double>{5, 0, 0, 0, 0, 10}));
  SparseValues csc{Layout::sparse_csc, {3, 2}, {}, false};
  csc.parts = {array(DType::i32, {3}, {0, 2, 3}), array(DType::i32, {3}, {0, 2, 1}),
               array(DType::f32, {3}, {4, 5, 6})};
  EXPECT_EQ(numbers(made_dense(csc)), (std::vector<double>{4, 0, 0, 6, 5, 0}));
  SparseValues bsr{Layout::sparse_bsr, {2, 4}, {}, false};
  bsr.parts = {array(DType::i64, {2}, {0, 1}), array(DType::i64, {1}, {1}),
               array(DType::f32, {1, 2, 2}, {1, 2, 3, 4})};
  EXPECT_EQ(numbers(made_dense(bsr)), (std::vector<double>{0, 0, 1, 2, 0, 0, 3, 4}));
}

TEST(SparseValues, PartsThatAreNoTensor) {
  using Damage = std::function<void(SparseValues&)>;
  const std::pair<const char*, Damage> kDamages[] = {
      {"coo(T[3,4])", [](SparseValues& t) { t.parts[0].data[0].integer = 3; }},
      {"coo(T[3,4])", [](SparseValues& t) { t.parts[0].data[0].integer = -1; }},
      {"coo(T[3,4])", [](SparseValues& t) { std::swap(t.parts[0].data[0], t.parts[0].data[5]); }},
      {"coo(T[3,4])", [](SparseValues& t) { t.sizes.push_back(2); }},
      {"coo(T[3,4], repeated)", [](SparseValues& t) { t.coalesced = true; }},
      {"coo(T[3,4])", [](SparseValues& t) { t.parts[1].shape = {2, 3}; }},
      {"csr(T[3,4], entries=12)", [](SparseValues& t) { t.parts[0].data[0].integer = 1; }},
      {"csr(T[3,4], entries=12)", [](SparseValues& t) { t.parts[0].data[1].integer = 9; }},
      {"csr(T[3,4], entries=12)", [](SparseValues& t) { t.parts[1].data[0].integer = 4; }},
      {"csr(T[3,4], entries=12)", [](SparseValues& t) { t.parts[1].data[1].integer = 0; }},
      {"csr(T[3,4])", [](SparseValues& t) { t.layout = Layout::sparse_csc; }},
      {"csr(T[3,4])", [](SparseValues& t) { t.parts[0].dtype = DType::i32; }},
      {"bsr(T[4,6], block=[2,3])", [](SparseValues& t) { t.sizes[1] = 5; }},
      {"bsr(T[4,6], block=[2,3])", [](SparseValues& t) { t.parts.pop_back(); }},
  };
  for (size_t i = 0; i < std::size(kDamages); ++i) {
    SparseValues t = made(kDamages[i].first);
    ASSERT_EQ(pattern_mistake(t), "") << i;
    kDamages[i].second(t);
    EXPECT_NE(pattern_mistake(t), "") << i;
  }
}

}  // namespace
}  // namespace primset::conformance
