// What every device must do, whatever its plugin: through the loader, with and without the
// validation layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "backends/common/testing/device_under_test.h"
#include "backends/common/testing/kernels.h"
#include "sdk/runtime/plugin/loader.h"

namespace primset::plugin {
namespace {

using primset_backend_test::add_bias;
using primset_backend_test::TestKernel;
using testing::HasSubstr;

class Device : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    LoaderOptions options;
    options.path = {primset_backend_test::plugin_folder_under_test()};
    options.cache = std::make_shared<const runtime::DiskCache>(cache);
    // Drivers' validation layers report through the log; so does ours.
    options.log = [this](uint32_t level, std::string_view text) {
      const std::lock_guard lock(log_mutex);
      if (level >= PRIMSET_LOG_ERROR) logged.emplace_back(text);
    };
    if (GetParam()) options.validation = ValidationOptions{};
    registry = std::make_unique<Registry>(std::move(options));
    device = registry->open(primset_backend_test::device_under_test());
    stream = device->create_stream();
  }

  void TearDown() override {
    std::filesystem::remove_all(cache);
    if (!device) return;
    const std::shared_ptr<Plugin> plugin = registry->plugin(device->plugin().name());
    stream.reset();
    device.reset();
    if (plugin->validation()) EXPECT_THAT(plugin->validation()->findings(), testing::IsEmpty());
    EXPECT_THAT(logged, testing::IsEmpty());
  }

  std::vector<uint8_t> read(const DeviceBuffer& buffer, uint64_t offset, uint64_t bytes) {
    std::vector<uint8_t> out(bytes);
    stream.copy_out(buffer.handle(), offset, out.data(), bytes);
    return out;
  }

  // What drivers compiled, where the plugin keeps it.
  std::vector<std::filesystem::path> compiled_files() const {
    std::vector<std::filesystem::path> files;
    const std::filesystem::path folder = cache / device->plugin().name();
    if (!std::filesystem::exists(folder)) return files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    return files;
  }

  uint32_t format() const { return device->properties().kernel_format; }
  ModuleHandle load(const TestKernel& kernel) { return device->load_module(kernel.desc(format())); }

  // One launch of add_bias over n elements; ranges are in elements.
  static void launch_add(const StreamHandle& on, const ModuleHandle& module, const DeviceBuffer& in,
                         uint64_t in_first, const DeviceBuffer& out, uint64_t out_first, uint32_t n,
                         int32_t bias, uint32_t flags = 0, uint32_t param_bytes = 24) {
    alignas(8) char scalars[512] = {};
    std::memcpy(scalars, &bias, sizeof(bias));
    const primset_binding bindings[] = {
        {in.handle(), 4 * in_first, 4 * uint64_t{n}, PRIMSET_ACCESS_READ, 0},
        {out.handle(), 4 * out_first, 4 * uint64_t{n}, PRIMSET_ACCESS_WRITE, 0}};
    primset_launch launch{};
    launch.struct_size = sizeof(launch);
    launch.flags = flags;
    launch.kernel = module.kernel();
    launch.groups[0] = n;
    launch.groups[1] = launch.groups[2] = 1;
    launch.binding_count = 2;
    launch.bindings = bindings;
    launch.scalars = scalars;
    launch.scalar_bytes = param_bytes - 16;
    on.launch(launch);
  }

  std::vector<int32_t> read_ints(const StreamHandle& on, const DeviceBuffer& buffer, size_t n) {
    std::vector<int32_t> out(n);
    on.copy_out(buffer.handle(), 0, out.data(), 4 * n);
    return out;
  }

  const std::filesystem::path cache = std::filesystem::path(testing::TempDir()) /
                                      ("primset_device_test_" + std::to_string(getpid()));
  std::mutex log_mutex;
  std::vector<std::string> logged;
  std::unique_ptr<Registry> registry;
  std::shared_ptr<PluginDevice> device;
  StreamHandle stream;
};

INSTANTIATE_TEST_SUITE_P(, Device, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "validated" : "plain"; });

std::vector<uint8_t> random_bytes(size_t n, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(n);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  return bytes;
}

// --- memory --------------------------------------------------------------------------------------

TEST_P(Device, CopiesInAndOut) {
  for (uint64_t bytes : {1u, 3u, 64u, 4097u, (1u << 20) + 1, 9u << 20, 40u << 20}) {
    const DeviceBuffer buffer = device->alloc(bytes + 16);
    const std::vector<uint8_t> source = random_bytes(bytes);
    stream.copy_in(buffer.handle(), 5, source.data(), bytes);
    ASSERT_EQ(read(buffer, 5, bytes), source) << bytes;
    const uint64_t middle = bytes / 2;
    ASSERT_EQ(read(buffer, 5 + middle, bytes - middle),
              std::vector<uint8_t>(source.begin() + static_cast<long>(middle), source.end()));
  }
}

TEST_P(Device, SourceMayBeReusedAtOnce) {
  const DeviceBuffer buffer = device->alloc(4096);
  std::vector<uint8_t> source(256);
  for (int i = 0; i < 16; ++i) {
    std::fill(source.begin(), source.end(), static_cast<uint8_t>(i));
    stream.copy_in(buffer.handle(), 256 * static_cast<uint64_t>(i), source.data(), 256);
  }
  const std::vector<uint8_t> all = read(buffer, 0, 4096);
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i / 256);
}

TEST_P(Device, CopiesOnTheDevice) {
  const std::vector<uint8_t> source = random_bytes(100'003);
  const DeviceBuffer a = device->alloc(source.size()), b = device->alloc(source.size());
  stream.copy_in(a.handle(), 0, source.data(), source.size());
  stream.copy(b.handle(), 0, a.handle(), 0, source.size());
  EXPECT_EQ(read(b, 0, source.size()), source);
  stream.copy(b.handle(), 3, a.handle(), 50'001, 777);
  stream.copy(b.handle(), 3, b.handle(), 10'000, 100);
  std::vector<uint8_t> expected = source;
  std::copy_n(source.begin() + 50'001, 777, expected.begin() + 3);
  std::copy_n(source.begin() + 10'000, 100, expected.begin() + 3);
  EXPECT_EQ(read(b, 0, source.size()), expected);
}

TEST_P(Device, Fills) {
  const std::vector<uint8_t> pattern = random_bytes(16);
  for (uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
    for (uint64_t count : {1u, 3u, 1000u, 100'001u}) {
      const uint64_t bytes = size * count, offset = 3 * size;
      const DeviceBuffer buffer = device->alloc(bytes + 6 * size);
      const std::vector<uint8_t> before = random_bytes(buffer.bytes(), 2);
      stream.copy_in(buffer.handle(), 0, before.data(), before.size());
      stream.fill(buffer.handle(), offset, bytes, pattern.data(), size);
      std::vector<uint8_t> expected = before;
      for (uint64_t i = 0; i < bytes; ++i) expected[offset + i] = pattern[i % size];
      ASSERT_EQ(read(buffer, 0, buffer.bytes()), expected) << size << " x " << count;
    }
  }
}

TEST_P(Device, EmptyRangesAreLegal) {
  const DeviceBuffer buffer = device->alloc(16);
  const uint32_t pattern = 0;
  stream.copy_in(buffer.handle(), 16, nullptr, 0);
  stream.copy_in(nullptr, 0, nullptr, 0);
  stream.copy_out(nullptr, 0, nullptr, 0);
  stream.copy(nullptr, 0, buffer.handle(), 0, 0);
  stream.fill(nullptr, 0, 0, &pattern, 4);
}

TEST_P(Device, AllocationsAreAlignedAndApart) {
  std::vector<DeviceBuffer> buffers;
  for (uint64_t i = 0; i < 40; ++i) {
    buffers.push_back(device->alloc(1 + i * i * 997));
    if (const uint64_t address = buffers.back().device_address())
      EXPECT_EQ(address % device->properties().memory_alignment, 0u);
    const auto value = static_cast<uint8_t>(i);
    stream.fill(buffers.back().handle(), 0, buffers.back().bytes(), &value, 1);
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    for (uint8_t b : read(buffers[i], 0, buffers[i].bytes())) ASSERT_EQ(b, i);
}

TEST_P(Device, TooLargeAnAllocationIsOutOfMemory) {
  for (uint64_t bytes : {uint64_t{1} << 50, UINT64_MAX}) {
    try {
      device->alloc(bytes);
      ADD_FAILURE() << bytes;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
    }
  }
  EXPECT_EQ(device->alloc(64).bytes(), 64u);
}

TEST_P(Device, HostMemory) {
  if (!device->host_memory()) GTEST_SKIP() << "the device has no host memory";
  const DeviceBuffer buffer = device->alloc(1000);
  if (auto* address = static_cast<uint8_t*>(buffer.host_address())) {
    const std::vector<uint8_t> source = random_bytes(1000);
    stream.copy_in(buffer.handle(), 0, source.data(), 1000);
    stream.synchronize();
    EXPECT_EQ(std::memcmp(address, source.data(), 1000), 0);
    address[7] = 99;
    EXPECT_EQ(read(buffer, 7, 1)[0], 99);
  }
  std::vector<uint8_t> own = random_bytes(512);
  try {
    const DeviceBuffer imported = device->import(own.data(), own.size());
    EXPECT_EQ(read(imported, 0, 512), own);
    const uint8_t value = 5;
    stream.fill(imported.handle(), 100, 1, &value, 1);
    stream.synchronize();
    EXPECT_EQ(own[100], 5);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_implemented) << e.what();
  }
}

TEST_P(Device, PinnedMemoryIsCopiedInOrder) {
  if (!device->pinned_memory()) GTEST_SKIP() << "the device has no pinned memory";
  for (uint64_t bytes : {1u, 4097u, 9u << 20}) {
    const DeviceBuffer a = device->alloc(bytes + 8), b = device->alloc(bytes + 8);
    const PinnedHandle from = device->alloc_pinned(bytes + 1), to = device->alloc_pinned(bytes + 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(from.memory()) % 64, 0u);
    const std::vector<uint8_t> source = random_bytes(bytes);
    auto* const first = static_cast<uint8_t*>(from.memory()) + 1;
    auto* const last = static_cast<uint8_t*>(to.memory()) + 1;
    std::ranges::copy(source, first);
    stream.copy_in_pinned(a.handle(), 5, first, bytes);
    stream.copy(b.handle(), 3, a.handle(), 5, bytes);
    const uint8_t zero = 0;
    stream.fill(a.handle(), 0, a.bytes(), &zero, 1);
    stream.copy_out_pinned(b.handle(), 3, last, bytes);
    stream.fill(b.handle(), 0, b.bytes(), &zero, 1);
    EventHandle done = device->create_event();
    done.record(stream);
    done.synchronize();
    ASSERT_TRUE(std::ranges::equal(source, std::span(last, bytes))) << bytes;
  }
}

TEST_P(Device, PeersCopyFromEachOther) {
  const std::shared_ptr<Plugin> plugin = registry->plugin(device->plugin().name());
  bool any = false;
  for (uint32_t i = 0; i < plugin->device_count(); ++i) {
    const std::shared_ptr<PluginDevice> peer = plugin->open(i);
    if (!device->reaches(*peer)) continue;
    any = true;
    const StreamHandle theirs = peer->create_stream();
    EventHandle written = peer->create_event(), copied = device->create_event();
    const DeviceBuffer from = peer->alloc(1 << 20), to = device->alloc(1 << 20);
    for (uint8_t round = 1; round < 20; ++round) {
      theirs.fill(from.handle(), 0, from.bytes(), &round, 1);
      written.record(theirs);
      stream.wait_for_peer(written);
      stream.copy_from_peer(to.handle(), 16, from.handle(), 0, (1 << 20) - 16);
      copied.record(stream);
      theirs.wait_for_peer(copied);
      if (round % 5 == 0) {
        ASSERT_THAT(read(to, to.bytes() - 16, 16), testing::Each(round));
      }
    }
    stream.synchronize();
    theirs.synchronize();
  }
  if (!any) GTEST_SKIP() << "the device reaches no other";
}

// --- streams and events --------------------------------------------------------------------------

TEST_P(Device, EventsMarkPlaces) {
  EventHandle event = device->create_event();
  EXPECT_TRUE(event.reached()) << "a fresh event counts as reached";
  event.synchronize();
  const DeviceBuffer buffer = device->alloc(1 << 20);
  const uint32_t value = 7;
  stream.wait(event);
  stream.fill(buffer.handle(), 0, buffer.bytes(), &value, 4);
  event.record(stream);
  stream.synchronize();
  EXPECT_TRUE(event.reached());
  stream.fill(buffer.handle(), 0, buffer.bytes(), &value, 4);
  event.record(stream);
  event.record(stream);
  event.synchronize();
  EXPECT_TRUE(event.reached());
}

TEST_P(Device, StreamsWaitForEachOther) {
  const StreamHandle second = device->create_stream();
  EventHandle there = device->create_event(), back = device->create_event();
  const DeviceBuffer a = device->alloc(1 << 20), b = device->alloc(1 << 20);
  for (uint8_t round = 1; round < 20; ++round) {
    stream.fill(a.handle(), 0, a.bytes(), &round, 1);
    there.record(stream);
    second.wait(there);
    second.copy(b.handle(), 0, a.handle(), 0, a.bytes());
    back.record(second);
    stream.wait(back);
    std::vector<uint8_t> seen(16);
    if (round % 5 == 0) {
      stream.copy_out(b.handle(), b.bytes() - 16, seen.data(), 16);
      ASSERT_THAT(seen, testing::Each(round));
    }
  }
  stream.synchronize();
  second.synchronize();
}

TEST_P(Device, DestroyingAStreamWaits) {
  const DeviceBuffer buffer = device->alloc(8 << 20);
  {
    const StreamHandle other = device->create_stream();
    const uint64_t value = 0x0102030405060708;
    other.fill(buffer.handle(), 0, buffer.bytes(), &value, 8);
  }
  const std::vector<uint8_t> end = read(buffer, buffer.bytes() - 8, 8);
  EXPECT_THAT(end, testing::ElementsAre(8, 7, 6, 5, 4, 3, 2, 1));
}

TEST_P(Device, EventOutlivesItsStream) {
  EventHandle event = device->create_event();
  {
    const StreamHandle other = device->create_stream();
    event.record(other);
  }
  EXPECT_TRUE(event.reached());
  event.synchronize();
  stream.wait(event);
  stream.synchronize();
}

TEST_P(Device, OpenTwice) {
  const std::shared_ptr<PluginDevice> other =
      registry->plugin(device->plugin().name())->open(device->index());
  const StreamHandle other_stream = other->create_stream();
  const DeviceBuffer mine = device->alloc(64), theirs = other->alloc(64);
  const uint8_t one = 1, two = 2;
  stream.fill(mine.handle(), 0, 64, &one, 1);
  other_stream.fill(theirs.handle(), 0, 64, &two, 1);
  uint8_t seen = 0;
  other_stream.copy_out(theirs.handle(), 63, &seen, 1);
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(read(mine, 63, 1)[0], 1);
}

// --- kernels -------------------------------------------------------------------------------------

TEST_P(Device, LaunchesInOrder) {
  const TestKernel kernel = add_bias(format());
  if (kernel.size == 0) GTEST_SKIP() << "no test kernel for this format";
  const ModuleHandle module = load(kernel);
  constexpr uint32_t n = 300;
  const DeviceBuffer a = device->alloc(4 * n), b = device->alloc(4 * n);
  std::vector<int32_t> expected(n);
  std::iota(expected.begin(), expected.end(), -7);
  stream.copy_in(a.handle(), 0, expected.data(), 4 * n);
  for (int i = 0; i < 300; ++i) {
    launch_add(stream, module, a, 0, b, 0, n, i);
    launch_add(stream, module, b, 0, a, 0, n, 1);
  }
  for (int32_t& x : expected) x += 300 * 299 / 2 + 300;
  EXPECT_EQ(read_ints(stream, a, n), expected);
}

TEST_P(Device, IndependentLaunches) {
  const TestKernel kernel = add_bias(format());
  if (kernel.size == 0) GTEST_SKIP() << "no test kernel for this format";
  const ModuleHandle module = load(kernel);
  constexpr uint32_t n = 64, parts = 64;
  const DeviceBuffer a = device->alloc(4 * n), b = device->alloc(4 * n * parts);
  const std::vector<int32_t> zeros(n);
  stream.copy_in(a.handle(), 0, zeros.data(), 4 * n);
  for (uint32_t i = 0; i < parts; ++i)
    launch_add(stream, module, a, 0, b, i * n, n, static_cast<int32_t>(i),
               i == 0 ? 0 : PRIMSET_LAUNCH_INDEPENDENT);
  const std::vector<int32_t> all = read_ints(stream, b, n * parts);
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int32_t>(i / n));
}

TEST_P(Device, RecordingsRunAgainAndAgain) {
  if (!device->recordings()) GTEST_SKIP() << "the device records nothing";
  const TestKernel kernel = add_bias(format());
  const ModuleHandle module = load(kernel);
  constexpr uint32_t n = 100;
  const DeviceBuffer a = device->alloc(4 * n), b = device->alloc(4 * n);
  const std::vector<int32_t> zeros(n);
  stream.copy_in(a.handle(), 0, zeros.data(), 4 * n);
  stream.begin_recording();
  launch_add(stream, module, a, 0, b, 0, n, 3);
  launch_add(stream, module, b, 0, b, 0, n, 4);
  stream.copy(a.handle(), 0, b.handle(), 0, 4 * n);
  RecordingHandle recording = stream.end_recording();
  EXPECT_THAT(read_ints(stream, a, n), testing::Each(0)) << "it ran while it was recorded";
  for (int i = 0; i < 5; ++i) stream.play(recording);
  EXPECT_THAT(read_ints(stream, a, n), testing::Each(5 * 7));
  const StreamHandle other = device->create_stream();
  other.play(recording);
  other.play(recording);
  recording.reset();
  EXPECT_THAT(read_ints(other, a, n), testing::Each(7 * 7));
}

TEST_P(Device, AnAbandonedRecordingDoesNothing) {
  if (!device->recordings()) GTEST_SKIP() << "the device records nothing";
  const TestKernel kernel = add_bias(format());
  const ModuleHandle module = load(kernel);
  constexpr uint32_t n = 100;
  const DeviceBuffer a = device->alloc(4 * n);
  const std::vector<int32_t> zeros(n);
  stream.copy_in(a.handle(), 0, zeros.data(), 4 * n);
  stream.begin_recording();
  launch_add(stream, module, a, 0, a, 0, n, 3);
  stream.abandon_recording();
  launch_add(stream, module, a, 0, a, 0, n, 4);
  EXPECT_THAT(read_ints(stream, a, n), testing::Each(4));
}

TEST_P(Device, LargeParameterBlocks) {
  for (uint32_t param_bytes : {128u, 136u, 512u}) {
    if (param_bytes > device->properties().max_param_bytes) continue;
    const TestKernel kernel = add_bias(format(), param_bytes);
    if (kernel.size == 0) GTEST_SKIP() << "no test kernel for this format";
    const ModuleHandle module = load(kernel);
    constexpr uint32_t n = 100;
    const DeviceBuffer a = device->alloc(4 * n);
    const std::vector<int32_t> zeros(n);
    stream.copy_in(a.handle(), 0, zeros.data(), 4 * n);
    for (int i = 1; i <= 400; ++i) launch_add(stream, module, a, 0, a, 0, n, i, 0, param_bytes);
    EXPECT_THAT(read_ints(stream, a, n), testing::Each(400 * 401 / 2)) << param_bytes;
  }
}

TEST_P(Device, AnEmptyGridRunsNothing) {
  const TestKernel kernel = add_bias(format());
  if (kernel.size == 0) GTEST_SKIP() << "no test kernel for this format";
  const ModuleHandle module = load(kernel);
  const DeviceBuffer a = device->alloc(4);
  const int32_t value = 3;
  stream.copy_in(a.handle(), 0, &value, 4);
  launch_add(stream, module, a, 0, a, 0, 0, 1);
  EXPECT_THAT(read_ints(stream, a, 1), testing::ElementsAre(3));
}

TEST_P(Device, ModulesThatAreNoModules) {
  TestKernel kernel = add_bias(format());
  if (kernel.size == 0) GTEST_SKIP() << "no test kernel for this format";
  kernel.words[0] ^= 0xff;
  try {
    load(kernel);
    ADD_FAILURE() << "a spoilt module was loaded";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::plugin);
    EXPECT_THAT(e.what(), HasSubstr("load failed"));
  }
}

TEST_P(Device, KeepsWhatTheDriverCompiledAndSeesDamage) {
  const TestKernel kernel = add_bias(format());
  if (kernel.size == 0) GTEST_SKIP() << "no test kernel for this format";
  load(kernel);
  const std::vector<std::filesystem::path> files = compiled_files();
  if (format() == PRIMSET_FORMAT_NATIVE_IMAGE) GTEST_SKIP() << "the runtime itself keeps these";
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) {
    const auto size = std::filesystem::file_size(file);
    std::filesystem::resize_file(file, size / 2);
    load(kernel);
    EXPECT_EQ(std::filesystem::file_size(file), size) << "was not made again";
  }
  const DeviceBuffer a = device->alloc(4);
  const int32_t three = 3;
  stream.copy_in(a.handle(), 0, &three, 4);
  const ModuleHandle module = load(kernel);
  launch_add(stream, module, a, 0, a, 0, 1, 4);
  EXPECT_THAT(read_ints(stream, a, 1), testing::ElementsAre(7));
}

TEST_P(Device, ThreadsWithAStreamEach) {
  const TestKernel kernel = add_bias(format());
  const ModuleHandle module = kernel.size ? load(kernel) : ModuleHandle();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const StreamHandle own = device->create_stream();
      for (int round = 0; round < 20; ++round) {
        constexpr uint32_t n = 500;
        const DeviceBuffer a = device->alloc(4 * n), b = device->alloc(4 * n);
        const std::vector<int32_t> source(n, t * 1000 + round);
        own.copy_in(a.handle(), 0, source.data(), 4 * n);
        own.copy(b.handle(), 0, a.handle(), 0, 4 * n);
        if (module) launch_add(own, module, b, 0, b, 0, n, 5);
        const int32_t expected = source[0] + (module ? 5 : 0);
        for (int32_t x : read_ints(own, b, n)) wrong += x != expected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Device, Properties) {
  const primset_device_properties& p = device->properties();
  EXPECT_GT(std::strlen(p.name), 0u);
  EXPECT_NE(p.dtypes & (1u << PRIMSET_F32), 0u);
  EXPECT_TRUE(std::has_single_bit(p.memory_alignment));
  // An older host knows fewer members and gets no more than those.
  primset_device_properties old;
  std::memset(&old, 0x55, sizeof(old));
  old.struct_size = offsetof(primset_device_properties, features);
  check(device->table().device_properties(device->handle(), &old), "device", "properties");
  EXPECT_EQ(old.kernel_format, p.kernel_format);
  EXPECT_EQ(old.features, 0x55555555u);
}

}  // namespace
}  // namespace primset::plugin
