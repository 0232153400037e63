// Streams and events. Copies to and from the host go through page-locked staging memory, whose
// pieces come back as the stream passes events.
#ifndef PRIMSET_BACKENDS_CUDA_STREAM_H_
#define PRIMSET_BACKENDS_CUDA_STREAM_H_

#include <primset/plugin.h>

#include <deque>
#include <memory>
#include <vector>

#include "backends/common/ring.h"
#include "backends/cuda/device.h"
#include "backends/cuda/scratch.h"

namespace primset_cuda {
class LinalgHandles;
}

struct primset_event_t {
  explicit primset_event_t(primset_device device);
  ~primset_event_t();
  primset_event_t(const primset_event_t&) = delete;
  primset_event_t& operator=(const primset_event_t&) = delete;

  const primset_device device;
  primset_cuda::Event handle = nullptr;
};

// The caller of every function has the device's context current (ContextScope).
struct primset_stream_t {
  explicit primset_stream_t(primset_device device);
  ~primset_stream_t();
  primset_stream_t(const primset_stream_t&) = delete;
  primset_stream_t& operator=(const primset_stream_t&) = delete;

  void synchronize();

  // kWorkspaceBytes of memory for what runs on this stream, made when it is first asked for. Throws
  // BackendError.
  primset_cuda::DevicePointer workspace();

  // --- what backends/common/staging.h asks of a stream -------------------------------------------
  struct Piece {
    char* mapped;
  };
  Piece upload(uint64_t bytes);
  Piece readback(uint64_t bytes);
  void copy_from(const Piece& piece, primset_cuda::DevicePointer to, uint64_t offset,
                 uint64_t bytes, bool ordered);
  void copy_to(primset_cuda::DevicePointer from, uint64_t offset, const Piece& piece,
               uint64_t bytes);
  void copy_inside(primset_cuda::DevicePointer memory, uint64_t from, uint64_t to, uint64_t bytes);
  // Marks the pieces given out so far with an event.
  void flush();
  void wait(uint64_t value);
  void reclaim();
  uint64_t submitted() const { return submitted_; }

  const primset_device device;
  const primset_cuda::DriverApi& cu;
  primset_cuda::Stream handle = nullptr;

  // --- libraries ---------------------------------------------------------------------------------
  primset_cuda::ScratchMemory scratch{*this};
  // Its handles of cuBLAS and cuSOLVER; null until they are needed.
  std::unique_ptr<primset_cuda::LinalgHandles> linalg;
  bool is_recording = false;
  // What the recording uses and keeps.
  std::vector<std::shared_ptr<const void>> recorded;

 private:
  struct Staging {
    Staging(const primset_cuda::DriverApi& cu, uint64_t bytes);
    ~Staging();
    const primset_cuda::DriverApi& cu;
    primset_backend::Ring ring;
    char* memory = nullptr;
  };
  struct Mark {
    uint64_t value;
    primset_cuda::Event event;
  };

  Piece take(std::unique_ptr<Staging>& staging, uint64_t bytes);
  void release(uint64_t value);
  primset_cuda::Event take_event();

  uint64_t submitted_ = 0;
  std::deque<Mark> marks_;
  std::vector<primset_cuda::Event> spare_;
  std::unique_ptr<Staging> upload_, readback_;
  primset_cuda::DevicePointer workspace_ = 0;
};

namespace primset_cuda {

// Libraries say little of a device that is gone; the driver says so of every call. Throws
// BackendError then, which names the library's `function`.
void throw_if_lost(primset_stream_t& stream, const char* function);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_STREAM_H_
