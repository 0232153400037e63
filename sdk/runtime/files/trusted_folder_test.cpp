#include "sdk/runtime/files/trusted_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

namespace primset::runtime {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

class TrustedFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(base_);
    fs::create_directories(base_);
    chmod(base_.c_str(), 0700);
  }
  void TearDown() override { fs::remove_all(base_); }

  static mode_t mode(const fs::path& path) {
    struct stat s;
    return stat(path.c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
  }
  static std::string refusal(const fs::path& path, Missing missing = Missing::make) {
    return open_trusted_folder(path, missing).refusal;
  }

  const fs::path base_ = fs::path(::testing::TempDir()) / "primset_trusted_folder";
};

TEST_F(TrustedFolderTest, MakesWhatIsMissingForThisUserAlone) {
  for (const mode_t mask : {0000, 0022, 0777}) {
    const mode_t before = umask(mask);
    const TrustedFolder folder = open_trusted_folder(base_ / "a/b", Missing::make);
    umask(before);
    ASSERT_TRUE(folder) << folder.refusal;
    EXPECT_EQ(mode(base_ / "a"), 0700);
    EXPECT_EQ(mode(base_ / "a/b"), 0700);
    fs::remove_all(base_ / "a");
  }
  EXPECT_THAT(refusal(base_ / "a", Missing::refuse), HasSubstr("No such file"));
}

TEST_F(TrustedFolderTest, FoldersThatOthersMayWriteAreRefused) {
  fs::create_directories(base_ / "outer/inner");
  // 0770 is refused where the group is not the owner's own.
  for (const mode_t bad : {0777, 0702}) {
    chmod((base_ / "outer").c_str(), bad);
    EXPECT_THAT(refusal(base_ / "outer"), HasSubstr("may be written by others (mode 0"));
    EXPECT_THAT(refusal(base_ / "outer/inner"), HasSubstr("outer may be written by others"));
  }
  // Above a folder, others may make their own but not touch this one; in it they may not.
  chmod((base_ / "outer").c_str(), 01777);
  EXPECT_EQ(refusal(base_ / "outer/inner"), "");
  EXPECT_THAT(refusal(base_ / "outer"), HasSubstr("may be written by others (mode 1777)"));
  chmod((base_ / "outer").c_str(), 0755);
  EXPECT_EQ(refusal(base_ / "outer"), "");
}

TEST_F(TrustedFolderTest, AGroupOfTheOwnersOwnIsNobodyElse) {
  fs::create_directories(base_ / "mine");
  chmod((base_ / "mine").c_str(), 0770);
  if (geteuid() == 0) {
    EXPECT_EQ(refusal(base_ / "mine"), "");  // root's group
    ASSERT_EQ(chown((base_ / "mine").c_str(), 0, 12345), 0);
  } else {
    const auto groups = [] {
      std::vector<gid_t> all(64);
      all.resize(static_cast<size_t>(std::max(0, getgroups(64, all.data()))));
      return all;
    }();
    const auto other = std::ranges::find_if(groups, [](gid_t g) { return g != getegid(); });
    if (other == groups.end()) GTEST_SKIP() << "this user has one group";
    ASSERT_EQ(chown((base_ / "mine").c_str(), geteuid(), *other), 0);
  }
  chmod((base_ / "mine").c_str(), 0770);
  EXPECT_THAT(refusal(base_ / "mine"), HasSubstr("may be written by others (mode 0770)"));
}

TEST_F(TrustedFolderTest, FoldersOfOthersAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make another's folder";
  fs::create_directories(base_ / "theirs/inner");
  ASSERT_EQ(chown((base_ / "theirs").c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal(base_ / "theirs"), HasSubstr("belongs to user 12345, not to user 0"));
  EXPECT_THAT(refusal(base_ / "theirs/inner"), HasSubstr("belongs to user 12345"));
}

TEST_F(TrustedFolderTest, LinksAreResolvedAndWhatTheyLeadToIsChecked) {
  fs::create_directories(base_ / "real");
  fs::create_directory_symlink(base_ / "real", base_ / "link");
  EXPECT_EQ(refusal(base_ / "link"), "");
  chmod((base_ / "real").c_str(), 0777);
  EXPECT_THAT(refusal(base_ / "link"), HasSubstr("real may be written by others"));
  // Within a folder nobody's link is followed.
  const TrustedFolder folder = open_trusted_folder(base_, Missing::refuse);
  ASSERT_TRUE(folder);
  EXPECT_FALSE(open_trusted_subfolder(folder.descriptor, "link", base_ / "link", Missing::make));
}

TEST_F(TrustedFolderTest, OnlyOwnRegularFilesAreOpened) {
  const TrustedFolder folder = open_trusted_folder(base_, Missing::refuse);
  ASSERT_TRUE(folder);
  std::ofstream(base_ / "file") << "text";
  chmod((base_ / "file").c_str(), 0600);
  EXPECT_TRUE(open_own_file(folder.descriptor, "file"));
  for (const mode_t bad : {0644, 0620, 0602}) {
    chmod((base_ / "file").c_str(), bad);
    EXPECT_FALSE(open_own_file(folder.descriptor, "file")) << bad;
  }
  chmod((base_ / "file").c_str(), 0600);
  fs::create_symlink(base_ / "file", base_ / "link");
  EXPECT_FALSE(open_own_file(folder.descriptor, "link"));
  ASSERT_EQ(mkfifo((base_ / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(open_own_file(folder.descriptor, "fifo"));  // and does not wait for a writer
  fs::create_directory(base_ / "folder");
  EXPECT_FALSE(open_own_file(folder.descriptor, "folder"));
  EXPECT_FALSE(open_own_file(folder.descriptor, "none"));
  if (geteuid() != 0) return;
  ASSERT_EQ(chown((base_ / "file").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(open_own_file(folder.descriptor, "file"));
}

TEST_F(TrustedFolderTest, WritesWholeFilesForThisUserAlone) {
  const TrustedFolder folder = open_trusted_folder(base_, Missing::refuse);
  ASSERT_TRUE(folder);
  const auto write = [&](uint8_t content, AtomicFile::Existing existing) {
    const std::span<const uint8_t> parts[] = {{&content, 1}, {&content, 1}};
    return write_own_file(folder.descriptor, "file", parts, existing);
  };
  const auto content = [&] {
    std::ifstream in(base_ / "file", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const mode_t before = umask(0777);
  EXPECT_FALSE(write('a', AtomicFile::Existing::replace));
  umask(before);
  EXPECT_EQ(mode(base_ / "file"), 0600);
  EXPECT_EQ(content(), "aa");
  EXPECT_FALSE(write('b', AtomicFile::Existing::replace));
  EXPECT_EQ(content(), "bb");
  EXPECT_FALSE(write('c', AtomicFile::Existing::keep));  // one is there
  EXPECT_EQ(content(), "bb");
  // What a link leads to stays as it is.
  std::ofstream(base_ / "victim") << "victim";
  fs::remove(base_ / "file");
  fs::create_symlink(base_ / "victim", base_ / "file");
  EXPECT_FALSE(write('d', AtomicFile::Existing::replace));
  EXPECT_EQ(content(), "dd");
  EXPECT_FALSE(fs::is_symlink(base_ / "file"));
  EXPECT_EQ(fs::file_size(base_ / "victim"), 6u);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(base_)) files += entry.is_regular_file();
  EXPECT_EQ(files, 2u);  // no temporary one is left
}

}  // namespace
}  // namespace primset::runtime
