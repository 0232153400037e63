// The loader against good and broken plugins, all built from testdata/mock_plugin.c.
#include "sdk/runtime/plugin/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace primset::plugin {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

fs::path mock(const std::string& variant) {
  return fs::path(PRIMSET_MOCK_DIR) / variant;
}

LoaderOptions options(std::vector<fs::path> path) {
  LoaderOptions o;
  o.path = std::move(path);
  o.log = nullptr;
  return o;
}

// The text of the Error{plugin} that f throws; "" and a failure when it throws none.
template <typename F>
std::string error_of(F&& f, ErrorCode code = ErrorCode::plugin) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

// What loading the one plugin of a mock variant says.
std::string load_error(const std::string& variant) {
  Registry registry(options({mock(variant)}));
  return error_of([&] { registry.plugin("mock"); });
}

TEST(Loader, LoadsAndOpens) {
  Registry registry(options({mock("good")}));
  EXPECT_THAT(registry.names(), testing::ElementsAre("mock"));
  const std::shared_ptr<PluginDevice> device = registry.open("mock:1");
  EXPECT_EQ(device->name(), "mock:1");
  EXPECT_STREQ(device->properties().name, "Mock");
  ASSERT_NE(device->host_memory(), nullptr);
  EXPECT_EQ(device->primitives(), nullptr);
  const DeviceBuffer buffer = device->alloc(16);
  EXPECT_NE(buffer.host_address(), nullptr);
  EXPECT_EQ(registry.open("mock")->name(), "mock:0");
}

TEST(Loader, PluginOutlivesTheRegistry) {
  std::shared_ptr<PluginDevice> device;
  {
    Registry registry(options({mock("good")}));
    device = registry.open("mock:0");
  }
  EXPECT_EQ(device->alloc(8).bytes(), 8u);
}

TEST(Loader, UnknownNameSaysWhatIsThere) {
  Registry registry(options({mock("good")}));
  EXPECT_THAT(error_of([&] { registry.plugin("acme"); }),
              AllOf(HasSubstr("no plugin named acme"), HasSubstr("found: mock"),
                    HasSubstr(mock("good").string()), HasSubstr("PRIMSET_PLUGIN_PATH")));
}

TEST(Loader, DeviceNamesAreChecked) {
  Registry registry(options({mock("good")}));
  EXPECT_THAT(error_of([&] { registry.open("mock:2"); }),
              AllOf(HasSubstr("mock:2: no such device"), HasSubstr("has 2 devices")));
  EXPECT_THAT(error_of([&] { registry.open("mock:x"); }), HasSubstr("acme:0"));
  EXPECT_THAT(error_of([&] { registry.open("mock:"); }), HasSubstr("acme:0"));
}

TEST(Loader, BrokenTablesAreRefusedWithTheReason) {
  const std::string file = "libmock_primset.so";
  EXPECT_THAT(load_error("no_symbol"),
              AllOf(HasSubstr(file), HasSubstr("exports no function primset_plugin_query")));
  EXPECT_THAT(load_error("wrong_version"),
              AllOf(HasSubstr(file), HasSubstr("version 7"), HasSubstr("1 to 1")));
  EXPECT_THAT(load_error("refuses_version"),
              AllOf(HasSubstr(file), HasSubstr("mock: speaks 5 to 6"), HasSubstr("unsupported")));
  EXPECT_THAT(load_error("no_table"), AllOf(HasSubstr(file), HasSubstr("no table")));
  EXPECT_THAT(load_error("short_table"), AllOf(HasSubstr(file), HasSubstr("struct_size is 16")));
  EXPECT_THAT(load_error("null_function"),
              AllOf(HasSubstr(file), HasSubstr("primset_plugin.launch is NULL")));
  EXPECT_THAT(load_error("bad_name"), AllOf(HasSubstr(file), HasSubstr("\"Mock!\"")));
  EXPECT_THAT(load_error("other_name"),
              AllOf(HasSubstr(file), HasSubstr("rename it to libother_primset.so")));
}

TEST(Loader, FilesThatAreNoLibraries) {
  const fs::path folder = fs::path(testing::TempDir()) / "primset_loader_test";
  fs::create_directories(folder);
  std::ofstream(folder / "libmock_primset.so") << "not a library";
  std::ofstream(folder / "mock.so") << "nor this";
  Registry registry(options({folder, folder / "mock.so"}));
  EXPECT_THAT(error_of([&] { registry.plugin("mock"); }),
              AllOf(HasSubstr("libmock_primset.so"), HasSubstr("cannot be loaded")));
  EXPECT_THAT(error_of([&] { registry.plugin("mock.so"); }), HasSubstr("lib<name>_primset.so"));
  fs::remove_all(folder);
}

TEST(Loader, TwoFilesOfOneNameAreAnErrorThatNamesBoth) {
  Registry registry(options({mock("good"), mock("no_memory")}));
  EXPECT_THAT(error_of([&] { registry.plugin("mock"); }),
              AllOf(HasSubstr("two plugins are named mock"), HasSubstr(mock("good").string()),
                    HasSubstr(mock("no_memory").string())));
}

TEST(Loader, OneFileFoundTwiceIsOnePlugin) {
  Registry registry(options({mock("good"), mock("good") / "libmock_primset.so"}));
  EXPECT_EQ(registry.plugin("mock")->name(), "mock");
}

TEST(Loader, ABrokenPluginDoesNotHideTheOthers) {
  Registry registry(options({mock("other_file"), mock("wrong_version")}));
  const std::vector<DeviceEntry> entries = registry.devices();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "other:0");
  EXPECT_EQ(entries[1].name, "other:1");
  EXPECT_EQ(entries[0].error, "");
  EXPECT_EQ(entries[2].name, "mock");
  EXPECT_THAT(entries[2].error, HasSubstr("version 7"));
}

TEST(Loader, PluginThatFailsEveryCall) {
  Registry registry(options({mock("all_errors")}));
  EXPECT_THAT(error_of([&] { registry.open("mock:0"); }),
              HasSubstr("mock: device_count: internal error: mock: device_count fails"));
  const std::vector<DeviceEntry> entries = registry.devices();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_THAT(entries[0].error, HasSubstr("device_count"));
}

TEST(Loader, DeviceThatFailsEveryCall) {
  Registry registry(options({mock("errors_when_open")}));
  const std::shared_ptr<PluginDevice> device = registry.open("mock:0");
  EXPECT_THAT(error_of([&] { device->alloc(100); }, ErrorCode::device_lost),
              HasSubstr("mock:0: memory_alloc(100 bytes): device lost: mock: memory_alloc fails"));
  EXPECT_THAT(error_of([&] { device->create_stream(); }, ErrorCode::device_lost),
              HasSubstr("stream_create"));
  EXPECT_THAT(error_of([&] { device->create_event(); }, ErrorCode::device_lost),
              HasSubstr("event_create"));
  primset_module_desc desc{};
  desc.entry = "kernel";
  EXPECT_THAT(error_of([&] { device->load_module(desc); }, ErrorCode::device_lost),
              HasSubstr("module_load(\"kernel\", 0 bytes)"));
}

TEST(Loader, BrokenDevices) {
  Registry no_memory(options({mock("no_memory")}));
  EXPECT_THAT(error_of([&] { no_memory.open("mock")->alloc(7); }, ErrorCode::out_of_memory),
              HasSubstr("mock: no memory at all"));
  Registry no_handle(options({mock("no_handle")}));
  EXPECT_THAT(error_of([&] { no_handle.open("mock")->alloc(7); }),
              HasSubstr("memory_alloc: returned success but no handle"));
  Registry bad_status(options({mock("bad_status")}));
  EXPECT_THAT(error_of([&] { bad_status.open("mock")->alloc(7); }),
              HasSubstr("the status has struct_size 0"));
  Registry bad_properties(options({mock("bad_properties")}));
  EXPECT_THAT(error_of([&] { bad_properties.open("mock"); }),
              HasSubstr("device_properties: memory_alignment is 48; expected a power of two"));
  Registry bad_extension(options({mock("bad_extension")}));
  EXPECT_THAT(error_of([&] { bad_extension.open("mock"); }),
              AllOf(HasSubstr(PRIMSET_EXT_HOST_MEMORY), HasSubstr("struct_size is 4")));
}

TEST(Loader, SearchPathOrder) {
  setenv("PRIMSET_PLUGIN_PATH", "/first:/second/libx_primset.so", 1);
  setenv("XDG_DATA_HOME", "/data", 1);
  const std::vector<SearchEntry> path = default_plugin_path({"/fallback"});
  unsetenv("PRIMSET_PLUGIN_PATH");
  unsetenv("XDG_DATA_HOME");
  ASSERT_GE(path.size(), 4u);
  EXPECT_EQ(path[0].path, "/first");
  EXPECT_EQ(path[1].path, "/second/libx_primset.so");
  EXPECT_EQ(path[1].named, Named::expressly);
  EXPECT_EQ(path[2].path, "/data/primset/plugins");
  EXPECT_EQ(path[2].named, Named::by_default);
  EXPECT_EQ(path[3].named, Named::own);
}

// --- who may have put a plugin there -------------------------------------------------------------

class TrustedPath : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("primset_trusted_path_" + std::to_string(getpid()));
    fs::remove_all(root_);
    plugins_ = root_ / "primset/plugins";
    fs::create_directories(plugins_);
    fs::permissions(root_, fs::perms(0700));
    fs::permissions(root_ / "primset", fs::perms(0700));
    fs::permissions(plugins_, fs::perms(0700));
    fs::copy_file(mock("good") / "libmock_primset.so", file());
    fs::permissions(file(), fs::perms(0755));
    setenv("XDG_DATA_HOME", root_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_DATA_HOME");
    unsetenv("PRIMSET_PLUGIN_PATH");
    fs::remove_all(root_);
  }

  fs::path file() const { return plugins_ / "libmock_primset.so"; }
  // A registry of the default path.
  Registry registry() {
    log_.clear();
    LoaderOptions o;
    o.log = [this](uint32_t level, std::string_view text) {
      if (level == PRIMSET_LOG_WARNING) log_.emplace_back(text);
    };
    return Registry(std::move(o));
  }

  fs::path root_, plugins_;
  std::vector<std::string> log_;
};

TEST_F(TrustedPath, AFolderOfTheUsersAloneIsSearched) {
  Registry found = registry();
  EXPECT_EQ(found.plugin("mock")->name(), "mock");
  EXPECT_THAT(log_, testing::IsEmpty());
  EXPECT_THAT(found.skipped(), testing::IsEmpty());
}

TEST_F(TrustedPath, AFolderThatOthersMayWriteIsNot) {
  for (const fs::path& open : {plugins_, root_ / "primset", root_}) {
    fs::permissions(open, fs::perms(0777));
    Registry found = registry();
    const std::string why = open.string() + " may be written by others (mode 0777)";
    EXPECT_THAT(log_, testing::ElementsAre(AllOf(HasSubstr(plugins_.string()), HasSubstr(why))));
    ASSERT_EQ(found.skipped().size(), 1u);
    EXPECT_EQ(found.skipped()[0].path, plugins_);
    EXPECT_EQ(found.skipped()[0].reason, why);
    EXPECT_THAT(error_of([&] { found.plugin("mock"); }),
                AllOf(HasSubstr("no plugin named mock"), HasSubstr("not searched, as " + why)));
    fs::permissions(open, fs::perms(0700));
  }
}

TEST_F(TrustedPath, AFileThatOthersMayWriteIsNotLoaded) {
  fs::permissions(file(), fs::perms(0757));
  Registry found = registry();
  const std::string why = file().string() + " may be written by others (mode 0757)";
  EXPECT_THAT(error_of([&] { found.plugin("mock"); }), HasSubstr("is not loaded: " + why));
  const std::vector<DeviceEntry> entries = found.devices();
  const auto it = std::ranges::find(entries, "mock", &DeviceEntry::name);
  ASSERT_NE(it, entries.end());
  EXPECT_THAT(it->error, HasSubstr(why));
}

// What a link leads to is what counts.
TEST_F(TrustedPath, LinksAreFollowedToTheirFolders) {
  const fs::path open = root_ / "open", target = open / "libmock_primset.so";
  fs::create_directory(open);
  fs::rename(file(), target);
  fs::create_symlink(target, file());
  fs::permissions(open, fs::perms(0755));
  EXPECT_EQ(registry().plugin("mock")->name(), "mock");
  fs::permissions(open, fs::perms(0777));
  Registry found = registry();
  EXPECT_THAT(error_of([&] { found.plugin("mock"); }),
              HasSubstr(open.string() + " may be written by others"));
}

TEST_F(TrustedPath, WhatIsNoFileIsNotLoaded) {
  const fs::path link = plugins_ / "liblink_primset.so";
  fs::create_symlink(file(), link);
  EXPECT_EQ(file_refusal(file()), "");
  EXPECT_THAT(file_refusal(link), HasSubstr("is no regular file"))
      << "what it leads to may be another when it is loaded";
  fs::remove(link);
  fs::remove(file());
  fs::create_directory(file());
  Registry found = registry();
  EXPECT_THAT(error_of([&] { found.plugin("mock"); }), HasSubstr("is no regular file"));
}

// The user's own word, of which is warned once.
TEST_F(TrustedPath, ThePluginPathIsTakenAsItIs) {
  fs::permissions(plugins_, fs::perms(0777));
  unsetenv("XDG_DATA_HOME");
  setenv("PRIMSET_PLUGIN_PATH", plugins_.c_str(), 1);
  Registry folder = registry();
  EXPECT_EQ(folder.plugin("mock")->name(), "mock");
  EXPECT_THAT(log_, testing::ElementsAre(AllOf(HasSubstr(plugins_.string()),
                                               HasSubstr("may be written by others"),
                                               HasSubstr("PRIMSET_PLUGIN_PATH"))));
  fs::permissions(plugins_, fs::perms(0700));
  fs::permissions(file(), fs::perms(0777));
  setenv("PRIMSET_PLUGIN_PATH", file().c_str(), 1);
  Registry single = registry();
  EXPECT_EQ(single.plugin("mock")->name(), "mock");
  EXPECT_THAT(log_, testing::ElementsAre(HasSubstr(file().string() + " may be written")));
}

TEST_F(TrustedPath, PluginsThatComeWithTheSdkAreKnownByTheirFolder) {
  const std::vector<SearchEntry> path = {{file(), Named::expressly}, {plugins_, Named::own}};
  EXPECT_TRUE(find_plugin_files(path).files.at(0).own);
  fs::permissions(plugins_, fs::perms(0777));
  EXPECT_FALSE(find_plugin_files(path).files.at(0).own) << "others may have put it there";
}

TEST(Loader, NameOfFile) {
  EXPECT_EQ(plugin_name_of("/x/libacme_primset.so"), "acme");
  EXPECT_EQ(plugin_name_of("/x/lib_primset.so"), "");
  EXPECT_EQ(plugin_name_of("/x/libacme.so"), "");
  EXPECT_EQ(plugin_name_of("/x/acme_primset.so"), "");
}

}  // namespace
}  // namespace primset::plugin
