// Copies from one GPU's memory to another's, over NVLink or PCIe: who may access whose memory.
#include "backends/cuda/device.h"

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

}  // namespace
}  // namespace primset_cuda

bool primset_device_t::reach(const primset_device_t& peer) const {
  using namespace primset_cuda;
  if (physical.handle == peer.physical.handle) return false;
  if (!can_access(*this, peer) || !can_access(peer, *this)) return false;
  map_memory(*this, peer);
  map_memory(peer, *this);
  return true;
}
