#include "safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>

namespace sentence_embedding {
namespace {

using primset::DType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string length_prefix(uint64_t length) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(length >> (8 * i) & 0xFF);
  return out;
}

std::vector<std::byte> file_of(const std::string& header, size_t data_bytes) {
  return bytes_of(length_prefix(header.size()) + header + std::string(data_bytes, 'x'));
}

void expect_refused(const std::string& header, size_t data_bytes, const std::string& message) {
  const std::vector<std::byte> file = file_of(header, data_bytes);
  EXPECT_THAT([&] { parse_safetensors(file); },
              ThrowsMessage<std::runtime_error>(HasSubstr(message)))
      << header;
}

// One tensor 't' with the given entry.
void expect_entry_refused(const std::string& entry, size_t data_bytes, const std::string& message) {
  expect_refused(R"({"t":)" + entry + "}", data_bytes, message);
}

TEST(Safetensors, ReadsTensors) {
  const auto file = file_of(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[],"data_offsets":[24,32]},)"
      R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("empty":{"dtype":"BF16","shape":[4,0],"data_offsets":[24,24]}}   )",
      32);
  const StoredTensors tensors = parse_safetensors(file);
  ASSERT_EQ(tensors.size(), 3u);
  const StoredTensor& a = tensors.at("a");
  EXPECT_EQ(a.dtype, DType::f32);
  EXPECT_THAT(a.shape, ElementsAre(2, 3));
  EXPECT_EQ(a.data.data(), file.data() + file.size() - 32);
  EXPECT_EQ(a.data.size(), 24u);
  EXPECT_THAT(tensors.at("b").shape, IsEmpty());
  EXPECT_EQ(tensors.at("empty").data.size(), 0u);
}

TEST(Safetensors, ReadsAnEmptyFileOfTensors) {
  EXPECT_THAT(parse_safetensors(file_of("{}", 0)), IsEmpty());
}

TEST(Safetensors, RefusesBadLengths) {
  EXPECT_THAT([] { parse_safetensors({}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("the file has 0 bytes")));
  const auto with_length = [](uint64_t length) {
    return [file = bytes_of(length_prefix(length) + "{}")] { parse_safetensors(file); };
  };
  for (uint64_t length : {uint64_t{3}, uint64_t{100'000'001}, UINT64_MAX})
    EXPECT_THAT(with_length(length), ThrowsMessage<std::runtime_error>(HasSubstr(
                                         "is said to have " + std::to_string(length) + " bytes")));
  EXPECT_THAT(with_length(1), ThrowsMessage<std::runtime_error>(HasSubstr("no JSON")));
  EXPECT_THAT(with_length(0), ThrowsMessage<std::runtime_error>(HasSubstr("'{'")));
}

TEST(Safetensors, RefusesBadHeaders) {
  expect_refused("[]", 0, "does not begin with '{'");
  expect_refused(" {}", 0, "does not begin with '{'");
  expect_refused("{} x", 0, "no JSON");
  expect_refused(R"({"a":)", 0, "no JSON");
  expect_refused("{\"\xFF\":1}", 0, "no JSON");
  expect_refused(R"({"a":1,"a":2})", 0, "key 'a' twice");
  expect_refused(R"({"t":{"dtype":"U8","dtype":"I8","shape":[],"data_offsets":[0,1]}})", 1,
                 "key 'dtype' twice");
  expect_refused(R"({"__metadata__":[]})", 0, "__metadata__ is no object");
  expect_refused(R"({"__metadata__":{"a":1}})", 0, "'a' is no string");
  expect_refused(std::string(100'000, '[').replace(0, 1, "{"), 0, "no JSON");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  expect_refused("{\"a\":" + deep + "}", 0, "nested deeper than 3 levels");
  expect_entry_refused(R"({"dtype":"U8","data_offsets":[0,1],"shape":)" + deep + "}", 1,
                       "nested deeper");
  expect_entry_refused(R"({"dtype":"U8","shape":[1],"data_offsets":)" + deep + "}", 1,
                       "nested deeper");
}

TEST(Safetensors, RefusesBadEntries) {
  expect_entry_refused("1", 0, "no object");
  expect_entry_refused(R"({"shape":[],"data_offsets":[0,1]})", 1, "'dtype' is missing");
  expect_entry_refused(R"({"dtype":"U8","data_offsets":[0,1]})", 1, "'shape' is missing");
  expect_entry_refused(R"({"dtype":"U8","shape":[]})", 1, "'data_offsets' is missing");
  expect_entry_refused(R"({"dtype":"U8","shape":[],"data_offsets":[0,1],"x":1})", 1, "keys beside");
  expect_entry_refused(R"({"dtype":8,"shape":[],"data_offsets":[0,1]})", 1, "no string");
  expect_entry_refused(R"({"dtype":"F4","shape":[],"data_offsets":[0,1]})", 1, "unknown dtype");
  expect_entry_refused(R"({"dtype":"U8","shape":1,"data_offsets":[0,1]})", 1, "no list");
  for (const char* size : {"-1", "1.0", "\"1\"", "18446744073709551615", "null"})
    expect_entry_refused(
        std::string(R"({"dtype":"U8","shape":[)") + size + R"(],"data_offsets":[0,1]})", 1,
        "'shape' has");
}

TEST(Safetensors, RefusesBadOffsets) {
  for (const char* offsets : {"1", "[0]", "[0,1,2]", "[-1,0]", "[0.0,1]", "[\"0\",1]"})
    expect_entry_refused(
        std::string(R"({"dtype":"U8","shape":[1],"data_offsets":)") + offsets + "}", 1,
        "expected [begin, end]");
  for (const char* offsets : {"[1,0]", "[0,2]", "[2,3]", "[0,18446744073709551615]"})
    expect_entry_refused(
        std::string(R"({"dtype":"U8","shape":[1],"data_offsets":)") + offsets + "}", 1,
        "outside the 1 bytes");
  expect_entry_refused(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", 4, "need 8");
  expect_entry_refused(R"({"dtype":"F32","shape":[0],"data_offsets":[0,4]})", 4, "need 0");
  // 2^62 * 4 elements of 4 bytes: 0 in 64 bits.
  expect_entry_refused(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]})", 0,
                       "more elements than memory");
}

TEST(Safetensors, RefusesGapsAndOverlaps) {
  const auto two = [](const char* a, const char* b) {
    return std::string(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)") + a +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}";
  };
  expect_refused(two("[0,2]", "[1,3]"), 3, "'b': overlaps");
  expect_refused(two("[0,2]", "[0,2]"), 2, "overlaps");
  expect_refused(two("[3,5]", "[0,2]"), 5, "'a': leaves a gap");
  expect_refused(two("[1,3]", "[3,5]"), 5, "'a': leaves a gap");
  expect_refused(two("[0,2]", "[2,4]"), 5, "1 bytes at the end");
}

// Whatever is changed in a file, it is read or refused; what is read lies within the file.
TEST(Safetensors, ChangedAtRandomItIsRefusedOrRead) {
  const std::vector<std::byte> whole = file_of(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[],"data_offsets":[24,32]},)"
      R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})",
      32);
  std::minstd_rand random(5);
  size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> file = whole;
    for (int n = 0; n < 1 + i % 3; ++n) {
      constexpr std::string_view kBytes = "0123456789-[]{},:\"e.\xff";
      file[random() % file.size()] = static_cast<std::byte>(kBytes[random() % kBytes.size()]);
    }
    if (i % 16 == 0) file.resize(random() % file.size());
    try {
      for (const auto& [name, tensor] : parse_safetensors(file)) {
        ASSERT_GE(tensor.data.data(), file.data());
        ASSERT_LE(tensor.data.data() + tensor.data.size(), file.data() + file.size());
      }
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(SafetensorsFile, MapsAFile) {
  const std::string path = testing::TempDir() + "/safetensors_test.safetensors";
  const std::string header = R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const float values[] = {1.5f, -2.0f};
  {
    std::ofstream out(path, std::ios::binary);
    out << length_prefix(header.size()) << header;
    out.write(reinterpret_cast<const char*>(values), sizeof(values));
  }
  const SafetensorsFile file(path);
  float read[2];
  ASSERT_EQ(file.tensor("t").data.size(), sizeof(read));
  std::memcpy(read, file.tensor("t").data.data(), sizeof(read));
  EXPECT_THAT(read, ElementsAre(1.5f, -2.0f));
  EXPECT_THAT([&] { file.tensor("u"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("has no tensor 'u'")));
}

TEST(SafetensorsFile, SaysWhichFileIsBad) {
  const std::string path = testing::TempDir() + "/empty.safetensors";
  std::ofstream(path).close();
  EXPECT_THAT([&] { SafetensorsFile file(path); },
              ThrowsMessage<std::runtime_error>(HasSubstr(path + ": safetensors: ")));
  EXPECT_THAT([] { SafetensorsFile file("/nonexistent"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("cannot be opened: No such file")));
  EXPECT_THAT([] { SafetensorsFile file("/tmp"); }, testing::Throws<std::runtime_error>());
}

}  // namespace
}  // namespace sentence_embedding
