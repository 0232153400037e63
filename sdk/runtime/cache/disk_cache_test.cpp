#include "sdk/runtime/cache/disk_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace primset::runtime {
namespace {
namespace fs = std::filesystem;

class DiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("primset_disk_cache_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::vector<uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }
  static Digest key(const std::string& text) { return sha256(bytes(text)); }

  fs::path folder_;
};

TEST_F(DiskCacheTest, FindsWhatWasStored) {
  const DiskCache cache(folder_);
  EXPECT_FALSE(cache.load(key("a")));
  cache.store(key("a"), bytes("kernel"));
  const auto found = cache.load(key("a"));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->damaged);
  EXPECT_EQ(found->bytes, bytes("kernel"));
}

TEST_F(DiskCacheTest, EveryDamageIsSeen) {
  const DiskCache cache(folder_);
  cache.store(key("a"), bytes("kernel"));
  const fs::path file = cache.path_of(key("a"));
  std::string whole;
  {
    std::ifstream in(file, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  auto write = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  };
  for (size_t n = 0; n < whole.size(); ++n) {
    write(whole.substr(0, n));
    EXPECT_TRUE(cache.load(key("a"))->damaged) << "cut at " << n;
    std::string flipped = whole;
    flipped[n] = static_cast<char>(flipped[n] ^ 1);
    write(flipped);
    EXPECT_TRUE(cache.load(key("a"))->damaged) << "bit flipped at " << n;
  }
  cache.store(key("a"), bytes("kernel"));
  EXPECT_FALSE(cache.load(key("a"))->damaged);
}

TEST_F(DiskCacheTest, ManyWritersLeaveAWholeFile) {
  const DiskCache cache(folder_);
  const std::vector<uint8_t> payload(100000, 7);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        cache.store(key("a"), payload);
        const auto found = cache.load(key("a"));
        ASSERT_TRUE(found);
        EXPECT_EQ(found->bytes, payload);
      }
    });
  }
  for (auto& t : threads) t.join();
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "kernels"))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 1u);
}

TEST_F(DiskCacheTest, OldHalfWrittenFilesGo) {
  const DiskCache cache(folder_);
  cache.store(key("a"), bytes("kernel"));
  const fs::path old = cache.path_of(key("a")).parent_path() / ".old.1.2.tmp",
                 fresh = cache.path_of(key("a")).parent_path() / ".fresh.1.2.tmp";
  std::ofstream(old) << "half";
  std::ofstream(fresh) << "half";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.store(key("a"), bytes("kernel"));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(DiskCacheTest, OffKeepsNothing) {
  const DiskCache cache{fs::path()};
  cache.store(key("a"), bytes("kernel"));
  EXPECT_FALSE(cache.load(key("a")));
}

TEST_F(DiskCacheTest, Sha256IsTheStandards) {
  EXPECT_EQ(hex(sha256(bytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256(bytes(""))),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256(bytes(std::string(1000, 'a')))),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

}  // namespace
}  // namespace primset::runtime
