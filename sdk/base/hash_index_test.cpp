#include "sdk/base/hash_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace primset {
namespace {

TEST(HashIndex, FindsWhatWasPutIn) {
  std::vector<std::string> words;
  HashIndex index;
  const auto find = [&](const std::string& word) {
    return index.find(std::hash<std::string>()(word),
                      [&](uint32_t number) { return words[number] == word; });
  };
  EXPECT_FALSE(find("w0"));
  for (uint32_t i = 0; i < 5000; ++i) {
    words.push_back("w" + std::to_string(i));
    index.insert(std::hash<std::string>()(words[i]), i);
  }
  for (uint32_t i = 0; i < 5000; ++i) EXPECT_EQ(find(words[i]), i);
  EXPECT_FALSE(find("w5000"));
}

// Whatever the hashes have in common, the comparison decides.
TEST(HashIndex, EqualHashesAreToldApartByComparison) {
  std::mt19937_64 random(1);
  std::multimap<size_t, uint32_t> expected;
  HashIndex index;
  for (uint32_t i = 0; i < 3000; ++i) {
    const size_t hash = (random() % 40) << (i % 2 ? 32 : 0);
    expected.emplace(hash, i);
    index.insert(hash, i);
  }
  for (const auto& [hash, number] : expected) {
    EXPECT_EQ(index.find(hash, [&](uint32_t n) { return n == number; }), number);
    EXPECT_FALSE(index.find(hash, [](uint32_t) { return false; }));
  }
}

}  // namespace
}  // namespace primset
