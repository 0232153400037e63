// Validated calls: streams and events.
#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/scope.h"

namespace primset::plugin::validation {
namespace {

primset_status* stream_create(primset_device handle, primset_stream* out) {
  Scope scope("stream_create");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  if (scope.required(out, "out_stream")) *out = nullptr;
  if (primset_status* stop = scope.stop()) return stop;
  primset_stream made = nullptr;
  if (primset_status* status =
          scope.result(inner_table(device).stream_create(inner<primset_device>(device), &made),
                       made, "out_stream"))
    return status;
  publish(Kind::stream, device, made, out);
  return nullptr;
}

void stream_destroy(primset_stream handle) {
  Scope scope("stream_destroy");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  scope.not_recording(stream);
  if (!stream) return;
  inner_table(stream).stream_destroy(inner<primset_stream>(stream));
  timeline::complete(*stream);
  Objects::instance().remove(stream->handle);
}

primset_status* stream_synchronize(primset_stream handle) {
  Scope scope("stream_synchronize");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  scope.not_recording(stream);
  if (primset_status* stop = scope.stop()) return stop;
  primset_status* status =
      scope.result(inner_table(stream).stream_synchronize(inner<primset_stream>(stream)));
  stream->hazards.clear();
  // Also after an error: a stream that failed runs nothing any more.
  timeline::complete(*stream);
  return status;
}

primset_status* event_create(primset_device handle, primset_event* out) {
  Scope scope("event_create");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  if (scope.required(out, "out_event")) *out = nullptr;
  if (primset_status* stop = scope.stop()) return stop;
  primset_event made = nullptr;
  if (primset_status* status =
          scope.result(inner_table(device).event_create(inner<primset_device>(device), &made), made,
                       "out_event"))
    return status;
  publish(Kind::event, device, made, out);
  return nullptr;
}

void event_destroy(primset_event handle) {
  Scope scope("event_destroy");
  const ObjectPtr event = scope.get(Kind::event, handle, "event");
  if (!event) return;
  Objects::instance().remove(event->handle);
  inner_table(event).event_destroy(inner<primset_event>(event));
}

primset_status* event_record(primset_event handle, primset_stream stream_handle) {
  Scope scope("event_record");
  const ObjectPtr event = scope.get(Kind::event, handle, "event");
  const ObjectPtr stream = scope.enter(Kind::stream, stream_handle, "stream");
  scope.not_recording(stream);
  if (primset_status* stop = scope.stop()) return stop;
  primset_status* status = scope.result(
      inner_table(stream).event_record(inner<primset_event>(event), inner<primset_stream>(stream)));
  if (!status) timeline::record(*event, *stream);
  return status;
}

primset_status* event_query(primset_event handle, uint32_t* out_reached) {
  Scope scope("event_query");
  const ObjectPtr event = scope.get(Kind::event, handle, "event");
  if (scope.required(out_reached, "out_reached")) *out_reached = 0;
  if (primset_status* stop = scope.stop()) return stop;
  primset_status* status =
      scope.result(inner_table(event).event_query(inner<primset_event>(event), out_reached));
  if (!status && *out_reached) timeline::complete_mark(*event);
  return status;
}

primset_status* event_synchronize(primset_event handle) {
  Scope scope("event_synchronize");
  const ObjectPtr event = scope.get(Kind::event, handle, "event");
  if (primset_status* stop = scope.stop()) return stop;
  primset_status* status =
      scope.result(inner_table(event).event_synchronize(inner<primset_event>(event)));
  if (!status) timeline::complete_mark(*event);
  return status;
}

primset_status* stream_wait_event(primset_stream handle, primset_event event_handle) {
  Scope scope("stream_wait_event");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  scope.not_recording(stream);
  const ObjectPtr event = scope.get(Kind::event, event_handle, "event");
  if (primset_status* stop = scope.stop()) return stop;
  primset_status* status = scope.result(inner_table(stream).stream_wait_event(
      inner<primset_stream>(stream), inner<primset_event>(event)));
  if (!status) timeline::wait(*stream, *event);
  return status;
}

}  // namespace

void fill_stream_calls(primset_plugin& table) {
  table.stream_create = stream_create;
  table.stream_destroy = stream_destroy;
  table.stream_synchronize = stream_synchronize;
  table.event_create = event_create;
  table.event_destroy = event_destroy;
  table.event_record = event_record;
  table.event_query = event_query;
  table.event_synchronize = event_synchronize;
  table.stream_wait_event = stream_wait_event;
}

}  // namespace primset::plugin::validation
