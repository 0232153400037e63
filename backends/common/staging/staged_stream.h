// The staging memory of a stream whose work is marked by events: its pieces come back as the stream
// passes its marks.
#ifndef PRIMSET_BACKENDS_COMMON_STAGING_STAGED_STREAM_H_
#define PRIMSET_BACKENDS_COMMON_STAGING_STAGED_STREAM_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>

#include "backends/common/device_buffer.h"
#include "backends/common/staging/ring.h"
#include "backends/common/staging/staging.h"

namespace primset_backend {

// What backends/common/staging/staging.h asks of a stream, but for the copies themselves. Stream is
// the class derived from this one. It has
//   end()                       a Mark of its present end
// a Mark may be moved, and has
//   reached(), wait()           throw BackendError
// and the Device has
//   allocate_on_host(bytes)     a char* of memory that it copies from and to; throws BackendError
//   free_on_host(char*)         throws nothing
template <typename Stream, typename Device, typename Mark>
class StagedStream {
 public:
  StagedStream(const StagedStream&) = delete;
  StagedStream& operator=(const StagedStream&) = delete;

  // Copies to and from the host, for buffers with plain addresses.
  template <typename Buffer>
  void copy_in(const Buffer& buffer, uint64_t offset, const void* source, uint64_t bytes) {
    primset_backend::upload(self(), buffer.address, offset, static_cast<const char*>(source),
                            bytes);
  }
  template <typename Buffer>
  void copy_out(const Buffer& buffer, uint64_t offset, void* target, uint64_t bytes) {
    primset_backend::download(self(), buffer.address, offset, static_cast<char*>(target), bytes);
  }

  struct Piece {
    char* mapped;
  };

  // The same for memory of the device's allocate_on_host, which wait for nothing.
  template <typename Buffer>
  void copy_in_pinned(const Buffer& buffer, uint64_t offset, const void* source, uint64_t bytes) {
    char* const memory = const_cast<char*>(static_cast<const char*>(source));
    self().copy_from(Piece{memory}, buffer.address, offset, bytes, true);
  }
  template <typename Buffer>
  void copy_out_pinned(const Buffer& buffer, uint64_t offset, void* target, uint64_t bytes) {
    self().copy_to(buffer.address, offset, Piece{static_cast<char*>(target)}, bytes);
  }

  // Where one function of the driver copies between any addresses, those of staging memory among
  // them, the Stream has
  //   enqueue_copy(to, from, bytes, ordered)
  // and what follows; else it has functions of these names itself.
  template <typename Buffer>
  void copy(const Buffer& target, uint64_t target_offset, const Buffer& source,
            uint64_t source_offset, uint64_t bytes) {
    self().enqueue_copy(pointer(target.address + target_offset),
                        pointer(source.address + source_offset), bytes, true);
  }
  void copy_from(const Piece& piece, uint64_t to, uint64_t offset, uint64_t bytes, bool ordered) {
    self().enqueue_copy(pointer(to + offset), piece.mapped, bytes, ordered);
  }
  void copy_to(uint64_t from, uint64_t offset, const Piece& piece, uint64_t bytes) {
    self().enqueue_copy(piece.mapped, pointer(from + offset), bytes, true);
  }

  // Memory that is free again when what is enqueued before the next flush() is complete.
  // bytes <= kPiece.
  Piece upload(uint64_t bytes) { return take(upload_, bytes); }
  Piece readback(uint64_t bytes) { return take(readback_, bytes); }

  // Marks the pieces given out so far.
  void flush() {
    marks_.push_back({submitted_ + 1, self().end()});
    mark_pieces();
  }
  // Waits until the stream has passed mark `value`.
  void wait(uint64_t value) {
    for (const Marked& marked : marks_) {
      if (marked.value < value) continue;
      marked.mark.wait();
      break;
    }
    pass(value);
  }
  // Takes back what is known to be complete.
  void reclaim() {
    while (!marks_.empty() && marks_.front().mark.reached()) pass(marks_.front().value);
  }
  // Marks so far, and the last that the stream is known to have passed.
  uint64_t submitted() const { return submitted_; }
  uint64_t passed() const { return passed_; }

  Device* const device;

 protected:
  explicit StagedStream(Device* device) : device(device) {}
  ~StagedStream() = default;

  // The stream was waited for: all pieces are free, also those that no mark is for.
  void pass_all() {
    mark_pieces();
    pass(submitted_);
  }
  void drop_marks() { marks_.clear(); }

 private:
  Stream& self() { return static_cast<Stream&>(*this); }

  struct Staging {
    explicit Staging(Device& device)
        : device(device), memory(device.allocate_on_host(kRingBytes)) {}
    ~Staging() { device.free_on_host(memory); }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    Device& device;
    Ring ring{kRingBytes};
    char* const memory;
  };
  struct Marked {
    uint64_t value;
    Mark mark;
  };

  // Made when it is first needed. Marks in time, so that a full ring waits for a part of it only.
  Piece take(std::unique_ptr<Staging>& staging, uint64_t bytes) {
    if (!staging) staging = std::make_unique<Staging>(*device);
    if (unmarked_ >= kPiece) flush();
    const uint64_t offset = take_piece(self(), staging->ring, bytes);
    unmarked_ += bytes;
    return {staging->memory + offset};
  }

  void mark_pieces() {
    ++submitted_;
    unmarked_ = 0;
    if (upload_) upload_->ring.mark(submitted_);
    if (readback_) readback_->ring.mark(submitted_);
  }

  void pass(uint64_t value) {
    passed_ = std::max(passed_, value);
    while (!marks_.empty() && marks_.front().value <= value) marks_.pop_front();
    if (upload_) upload_->ring.release(value);
    if (readback_) readback_->ring.release(value);
  }

  uint64_t submitted_ = 0, passed_ = 0;
  uint64_t unmarked_ = 0;  // bytes given out since the last mark
  std::unique_ptr<Staging> upload_, readback_;
  std::deque<Marked> marks_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_STAGING_STAGED_STREAM_H_
