/* A plugin for tests of the loader and of the validation layer. Its memory is malloc's, its streams
 * run inline, its kernels do nothing. Built several times, each time with one thing broken:
 *
 *   MOCK_NO_SYMBOL         exports no query function
 *   MOCK_WRONG_VERSION     says it speaks ABI version 7
 *   MOCK_REFUSES_VERSION   refuses the host's versions
 *   MOCK_NO_TABLE          success, but no table
 *   MOCK_SHORT_TABLE       struct_size of 16
 *   MOCK_NULL_FUNCTION     launch is NULL
 *   MOCK_BAD_NAME          its name is "Mock!"
 *   MOCK_NAME              its name is this
 *   MOCK_OTHER_NAME        its name is not that of its file
 *   MOCK_ALL_ERRORS        every call fails
 *   MOCK_ERRORS_WHEN_OPEN  every call on an open device fails
 *   MOCK_NO_MEMORY         every allocation fails
 *   MOCK_NO_HANDLE         allocations succeed without a handle
 *   MOCK_BAD_PROPERTIES    memory_alignment is 48
 *   MOCK_BAD_EXTENSION     the host memory table has struct_size 4
 *   MOCK_BAD_STATUS        memory_alloc fails with a status of struct_size 0
 */
#include <primset/plugin.h>
#include <stdlib.h>
#include <string.h>

struct primset_device_t {
  int unused;
};
struct primset_stream_t {
  int unused;
};
struct primset_event_t {
  int unused;
};
struct primset_buffer_t {
  char* bytes;
};
struct primset_kernel_t {
  int unused;
};
struct primset_module_t {
  struct primset_kernel_t kernel;
};

static void status_release(primset_status* self) { (void)self; }

#define STATUS(code, text) \
  static primset_status status = {sizeof(primset_status), code, text, status_release}

#if defined(MOCK_ALL_ERRORS)
#define FAIL_ALWAYS(function)                                           \
  do {                                                                  \
    STATUS(PRIMSET_INTERNAL, "mock: " function " fails, as it should"); \
    return &status;                                                     \
  } while (0)
#else
#define FAIL_ALWAYS(function) ((void)0)
#endif

#if defined(MOCK_ERRORS_WHEN_OPEN)
#define FAIL_OPEN(function)                                                \
  do {                                                                     \
    STATUS(PRIMSET_DEVICE_LOST, "mock: " function " fails, as it should"); \
    return &status;                                                        \
  } while (0)
#else
#define FAIL_OPEN(function) FAIL_ALWAYS(function)
#endif

static void release(const primset_plugin* self) { (void)self; }

static primset_status* device_count(const primset_plugin* self, uint32_t* out_count) {
  (void)self;
  *out_count = 0;
  FAIL_ALWAYS("device_count");
  *out_count = 2;
  return NULL;
}

static primset_status* device_open(const primset_plugin* self, uint32_t index,
                                   primset_device* out_device) {
  (void)self;
  (void)index;
  *out_device = NULL;
  FAIL_ALWAYS("device_open");
  *out_device = calloc(1, sizeof(struct primset_device_t));
  return NULL;
}

static void device_close(primset_device device) { free(device); }

static primset_status* device_properties(primset_device device, primset_device_properties* out) {
  (void)device;
  FAIL_ALWAYS("device_properties");
  out->kernel_format = PRIMSET_FORMAT_NATIVE_IMAGE;
  strcpy(out->name, "Mock");
  out->memory_bytes = 1u << 30;
  out->dtypes = 1u << PRIMSET_F32;
#if defined(MOCK_BAD_PROPERTIES)
  out->memory_alignment = 48;
#else
  out->memory_alignment = 16;
#endif
  out->max_param_bytes = 256;
  out->threads = 1;
  out->group_threads = out->max_group_threads = 1;
  out->max_groups[0] = 1000;
  out->max_groups[1] = out->max_groups[2] = 1;
  return NULL;
}

static void* host_address(primset_device device, primset_buffer buffer) {
  (void)device;
  return buffer->bytes;
}

static primset_status* host_import(primset_device device, void* address, uint64_t bytes,
                                   primset_buffer* out_buffer) {
  (void)device;
  (void)address;
  (void)bytes;
  *out_buffer = NULL;
  STATUS(PRIMSET_UNSUPPORTED, "mock: import");
  return &status;
}

struct primset_recording_t {
  char unused;
};

static primset_status* recording_begin(primset_stream stream) {
  (void)stream;
  return NULL;
}

static primset_status* recording_end(primset_stream stream, primset_recording* out_recording) {
  (void)stream;
  if (out_recording) *out_recording = calloc(1, sizeof(struct primset_recording_t));
  return NULL;
}

static primset_status* recording_play(primset_stream stream, primset_recording recording) {
  (void)stream;
  (void)recording;
  return NULL;
}

static void recording_destroy(primset_device device, primset_recording recording) {
  (void)device;
  free(recording);
}

static const void* device_extension(primset_device device, const char* name) {
  static const primset_recordings recordings = {
      sizeof(primset_recordings), 0, recording_begin, recording_end, recording_play,
      recording_destroy};
#if defined(MOCK_BAD_EXTENSION)
  static const primset_host_memory host_memory = {4, 0, host_address, host_import};
#else
  static const primset_host_memory host_memory = {sizeof(primset_host_memory), 0, host_address,
                                                  host_import};
#endif
  (void)device;
  if (strcmp(name, PRIMSET_EXT_RECORDING) == 0) return &recordings;
  return strcmp(name, PRIMSET_EXT_HOST_MEMORY) == 0 ? &host_memory : NULL;
}

static primset_status* memory_alloc(primset_device device, uint64_t bytes,
                                    primset_buffer* out_buffer) {
  (void)device;
  *out_buffer = NULL;
  FAIL_OPEN("memory_alloc");
#if defined(MOCK_NO_MEMORY)
  STATUS(PRIMSET_OUT_OF_MEMORY, "mock: no memory at all");
  return &status;
#elif defined(MOCK_BAD_STATUS)
  static primset_status bad = {0, PRIMSET_INTERNAL, "never read", status_release};
  return &bad;
#elif !defined(MOCK_NO_HANDLE)
  *out_buffer = calloc(1, sizeof(struct primset_buffer_t));
  (*out_buffer)->bytes = calloc(1, bytes);
#endif
  (void)bytes;
  return NULL;
}

static void memory_free(primset_device device, primset_buffer buffer) {
  (void)device;
  free(buffer->bytes);
  free(buffer);
}

static primset_status* copy_in(primset_stream stream, primset_buffer buffer, uint64_t offset,
                               const void* source, uint64_t bytes) {
  (void)stream;
  FAIL_OPEN("copy_in");
  if (bytes > 0) memcpy(buffer->bytes + offset, source, bytes);
  return NULL;
}

static primset_status* copy_out(primset_stream stream, primset_buffer buffer, uint64_t offset,
                                void* target, uint64_t bytes) {
  (void)stream;
  FAIL_OPEN("copy_out");
  if (bytes > 0) memcpy(target, buffer->bytes + offset, bytes);
  return NULL;
}

static primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                            primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  (void)stream;
  FAIL_OPEN("copy");
  if (bytes > 0) memcpy(target->bytes + target_offset, source->bytes + source_offset, bytes);
  return NULL;
}

static primset_status* fill(primset_stream stream, primset_buffer buffer, uint64_t offset,
                            uint64_t bytes, const void* pattern, uint32_t pattern_bytes) {
  (void)stream;
  FAIL_OPEN("fill");
  for (uint64_t i = 0; i < bytes; i += pattern_bytes)
    memcpy(buffer->bytes + offset + i, pattern, pattern_bytes);
  return NULL;
}

static primset_status* stream_create(primset_device device, primset_stream* out_stream) {
  (void)device;
  *out_stream = NULL;
  FAIL_OPEN("stream_create");
  *out_stream = calloc(1, sizeof(struct primset_stream_t));
  return NULL;
}

static void stream_destroy(primset_stream stream) { free(stream); }

static primset_status* stream_synchronize(primset_stream stream) {
  (void)stream;
  FAIL_OPEN("stream_synchronize");
  return NULL;
}

static primset_status* event_create(primset_device device, primset_event* out_event) {
  (void)device;
  *out_event = NULL;
  FAIL_OPEN("event_create");
  *out_event = calloc(1, sizeof(struct primset_event_t));
  return NULL;
}

static void event_destroy(primset_event event) { free(event); }

static primset_status* event_record(primset_event event, primset_stream stream) {
  (void)event;
  (void)stream;
  FAIL_OPEN("event_record");
  return NULL;
}

static primset_status* event_query(primset_event event, uint32_t* out_reached) {
  (void)event;
  *out_reached = 0;
  FAIL_OPEN("event_query");
  *out_reached = 1;
  return NULL;
}

static primset_status* event_synchronize(primset_event event) {
  (void)event;
  FAIL_OPEN("event_synchronize");
  return NULL;
}

static primset_status* stream_wait_event(primset_stream stream, primset_event event) {
  (void)stream;
  (void)event;
  FAIL_OPEN("stream_wait_event");
  return NULL;
}

static primset_status* module_load(primset_device device, const primset_module_desc* desc,
                                   primset_module* out_module) {
  (void)device;
  (void)desc;
  *out_module = NULL;
  FAIL_OPEN("module_load");
  *out_module = calloc(1, sizeof(struct primset_module_t));
  return NULL;
}

static void module_unload(primset_device device, primset_module module) {
  (void)device;
  free(module);
}

static primset_status* module_kernel(primset_module module, primset_kernel* out_kernel) {
  *out_kernel = NULL;
  FAIL_OPEN("module_kernel");
  *out_kernel = &module->kernel;
  return NULL;
}

static primset_status* launch(primset_stream stream, const primset_launch* arguments) {
  (void)stream;
  (void)arguments;
  FAIL_OPEN("launch");
  return NULL;
}

#if defined(MOCK_NAME)
#define NAME MOCK_NAME
#elif defined(MOCK_BAD_NAME)
#define NAME "Mock!"
#elif defined(MOCK_OTHER_NAME)
#define NAME "other"
#else
#define NAME "mock"
#endif

static const primset_plugin plugin = {
#if defined(MOCK_SHORT_TABLE)
    .struct_size = 16,
#else
    .struct_size = sizeof(primset_plugin),
#endif
#if defined(MOCK_WRONG_VERSION)
    .abi_version = 7,
#else
    .abi_version = PRIMSET_ABI_VERSION,
#endif
    .name = NAME,
    .version = "1.0",
    .vendor = "Primset tests",
    .release = release,
    .device_count = device_count,
    .device_open = device_open,
    .device_close = device_close,
    .device_properties = device_properties,
    .device_extension = device_extension,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy = copy,
    .fill = fill,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .stream_wait_event = stream_wait_event,
    .module_load = module_load,
    .module_unload = module_unload,
    .module_kernel = module_kernel,
#if !defined(MOCK_NULL_FUNCTION)
    .launch = launch,
#endif
};

#if defined(MOCK_NO_SYMBOL)
#define QUERY mock_query
primset_status* QUERY(const primset_host* host, uint32_t min_version, uint32_t max_version,
                      const primset_plugin** out_plugin);
#else
#define QUERY primset_plugin_query
#endif

primset_status* QUERY(const primset_host* host, uint32_t min_version, uint32_t max_version,
                      const primset_plugin** out_plugin) {
  (void)host;
  (void)min_version;
  (void)max_version;
  (void)launch;
  *out_plugin = &plugin;
#if defined(MOCK_REFUSES_VERSION)
  STATUS(PRIMSET_UNSUPPORTED, "mock: speaks 5 to 6");
  *out_plugin = NULL;
  return &status;
#elif defined(MOCK_NO_TABLE)
  *out_plugin = NULL;
#endif
  return NULL;
}
