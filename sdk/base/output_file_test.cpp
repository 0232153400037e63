#include "sdk/base/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "primset/error.h"

namespace primset {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using Mode = OutputFile::Mode;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

size_t files_in(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

class OutputFiles : public testing::Test {
 protected:
  OutputFiles() {
    std::string name = testing::TempDir() + "/output_file_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~OutputFiles() override { fs::remove_all(folder_); }
  fs::path folder_;
};

// Files of this process cannot grow beyond a size while it lives: a full disk, without one.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(OutputFiles, AFileIsReplacedWhole) {
  const fs::path path = folder_ / "new" / "folder" / "a.txt";
  write_file(path, "first");
  OutputFile file(path, Mode::replace);
  file.write("second");
  EXPECT_EQ(contents(path), "first");
  file.commit();
  EXPECT_EQ(contents(path), "second");
  EXPECT_EQ(files_in(path.parent_path()), 1u);
}

TEST_F(OutputFiles, WithoutCommitNothingChanges) {
  write_file(folder_ / "a", "first");
  OutputFile(folder_ / "a", Mode::replace).write("second");
  EXPECT_EQ(contents(folder_ / "a"), "first");
  EXPECT_EQ(files_in(folder_), 1u);
}

TEST_F(OutputFiles, LinksAndPermissionsStay) {
  write_file(folder_ / "a", "first");
  fs::permissions(folder_ / "a", fs::perms::owner_all);
  fs::create_symlink("a", folder_ / "link");
  write_file(folder_ / "link", "second");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(folder_ / "a"), "second");
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms::owner_all);
}

TEST_F(OutputFiles, AFullDiskIsAnErrorThatNamesTheFile) {
  EXPECT_THAT(error_of([] { write_file("/dev/full", "x"); }),
              AllOf(HasSubstr("/dev/full"), HasSubstr("No space left on device")));
  EXPECT_THAT(error_of([] { OutputFile("/dev/full", Mode::append).write("x"); }),
              HasSubstr("No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(OutputFiles, OfAnAppendThatFailsNothingIsLeft) {
  const fs::path path = folder_ / "lines";
  OutputFile file(path, Mode::append);
  file.write("12345\n");
  {
    const FullDisk full(8);
    EXPECT_THAT(error_of([&] { file.write("67890\n"); }), HasSubstr("File too large"));
    EXPECT_THAT(error_of([&] { write_file(folder_ / "whole", "1234567890"); }),
                HasSubstr("File too large"));
  }
  EXPECT_EQ(contents(path), "12345\n");
  EXPECT_FALSE(fs::exists(folder_ / "whole"));
  EXPECT_EQ(files_in(folder_), 1u);
}

TEST_F(OutputFiles, WhatAKilledProcessLeftIsRemoved) {
  const fs::path abandoned = folder_ / ".1-0.primset-tmp", used = folder_ / ".1-1.primset-tmp";
  std::ofstream(abandoned) << "half";
  std::ofstream(used) << "half";
  const int fd = open(used.c_str(), O_RDONLY);
  flock(fd, LOCK_EX);
  write_file(folder_ / "a", "whole");
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(used));
  close(fd);
}

TEST_F(OutputFiles, WhatCannotBeWrittenIsSaid) {
  EXPECT_THAT(error_of([&] { write_file(folder_, "x"); }), HasSubstr("Is a directory"));
  write_file(folder_ / "file", "");
  EXPECT_THAT(error_of([&] { write_file(folder_ / "file" / "a", "x"); }),
              HasSubstr("Not a directory"));
}

TEST(WriteAll, AFullDiskIsSaid) {
  const Descriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  EXPECT_EQ(write_all(full, "x"), std::errc::no_space_on_device);
}

}  // namespace
}  // namespace primset
