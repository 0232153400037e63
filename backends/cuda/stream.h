// Streams and events. Copies to and from the host go through page-locked staging memory, whose
// pieces come back as the stream passes events.
#ifndef PRIMSET_BACKENDS_CUDA_STREAM_H_
#define PRIMSET_BACKENDS_CUDA_STREAM_H_

#include <primset/plugin.h>

#include <memory>
#include <utility>
#include <vector>

#include "backends/common/staging/staged_stream.h"
#include "backends/cuda/device.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/scratch.h"

namespace primset_cuda {
class LinalgHandles;
}

struct primset_event_t {
  explicit primset_event_t(primset_device device);
  ~primset_event_t();
  primset_event_t(const primset_event_t&) = delete;
  primset_event_t& operator=(const primset_event_t&) = delete;

  void record(const primset_stream_t& stream);
  bool reached() const;
  void wait() const;

  const primset_device device;
  primset_cuda::Event handle = nullptr;
};

namespace primset_cuda {

// The end of a stream when it was made: an event of the stream's own, which goes back to it.
class Mark {
 public:
  Mark(const DriverApi& cu, std::vector<Event>& spare, Event event)
      : cu_(&cu), spare_(&spare), event_(event) {}
  Mark(Mark&& other) noexcept
      : cu_(other.cu_), spare_(other.spare_), event_(std::exchange(other.event_, nullptr)) {}
  Mark& operator=(Mark&&) = delete;
  ~Mark() {
    if (event_) spare_->push_back(event_);
  }

  bool reached() const;
  void wait() const;

 private:
  const DriverApi* cu_;
  std::vector<Event>* spare_;  // has room for it
  Event event_;
};

}  // namespace primset_cuda

// The caller of every function has the device's context current (ContextScope).
struct primset_stream_t
    : primset_backend::StagedStream<primset_stream_t, primset_device_t, primset_cuda::Mark> {
  explicit primset_stream_t(primset_device device);
  ~primset_stream_t();

  void synchronize();
  // The stream's present end.
  primset_cuda::Mark end();
  void wait_for(const primset_event_t& event);

  void begin_recording();
  std::unique_ptr<primset_recording_t> end_recording(bool keep);
  void play(const primset_recording_t& recording);

  void copy_in(const primset_buffer_t& buffer, uint64_t offset, const void* source, uint64_t bytes);
  void copy_out(const primset_buffer_t& buffer, uint64_t offset, void* target, uint64_t bytes);
  // Also from a peer's buffer whose memory is mapped here: the driver knows whose an address is.
  void copy(const primset_buffer_t& target, uint64_t target_offset, const primset_buffer_t& source,
            uint64_t source_offset, uint64_t bytes);
  void fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
            const unsigned char* pattern, uint32_t pattern_bytes);

  // --- what backends/common/staging/staging.h asks of a stream -----------------------------------
  void copy_from(const Piece& piece, primset_cuda::DevicePointer to, uint64_t offset,
                 uint64_t bytes, bool ordered);
  void copy_to(primset_cuda::DevicePointer from, uint64_t offset, const Piece& piece,
               uint64_t bytes);
  void copy_inside(primset_cuda::DevicePointer memory, uint64_t from, uint64_t to, uint64_t bytes);

  const primset_cuda::DriverApi& cu;
  primset_cuda::Stream handle = nullptr;

  // --- libraries ---------------------------------------------------------------------------------
  // kWorkspaceBytes of memory for what runs on this stream, made when it is first asked for. Throws
  // BackendError.
  primset_cuda::DevicePointer workspace();
  primset_cuda::ScratchMemory scratch{*this};
  // Its handles of cuBLAS and cuSOLVER; null until they are needed.
  std::unique_ptr<primset_cuda::LinalgHandles> linalg;
  bool is_recording = false;
  // What the recording uses and keeps.
  std::vector<std::shared_ptr<const void>> recorded;

 private:
  bool copies_directly(const void* host, uint64_t bytes) const;

  std::vector<primset_cuda::Event> spare_;  // of marks that are passed
  size_t events_ = 0;
  primset_cuda::DevicePointer workspace_ = 0;
};

namespace primset_cuda {

// Libraries say little of a device that is gone; the driver says so of every call. Throws
// BackendError then, which names the library's `function`.
void throw_if_lost(primset_stream_t& stream, const char* function);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_STREAM_H_
