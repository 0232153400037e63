#include "sdk/runtime/cache/cache_bound.h"

#include <gtest/gtest.h>
#include <primset/options.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sdk/runtime/cache/disk_cache.h"

namespace primset::runtime {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kLimit = 64 << 10, kPayload = 1000;

class CacheBoundTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("primset_cache_bound_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Digest key(int i) {
    const std::string text = std::to_string(i);
    return sha256(std::vector<uint8_t>(text.begin(), text.end()));
  }
  void store(int i) const { cache().store("kernels", key(i), std::vector<uint8_t>(kPayload, 1)); }
  DiskCache cache() const {
    return DiskCache(folder_, {[] { return kLimit; }, {}, {}});
  }
  // As if it had been used so many minutes ago.
  static void age(const fs::path& file, int minutes) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  }
  uint64_t kernel_bytes() const {
    uint64_t sum = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "kernels"))
      sum += entry.is_regular_file() ? entry.file_size() : 0;
    return sum;
  }
  static fs::path write(const fs::path& file, size_t bytes) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << std::string(bytes, 'x');
    return file;
  }

  fs::path folder_;
};

TEST_F(CacheBoundTest, StaysBelowTheLimit) {
  for (int i = 0; i < 1000; ++i) {
    store(i);
    if (i % 100 == 99) EXPECT_LE(kernel_bytes(), kLimit) << "after " << i + 1 << " files";
  }
  EXPECT_GT(kernel_bytes(), kLimit / 2);
}

TEST_F(CacheBoundTest, LeastRecentlyUsedGoesFirst) {
  for (int i = 0; i < 50; ++i) {
    store(i);
    age(cache().path_of("kernels", key(i)), 100 - i);
  }
  ASSERT_TRUE(cache().load("kernels", key(0)));  // the oldest, but used now
  for (int i = 50; i < 80; ++i) store(i);
  EXPECT_TRUE(fs::exists(cache().path_of("kernels", key(0))));
  EXPECT_FALSE(fs::exists(cache().path_of("kernels", key(1))));
  EXPECT_TRUE(fs::exists(cache().path_of("kernels", key(79))));
}

TEST_F(CacheBoundTest, PluginsFilesCountAndOthersAreLeftAlone) {
  const fs::path old = write(folder_ / "acme" / "0a" / "00112233445566.pipeline", 2000);
  const fs::path used = write(folder_ / "acme" / "0b" / "00112233445566.pipeline", 2000);
  const std::vector<fs::path> strangers = {
      write(folder_ / "letter.txt", 2000), write(folder_ / "acme" / "notes.psk", 2000),
      write(folder_ / "acme" / "0a" / "holidays.jpg", 2000),
      write(folder_ / "acme" / "0a" / "0011223344556677889900", 2000)};
  age(old, 1000);
  for (const fs::path& f : strangers) age(f, 2000);
  for (int i = 0; i < 200; ++i) {
    store(i);
    age(used, 0);
  }
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(used));
  for (const fs::path& f : strangers) EXPECT_TRUE(fs::exists(f)) << f;
}

TEST_F(CacheBoundTest, OldTemporaryFilesOfPluginsGo) {
  const fs::path old = write(folder_ / "acme" / "0a" / "half.1.2.tmp", 10);
  const fs::path fresh = write(folder_ / "acme" / "0a" / "half.3.4.tmp", 10);
  age(old, 120);
  store(0);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(CacheBoundTest, WritersSideBySideKeepTheLimit) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) store(1000 * t + i);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(kernel_bytes(), kLimit);
}

// A process whose umask takes everything leaves files that the next one can open.
TEST_F(CacheBoundTest, TheUmaskIsNotReliedOn) {
  const mode_t before = umask(0777);
  store(0);
  umask(before);
  EXPECT_EQ(fs::status(folder_ / "usage").permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(cache().path_of("kernels", key(0))).permissions(), fs::perms(0600));
}

TEST_F(CacheBoundTest, OptionsRefuseALimitOfZero) {
  Options none = options();
  none.max_disk_bytes = 0;
  EXPECT_THROW(set_options(none), Error);
}

}  // namespace
}  // namespace primset::runtime
