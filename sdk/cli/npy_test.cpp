#include "sdk/cli/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "primset/error.h"

namespace primset::cli {
namespace {

std::vector<std::byte> file(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(version);
  bytes += '\0';
  const size_t width = version == 1 ? 2 : 4;
  for (size_t i = 0; i < width; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
  bytes += header + data;
  std::vector<std::byte> out(bytes.size());
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

NpyArray parse(const std::string& header, const std::string& data, int version = 1) {
  return parse_npy(file(header, data, version), "t.npy");
}

std::string refusal(const std::string& header, const std::string& data, int version = 1) {
  try {
    parse(header, data, version);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::corrupt);
    return e.what();
  }
  return "accepted";
}

constexpr const char* kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

TEST(Npy, ReadsEachVersion) {
  for (int version : {1, 2, 3}) {
    const NpyArray a = parse(kGood, std::string(24, '\0'), version);
    EXPECT_EQ(a.dtype, DType::f32);
    EXPECT_EQ(a.shape, (std::vector<int64_t>{2, 3}));
    EXPECT_FALSE(a.fortran_order);
  }
}

TEST(Npy, ReadsRankZeroAndOne) {
  EXPECT_TRUE(parse("{'descr': '<i8', 'fortran_order': False, 'shape': ()}", std::string(8, 'x'))
                  .shape.empty());
  EXPECT_EQ(parse("{'descr': '|b1', 'fortran_order': True, 'shape': (4,)}", "abcd").shape.size(),
            1u);
}

TEST(Npy, SaysWhatIsWrong) {
  EXPECT_NE(refusal(kGood, "short").find("5 bytes of data; shape (2, 3) of f32 needs 24"),
            std::string::npos);
  EXPECT_NE(refusal(kGood, std::string(25, 'x')).find("25 bytes"), std::string::npos);
  EXPECT_NE(refusal("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "abcd").find("'>f4'"),
            std::string::npos);
  EXPECT_NE(refusal("{'descr': '<f4', 'shape': ()}", "abcd").find("must all be there"),
            std::string::npos);
  EXPECT_NE(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "").find("a size"),
            std::string::npos);
  EXPECT_NE(refusal("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "").find("True or False"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(kGood) + "x", "").find("text after"), std::string::npos);
  EXPECT_NE(refusal(kGood, "", 4).find("version 4"), std::string::npos);
  EXPECT_NE(refusal("{'descr': '<f4', 'fortran_order': False, "
                    "'shape': (4294967296, 4294967296, 4294967296)}",
                    "")
                .find("overflows"),
            std::string::npos);
}

TEST(Npy, EveryCutIsRefused) {
  const std::vector<std::byte> whole = file(kGood, std::string(24, '\0'));
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_THROW(parse_npy(std::span(whole).first(n), "cut"), Error) << n;
}

TEST(Npy, ChangedAtRandomItIsRefusedOrRead) {
  const std::vector<std::byte> whole = file(kGood, std::string(24, '\0'));
  std::minstd_rand random(5);
  size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> changed = whole;
    for (int n = 0; n < 1 + i % 3; ++n) {
      constexpr std::string_view kBytes = "0123456789-(){},:'<|fFcViub\xff";
      changed[random() % 80] = static_cast<std::byte>(kBytes[random() % kBytes.size()]);
    }
    try {
      const NpyArray a = parse_npy(changed, "changed");
      uint64_t bytes = byte_size(a.dtype);
      for (int64_t n : a.shape) bytes *= static_cast<uint64_t>(n);
      ASSERT_EQ(a.data.size(), bytes);
    } catch (const Error& e) {
      ++refused;
      ASSERT_EQ(e.code(), ErrorCode::corrupt) << e.what();
    }
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace primset::cli
