// The serialised bundle: what is written is read, and no damage goes unnoticed or crashes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "primset/error.h"
#include "specs/bundle/archive.h"
#include "specs/bundle/reader.h"
#include "specs/bundle/writer.h"

namespace primset::specs {
namespace {

// One of everything, small enough to cut at every byte.
Bundle small_bundle() {
  Bundle b;
  b.aten_version = "1";
  b.files = {"a.yaml"};
  b.dtypes = {{"f32", "float32", DType::f32, 32, 'f'}};
  b.dtype_sets = {{"all", DTypeSet{DType::f32, DType::u64}}};
  b.tolerances = {{"t", {{DTypeSet{DType::f32}, {ToleranceKind::ulp, 2.5}}}}};
  Primitive p;
  p.name = "neg";
  p.category = "c";
  p.operands = {{"x", false, false, DTypeSet{DType::f32}}};
  p.attributes = {{"dim", AttributeType::integer, {}}};
  p.results = {{"y", false, "x"}};
  p.edges = {{"neg_zero", "-0"}};
  p.donates = {0};
  b.primitives = {p};

  Overload o;
  o.op = "f";
  o.qualified = "f";
  o.schema = "f(Tensor self) -> Tensor";
  o.args.resize(2);
  o.args[0].name = "self";
  o.args[1].name = "dim";
  o.args[1].default_value = {DefaultKind::int_list, -3, 0.5, {1, -2}, "t", "[1,-2]"};
  o.returns.resize(1);
  o.promote = {PromoteKind::standard, {0}};
  o.broadcast = {0};
  o.cases = {{"g", {{"k", "v"}}}};
  o.tags = {"core"};
  Formula& f = o.implementation.formula;
  o.implementation.kind = ImplKind::formula;
  f.nodes.resize(2);
  f.nodes[0].kind = NodeKind::argument;
  f.nodes[0].text = "self";
  f.nodes[1].kind = NodeKind::unary;
  f.nodes[1].child_count = 1;
  f.child_index = {0};
  f.results = {{"", 1}};
  Overload inplace = o;
  inplace.op = inplace.qualified = "f_";
  inplace.implementation = {};
  inplace.kind = OverloadKind::inplace;
  inplace.base = 0;
  b.overloads = {o, inplace};
  b.build_index();
  return b;
}

std::string error_of(const std::vector<std::byte>& bytes) {
  try {
    read_bundle(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    return error.what();
  }
  return "";
}

// Makes the checksum right again, so that damage gets past it.
void reseal(std::vector<std::byte>& bytes) {
  const std::string_view payload(reinterpret_cast<const char*>(bytes.data()) + archive::kHeaderSize,
                                 bytes.size() - archive::kHeaderSize);
  const uint64_t hash = fnv1a(payload);
  const uint64_t size = payload.size();
  for (size_t i = 0; i < 8; ++i) {
    bytes[12 + i] = static_cast<std::byte>(size >> (8 * i));
    bytes[20 + i] = static_cast<std::byte>(hash >> (8 * i));
  }
}

TEST(Bundle, WhatIsWrittenIsRead) {
  Bundle written = small_bundle();
  const std::vector<std::byte> bytes = write_bundle(written);
  const Bundle read = read_bundle(bytes);
  EXPECT_EQ(read.aten_version, written.aten_version);
  EXPECT_EQ(read.content_hash, written.content_hash);
  EXPECT_EQ(read.files, written.files);
  EXPECT_EQ(read.dtypes, written.dtypes);
  EXPECT_EQ(read.dtype_sets, written.dtype_sets);
  EXPECT_EQ(read.tolerances, written.tolerances);
  EXPECT_EQ(read.primitives, written.primitives);
  EXPECT_EQ(read.overloads, written.overloads);
}

TEST(Bundle, IsFoundByName) {
  const Bundle b = small_bundle();
  EXPECT_EQ(b.find_overload("f"), &b.overloads[0]);
  EXPECT_EQ(b.find_overload("f_"), &b.overloads[1]);
  EXPECT_EQ(b.find_overload("g"), nullptr);
  EXPECT_EQ(b.find_primitive("neg"), &b.primitives[0]);
  EXPECT_EQ(&b.computed_by(b.overloads[1]), &b.overloads[0]);
  const Bundle copy = b;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
  EXPECT_EQ(copy.find_overload("f"), &copy.overloads[0]);
  EXPECT_EQ(Bundle().find_overload("f"), nullptr);
}

TEST(CorruptBundle, CutAtEveryLength) {
  Bundle b = small_bundle();
  const std::vector<std::byte> bytes = write_bundle(b);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(error_of({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length)}), "");
  }
}

TEST(CorruptBundle, CutAtEveryLengthWithARightChecksum) {
  Bundle b = small_bundle();
  const std::vector<std::byte> bytes = write_bundle(b);
  for (size_t length = archive::kHeaderSize; length < bytes.size(); ++length) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
    reseal(cut);
    EXPECT_NE(error_of(cut), "") << length;
  }
}

TEST(CorruptBundle, EveryFlippedBitIsNoticed) {
  Bundle b = small_bundle();
  const std::vector<std::byte> bytes = write_bundle(b);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> flipped = bytes;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_NE(error_of(flipped), "") << bit;
  }
}

// Past the checksum a change may be harmless (a letter of a name), but never a crash.
TEST(CorruptBundle, EveryChangedByteWithARightChecksumIsReadOrRefused) {
  Bundle b = small_bundle();
  const std::vector<std::byte> bytes = write_bundle(b);
  size_t refused = 0;
  for (size_t at = archive::kHeaderSize; at < bytes.size(); ++at) {
    for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<std::byte> changed = bytes;
      changed[at] = static_cast<std::byte>(value);
      reseal(changed);
      refused += error_of(changed).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, bytes.size());
}

TEST(CorruptBundle, SaysWhatIsWrong) {
  Bundle b = small_bundle();
  std::vector<std::byte> bytes = write_bundle(b);
  EXPECT_EQ(error_of({}), "spec bundle: 0 bytes; expected at least 28");
  std::vector<std::byte> other = bytes;
  other[0] = std::byte{'X'};
  EXPECT_EQ(error_of(other), "spec bundle: not a spec bundle; expected a file written by specgen");
  other = bytes;
  other[8] = std::byte{99};
  EXPECT_EQ(error_of(other), "spec bundle: format version 99; expected 11: run specgen again");
  other = bytes;
  other.back() ^= std::byte{1};
  EXPECT_EQ(error_of(other), "spec bundle: its checksum does not match: the bytes were changed");
}

// Each of these is well-formed and points at what is not there.
TEST(CorruptBundle, IndicesAreChecked) {
  auto refused = [](auto damage) {
    Bundle b = small_bundle();
    damage(b);
    return error_of(write_bundle(b));
  };
  EXPECT_EQ(refused([](Bundle& b) { b.overloads[0].broadcast = {2}; }),
            "spec bundle: f: broadcast argument 2 of 2");
  EXPECT_EQ(refused([](Bundle& b) { b.overloads[1].base = 7; }),
            "spec bundle: f_: base overload 7 of 2");
  EXPECT_EQ(refused([](Bundle& b) { b.overloads[0].file = 1; }), "spec bundle: f: file 1 of 1");
  EXPECT_EQ(refused([](Bundle& b) { b.primitives[0].donates = {1}; }),
            "spec bundle: neg: donated operand 1 of 1");
  EXPECT_EQ(refused([](Bundle& b) { b.overloads[0].implementation.formula.child_index = {1}; }),
            "spec bundle: f: child node 1 of 1");
  EXPECT_EQ(refused([](Bundle& b) { b.overloads[0].implementation.formula.nodes[0].integer = -1; }),
            "spec bundle: f: argument 18446744073709551615 of 2");
  EXPECT_EQ(refused([](Bundle& b) { b.overloads[1].base = 1; }),
            "spec bundle: f_: its base and alias links are too many or go in a circle");
  EXPECT_EQ(refused([](Bundle& b) { b.overloads[0].implementation.formula.results.clear(); }),
            "spec bundle: f: a formula without a result");
  EXPECT_EQ(
      refused([](Bundle& b) { b.overloads[0].implementation.formula.nodes[1].child_count = 0; }),
      "spec bundle: f: a node with the wrong number of children");
}

TEST(CorruptBundle, DeepAndSharedTreesAreRefused) {
  Bundle b = small_bundle();
  Formula& f = b.overloads[0].implementation.formula;
  for (uint32_t i = 2; i < 400; ++i) {
    FormulaNode n;
    n.kind = NodeKind::unary;
    n.first_child = static_cast<uint32_t>(f.child_index.size());
    n.child_count = 1;
    f.child_index.push_back(i - 1);
    f.nodes.push_back(n);
  }
  EXPECT_EQ(error_of(write_bundle(b)), "spec bundle: f: a formula nested too deeply");
  f.nodes.resize(3);
  f.child_index = {0, 0};
  f.nodes[2].first_child = 1;
  EXPECT_EQ(error_of(write_bundle(b)), "spec bundle: f: a node with two parents");
}

TEST(LoadBundle, FromAFile) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "bundle_test.bin";
  Bundle b = small_bundle();
  const std::vector<std::byte> bytes = write_bundle(b);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  EXPECT_EQ(load_bundle(path).overloads, b.overloads);
  std::filesystem::resize_file(path, bytes.size() - 1);
  EXPECT_THROW(load_bundle(path), Error);
  std::filesystem::remove(path);
  try {
    load_bundle(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::runtime);
  }
}

}  // namespace
}  // namespace primset::specs
