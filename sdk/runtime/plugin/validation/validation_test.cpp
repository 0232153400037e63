// The validation layer around the mock plugin: each rule is broken once, on purpose.
#include "sdk/runtime/plugin/validation/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "sdk/runtime/plugin/loader.h"

namespace primset::plugin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Validation : public testing::Test {
 protected:
  Validation() {
    LoaderOptions options;
    options.path = {std::filesystem::path(PRIMSET_MOCK_DIR) / "good"};
    options.log = nullptr;
    options.validation = ValidationOptions{};
    registry = std::make_unique<Registry>(std::move(options));
    plugin = registry->plugin("mock");
    device = plugin->open(0);
    stream = device->create_stream();
    layer = plugin->validation();
  }

  const primset_plugin& table() const { return plugin->table(); }
  std::vector<std::string> findings() const { return layer->findings(); }

  // Takes the status of a call that must fail; gives its message.
  static std::string refused(primset_status* status, uint32_t code = PRIMSET_INVALID_ARGUMENT) {
    if (!status) {
      ADD_FAILURE() << "the call was not refused";
      return "";
    }
    EXPECT_EQ(status->code, code);
    std::string message = status->message;
    status->release(status);
    return message;
  }

  ModuleHandle load(uint32_t pointers, uint32_t param_bytes) {
    alignas(8) static const char data[8] = {};
    primset_module_desc desc{};
    desc.struct_size = sizeof(desc);
    desc.format = PRIMSET_FORMAT_NATIVE_IMAGE;
    desc.data = data;
    desc.size = sizeof(data);
    desc.entry = "kernel";
    desc.group_size[0] = desc.group_size[1] = desc.group_size[2] = 1;
    desc.pointer_count = pointers;
    desc.param_bytes = param_bytes;
    return device->load_module(desc);
  }

  static primset_launch make_launch(const ModuleHandle& module,
                                    const std::vector<primset_binding>& bindings,
                                    uint32_t flags = 0) {
    primset_launch launch{};
    launch.struct_size = sizeof(launch);
    launch.flags = flags;
    launch.kernel = module.kernel();
    launch.groups[0] = launch.groups[1] = launch.groups[2] = 1;
    launch.bindings = bindings.data();
    launch.binding_count = static_cast<uint32_t>(bindings.size());
    return launch;
  }

  std::unique_ptr<Registry> registry;
  std::shared_ptr<Plugin> plugin;
  std::shared_ptr<PluginDevice> device;
  StreamHandle stream;
  ValidationLayer* layer = nullptr;
};

TEST_F(Validation, GoodUseFindsNothing) {
  {
    const DeviceBuffer a = device->alloc(64), b = device->alloc(64);
    std::array<char, 64> bytes{};
    stream.copy_in(a.handle(), 0, bytes.data(), 64);
    const ModuleHandle module = load(1, 8);
    const std::vector<primset_binding> bindings{{a.handle(), 0, 64, PRIMSET_ACCESS_WRITE, 0}};
    stream.launch(make_launch(module, bindings));
    stream.copy(b.handle(), 0, a.handle(), 0, 64);
    EventHandle event = device->create_event();
    event.record(stream);
    event.synchronize();
    stream.fill(b.handle(), 0, 64, bytes.data(), 16);
    stream.copy_out(b.handle(), 0, bytes.data(), 64);
    EXPECT_NE(a.host_address(), nullptr);
    stream.copy_in(nullptr, 0, nullptr, 0);
  }
  stream.reset();
  device.reset();
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(Validation, Ranges) {
  const DeviceBuffer a = device->alloc(64);
  char bytes[16] = {};
  EXPECT_THAT(refused(table().copy_in(stream.handle(), a.handle(), 60, bytes, 8)),
              HasSubstr("of 64 bytes; the range of 8 bytes at offset 60 leaves it"));
  EXPECT_THAT(refused(table().copy_out(stream.handle(), a.handle(), UINT64_MAX, bytes, 8)),
              HasSubstr("copy_out: buffer is buffer #"));
  EXPECT_THAT(refused(table().copy(stream.handle(), a.handle(), 4, a.handle(), 0, 8)),
              HasSubstr("overlap"));
  EXPECT_THAT(refused(table().fill(stream.handle(), a.handle(), 0, 9, bytes, 3)),
              HasSubstr("pattern_bytes is 3; expected 1, 2, 4, 8 or 16"));
  EXPECT_THAT(refused(table().fill(stream.handle(), a.handle(), 2, 8, bytes, 4)),
              HasSubstr("not multiples of pattern_bytes 4"));
  EXPECT_THAT(refused(table().copy_in(stream.handle(), a.handle(), 0, nullptr, 8)),
              HasSubstr("source is NULL"));
  primset_buffer buffer = nullptr;
  EXPECT_THAT(refused(table().memory_alloc(device->handle(), 0, &buffer)), HasSubstr("bytes is 0"));
  EXPECT_EQ(findings().size(), 7u);
}

TEST_F(Validation, Lifetime) {
  DeviceBuffer a = device->alloc(64);
  const primset_buffer stale = a.handle();
  a.reset();
  char byte = 0;
  EXPECT_THAT(refused(table().copy_in(stream.handle(), stale, 0, &byte, 1)),
              HasSubstr("which was released already"));
  table().memory_free(device->handle(), stale);
  EXPECT_THAT(refused(table().stream_synchronize(reinterpret_cast<primset_stream>(stale))),
              HasSubstr("never was a stream"));
  EXPECT_THAT(refused(table().stream_synchronize(reinterpret_cast<primset_stream>(&byte))),
              HasSubstr("never was a stream of this plugin"));
  EXPECT_THAT(refused(table().stream_synchronize(nullptr)), HasSubstr("stream is NULL"));
  ASSERT_EQ(findings().size(), 5u);
  EXPECT_THAT(findings()[1], HasSubstr("memory_free: buffer is buffer #"));
}

TEST_F(Validation, HandlesOfAnotherDevice) {
  const std::shared_ptr<PluginDevice> other = plugin->open(1);
  const DeviceBuffer foreign = other->alloc(8);
  char byte = 0;
  EXPECT_THAT(refused(table().copy_in(stream.handle(), foreign.handle(), 0, &byte, 1)),
              HasSubstr("but the call is about device #"));
}

TEST_F(Validation, LeaksAreReportedAndReleased) {
  primset_buffer buffer = nullptr;
  ASSERT_EQ(table().memory_alloc(device->handle(), 100, &buffer), nullptr);
  primset_event event = nullptr;
  ASSERT_EQ(table().event_create(device->handle(), &event), nullptr);
  stream.reset();
  device.reset();
  EXPECT_THAT(findings(),
              ElementsAre(HasSubstr("of 100 bytes was never released"), HasSubstr("event #")));
}

TEST_F(Validation, FreeingWhatIsInUse) {
  DeviceBuffer a = device->alloc(8), b = device->alloc(8), c = device->alloc(8);
  StreamHandle second = device->create_stream();
  EventHandle event = device->create_event();
  const char bytes[8] = {};
  stream.copy_in(a.handle(), 0, bytes, 8);
  stream.copy_in(c.handle(), 0, bytes, 8);
  event.record(stream);
  stream.copy_in(b.handle(), 0, bytes, 8);
  second.wait(event);
  second.synchronize();  // implies all up to the event, a and c included
  a.reset();
  EXPECT_THAT(findings(), IsEmpty());
  b.reset();
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_THAT(findings()[0], HasSubstr("may still be in use by work on stream #"));
}

TEST_F(Validation, LaunchParameters) {
  const DeviceBuffer a = device->alloc(64);
  const ModuleHandle module = load(2, 32);
  const std::vector<primset_binding> one{{a.handle(), 0, 64, PRIMSET_ACCESS_WRITE, 0}};
  alignas(8) const char scalars[24] = {};
  primset_launch launch = make_launch(module, one);
  launch.scalars = scalars;
  launch.scalar_bytes = 8;
  EXPECT_THAT(refused(table().launch(stream.handle(), &launch)),
              testing::AllOf(HasSubstr("binding_count is 1; the kernel has 2 pointers"),
                             HasSubstr("scalar_bytes is 8"), HasSubstr("leaves 16")));
  const std::vector<primset_binding> bad{{a.handle(), 32, 64, PRIMSET_ACCESS_WRITE, 0},
                                         {a.handle(), 0, 8, 0, 0}};
  launch = make_launch(module, bad, 6);
  launch.scalars = scalars + 4;
  launch.scalar_bytes = 16;
  launch.groups[1] = 2;
  EXPECT_THAT(refused(table().launch(stream.handle(), &launch)),
              testing::AllOf(HasSubstr("bindings[0] is buffer #"), HasSubstr("bindings[1].access"),
                             HasSubstr("unknown bits"), HasSubstr("groups[1] is 2"),
                             HasSubstr("not aligned to 8")));
  launch.struct_size = 8;
  EXPECT_THAT(refused(table().launch(stream.handle(), &launch)), HasSubstr("struct_size is 8"));
}

TEST_F(Validation, ModuleParameters) {
  alignas(8) const char data[16] = {};
  primset_module_desc desc{};
  desc.struct_size = sizeof(desc);
  desc.format = PRIMSET_FORMAT_PTX;
  desc.data = data + 1;
  desc.size = 8;
  desc.param_bytes = 260;
  primset_module module = nullptr;
  const std::string message = refused(table().module_load(device->handle(), &desc, &module));
  EXPECT_THAT(message, HasSubstr("desc->format is 3; the device takes 1"));
  EXPECT_THAT(message, HasSubstr("desc->entry is NULL"));
  EXPECT_THAT(message, HasSubstr("aligned to 8"));
  EXPECT_THAT(message, HasSubstr("param_bytes is 260; expected a multiple of 8"));
  EXPECT_THAT(message, HasSubstr("at most 256"));
  EXPECT_THAT(message, HasSubstr("group_size is 0 x 0 x 0"));
}

TEST_F(Validation, IndependentLaunchesThatAreNot) {
  const DeviceBuffer a = device->alloc(64);
  const ModuleHandle module = load(1, 8);
  const std::vector<primset_binding> write{{a.handle(), 0, 32, PRIMSET_ACCESS_WRITE, 0}};
  const std::vector<primset_binding> elsewhere{{a.handle(), 32, 32, PRIMSET_ACCESS_WRITE, 0}};
  const std::vector<primset_binding> read{{a.handle(), 16, 32, PRIMSET_ACCESS_READ, 0}};
  stream.launch(make_launch(module, write));
  stream.launch(make_launch(module, elsewhere, PRIMSET_LAUNCH_INDEPENDENT));
  EXPECT_THAT(findings(), IsEmpty());
  const primset_launch bad = make_launch(module, read, PRIMSET_LAUNCH_INDEPENDENT);
  EXPECT_THAT(refused(table().launch(stream.handle(), &bad)),
              testing::AllOf(HasSubstr("bytes 16 to 48"), HasSubstr("read after write"),
                             HasSubstr("bytes 0 to 32")));
  stream.launch(make_launch(module, read));
  stream.synchronize();
}

TEST_F(Validation, CopyOutEndsWhatWasInFlight) {
  const DeviceBuffer a = device->alloc(64);
  const ModuleHandle module = load(1, 8);
  const std::vector<primset_binding> write{{a.handle(), 0, 32, PRIMSET_ACCESS_WRITE, 0}};
  stream.launch(make_launch(module, write));
  std::byte bytes[32];
  stream.copy_out(a.handle(), 0, bytes, 0);
  const primset_launch again = make_launch(module, write, PRIMSET_LAUNCH_INDEPENDENT);
  EXPECT_THAT(refused(table().launch(stream.handle(), &again)), HasSubstr("write after write"));
  stream.copy_out(a.handle(), 0, bytes, sizeof bytes);
  stream.launch(again);
  EXPECT_EQ(findings().size(), 1u);
  stream.synchronize();
}

TEST_F(Validation, Recordings) {
  const ModuleHandle module = load(1, 8);
  DeviceBuffer buffer = device->alloc(64);
  const std::vector<primset_binding> bindings = {{buffer.handle(), 0, 64, PRIMSET_ACCESS_WRITE, 0}};
  const primset_launch launch = make_launch(module, bindings);
  const primset_recordings& recordings = *device->recordings();
  EXPECT_THAT(refused(recordings.end(stream.handle(), nullptr)),
              HasSubstr("the stream does not record"));
  stream.begin_recording();
  stream.launch(launch);
  const char* records = "records; expected recordings.end first";
  char byte = 0;
  EXPECT_THAT(refused(recordings.begin(stream.handle())), HasSubstr(records));
  EXPECT_THAT(refused(table().stream_synchronize(stream.handle())), HasSubstr(records));
  EXPECT_THAT(refused(table().copy_in(stream.handle(), buffer.handle(), 0, &byte, 1)),
              HasSubstr(records));
  const RecordingHandle recording = stream.end_recording();
  layer->clear_findings();
  stream.play(recording);
  stream.synchronize();
  EXPECT_THAT(findings(), IsEmpty());
  buffer.reset();
  EXPECT_THAT(refused(recordings.play(stream.handle(), recording.handle())),
              HasSubstr("which does not exist any more"));
}

TEST_F(Validation, StreamsThatOverlap) {
  // One thread sits inside a call: the log of a finding is part of the call.
  std::thread::id first;
  std::string message;
  LoaderOptions options;
  options.path = {std::filesystem::path(PRIMSET_MOCK_DIR) / "good"};
  options.validation = ValidationOptions{};
  primset_stream handle = nullptr;
  const primset_plugin* table = nullptr;
  options.log = [&](uint32_t, std::string_view) {
    if (first != std::thread::id()) return;
    first = std::this_thread::get_id();
    std::thread([&] { message = refused(table->stream_synchronize(handle)); }).join();
  };
  Registry own(std::move(options));
  const std::shared_ptr<PluginDevice> opened = own.open("mock");
  const StreamHandle busy = opened->create_stream();
  handle = busy.handle();
  table = &opened->table();
  refused(table->copy_in(handle, nullptr, 0, nullptr, 1));
  EXPECT_THAT(message, HasSubstr("is in use by another thread"));
}

TEST_F(Validation, FaultsAreInjectedAtTheCallAskedFor) {
  layer->inject({"memory_alloc", 2, PRIMSET_OUT_OF_MEMORY});
  layer->inject({"copy_in", 1, PRIMSET_DEVICE_LOST});
  const DeviceBuffer first = device->alloc(8);
  primset_buffer second = nullptr;
  EXPECT_THAT(refused(table().memory_alloc(device->handle(), 8, &second), PRIMSET_OUT_OF_MEMORY),
              HasSubstr("injected fault of memory_alloc"));
  EXPECT_EQ(second, nullptr);
  const DeviceBuffer third = device->alloc(8);
  char byte = 0;
  refused(table().copy_in(stream.handle(), first.handle(), 0, &byte, 1), PRIMSET_DEVICE_LOST);
  stream.copy_in(third.handle(), 0, &byte, 1);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST(ValidationOptionsTest, FromTheEnvironment) {
  unsetenv("PRIMSET_VALIDATE");
  unsetenv("PRIMSET_FAULTS");
  EXPECT_FALSE(validation_from_environment());
  setenv("PRIMSET_VALIDATE", "0", 1);
  EXPECT_FALSE(validation_from_environment());
  setenv("PRIMSET_FAULTS", "launch:3=device_lost,memory_alloc:1=out_of_memory", 1);
  const auto options = validation_from_environment();
  unsetenv("PRIMSET_VALIDATE");
  unsetenv("PRIMSET_FAULTS");
  ASSERT_TRUE(options);
  ASSERT_EQ(options->faults.size(), 2u);
  EXPECT_EQ(options->faults[0].call, "launch");
  EXPECT_EQ(options->faults[0].nth, 3u);
  EXPECT_EQ(options->faults[1].status, uint32_t{PRIMSET_OUT_OF_MEMORY});
  for (const char* text : {"launch", "launch:0=internal", "launch:x=internal", "launch:1=odd"})
    EXPECT_THROW(parse_faults(text), Error) << text;
}

}  // namespace
}  // namespace primset::plugin
