// A plugin may lie about everything and do anything. What it says wrong is an Error that names the
// plugin and the member; what it does wrong while devices are listed is an entry of its own, and
// the other plugins are listed all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "sdk/base/printable.h"
#include "sdk/runtime/plugin/loader.h"

namespace primset::plugin {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// --- lies ----------------------------------------------------------------------------------------

struct Lie {
  const char* hostile;              // PRIMSET_HOSTILE, see testdata/hostile_plugin.c
  const char* named;                // what the error says of it; "": there is none
  const char* validated = nullptr;  // what the validation layer says of it first
};

constexpr Lie kTableLies[] = {
    {"null release", "primset_plugin.release is NULL"},
    {"null device_count", "primset_plugin.device_count is NULL"},
    {"null device_open", "primset_plugin.device_open is NULL"},
    {"null device_close", "primset_plugin.device_close is NULL"},
    {"null device_properties", "primset_plugin.device_properties is NULL"},
    {"null device_extension", "primset_plugin.device_extension is NULL"},
    {"null memory_alloc", "primset_plugin.memory_alloc is NULL"},
    {"null memory_free", "primset_plugin.memory_free is NULL"},
    {"null copy_in", "primset_plugin.copy_in is NULL"},
    {"null copy_out", "primset_plugin.copy_out is NULL"},
    {"null copy", "primset_plugin.copy is NULL"},
    {"null fill", "primset_plugin.fill is NULL"},
    {"null stream_create", "primset_plugin.stream_create is NULL"},
    {"null stream_destroy", "primset_plugin.stream_destroy is NULL"},
    {"null stream_synchronize", "primset_plugin.stream_synchronize is NULL"},
    {"null event_create", "primset_plugin.event_create is NULL"},
    {"null event_destroy", "primset_plugin.event_destroy is NULL"},
    {"null event_record", "primset_plugin.event_record is NULL"},
    {"null event_query", "primset_plugin.event_query is NULL"},
    {"null event_synchronize", "primset_plugin.event_synchronize is NULL"},
    {"null stream_wait_event", "primset_plugin.stream_wait_event is NULL"},
    {"null module_load", "primset_plugin.module_load is NULL"},
    {"null module_unload", "primset_plugin.module_unload is NULL"},
    {"null module_kernel", "primset_plugin.module_kernel is NULL"},
    {"null launch", "primset_plugin.launch is NULL"},
    {"null name", "primset_plugin.name is NULL"},
    {"null version", "primset_plugin.version is NULL"},
    {"null vendor", "primset_plugin.vendor is NULL"},
    {"table none", "returned success but no table"},
    {"table struct_size 0", "primset_plugin.struct_size is 0"},
    {"table struct_size 4", "primset_plugin.struct_size is 4"},
    {"table abi_version 0", "speaks plugin ABI version 0"},
    {"table abi_version 4294967295", "speaks plugin ABI version 4294967295"},
    {"text name", "primset_plugin.name is \"\\x1b[31mred\\x1b[0m\\x0a\\xff\""},
    {"text empty_name", "primset_plugin.name is \"\""},
    {"text long_name", "at most 64 characters"},
    {"text line_name", "primset_plugin.name is \"hostile\\x0aother\""},
    {"text version", ""},
    {"text vendor", ""},
    {"text long_version", ""},
    {"query fails", "primset_plugin_query(ABI versions 1 to 1): internal error: told"},
    {"deed primset_plugin_query throw", "primset_plugin_query: threw an exception"},
};

constexpr Lie kDeviceLies[] = {
    {"count 0", "no such device"},
    {"count 4294967295", "device_count: 4294967295 devices; expected at most 1024"},
    {"count 1025", "device_count: 1025 devices"},
    {"status no_size", "device_count: internal error: (the status has struct_size 0"},
    {"status no_release", "primset_status.release is NULL"},
    {"status no_message", "primset_status.message is NULL"},
    {"status escapes", "internal error: \\x1b[31mred\\x1b[0m\n\\xff"},
    {"status megabyte", "aaaa... (cut)"},
    {"status code", "device_count: unknown status: told"},
    {"handle device_open", "device_open(0): returned success but no handle",
     "success but did not set out_device"},
    {"handle memory_alloc", "memory_alloc: returned success but no handle",
     "success but did not set out_buffer"},
    {"handle stream_create", "stream_create: returned success but no handle",
     "success but did not set out_stream"},
    {"handle event_create", "event_create: returned success but no handle",
     "success but did not set out_event"},
    {"handle module_load", "module_load: returned success but no handle",
     "success but did not set out_module"},
    {"handle module_kernel", "module_kernel: returned success but no handle",
     "success but did not set out_kernel"},
    {"handle recordings.end", "recordings.end: returned success but no handle",
     "success but did not set out_recording"},
    {"deed device_count throw", "device_count: threw an exception"},
    {"deed device_open throw", "thrown by the \\x1b[31mplugin"},
    {"deed device_properties throw", "device_properties: threw an exception",
     "device_open(0): threw an exception"},
    {"deed device_extension throw", "device_extension: threw an exception"},
    // Given up first, which tells nothing, then ended.
    {"abandon no_release", "recordings.end: internal error: told (never released"},
    {"abandon no_size", "recordings.end: internal error: (the status has struct_size 0"},
    {"text title", ""},
    {"text no_end", ""},
};

constexpr Lie kPropertyLies[] = {
    {"property struct_size 0", ""},
    {"property kernel_format 6", "kernel_format is 6"},
    {"property kernel_format 4294967295", "kernel_format is 4294967295"},
    {"property memory_bytes 18446744073709551615", "memory_bytes is 18446744073709551615"},
    {"property dtypes 0", "dtypes is 0"},
    {"property dtypes 0x7000", "dtypes is 28672"},
    {"property memory_alignment 0", "memory_alignment is 0"},
    {"property memory_alignment 24", "memory_alignment is 24"},
    {"property memory_alignment 0x80000000", "memory_alignment is 2147483648"},
    {"property max_param_bytes 0", "max_param_bytes is 0"},
    {"property max_param_bytes 127", "max_param_bytes is 127"},
    {"property max_param_bytes 4294967295", "max_param_bytes is 4294967295"},
    {"property max_groups 0", "max_groups is 0"},
    {"property threads 0", "threads is 0"},
    {"property threads 4294967295", "threads is 4294967295"},
    {"property vector_bytes 3", "vector_bytes is 3"},
    {"property vector_bytes 0x80000000", "vector_bytes is 2147483648"},
    {"property llvm_cpu x", "llvm_cpu has more than 65536 bytes"},
    {"simt group_threads 0", "group_threads is 0"},
    {"simt group_threads 48", "group_threads is 48"},
    {"simt max_group_threads 0", "max_group_threads is 0"},
    {"simt max_group_threads 4294967295", "max_group_threads is 4294967295"},
    {"simt group_memory 4294967295", "group_memory is 4294967295"},
    {"simt large_group_memory 4294967295", "large_group_memory is 4294967295"},
    {"simt min_subgroup 0", "min_subgroup is 0"},
    {"simt min_subgroup 64", "min_subgroup is 64"},
    {"simt max_subgroup 4294967295", "max_subgroup is 4294967295"},
    {"simt keep_nan_widths 7", "keep_nan_widths is 7"},
    {"simt round_even_widths 128", "round_even_widths is 128"},
    {"simt keep_denorm_widths 4294967295", "keep_denorm_widths is 4294967295"},
    {"simt threads 4294967295", "threads is 4294967295"},
    {"property struct_size 4294967295", ""},
    {"property kernel_format 7", "kernel_format is 7"},
    {"property memory_bytes 0", ""},
    {"property memory_bytes 0x100000000000001", "memory_bytes is 72057594037927937"},
    {"property dtypes 0xffffffff", ""},
    {"property features 0xffffffff", ""},
    {"property numerics 0xffffffff", ""},
    {"property loop_limit 1", ""},
    {"property memory_alignment 3", "memory_alignment is 3"},
    {"property memory_alignment 4194304", "memory_alignment is 4194304"},
    {"property max_param_bytes 2097152", "max_param_bytes is 2097152"},
    {"property threads 65537", "threads is 65537"},
    {"property vector_bytes 2048", "vector_bytes is 2048"},
    {"property vector_bytes 4294967295", "vector_bytes is 4294967295"},
    {"property llvm_triple x", "llvm_triple has more than 65536 bytes"},
    {"property llvm_features x", "llvm_features has more than 65536 bytes"},
    {"simt group_threads 4294967295", "group_threads is 4294967295"},
    {"simt group_threads 512", "max_group_threads is 256"},
    {"simt max_group_threads 65537", "max_group_threads is 65537"},
    {"simt group_memory 1073741825", "group_memory is 1073741825"},
    {"simt group_memory 0", ""},
    {"simt min_subgroup 3", "min_subgroup is 3"},
    {"simt max_subgroup 48", "max_subgroup is 48"},
    {"simt max_subgroup 0", "min_subgroup is 32"},
    {"simt max_subgroup 2048", "max_subgroup is 2048"},
    {"simt keep_nan_widths 1", "keep_nan_widths is 1"},
    {"simt round_even_widths 4294967295", "round_even_widths is 4294967295"},
    {"simt keep_denorm_widths 8", "keep_denorm_widths is 8"},
    {"simt loop_limit 4294967295", ""},
    {"simt numerics 0xffffffff", ""},
    {"simt features 0xffffffff", ""},
    // An event that is never reached, and answers that are none.
    {"reached 0", ""},
    {"reached 77", ""},
    {"reached 4294967295", ""},
};

// What every function can fail with: all codes, that of success and one that nobody knows.
constexpr const char* kFailing[] = {"device_open",
                                    "device_properties",
                                    "memory_alloc",
                                    "copy_in",
                                    "copy_out",
                                    "copy",
                                    "fill",
                                    "stream_create",
                                    "event_create",
                                    "event_record",
                                    "event_query",
                                    "event_synchronize",
                                    "stream_wait_event",
                                    "module_load",
                                    "module_kernel",
                                    "launch",
                                    "stream_synchronize"};
constexpr std::pair<const char*, const char*> kCodes[] = {{"0", "ok"},
                                                          {"1", "invalid argument"},
                                                          {"2", "unsupported"},
                                                          {"3", "out of memory"},
                                                          {"4", "device lost"},
                                                          {"5", "load failed"},
                                                          {"6", "internal error"},
                                                          {"4294967295", "unknown status"}};

constexpr Lie kExtensionLies[] = {
    {"extension host_memory.address", "primset_host_memory.address is NULL"},
    {"extension host_memory.import", "primset_host_memory.import is NULL"},
    {"extension device_addresses.address", "primset_device_addresses.address is NULL"},
    {"extension primitives.find", "primset_primitives.find is NULL"},
    {"extension recordings.begin", "primset_recordings.begin is NULL"},
    {"extension recordings.end", "primset_recordings.end is NULL"},
    {"extension recordings.play", "primset_recordings.play is NULL"},
    {"extension recordings.destroy", "primset_recordings.destroy is NULL"},
    {"short host_memory", "primset_host_memory.struct_size is 4"},
    {"short device_addresses", "primset_device_addresses.struct_size is 4"},
    {"short primitives", "primset_primitives.struct_size is 4"},
    {"short recordings", "primset_recordings.struct_size is 4"},
};

void use_stream(const StreamHandle& stream, const DeviceBuffer& buffer, EventHandle& event,
                const ModuleHandle& module) {
  uint32_t words[4] = {1, 2, 3, 4};
  stream.copy_in(buffer.handle(), 0, words, sizeof(words));
  stream.fill(buffer.handle(), 16, 16, words, sizeof(words[0]));
  stream.copy(buffer.handle(), 32, buffer.handle(), 0, 16);
  primset_launch launch{};
  launch.struct_size = sizeof(launch);
  launch.kernel = module.kernel();
  launch.groups[0] = launch.groups[1] = launch.groups[2] = 1;
  stream.launch(launch);
  event.record(stream);
  for (int i = 0; i < 3; ++i) static_cast<void>(event.reached());
  stream.wait(event);
  event.synchronize();
  stream.copy_out(buffer.handle(), 0, words, sizeof(words));
  stream.synchronize();
}

// Everything that a device is used for, once.
void use_everything(bool validated) {
  LoaderOptions options;
  options.path = {PRIMSET_MOCK_DIR "/hostile"};
  options.log = nullptr;
  if (validated) options.validation = ValidationOptions{};
  Registry registry(std::move(options));
  const std::shared_ptr<PluginDevice> device = registry.open("hostile:0");
  const std::string shown =
      device->title() + device->plugin().version() + device->plugin().vendor();
  if (printable(std::string_view(shown)) != shown)
    throw Error(ErrorCode::internal, "what is shown of the device is not printable");
  const DeviceBuffer buffer = device->alloc(64);
  const StreamHandle stream = device->create_stream();
  EventHandle event = device->create_event();
  primset_module_desc desc{};
  desc.struct_size = sizeof(desc);
  desc.format = device->properties().kernel_format;
  alignas(8) const char code[] = "kernel";
  desc.data = code;
  desc.size = sizeof(code);
  desc.entry = "kernel";
  desc.group_size[0] = desc.group_size[1] = desc.group_size[2] = 1;
  const ModuleHandle module = device->load_module(desc);
  use_stream(stream, buffer, event, module);
  stream.begin_recording();
  stream.abandon_recording();
  stream.begin_recording();
  const RecordingHandle recording = stream.end_recording();
}

struct Child {
  int status = 0;
  std::string text;  // the Error's
};

Child in_a_child(const char* hostile, bool validated) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(30);
    setenv("PRIMSET_HOSTILE", hostile, 1);
    std::string text;
    try {
      use_everything(validated);
    } catch (const Error& e) {
      text = e.what();
    }
    // A pipe takes any length at once from a writer that may wait.
    _exit(write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size()));
  }
  close(ends[1]);
  Child child;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof(part))) > 0;)
    child.text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  waitpid(pid, &child.status, 0);
  return child;
}

class Lies : public testing::TestWithParam<bool> {
 protected:
  static void expect_errors(std::span<const Lie> lies, bool validated) {
    for (const Lie& lie : lies) {
      const Child child = in_a_child(lie.hostile, validated);
      EXPECT_EQ(child.status, 0) << lie.hostile << ": the host crashed";
      EXPECT_LE(child.text.size(), 66'000u) << lie.hostile;
      const char* named = validated && lie.validated ? lie.validated : lie.named;
      if (*named)
        EXPECT_THAT(child.text, AllOf(HasSubstr("hostile"), HasSubstr(named))) << lie.hostile;
      else
        EXPECT_EQ(child.text, "") << lie.hostile;
    }
  }
};

TEST_P(Lies, OfTheTableAreNamed) {
  expect_errors(kTableLies, GetParam());
}
TEST_P(Lies, OfDevicesAreNamed) {
  expect_errors(kDeviceLies, GetParam());
}
TEST_P(Lies, OfPropertiesAreNamed) {
  expect_errors(kPropertyLies, GetParam());
}
TEST_P(Lies, OfOptionalTablesAreNamed) {
  expect_errors(kExtensionLies, GetParam());
}
TEST_P(Lies, OfStatusesAreNamed) {
  for (const char* function : kFailing) {
    for (const auto& [code, name] : kCodes) {
      const std::string hostile = std::string("fails ") + function + " " + code;
      const std::string named = std::string(name) + ": told";
      const Lie lie[] = {{hostile.c_str(), named.c_str()}};
      expect_errors(lie, GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Hostile, Lies, testing::Bool(),
                         [](const auto& info) { return info.param ? "Validated" : "Plain"; });

// --- deeds ---------------------------------------------------------------------------------------

struct Deed {
  const char* hostile;
  const char* named;
};

constexpr Deed kDeeds[] = {
#if !__has_feature(thread_sanitizer)  // which ends a process that exits within dlopen() its own way
    {"deed constructor exit", "ended its process while loading: exit code 0"},
    {"deed constructor exit_now", "ended its process while loading: exit code 7"},
#endif
    {"deed constructor abort", "crashed while loading: signal 6"},
    {"deed constructor crash", "crashed while loading: signal 11"},
    {"deed constructor sleep", "gave no answer within 0.5 s while loading"},
    {"deed constructor close", "closed file descriptors that are not its own while loading"},
    {"deed constructor print", "gave no answer within 0.5 s while loading"},
    {"deed constructor forge", "crashed while loading: signal 9"},
    {"deed primset_plugin_query exit", "ended its process while loading"},
    {"deed primset_plugin_query end_thread", "ended its process while loading"},
    {"deed primset_plugin_query throw", "primset_plugin_query: threw an exception"},
    {"deed primset_plugin_query log", "gave no answer within 0.5 s while loading"},
    {"deed device_count exit", "ended its process while calling device_count"},
    {"deed device_count abort", "crashed while calling device_count: signal 6"},
    {"deed device_count sleep", "gave no answer within 0.5 s while calling device_count"},
    {"deed device_count throw", "device_count: threw an exception"},
    {"deed device_open crash", "crashed while opening hostile:0: signal 11"},
    {"deed second_device_open crash", "crashed while opening hostile:1: signal 11"},
    {"deed device_open close", "closed file descriptors that are not its own while opening"},
    {"deed device_properties exit", "ended its process while opening hostile:0"},
    {"deed device_extension abort", "crashed while opening hostile:0: signal 6"},
    {"count 4294967295", "device_count: 4294967295 devices; expected at most 1024"},
    {"null launch", "primset_plugin.launch is NULL"},
};

class Deeds : public testing::Test {
 protected:
  void SetUp() override {
    setenv("PRIMSET_PROBE_SECONDS", "0.5", 1);
    cache_ = fs::path(testing::TempDir()) / ("primset_hostile_" + std::to_string(getpid()));
    fs::remove_all(cache_);
  }
  void TearDown() override {
    unsetenv("PRIMSET_PROBE_SECONDS");
    unsetenv("PRIMSET_HOSTILE");
    fs::remove_all(cache_);
  }

  std::vector<DeviceEntry> devices(const char* hostile, const char* program = PRIMSET_PROBE) {
    setenv("PRIMSET_HOSTILE", hostile, 1);
    LoaderOptions options;
    options.path = {PRIMSET_MOCK_DIR "/hostile", PRIMSET_MOCK_DIR "/other_file"};
    options.probe = true;
    options.probe_program = program;
    options.cache = std::make_shared<const runtime::DiskCache>(cache_);
    options.log = [this](uint32_t, std::string_view text) { log_.emplace_back(text); };
    Registry registry(std::move(options));
    return registry.devices();
  }

  fs::path cache_;
  std::vector<std::string> log_;
};

TEST_F(Deeds, AreNamedAndLeaveTheOthersListed) {
  for (const Deed& deed : kDeeds) {
    const std::vector<DeviceEntry> entries = devices(deed.hostile);
    ASSERT_EQ(entries.size(), 3u) << deed.hostile;
    EXPECT_EQ(entries[0].name, "hostile");
    EXPECT_THAT(entries[0].error, AllOf(HasSubstr("hostile"), HasSubstr(deed.named)));
    EXPECT_EQ(printable(std::string_view(entries[0].error)), entries[0].error) << deed.hostile;
    EXPECT_EQ(entries[1].name, "other:0") << deed.hostile;
    EXPECT_EQ(entries[1].error, "");
    EXPECT_EQ(entries[2].name, "other:1");
  }
}

TEST_F(Deeds, WhatADeviceSaysOfItselfIsPrintable) {
  const std::vector<DeviceEntry> entries = devices("text title");
  ASSERT_EQ(entries.size(), 4u);
  ASSERT_TRUE(entries[1].description);
  EXPECT_EQ(entries[1].description->title, "\\x1b[31mred\\x1b[0m\\x0a\\xff");
  EXPECT_EQ(entries[1].description->plugin_version, "1.0");
  EXPECT_EQ(entries[1].description->memory_bytes, 1u << 30);
}

// One device's error is not the other's.
TEST_F(Deeds, ADeviceThatLiesIsListedWithItsError) {
  const std::vector<DeviceEntry> entries = devices("property memory_alignment 24");
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].name, "hostile:0");
  EXPECT_THAT(entries[0].error, HasSubstr("memory_alignment is 24"));
}

TEST_F(Deeds, TheLimitIsKeptWithoutSpinning) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t worked = std::clock();
  EXPECT_THAT(devices("deed constructor mute")[0].error, HasSubstr("gave no answer within 0.5 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  EXPECT_LT(std::clock() - worked, CLOCKS_PER_SEC / 4) << "of this process, in half a second";
}

// 'Z' of a process that has ended and that nobody has waited for; 0 where there is none.
char state_of(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name;
  char state = 0;
  in >> number >> name >> state;
  return state;
}

TEST_F(Deeds, WhatItStartedIsEndedToo) {
  const std::string file = cache_.string() + "_left";
  setenv("PRIMSET_HOSTILE_LEFT", file.c_str(), 1);
  // The process that is left needs a moment to write its number, and may be ended before that.
  int pid = 0;
  for (int i = 0; i < 20 && pid == 0; ++i) {
    EXPECT_THAT(devices("deed device_count leave")[0].error, HasSubstr("exit code 7"));
    std::ifstream(file) >> pid;
  }
  unsetenv("PRIMSET_HOSTILE_LEFT");
  fs::remove(file);
  ASSERT_GT(pid, 0);
  char state = 'S';
  for (int i = 0; i < 100 && state != 0 && state != 'Z'; ++i) {
    usleep(10'000);
    state = state_of(pid);
  }
  EXPECT_TRUE(state == 0 || state == 'Z') << "process " << pid << " is still there: " << state;
}

// A plugin that writes the answer itself can only speak of its own devices.
TEST_F(Deeds, AForgedAnswerIsReadAsAStrangers) {
  const std::vector<DeviceEntry> entries = devices("deed constructor pretend");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "hostile:0");
  ASSERT_TRUE(entries[0].description);
  EXPECT_EQ(*entries[0].description, (DeviceDescription{"\\x1b[31m", "", 0, 0, 0}));
  EXPECT_EQ(entries[1].name, "other:0");
}

TEST_F(Deeds, TheLogIsBoundedAndPassedOn) {
  devices("deed primset_plugin_query log");
  EXPECT_GE(log_.size(), 500u);
  EXPECT_LE(log_.size(), 2100u) << "1,000 lines a second, for half a second";
  EXPECT_THAT(log_.front(), HasSubstr("... (cut)"));
  for (const std::string& line : log_) EXPECT_LE(line.size(), 8300u);
}

TEST_F(Deeds, PluginsThatBehaveAreRememberedAndOthersAreNot) {
  devices("deed constructor exit");
  // Probed again, and found good: what it was is not remembered.
  std::vector<DeviceEntry> entries = devices("none");
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].error, "");
  EXPECT_TRUE(entries[0].description) << "from the probe";
  EXPECT_FALSE(entries[2].description) << "the other one was found good before";
  entries = devices("none");
  EXPECT_FALSE(entries[0].description) << "loaded here";
}

TEST_F(Deeds, WithoutTheProgramPluginsAreLoadedHere) {
  const std::vector<DeviceEntry> entries = devices("none", "");
  ASSERT_EQ(entries.size(), 4u);
  for (const DeviceEntry& entry : entries) EXPECT_FALSE(entry.description) << entry.name;
  EXPECT_THAT(log_, testing::ElementsAre(HasSubstr("primset-probe is missing"),
                                         HasSubstr("plugin other is loaded to list its devices")));
}

TEST_F(Deeds, AProgramThatCannotBeStartedIsAnError) {
  const std::vector<DeviceEntry> entries = devices("none", "/nowhere/primset-probe");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_THAT(entries[0].error, HasSubstr("/nowhere/primset-probe cannot be started: No such"));
}

TEST_F(Deeds, ALimitThatIsNoNumberIsAnError) {
  for (const char* text : {"x", "0", "-1", "nan", "1e9", "2 "}) {
    setenv("PRIMSET_PROBE_SECONDS", text, 1);
    try {
      devices("none");
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::value);
      EXPECT_THAT(e.what(), HasSubstr(std::string("PRIMSET_PROBE_SECONDS is \"") + text + "\""));
    }
  }
}

}  // namespace
}  // namespace primset::plugin
