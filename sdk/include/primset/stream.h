// Streams: queues of work of a device. Work on one stream runs in order; two streams may overlap.
//
//   Stream side("vulkan:0");
//   { StreamGuard on(side);  y = primset::mm(a, b); }   // queued on `side`
//   z = primset::relu(y);                               // default stream: waits for mm by itself
//
// A tensor that is used on another stream than before makes the new stream wait for the old one;
// the program needs no events. CPU devices run everything immediately, in the calling thread.
#ifndef PRIMSET_STREAM_H_
#define PRIMSET_STREAM_H_

#include <primset/device.h>
#include <primset/export.h>

#include <memory>

namespace primset {

namespace runtime {
class StreamState;
}

class PRIMSET_API Stream {
 public:
  explicit Stream(Device device);
  Device device() const;
  // Waits for the stream's work and throws its first error.
  void synchronize() const;
  const std::shared_ptr<runtime::StreamState>& state() const { return state_; }

 private:
  std::shared_ptr<runtime::StreamState> state_;
};

// Makes `stream` the stream of this thread's operators on its device, for a scope.
class PRIMSET_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  std::shared_ptr<runtime::StreamState> stream_, previous_;
};

}  // namespace primset

#endif  // PRIMSET_STREAM_H_
