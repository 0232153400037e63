/* The minimal sample plugin, as "peers": two devices that copy from each other
 * (PRIMSET_EXT_PEER_COPY), unless PEERS_APART is set, and pinned memory
 * (PRIMSET_EXT_PINNED_MEMORY), copies of which are late: they are done when their stream is waited
 * for, or given other work. peers_count tells how often a function was called. */
#include "samples/minimal_plugin/changed_plugin.h"

enum { MOST_LATE = 64, MOST_EVENTS = 256 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t peer_copies, late_copies, pinned_blocks;

PRIMSET_PLUGIN_EXPORT uint32_t peers_count(const char* what) {
  return strcmp(what, "peer copies") == 0   ? peer_copies
         : strcmp(what, "late copies") == 0 ? late_copies
                                            : pinned_blocks;
}

/* Copies that wait, of all streams in the order of their making, and the mark of each event. */
static struct late {
  primset_stream stream;
  char* target;
  const char* source;
  uint64_t bytes;
} late[MOST_LATE];
static uint32_t late_count;
static struct mark {
  primset_event event;
  primset_stream stream;
} marks[MOST_EVENTS];

static void finish(primset_stream stream) {
  uint32_t i, kept = 0;
  pthread_mutex_lock(&mutex);
  for (i = 0; i < late_count; ++i) {
    if (late[i].stream == stream)
      memcpy(late[i].target, late[i].source, late[i].bytes);
    else
      late[kept++] = late[i];
  }
  late_count = kept;
  pthread_mutex_unlock(&mutex);
}

static int is_late(primset_stream stream) {
  uint32_t i;
  int found = 0;
  pthread_mutex_lock(&mutex);
  for (i = 0; i < late_count; ++i) found |= late[i].stream == stream;
  pthread_mutex_unlock(&mutex);
  return found;
}

static struct mark* mark_of(primset_event event) {
  struct mark* m = marks;
  while (m->event && m->event != event) ++m;
  m->event = event;
  return m;
}

/* --- what the sample's streams do, after what is late ------------------------------------------
 */

static primset_status* in_order_copy_in(primset_stream stream, primset_buffer buffer,
                                        uint64_t offset, const void* source, uint64_t bytes) {
  finish(stream);
  return copy_in(stream, buffer, offset, source, bytes);
}

static primset_status* in_order_copy_out(primset_stream stream, primset_buffer buffer,
                                         uint64_t offset, void* target, uint64_t bytes) {
  finish(stream);
  return copy_out(stream, buffer, offset, target, bytes);
}

static primset_status* in_order_launch(primset_stream stream, const primset_launch* l) {
  finish(stream);
  return launch(stream, l);
}

static primset_status* synchronize(primset_stream stream) {
  finish(stream);
  return NULL;
}

static primset_status* record_event(primset_event event, primset_stream stream) {
  mark_of(event)->stream = stream;
  return NULL;
}

static primset_status* query_event(primset_event event, uint32_t* out_reached) {
  *out_reached = !is_late(mark_of(event)->stream);
  return NULL;
}

static primset_status* wait_for_event(primset_event event) {
  finish(mark_of(event)->stream);
  return NULL;
}

static primset_status* stream_waits(primset_stream stream, primset_event event) {
  (void)stream;
  return wait_for_event(event);
}

/* --- pinned memory -----------------------------------------------------------------------------
 */

static primset_status* pinned_alloc(primset_device device, uint64_t bytes, void** out_memory) {
  (void)device;
  *out_memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!*out_memory) return fail(PRIMSET_OUT_OF_MEMORY, "peers: no host memory left");
  ++pinned_blocks;
  return NULL;
}

static void pinned_free(primset_device device, void* memory) {
  (void)device;
  free(memory);
  --pinned_blocks;
}

static primset_status* add_late(primset_stream stream, char* target, const char* source,
                                uint64_t bytes) {
  const struct late copy_of = {stream, target, source, bytes};
  if (late_count == MOST_LATE) return fail(PRIMSET_UNSUPPORTED, "peers: too many copies wait");
  pthread_mutex_lock(&mutex);
  late[late_count++] = copy_of;
  ++late_copies;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static primset_status* pinned_copy_in(primset_stream stream, primset_buffer buffer, uint64_t offset,
                                      const void* source, uint64_t bytes) {
  return add_late(stream, address(stream, buffer, offset), source, bytes);
}

static primset_status* pinned_copy_out(primset_stream stream, primset_buffer buffer,
                                       uint64_t offset, void* target, uint64_t bytes) {
  return add_late(stream, target, address(stream, buffer, offset), bytes);
}

/* --- peers -------------------------------------------------------------------------------------
 */

static primset_device devices[2];

static primset_status* reachable(primset_device device, primset_device peer,
                                 uint32_t* out_reachable) {
  *out_reachable = device != peer && !getenv("PEERS_APART");
  return NULL;
}

static primset_status* copy_from_peer(primset_stream stream, primset_buffer target,
                                      uint64_t target_offset, primset_buffer source,
                                      uint64_t source_offset, uint64_t bytes) {
  const primset_device peer = devices[stream->device == devices[0]];
  finish(stream);
  ++peer_copies;
  if (bytes > 0)
    memcpy(address(stream, target, target_offset), peer->memory + source->offset + source_offset,
           bytes);
  return NULL;
}

/* --- the plugin --------------------------------------------------------------------------------
 */

static primset_status* count_two(const primset_plugin* self, uint32_t* out_count) {
  (void)self;
  *out_count = 2;
  return NULL;
}

static primset_status* open_one_of_two(const primset_plugin* self, uint32_t index,
                                       primset_device* out_device) {
  primset_status* status = device_open(self, 0, out_device);
  if (!status) devices[index] = *out_device;
  return status;
}

static const void* peers_extension(primset_device device, const char* name) {
  static const primset_pinned_memory pinned = {
      sizeof(primset_pinned_memory), 0, pinned_alloc, pinned_free, pinned_copy_in, pinned_copy_out};
  static const primset_peer_copies peers = {sizeof(primset_peer_copies), 0, reachable, stream_waits,
                                            copy_from_peer};
  (void)device;
  if (strcmp(name, PRIMSET_EXT_PINNED_MEMORY) == 0) return &pinned;
  return strcmp(name, PRIMSET_EXT_PEER_COPY) == 0 ? &peers : NULL;
}

static void change_plugin(primset_plugin* plugin) {
  plugin->name = "peers";
  plugin->device_count = count_two;
  plugin->device_open = open_one_of_two;
  plugin->device_extension = peers_extension;
  plugin->copy_in = in_order_copy_in;
  plugin->copy_out = in_order_copy_out;
  plugin->launch = in_order_launch;
  plugin->stream_synchronize = synchronize;
  plugin->event_record = record_event;
  plugin->event_query = query_event;
  plugin->event_synchronize = wait_for_event;
  plugin->stream_wait_event = stream_waits;
}
