// Copies from one GPU's memory to another's, over NVLink or PCIe.
#ifndef PRIMSET_BACKENDS_CUDA_PEERS_H_
#define PRIMSET_BACKENDS_CUDA_PEERS_H_

#include <primset/plugin.h>

namespace primset_cuda {

extern const primset_peer_copies kPeerCopies;

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_PEERS_H_
