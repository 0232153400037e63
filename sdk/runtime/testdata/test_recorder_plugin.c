/* The minimal sample plugin, as "recorder": it records launches and copies (PRIMSET_EXT_RECORDING),
 * and says that its streams run in order, so that no launch is to be marked as independent. It
 * negates f32 vectors itself, which cannot be recorded. */
#include "samples/minimal_plugin/changed_plugin.h"

enum { MOST_COMMANDS = 256, MOST_BINDINGS = 16 };

struct command {
  primset_launch launch; /* kernel NULL: a copy from bindings[1] to bindings[0] */
  primset_binding bindings[MOST_BINDINGS];
  uint64_t scalars[MAX_PARAM_BYTES / 8];
};

struct primset_recording_t {
  uint32_t count;
  struct command commands[MOST_COMMANDS];
};

/* Calls on one stream never overlap, and here a stream belongs to a thread. */
static _Thread_local struct primset_recording_t* recording;
static _Thread_local primset_stream recording_stream;

static struct command* next_command(void) {
  if (recording->count == MOST_COMMANDS) return NULL;
  return &recording->commands[recording->count++];
}

static primset_status* recorded_launch(primset_stream stream, const primset_launch* l) {
  struct command* c;
  if (l->flags & PRIMSET_LAUNCH_INDEPENDENT)
    return fail(PRIMSET_INVALID_ARGUMENT, "recorder: a launch is marked, though all run in order");
  if (stream != recording_stream) return launch(stream, l);
  c = l->binding_count <= MOST_BINDINGS ? next_command() : NULL;
  if (!c) return fail(PRIMSET_UNSUPPORTED, "recorder: too much to record");
  c->launch = *l;
  if (l->binding_count > 0)
    memcpy(c->bindings, l->bindings, l->binding_count * sizeof(*l->bindings));
  if (l->scalar_bytes > 0) memcpy(c->scalars, l->scalars, l->scalar_bytes);
  c->launch.bindings = c->bindings;
  c->launch.scalars = c->scalars;
  return NULL;
}

static primset_status* recorded_copy(primset_stream stream, primset_buffer target,
                                     uint64_t target_offset, primset_buffer source,
                                     uint64_t source_offset, uint64_t bytes) {
  struct command* c;
  if (stream != recording_stream)
    return copy(stream, target, target_offset, source, source_offset, bytes);
  c = next_command();
  if (!c) return fail(PRIMSET_UNSUPPORTED, "recorder: too much to record");
  c->launch.kernel = NULL;
  c->bindings[0].buffer = target;
  c->bindings[0].offset = target_offset;
  c->bindings[1].buffer = source;
  c->bindings[1].offset = source_offset;
  c->bindings[1].size = bytes;
  return NULL;
}

static primset_status* recording_begin(primset_stream stream) {
  recording = calloc(1, sizeof(*recording));
  if (!recording) return fail(PRIMSET_OUT_OF_MEMORY, "recorder: no host memory left");
  recording_stream = stream;
  return NULL;
}

static primset_status* recording_end(primset_stream stream, primset_recording* out_recording) {
  (void)stream;
  recording_stream = NULL;
  if (out_recording)
    *out_recording = recording;
  else
    free(recording);
  recording = NULL;
  return NULL;
}

static primset_status* recording_play(primset_stream stream, primset_recording r) {
  uint32_t i;
  for (i = 0; i < r->count; ++i) {
    const struct command* c = &r->commands[i];
    const primset_binding* b = c->bindings;
    primset_status* status = c->launch.kernel ? launch(stream, &c->launch)
                                              : copy(stream, b[0].buffer, b[0].offset, b[1].buffer,
                                                     b[1].offset, b[1].size);
    if (status) return status;
  }
  return NULL;
}

static void recording_destroy(primset_device device, primset_recording r) {
  (void)device;
  free(r);
}

static primset_status* negate(primset_stream stream, const void* data,
                              const primset_primitive_call* call) {
  const primset_tensor *x = &call->operands[0], *y = &call->results[0];
  const float* from = (const float*)address(stream, x->buffer, x->offset);
  float* to = (float*)address(stream, y->buffer, y->offset);
  int64_t i;
  if (stream == recording_stream)
    return fail(PRIMSET_UNSUPPORTED, "recorder: neg is given to a stream that records");
  for (i = 0; i < x->sizes[0]; ++i) to[i] = -from[i];
  return NULL;
}

static primset_status* find_negation(primset_device device, const char* name,
                                     const primset_primitive_call* call, primset_primitive* out) {
  const primset_tensor* x = &call->operands[0];
  if (strcmp(name, "neg") != 0 || x->dtype != PRIMSET_F32 || x->rank != 1 || x->strides[0] != 1)
    return fail(PRIMSET_UNSUPPORTED, "find: neg of f32 vectors alone");
  out->flags = PRIMSET_PRIMITIVE_STRIDED | PRIMSET_PRIMITIVE_UNRECORDED;
  out->run = negate;
  return NULL;
}

static const void* recorder_extension(primset_device device, const char* name) {
  static const primset_recordings table = {
      sizeof(primset_recordings), 0, recording_begin, recording_end, recording_play,
      recording_destroy};
  static const primset_primitives primitives = {sizeof(primset_primitives), 0, find_negation};
  (void)device;
  if (strcmp(name, PRIMSET_EXT_PRIMITIVES) == 0) return &primitives;
  return strcmp(name, PRIMSET_EXT_RECORDING) == 0 ? &table : NULL;
}

static primset_status* ordered_properties(primset_device device, primset_device_properties* out) {
  primset_status* status = device_properties(device, out);
  if (!status) out->features |= PRIMSET_FEATURE_IN_ORDER;
  return status;
}

static void change_plugin(primset_plugin* plugin) {
  plugin->name = "recorder";
  plugin->device_properties = ordered_properties;
  plugin->device_extension = recorder_extension;
  plugin->launch = recorded_launch;
  plugin->copy = recorded_copy;
}
