#include "backends/cuda/peers.h"

#include "backends/common/scoped_call.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

bool can_access(const primset_device_t& device, const primset_device_t& peer) {
  int can = 0;
  PRIMSET_CUDA(device.cu, cuDeviceCanAccessPeer, &can, device.physical.handle,
               peer.physical.handle);
  return can != 0;
}

// Maps the peer's memory for the device: that of its context, and that of its pool, which the
// context's does not include.
void map_memory(const primset_device_t& device, const primset_device_t& peer) {
  const ContextScope scope(device);
  const Result result = device.cu.cuCtxEnablePeerAccess(peer.context, 0);
  if (result != kErrorPeerAccessAlreadyEnabled) check(device.cu, result, "cuCtxEnablePeerAccess");
  if (!peer.physical.memory_pools) return;
  MemoryPool pool = nullptr;
  PRIMSET_CUDA(device.cu, cuDeviceGetDefaultMemPool, &pool, peer.physical.handle);
  const MemoryAccess access{{kLocationDevice, device.physical.handle}, kAccessReadWrite};
  PRIMSET_CUDA(device.cu, cuMemPoolSetAccess, pool, &access, 1);
}

primset_status* reachable(primset_device device, primset_device peer, uint32_t* out_reachable) {
  *out_reachable = 0;
  return primset_backend::guarded("peer_copy.reachable", [&] {
    if (device->physical.handle == peer->physical.handle) return;
    if (!can_access(*device, *peer) || !can_access(*peer, *device)) return;
    map_memory(*device, *peer);
    map_memory(*peer, *device);
    *out_reachable = 1;
  });
}

primset_status* wait_for_peer(primset_stream stream, primset_event peer_event) {
  return primset_backend::scoped<ContextScope>("peer_copy.wait_event", *stream->device,
                                               [&] { stream->wait_for(*peer_event); });
}

primset_status* copy_from_peer(primset_stream stream, primset_buffer target, uint64_t target_offset,
                               primset_buffer peer_source, uint64_t source_offset, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return primset_backend::scoped<ContextScope>("peer_copy.copy", *stream->device, [&] {
    stream->copy(*target, target_offset, *peer_source, source_offset, bytes);
  });
}

}  // namespace

constexpr primset_peer_copies kPeerCopies = {sizeof(primset_peer_copies), 0, reachable,
                                             wait_for_peer, copy_from_peer};

}  // namespace primset_cuda
