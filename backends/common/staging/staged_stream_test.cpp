// Copies through staging memory on a device that is as late as it may be: it does nothing before
// somebody waits for it. A piece of memory that is used again too early then spoils what was
// copied.
#include "backends/common/staging/staged_stream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "backends/common/marked_event.h"

namespace primset_backend {
namespace {

struct Device {
  char* allocate_on_host(uint64_t bytes) {
    ++live;
    ++allocated;
    return new char[bytes];
  }
  void free_on_host(char* address) {
    --live;
    delete[] address;
  }

  int live = 0, allocated = 0;
};

struct Queue {
  // Does what was enqueued, up to place `end`.
  void run(size_t end) {
    for (; done < end; ++done) work[done]();
  }

  std::vector<std::function<void()>> work;
  size_t done = 0;
  int waits = 0;
  int waits_for_all = 0;  // that left the device nothing to do
};

struct Mark {
  bool reached() const { return !queue || queue->done >= end; }
  void wait() const {
    if (!queue) return;
    ++queue->waits;
    if (end == queue->work.size()) ++queue->waits_for_all;
    queue->run(end);
  }

  Queue* queue = nullptr;
  size_t end = 0;
};

struct Stream : StagedStream<Stream, Device, Mark> {
  explicit Stream(Device& device) : StagedStream(&device) {}

  Mark end() { return {&queue, queue.work.size()}; }
  void synchronize() {
    queue.run(queue.work.size());
    pass_all();
  }
  void enqueue_copy(void* to, const void* from, uint64_t bytes, bool ordered) {
    queue.work.push_back([=] { std::memcpy(to, from, bytes); });
    orders.push_back(ordered);
  }

  Queue queue;
  std::vector<bool> orders;
};

// Memory of the device, which is its address.
struct Buffer {
  explicit Buffer(size_t bytes)
      : memory(bytes), address(reinterpret_cast<uint64_t>(memory.data())) {}

  std::vector<char> memory;
  uint64_t address;
};

// No two pieces of it are alike.
std::vector<char> text(size_t bytes) {
  std::vector<uint32_t> numbers(bytes / 4 + 1);
  std::iota(numbers.begin(), numbers.end(), 0x01020304u);
  const char* first = reinterpret_cast<const char*>(numbers.data());
  return {first, first + bytes};
}

constexpr uint64_t kLarge = 3 * kRingBytes + 5;

TEST(StagedStream, CopiesMoreThanTheRingHolds) {
  Device device;
  Stream stream(device);
  Buffer buffer(kLarge + 1);
  const std::vector<char> source = text(kLarge);
  stream.copy_in(buffer, 1, source.data(), kLarge);
  EXPECT_GT(stream.queue.waits, 0);
  stream.synchronize();
  EXPECT_EQ(std::memcmp(buffer.memory.data() + 1, source.data(), kLarge), 0);
  std::vector<char> target(kLarge);
  stream.copy_out(buffer, 1, target.data(), kLarge);
  EXPECT_EQ(target, source);
}

TEST(StagedStream, CopiesInPiecesOfAnySizeWithoutWaitingForEach) {
  constexpr uint64_t kCopies = 40'000, kBytes = 1500;
  Device device;
  Stream stream(device);
  Buffer buffer(kCopies * kBytes);
  const std::vector<char> source = text(kCopies * kBytes);
  for (uint64_t i = 0; i < kCopies; ++i)
    stream.copy_in(buffer, i * kBytes, source.data() + i * kBytes, kBytes);
  EXPECT_LE(stream.queue.waits, static_cast<int>(kCopies * kBytes / kPiece) + 1);
  EXPECT_EQ(stream.queue.waits_for_all, 0) << "the ring is full, and waits for all of it";
  stream.synchronize();
  EXPECT_EQ(buffer.memory, source);
}

TEST(StagedStream, WaitsForNothingThatIsKnownToBeComplete) {
  Device device;
  Stream stream(device);
  Buffer buffer(kRingBytes);
  const std::vector<char> source = text(kRingBytes);
  for (int i = 0; i < 4; ++i) {
    stream.copy_in(buffer, 0, source.data(), kRingBytes);
    stream.synchronize();
  }
  EXPECT_EQ(stream.queue.waits, 0) << "synchronize() frees all pieces";
  stream.copy_in(buffer, 0, source.data(), kRingBytes);
  stream.queue.run(stream.queue.work.size());
  stream.copy_in(buffer, 0, source.data(), kRingBytes);
  EXPECT_EQ(stream.queue.waits, 0) << "marks that are reached free theirs";
}

TEST(StagedStream, OrdersTheFirstPieceOfAnUploadOnly) {
  Device device;
  Stream stream(device);
  Buffer buffer(2 * kPiece);
  std::vector<char> host = text(2 * kPiece);
  stream.copy_in(buffer, 0, host.data(), 2 * kPiece);
  EXPECT_EQ(stream.orders, (std::vector<bool>{true, false}));
  stream.orders.clear();
  stream.copy_out(buffer, 0, host.data(), kPiece);
  stream.copy(buffer, 0, buffer, kPiece, kPiece);
  EXPECT_EQ(stream.orders, (std::vector<bool>{true, true}));
}

TEST(StagedStream, HasMemoryForEachDirectionOnceItIsNeeded) {
  Device device;
  {
    Stream stream(device);
    Buffer buffer(8);
    char host[4] = {1, 2, 3, 4};
    stream.copy(buffer, 0, buffer, 4, 4);
    EXPECT_EQ(device.allocated, 0);
    for (int i = 0; i < 3; ++i) stream.copy_in(buffer, 4, host, 4);
    EXPECT_EQ(device.allocated, 1);
    for (int i = 0; i < 3; ++i) stream.copy_out(buffer, 4, host, 4);
    EXPECT_EQ(device.allocated, 2);
  }
  EXPECT_EQ(device.live, 0);
}

TEST(MarkedEvent, IsReachedWithTheMarkOfItsLastRecord) {
  Device device;
  Stream stream(device);
  Buffer buffer(8);
  MarkedEvent<Device, Mark> event(&device);
  EXPECT_TRUE(event.reached()) << "it was never recorded";
  stream.copy(buffer, 0, buffer, 4, 4);
  event.record(stream);
  EXPECT_FALSE(event.reached());
  event.wait();
  EXPECT_TRUE(event.reached());
  stream.copy(buffer, 0, buffer, 4, 4);
  EXPECT_TRUE(event.reached()) << "what came later is not in it";
  event.record(stream);
  EXPECT_FALSE(event.reached());
}

}  // namespace
}  // namespace primset_backend
