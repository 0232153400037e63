#include "sdk/runtime/cache/disk_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "sdk/base/atomic_file.h"

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
  EXPECT_FALSE(cache.load("kernels", key("a")));
  cache.store("kernels", key("a"), bytes("kernel"));
  const auto found = cache.load("kernels", key("a"));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->damaged);
  EXPECT_EQ(found->bytes, bytes("kernel"));
}

TEST_F(DiskCacheTest, EveryDamageIsSeen) {
  const DiskCache cache(folder_);
  cache.store("kernels", key("a"), bytes("kernel"));
  const fs::path file = cache.path_of("kernels", key("a"));
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
    EXPECT_TRUE(cache.load("kernels", key("a"))->damaged) << "cut at " << n;
    std::string flipped = whole;
    flipped[n] = static_cast<char>(flipped[n] ^ 1);
    write(flipped);
    EXPECT_TRUE(cache.load("kernels", key("a"))->damaged) << "bit flipped at " << n;
  }
  cache.store("kernels", key("a"), bytes("kernel"));
  EXPECT_FALSE(cache.load("kernels", key("a"))->damaged);
}

TEST_F(DiskCacheTest, ManyWritersLeaveAWholeFile) {
  const DiskCache cache(folder_);
  const std::vector<uint8_t> payload(100000, 7);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        cache.store("kernels", key("a"), payload);
        const auto found = cache.load("kernels", key("a"));
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

TEST_F(DiskCacheTest, WhatKilledProcessesLeftGoes) {
  const DiskCache cache(folder_);
  cache.store("kernels", key("a"), bytes("kernel"));
  const fs::path bucket = cache.path_of("kernels", key("a")).parent_path(),
                 left = bucket / ".1-0.primset-tmp";
  std::ofstream(left) << "half";
  const Descriptor folder(open(bucket.c_str(), O_PATH | O_DIRECTORY));
  AtomicFile written(folder, "other");
  ASSERT_FALSE(written.create(0600));
  cache.store("kernels", key("a"), bytes("kernel"));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(written.commit(AtomicFile::Existing::keep)) << "it is still being written";
  EXPECT_TRUE(fs::exists(bucket / "other"));
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What was planted is never handed out: another key's file, another kind's, another user's
// secret's.
TEST_F(DiskCacheTest, FilesAreBoundToTheirKeyKindAndUser) {
  const DiskCache cache(folder_);
  cache.store("kernels", key("mul"), bytes("mul's code"));
  cache.store("kernels", key("add"), bytes("add's code"));
  const fs::path add = cache.path_of("kernels", key("add"));
  const auto copy = [](const fs::path& from, const fs::path& to) {
    fs::create_directories(to.parent_path());
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  };
  copy(cache.path_of("kernels", key("mul")), add);
  EXPECT_TRUE(cache.load("kernels", key("add"))->damaged);
  cache.store("kernels", key("add"), bytes("add's code"));
  copy(add, cache.path_of("acme", key("add")));
  EXPECT_TRUE(cache.load("acme", key("add"))->damaged);

  const fs::path theirs = folder_.string() + "_theirs";
  const DiskCache other(theirs);
  other.store("kernels", key("add"), bytes("planted"));
  copy(other.path_of("kernels", key("add")), add);
  EXPECT_TRUE(cache.load("kernels", key("add"))->damaged);
  EXPECT_NE(content_of(folder_ / "secret"), content_of(theirs / "secret"));
  fs::remove_all(theirs);
  cache.store("kernels", key("add"), bytes("add's code"));
  EXPECT_EQ(cache.load("kernels", key("add"))->bytes, bytes("add's code"));
}

TEST_F(DiskCacheTest, WhatIsNoFileOfOursIsDamaged) {
  const DiskCache cache(folder_);
  cache.store("kernels", key("a"), bytes("kernel"));
  const fs::path file = cache.path_of("kernels", key("a")), aside = folder_ / "aside";
  const std::string whole = content_of(file);
  const auto replaced = [&](const std::function<void()>& plant) {
    fs::remove_all(file);
    plant();
    const bool damaged = cache.load("kernels", key("a"))->damaged;
    if (!fs::is_directory(file)) {
      cache.store("kernels", key("a"), bytes("kernel"));
      EXPECT_EQ(cache.load("kernels", key("a"))->bytes, bytes("kernel"));
    }
    return damaged;
  };
  EXPECT_TRUE(replaced([&] { ASSERT_EQ(mkfifo(file.c_str(), 0600), 0); }));
  EXPECT_TRUE(replaced([&] { fs::create_directory(file); }));
  EXPECT_TRUE(replaced([&] {
    std::ofstream(aside, std::ios::binary) << whole;
    fs::create_symlink(aside, file);
  }));
  EXPECT_EQ(content_of(aside), whole);  // nothing was written through the link
  EXPECT_TRUE(replaced([&] { fs::create_symlink("/dev/zero", file); }));
  EXPECT_TRUE(replaced([&] {
    std::ofstream(file, std::ios::binary) << whole;
    chmod(file.c_str(), 0666);
  }));
  EXPECT_TRUE(replaced([&] {
    std::ofstream(file, std::ios::binary) << whole;
    fs::resize_file(file, uint64_t{1} << 40);  // a sparse giant
    chmod(file.c_str(), 0600);
  }));
}

TEST_F(DiskCacheTest, AFolderThatOthersMayWriteIsDoneWithout) {
  fs::create_directories(folder_);
  chmod(folder_.c_str(), 0777);
  std::vector<std::string> told;
  const DiskCache cache(
      folder_, {{}, [&](uint32_t, std::string_view text) { told.emplace_back(text); }, {}});
  EXPECT_FALSE(cache.enabled());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0], testing::HasSubstr("may be written by others (mode 0777)"));
  cache.store("kernels", key("a"), bytes("kernel"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

// It was trusted when the process began.
TEST_F(DiskCacheTest, AFolderThatIsOpenedToOthersLaterIsLeftAlone) {
  const DiskCache cache(folder_);
  cache.store("kernels", key("a"), bytes("kernel"));
  chmod((folder_ / "kernels").c_str(), 0777);
  EXPECT_FALSE(cache.load("kernels", key("a")));
  cache.store("kernels", key("b"), bytes("kernel"));
  EXPECT_FALSE(fs::exists(cache.path_of("kernels", key("b"))));
}

TEST_F(DiskCacheTest, ADamagedSecretIsMadeAnew) {
  {
    const DiskCache cache(folder_);
    cache.store("kernels", key("a"), bytes("kernel"));
  }
  const auto planted = [&](const std::function<void()>& plant) {
    fs::remove(folder_ / "secret");
    plant();
    const DiskCache cache(folder_);
    EXPECT_TRUE(cache.load("kernels", key("a"))->damaged);
    cache.store("kernels", key("a"), bytes("kernel"));
    EXPECT_EQ(DiskCache(folder_).load("kernels", key("a"))->bytes, bytes("kernel"));
    EXPECT_EQ(fs::file_size(folder_ / "secret"), 32u);
  };
  planted([&] { std::ofstream(folder_ / "secret") << "short"; });
  planted([&] {
    std::ofstream(folder_ / "secret") << std::string(32, 'x');
    chmod((folder_ / "secret").c_str(), 0644);  // others know it
  });
  planted([&] { ASSERT_EQ(mkfifo((folder_ / "secret").c_str(), 0600), 0); });
}

TEST_F(DiskCacheTest, AFolderThatGoesIsMadeAnew) {
  const DiskCache cache(folder_);
  fs::remove_all(folder_);
  EXPECT_FALSE(cache.load("kernels", key("a")));
  cache.store("kernels", key("a"), bytes("kernel"));
  EXPECT_EQ(cache.load("kernels", key("a"))->bytes, bytes("kernel"));
}

TEST_F(DiskCacheTest, OffKeepsNothing) {
  const DiskCache cache{fs::path()};
  cache.store("kernels", key("a"), bytes("kernel"));
  EXPECT_FALSE(cache.load("kernels", key("a")));
}

// RFC 4231, test case 1, whose key is shorter: zeros are appended to it.
TEST_F(DiskCacheTest, HmacIsTheStandards) {
  Digest secret{};
  std::fill_n(secret.begin(), 20, uint8_t{0x0b});
  HmacSha256 code(secret);
  code.add(bytes("Hi There"));
  EXPECT_EQ(hex(code.finish()), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
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
