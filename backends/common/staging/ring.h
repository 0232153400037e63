// Places in a block of staging memory, handed out front to back and taken back as a stream's work
// completes. Bookkeeping only: the memory is the back end's.
#ifndef PRIMSET_BACKENDS_COMMON_STAGING_RING_H_
#define PRIMSET_BACKENDS_COMMON_STAGING_RING_H_

#include <cstdint>
#include <deque>

namespace primset_backend {

// A stream counts its batches; a piece is in use until the counter reaches the value it was marked
// with.
class Ring {
 public:
  explicit Ring(uint64_t bytes) : bytes_(bytes) {}

  // The offset of a piece; false when there is no room until more work completes. bytes <= size.
  bool take(uint64_t bytes, uint64_t& offset);
  // All pieces taken so far are in use until the stream's counter reaches `value`.
  void mark(uint64_t value);
  // The stream's counter has reached `value`.
  void release(uint64_t value);
  // The counter value that frees the oldest pieces; 0 when none are marked.
  uint64_t oldest() const { return marks_.empty() ? 0 : marks_.front().value; }

 private:
  static constexpr uint64_t kAlignment = 64;
  struct Mark {
    uint64_t value, head;
  };

  uint64_t bytes_;
  // Positions only grow; a position's place is its remainder by bytes_.
  uint64_t head_ = 0, tail_ = 0;
  std::deque<Mark> marks_;
};

// Takes a piece of stream work's staging memory, waiting where there is no room. The stream has
//   reclaim()    releases what is known to be complete
//   flush()      gives what is recorded to the device, and marks the pieces with it
//   wait(value)  waits for the counter, and releases
template <typename Stream>
uint64_t take_piece(Stream& stream, Ring& ring, uint64_t bytes) {
  uint64_t offset = 0;
  if (ring.take(bytes, offset)) return offset;
  stream.reclaim();
  while (!ring.take(bytes, offset)) {
    if (ring.oldest() == 0) stream.flush();
    stream.wait(ring.oldest());
  }
  return offset;
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_STAGING_RING_H_
