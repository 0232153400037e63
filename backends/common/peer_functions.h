// The functions of PRIMSET_EXT_PEER_COPY. Beside what backends/common/plugin_functions.h asks for,
// a device has
//   reach(peer)  whether each of the two copies from the other's buffers; from then on they can
// and of one that it reaches a stream takes the events and, to copy from, the buffers.
#ifndef PRIMSET_BACKENDS_COMMON_PEER_FUNCTIONS_H_
#define PRIMSET_BACKENDS_COMMON_PEER_FUNCTIONS_H_

#include <primset/plugin.h>

#include "backends/common/scoped_call.h"

namespace primset_backend {

template <typename Scope>
struct PeerFunctions {
  // No scope of one device: what there is to do concerns two.
  template <typename Device>
  static primset_status* reachable(Device* device, Device* peer, uint32_t* out_reachable) {
    *out_reachable = 0;
    return guarded("peer_copy.reachable", [&] { *out_reachable = device->reach(*peer) ? 1 : 0; });
  }

  template <typename Stream, typename Event>
  static primset_status* wait_event(Stream* stream, Event* peer_event) {
    return scoped<Scope>("peer_copy.wait_event", *stream->device,
                         [&] { stream->wait_for(*peer_event); });
  }

  template <typename Stream, typename Buffer>
  static primset_status* copy(Stream* stream, Buffer* target, uint64_t target_offset,
                              Buffer* peer_source, uint64_t source_offset, uint64_t bytes) {
    if (bytes == 0) return nullptr;
    return scoped<Scope>("peer_copy.copy", *stream->device, [&] {
      stream->copy(*target, target_offset, *peer_source, source_offset, bytes);
    });
  }
};

template <typename Scope>
inline constexpr primset_peer_copies kPeerCopies = {
    sizeof(primset_peer_copies),     0,
    PeerFunctions<Scope>::reachable, PeerFunctions<Scope>::wait_event,
    PeerFunctions<Scope>::copy,
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_PEER_FUNCTIONS_H_
