#include "sdk/runtime/cache/kernel_pack.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/plugin.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "sdk/runtime/cache/disk_cache.h"
#include "sdk/runtime/cache/kernel_packs.h"

namespace primset::runtime {
namespace {
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<uint8_t> bytes(const std::string& text) {
  return {text.begin(), text.end()};
}
Digest key(const std::string& text) {
  return sha256(bytes(text));
}
std::string text_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class KernelPackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    write_pack(file_, kHere,
               {{pack_name("kernels", key("add")), bytes("add's code")},
                {pack_name("kernels", key("mul")), bytes("mul's code")},
                {pack_name("acme", key("add")), bytes("the driver's code of add")}});
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& text) const {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << text;
  }
  std::string refusal() const {
    std::string why;
    EXPECT_EQ(KernelPack::open(file_, why) == nullptr, !why.empty());
    return why;
  }
  KernelPacks packs(std::vector<fs::path> named, bool off = false) {
    return KernelPacks({std::move(named), off, [this](uint32_t level, std::string_view text) {
                          if (level == PRIMSET_LOG_ERROR) errors_ += std::string(text) + '\n';
                        }});
  }

  static inline const PackIdentity kHere{"acme", "Acme 1", "build 1", "simt=true vector=64 cpu="};
  const fs::path folder_ = fs::path(::testing::TempDir()) / "primset_kernel_pack_test";
  const fs::path file_ = folder_ / "acme.pack", plugin_ = folder_ / "libacme_primset.so";
  std::string errors_;
};

TEST_F(KernelPackTest, HoldsWhatWasWritten) {
  std::string why;
  const auto pack = KernelPack::open(file_, why);
  ASSERT_TRUE(pack) << why;
  EXPECT_EQ(pack->size(), 3u);
  EXPECT_EQ(pack->bytes(), fs::file_size(file_));
  EXPECT_EQ(pack->identity().target, "simt=true vector=64 cpu=");
  EXPECT_EQ(pack->check(), "");
  EXPECT_EQ(pack->find(pack_name("kernels", key("mul")), why), bytes("mul's code"));
  EXPECT_EQ(pack->find(pack_name("acme", key("add")), why), bytes("the driver's code of add"));
  EXPECT_EQ(pack->find(pack_name("acme", key("mul")), why), std::nullopt);
  EXPECT_EQ(why, "");
}

TEST_F(KernelPackTest, AnEmptyPackIsOne) {
  write_pack(file_, kHere, {});
  EXPECT_EQ(refusal(), "");
}

// Whatever is cut off or flipped: it is seen before a byte of it is handed out.
TEST_F(KernelPackTest, EveryDamageIsSeen) {
  const std::string whole = text_of_file(file_);
  const auto holds_nothing = [&] {
    std::string why;
    const auto pack = KernelPack::open(file_, why);
    return !pack || !pack->check().empty();
  };
  EXPECT_FALSE(holds_nothing());
  for (size_t n = 0; n < whole.size(); ++n) {
    write(whole.substr(0, n));
    EXPECT_TRUE(holds_nothing()) << "cut at " << n;
    for (const char bit : {1, 32, -128}) {
      std::string flipped = whole;
      flipped[n] = static_cast<char>(flipped[n] ^ bit);
      write(flipped);
      EXPECT_TRUE(holds_nothing()) << "bit " << int{bit} << " flipped at " << n;
    }
  }
  write(whole + "more");
  EXPECT_TRUE(holds_nothing());
}

// An index whose checksum is right and whose numbers are not: no pack of ours, and no memory that
// it asks for.
TEST_F(KernelPackTest, NumbersBeyondTheFileAreRefused) {
  const std::string whole = text_of_file(file_);
  uint64_t identity_bytes = 0;
  std::memcpy(&identity_bytes, whole.data() + 24, 8);
  const size_t index = 64 + identity_bytes;
  struct Lie {
    size_t at;
    uint64_t value;
  };
  const uint64_t huge = ~uint64_t{0};
  for (const Lie lie :
       {Lie{8, huge}, Lie{16, huge}, Lie{16, huge / 80 + 1}, Lie{16, 4}, Lie{24, huge},
        Lie{24, whole.size()}, Lie{24, identity_bytes - 1}, Lie{index + 32, huge},
        Lie{index + 32, 0}, Lie{index + 40, huge}, Lie{index + 40, whole.size()}}) {
    std::string text = whole;
    std::memcpy(text.data() + lie.at, &lie.value, 8);
    std::memset(text.data() + 32, 0, 32);
    uint64_t entries = 0, front = 0;
    std::memcpy(&entries, text.data() + 16, 8);
    std::memcpy(&front, text.data() + 24, 8);
    if (entries < 10 && front < 1000) {
      const Digest checksum = sha256(bytes(text.substr(0, 64 + front + 80 * entries)));
      std::memcpy(text.data() + 32, checksum.data(), checksum.size());
    }
    write(text);
    EXPECT_NE(refusal(), "") << lie.value << " at " << lie.at;
  }
}

TEST_F(KernelPackTest, ContentIsCheckedWhenItIsHandedOut) {
  KernelPacks packs = this->packs({file_});
  packs.open_for(kHere, plugin_);
  ASSERT_EQ(errors_, "");
  EXPECT_EQ(packs.find("kernels", key("add")), bytes("add's code"));
  std::string text = text_of_file(file_);
  text[text.find("add's code")] = 'b';
  const int file = open(file_.c_str(), O_WRONLY);  // the same file, opened already by the pack
  ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(file);
  EXPECT_EQ(packs.find("kernels", key("add")), std::nullopt);
  EXPECT_THAT(errors_,
              AllOf(HasSubstr(file_.string()), HasSubstr("is damaged"), HasSubstr("primset pack")));
  EXPECT_EQ(packs.find("kernels", key("mul")), std::nullopt) << "a damaged pack is not used";
}

TEST_F(KernelPackTest, PacksOfOtherBuildsAndDevicesAreRefused) {
  const auto error_for = [&](PackIdentity here, std::vector<fs::path> named) {
    errors_.clear();
    KernelPacks packs = this->packs(std::move(named));
    packs.open_for(here, plugin_);
    EXPECT_EQ(packs.find("kernels", key("add")), std::nullopt);
    return errors_;
  };
  PackIdentity build = kHere, device = kHere, target = kHere, plugin = kHere;
  build.build = "build 2";
  device.device = "Acme 2", device.target = "vector=32";
  target.target = "simt=true vector=32 cpu=";
  plugin.plugin = "other";
  EXPECT_THAT(error_for(build, {file_}),
              HasSubstr("for the build 'build 1', and this is 'build 2'"));
  EXPECT_THAT(error_for(device, {file_}),
              HasSubstr("for the device 'Acme 1', and this is 'Acme 2'"));
  EXPECT_THAT(error_for(target, {file_}),
              HasSubstr("for the target 'vector=64', and this is 'vector=32'"));
  EXPECT_THAT(error_for(plugin, {file_}), IsEmpty()) << "it is for other devices of this program";
  EXPECT_THAT(error_for(kHere, {folder_ / "none.pack"}), HasSubstr("No such file"));
}

TEST_F(KernelPackTest, PacksBesideThePluginAreFound) {
  EXPECT_FALSE(packs({}).may_serve(plugin_));
  fs::copy_file(file_, folder_ / "libacme_primset.pack");
  PackIdentity other = kHere;
  other.device = "Acme 2", other.target = "vector=32";
  write_pack(folder_ / "libacme_primset.acme2.pack", other,
             {{pack_name("kernels", key("add")), bytes("Acme 2's code")}});
  write_pack(folder_ / "libacme_primset2.pack", kHere,
             {{pack_name("kernels", key("sub")), bytes("another plugin's")}});
  KernelPacks packs = this->packs({});
  EXPECT_TRUE(packs.may_serve(plugin_));
  packs.open_for(kHere, plugin_);
  EXPECT_EQ(packs.find("kernels", key("add")), bytes("add's code"));
  EXPECT_EQ(packs.find("kernels", key("sub")), std::nullopt);
  EXPECT_EQ(errors_, "") << "a vendor ships packs for several devices";

  KernelPacks none = this->packs({}, true);
  EXPECT_FALSE(none.may_serve(plugin_));
  none.open_for(kHere, plugin_);
  EXPECT_EQ(none.find("kernels", key("add")), std::nullopt);
}

TEST_F(KernelPackTest, FilesThatOthersMayHaveWrittenAreNotOpened) {
  ASSERT_EQ(chmod(file_.c_str(), 0666), 0);
  EXPECT_THAT(refusal(), HasSubstr("may be written by others (mode 0666)"));
  ASSERT_EQ(chmod(file_.c_str(), 0644), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_THAT(refusal(), HasSubstr("may be written by others (mode 0777)"));
  for (const mode_t mode : {0755, 01777}) {  // sticky: nobody can exchange another's file
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    EXPECT_EQ(refusal(), "");
  }
  fs::remove(file_);
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("no regular file"));
}

// Before what is on disk, and also where nothing is to be kept there.
TEST_F(KernelPackTest, TheCacheLooksIntoPacksFirst) {
  for (const fs::path& folder : {folder_ / "cache", fs::path()}) {
    const auto packs = std::make_shared<KernelPacks>(KernelPacks::Settings{{file_}, false, {}});
    packs->open_for(kHere, plugin_);
    const DiskCache cache(folder, {{}, {}, packs});
    cache.store("kernels", key("add"), bytes("on disk"));
    cache.store("kernels", key("sub"), bytes("on disk"));
    const auto add = cache.load("kernels", key("add")), sub = cache.load("kernels", key("sub"));
    ASSERT_TRUE(add);
    EXPECT_EQ(add->bytes, bytes("add's code"));
    EXPECT_TRUE(add->packed);
    ASSERT_EQ(sub.has_value(), !folder.empty());
    if (sub) EXPECT_FALSE(sub->packed);
  }
}

TEST_F(KernelPackTest, TheCacheTellsItsKeys) {
  const DiskCache cache(folder_ / "cache");
  cache.store("kernels", key("add"), bytes("code"));
  cache.store("kernels", key("mul"), bytes("code"));
  cache.store("acme", key("sub"), bytes("code"));
  std::ofstream(folder_ / "cache/kernels/no_key.psk") << "no entry";
  EXPECT_THAT(cache.keys_of("kernels"), ::testing::UnorderedElementsAre(key("add"), key("mul")));
  EXPECT_THAT(cache.keys_of("none"), IsEmpty());
}

}  // namespace
}  // namespace primset::runtime
