// Validated calls: copies between two devices of a plugin.
#include <fmt/format.h>

#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/scope.h"

namespace primset::plugin::validation {
namespace {

const primset_peer_copies& inner_peers(const ObjectPtr& object) {
  const ObjectPtr& device = object->device ? object->device : object;
  return *device->extensions.inner_peers;
}

void note_reachable(Object& device, const Object& peer) {
  const std::lock_guard lock(device.mutex);
  device.extensions.reachable.insert(peer.handle);
}

primset_status* reachable(primset_device handle, primset_device peer_handle, uint32_t* out) {
  Scope scope("peer_copy.reachable");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  const ObjectPtr peer = scope.get_of_peer(Kind::device, peer_handle, "peer");
  if (scope.required(out, "out_reachable")) *out = 0;
  if (primset_status* stop = scope.stop()) return stop;
  primset_status* status = scope.result(inner_peers(device).reachable(
      inner<primset_device>(device), inner<primset_device>(peer), out));
  if (!status && *out > 1)
    scope.fail(fmt::format("the plugin set *out_reachable to {}; expected 0 or 1", *out));
  if (!status && *out == 1) {
    note_reachable(*device, *peer);
    note_reachable(*peer, *device);
  }
  return status;
}

// A finding when the plugin did not say that the two reach one another.
void check_reachable(Scope& scope, const ObjectPtr& stream, const ObjectPtr& of_peer) {
  if (!stream || !of_peer) return;
  Object& device = *stream->device;
  const std::lock_guard lock(device.mutex);
  if (!device.extensions.reachable.contains(of_peer->device->handle))
    scope.fail(fmt::format("{} is of {}, which reachable() did not say that {} reaches",
                           describe(*of_peer), describe(*of_peer->device), describe(device)));
}

primset_status* wait_for_peer(primset_stream handle, primset_event event_handle) {
  Scope scope("peer_copy.wait_event");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  scope.not_recording(stream);
  const ObjectPtr event = scope.get_of_peer(Kind::event, event_handle, "peer_event");
  check_reachable(scope, stream, event);
  if (primset_status* stop = scope.stop()) return stop;
  primset_status* status = scope.result(
      inner_peers(stream).wait_event(inner<primset_stream>(stream), inner<primset_event>(event)));
  if (!status) timeline::wait(*stream, *event);
  return status;
}

primset_status* copy_from_peer(primset_stream handle, primset_buffer target, uint64_t target_offset,
                               primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  Scope scope("peer_copy.copy");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  scope.not_recording(stream);
  const ObjectPtr to = scope.place(target, target_offset, bytes, "target");
  const ObjectPtr from = scope.place_of_peer(source, source_offset, bytes, "peer_source");
  check_reachable(scope, stream, from);
  if (primset_status* stop = scope.stop()) return stop;
  if (bytes > 0) {
    stream->hazards.restart(
        std::vector<primset_binding>{{target, target_offset, bytes, PRIMSET_ACCESS_WRITE, 0}});
    timeline::submit(*stream, {to.get(), from.get()});
  }
  return scope.result(inner_peers(stream).copy(inner<primset_stream>(stream),
                                               inner<primset_buffer>(to), target_offset,
                                               inner<primset_buffer>(from), source_offset, bytes));
}

}  // namespace

primset_peer_copies peer_copy_calls() {
  return {sizeof(primset_peer_copies), 0, reachable, wait_for_peer, copy_from_peer};
}

}  // namespace primset::plugin::validation
