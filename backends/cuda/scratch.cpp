#include "backends/cuda/scratch.h"

#include <algorithm>

#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

constexpr uint64_t kAlignment = 256, kLeastPiece = uint64_t{1} << 20;

}  // namespace

ScratchMemory::~ScratchMemory() {
  for (const Piece& p : pieces_) stream_.device->free(p.address);
}

DevicePointer ScratchMemory::take(uint64_t bytes) {
  const uint64_t room = (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (pieces_.empty() || pieces_.back().bytes - pieces_.back().used < room) {
    const uint64_t size = std::max({room, wanted_, kLeastPiece});
    pieces_.push_back({stream_.device->allocate(size), size, 0});
    wanted_ = 0;
  }
  Piece& p = pieces_.back();
  p.used += room;
  return p.address + p.used - room;
}

// The next call finds one piece of all that this one took.
void ScratchMemory::rewind() noexcept {
  uint64_t total = 0;
  for (Piece& p : pieces_) {
    total += p.bytes;
    p.used = 0;
  }
  if (pieces_.size() <= 1 && total <= kMostKeptScratch) return;
  stream_.cu.cuStreamSynchronize(stream_.handle);
  for (const Piece& p : pieces_) stream_.device->free(p.address);
  pieces_.clear();
  wanted_ = std::min(total, kMostKeptScratch);
}

Scratch::Scratch(primset_stream_t& stream) : memory_(stream.scratch) {
  if (stream.is_recording)
    throw BackendError(PRIMSET_UNSUPPORTED, "a call that cannot be part of a recording");
}

DevicePointer workspace_of(primset_stream_t& stream, uint64_t bytes,
                           std::optional<Scratch>& scratch) {
  if (bytes == 0) return 0;
  if (bytes <= kWorkspaceBytes) return stream.workspace();
  if (!scratch) scratch.emplace(stream);
  return scratch->take(bytes);
}

}  // namespace primset_cuda
