// Memory that calls of libraries need while they compute, beside what the host gave them.
#ifndef PRIMSET_BACKENDS_CUDA_SCRATCH_H_
#define PRIMSET_BACKENDS_CUDA_SCRATCH_H_

#include <primset/plugin.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cuda/driver_api.h"

namespace primset_cuda {

// Of one stream, in whose order calls use it one after another. What a call needed stays for the
// next one, up to kMostKeptScratch. Recordings must not use it: it moves as it grows.
class ScratchMemory {
 public:
  explicit ScratchMemory(primset_stream_t& stream) : stream_(stream) {}
  ~ScratchMemory();
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

 private:
  friend class Scratch;
  struct Piece {
    DevicePointer address;
    uint64_t bytes, used;
  };
  DevicePointer take(uint64_t bytes);
  void rewind() noexcept;

  primset_stream_t& stream_;
  std::vector<Piece> pieces_;
  uint64_t wanted_ = 0;  // of the next piece, at least
};

inline constexpr uint64_t kMostKeptScratch = uint64_t{256} << 20;

// What one call takes of it.
class Scratch {
 public:
  explicit Scratch(primset_stream_t& stream);
  ~Scratch() { memory_.rewind(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // As aligned as the driver's memory; never 0. Throws BackendError.
  DevicePointer take(uint64_t bytes) { return memory_.take(bytes); }

 private:
  ScratchMemory& memory_;
};

// `bytes` for the call that `scratch` is for, made when it needs more than kWorkspaceBytes: up to
// that they are the stream's own workspace, which stays where it is, so that the call may be part
// of a recording. 0 for none. Throws BackendError.
DevicePointer workspace_of(primset_stream_t& stream, uint64_t bytes,
                           std::optional<Scratch>& scratch);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_SCRATCH_H_
