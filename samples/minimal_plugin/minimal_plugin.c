/* The smallest complete Primset plugin: copy this file, and replace each part by your device.
 *
 * It plays a device with memory of its own. "Device memory" is a separate mapping, whose addresses
 * only kernels ever see; the host reaches it by copies alone. Kernels are native images, run at
 * once on the calling thread, so streams and events have nothing to wait for.
 *
 * The contract is primset/plugin.h. Each part below says what a real device would do there. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <elf.h>
#include <primset/plugin.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Each function has the parameters of its table member, needed or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define MEMORY_BYTES ((uint64_t)512 << 20)
#define MEMORY_ALIGNMENT 256u
#define MAX_PARAM_BYTES 1024u

/* ---------------------------------------------------------------------------------------------- */
/* Errors: a status carries a code and a text, and knows how to free itself                       */
/* ---------------------------------------------------------------------------------------------- */

typedef struct {
  primset_status status; /* first, so that a primset_status* is a pointer to this */
  char message[256];
} own_status;

static void status_release(primset_status* self) { free(self); }

static primset_status* fail(uint32_t code, const char* format, ...) {
  own_status* own = malloc(sizeof(*own));
  va_list arguments;
  if (!own) abort(); /* a real plugin keeps one static status for this */
  va_start(arguments, format);
  vsnprintf(own->message, sizeof(own->message), format, arguments);
  va_end(arguments);
  own->status.struct_size = sizeof(primset_status);
  own->status.code = code;
  own->status.message = own->message;
  own->status.release = status_release;
  return &own->status;
}

/* ---------------------------------------------------------------------------------------------- */
/* Objects behind the handles                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/* A buffer is a range of the device's memory. Buffers form a list ordered by offset. */
struct primset_buffer_t {
  uint64_t offset, bytes;
  struct primset_buffer_t* next;
};

struct primset_device_t {
  char* memory;
  pthread_mutex_t mutex; /* memory_alloc and memory_free are [any]: they may run at once */
  struct primset_buffer_t* buffers;
};

struct primset_stream_t {
  primset_device device;
  uint64_t params[MAX_PARAM_BYTES / 8];
};

struct primset_event_t {
  char unused;
};

struct primset_kernel_t {
  primset_native_entry entry;
  uint32_t pointer_count, param_bytes;
};

struct primset_module_t {
  void* image;
  uint64_t image_bytes;
  struct primset_kernel_t kernel; /* a module holds one kernel */
};

/* ---------------------------------------------------------------------------------------------- */
/* Devices                                                                                        */
/* ---------------------------------------------------------------------------------------------- */

static void release(const primset_plugin* self) { (void)self; }

static primset_status* device_count(const primset_plugin* self, uint32_t* out_count) {
  *out_count = 1;
  return NULL;
}

static primset_status* device_open(const primset_plugin* self, uint32_t index,
                                   primset_device* out_device) {
  primset_device device;
  *out_device = NULL;
  if (index != 0) return fail(PRIMSET_INVALID_ARGUMENT, "device_open: no device %u", index);
  device = calloc(1, sizeof(*device));
  if (!device) return fail(PRIMSET_OUT_OF_MEMORY, "device_open: no host memory left");
  device->memory =
      mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (device->memory == MAP_FAILED) {
    free(device);
    return fail(PRIMSET_OUT_OF_MEMORY, "device_open: cannot map the device's memory");
  }
  pthread_mutex_init(&device->mutex, NULL);
  *out_device = device;
  return NULL;
}

static void device_close(primset_device device) {
  munmap(device->memory, MEMORY_BYTES);
  pthread_mutex_destroy(&device->mutex);
  free(device);
}

/* The most important function: the SDK compiles kernels for what is said here. */
static primset_status* device_properties(primset_device device, primset_device_properties* out) {
  primset_device_properties p;
  uint32_t known = out->struct_size; /* what the host knows of the struct */
  memset(&p, 0, sizeof(p));
  p.struct_size = known;
  p.kernel_format = PRIMSET_FORMAT_NATIVE_IMAGE;
  strcpy(p.name, "Minimal sample device");
  p.memory_bytes = MEMORY_BYTES;
  p.dtypes = PRIMSET_DTYPES_ALL;
  p.features = PRIMSET_FEATURE_F64 | PRIMSET_FEATURE_I64 | PRIMSET_FEATURE_ATOMIC_I64 |
               PRIMSET_FEATURE_INT8 | PRIMSET_FEATURE_INT16;
  p.numerics =
      PRIMSET_NUMERIC_EXACT_DIV_F32 | PRIMSET_NUMERIC_EXACT_DIV_F64 | PRIMSET_NUMERIC_KEEP_NAN_INF;
  p.memory_alignment = MEMORY_ALIGNMENT;
  p.max_param_bytes = MAX_PARAM_BYTES;
  p.threads = 1;
  p.vector_bytes = 0; /* the host's widest */
  p.group_threads = p.max_group_threads = 1;
  p.min_subgroup = p.max_subgroup = 1;
  p.max_groups[0] = INT32_MAX;
  p.max_groups[1] = p.max_groups[2] = 1;
  memcpy(out, &p, known < sizeof(p) ? known : sizeof(p));
  return NULL;
}

/* Optional tables by name; this device has none. */
static const void* device_extension(primset_device device, const char* name) { return NULL; }

/* ---------------------------------------------------------------------------------------------- */
/* Memory: first fit in the list of buffers. The SDK suballocates; a driver's own call would do */
/* ---------------------------------------------------------------------------------------------- */

static primset_status* memory_alloc(primset_device device, uint64_t bytes,
                                    primset_buffer* out_buffer) {
  primset_buffer buffer = calloc(1, sizeof(*buffer));
  struct primset_buffer_t** link = &device->buffers;
  uint64_t offset = 0;
  *out_buffer = NULL;
  if (!buffer) return fail(PRIMSET_OUT_OF_MEMORY, "memory_alloc: no host memory left");
  pthread_mutex_lock(&device->mutex);
  /* Walks the gaps between buffers until one is large enough. */
  while (*link && (bytes > MEMORY_BYTES || (*link)->offset - offset < bytes)) {
    offset = (*link)->offset + (*link)->bytes;
    offset = (offset + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
    link = &(*link)->next;
    /* A rounded-up offset may lie behind the next buffer's start: that gap is empty. */
    while (*link && (*link)->offset < offset) link = &(*link)->next;
  }
  if (!*link && (offset > MEMORY_BYTES || bytes > MEMORY_BYTES - offset)) {
    pthread_mutex_unlock(&device->mutex);
    free(buffer);
    return fail(PRIMSET_OUT_OF_MEMORY, "memory_alloc: no %llu bytes in one piece",
                (unsigned long long)bytes);
  }
  buffer->offset = offset;
  buffer->bytes = bytes;
  buffer->next = *link;
  *link = buffer;
  pthread_mutex_unlock(&device->mutex);
  *out_buffer = buffer;
  return NULL;
}

static void memory_free(primset_device device, primset_buffer buffer) {
  struct primset_buffer_t** link = &device->buffers;
  pthread_mutex_lock(&device->mutex);
  while (*link != buffer) link = &(*link)->next;
  *link = buffer->next;
  pthread_mutex_unlock(&device->mutex);
  free(buffer);
}

static char* address(primset_stream stream, primset_buffer buffer, uint64_t offset) {
  return stream->device->memory + buffer->offset + offset;
}

/* Host to device. Only these two functions ever touch host pointers; a real device would move the
 * bytes by DMA, after copying `source` aside if it does not wait. Empty ranges come with any
 * pointer, NULL too. */
static primset_status* copy_in(primset_stream stream, primset_buffer buffer, uint64_t offset,
                               const void* source, uint64_t bytes) {
  if (bytes > 0) memcpy(address(stream, buffer, offset), source, bytes);
  return NULL;
}

static primset_status* copy_out(primset_stream stream, primset_buffer buffer, uint64_t offset,
                                void* target, uint64_t bytes) {
  if (bytes > 0) memcpy(target, address(stream, buffer, offset), bytes);
  return NULL;
}

static primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                            primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  if (bytes > 0)
    memcpy(address(stream, target, target_offset), address(stream, source, source_offset), bytes);
  return NULL;
}

static primset_status* fill(primset_stream stream, primset_buffer buffer, uint64_t offset,
                            uint64_t bytes, const void* pattern, uint32_t pattern_bytes) {
  uint64_t i;
  for (i = 0; i < bytes; i += pattern_bytes)
    memcpy(address(stream, buffer, offset + i), pattern, pattern_bytes);
  return NULL;
}

/* ---------------------------------------------------------------------------------------------- */
/* Streams and events: all work is complete when its call returns                                 */
/* ---------------------------------------------------------------------------------------------- */

static primset_status* stream_create(primset_device device, primset_stream* out_stream) {
  *out_stream = calloc(1, sizeof(**out_stream));
  if (!*out_stream) return fail(PRIMSET_OUT_OF_MEMORY, "stream_create: no host memory left");
  (*out_stream)->device = device;
  return NULL;
}

static void stream_destroy(primset_stream stream) { free(stream); }

static primset_status* stream_synchronize(primset_stream stream) { return NULL; }

static primset_status* event_create(primset_device device, primset_event* out_event) {
  *out_event = calloc(1, sizeof(**out_event));
  if (!*out_event) return fail(PRIMSET_OUT_OF_MEMORY, "event_create: no host memory left");
  return NULL;
}

static void event_destroy(primset_event event) { free(event); }

static primset_status* event_record(primset_event event, primset_stream stream) { return NULL; }

static primset_status* event_query(primset_event event, uint32_t* out_reached) {
  *out_reached = 1;
  return NULL;
}

static primset_status* event_synchronize(primset_event event) { return NULL; }

static primset_status* stream_wait_event(primset_stream stream, primset_event event) {
  return NULL;
}

/* ---------------------------------------------------------------------------------------------- */
/* Kernels: a real device would hand desc->data to its driver                                     */
/* ---------------------------------------------------------------------------------------------- */

/* Damaged images must be refused, not run. */
static int image_fits(const primset_module_desc* desc, primset_native_image* header) {
#if defined(__aarch64__)
  const uint32_t machine = EM_AARCH64;
#else
  const uint32_t machine = EM_X86_64;
#endif
  if (desc->size < sizeof(*header)) return 0;
  memcpy(header, desc->data, sizeof(*header));
  return memcmp(header->magic, "PSIMAGE1", 8) == 0 && header->machine == machine &&
         header->header_size >= sizeof(*header) && header->image_size <= desc->size &&
         header->entry_offset >= header->header_size && header->entry_offset < header->image_size;
}

static primset_status* module_load(primset_device device, const primset_module_desc* desc,
                                   primset_module* out_module) {
  primset_native_image header;
  primset_module module;
  *out_module = NULL;
  if (desc->format != PRIMSET_FORMAT_NATIVE_IMAGE || desc->param_bytes > MAX_PARAM_BYTES)
    return fail(PRIMSET_INVALID_ARGUMENT, "module_load: format %u, param_bytes %u", desc->format,
                desc->param_bytes);
  if (!image_fits(desc, &header))
    return fail(PRIMSET_LOAD_FAILED, "module_load: no native image for this machine");
  module = calloc(1, sizeof(*module));
  if (!module) return fail(PRIMSET_OUT_OF_MEMORY, "module_load: no host memory left");
  module->image_bytes = header.image_size;
  module->image =
      mmap(NULL, header.image_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (module->image == MAP_FAILED) {
    free(module);
    return fail(PRIMSET_OUT_OF_MEMORY, "module_load: cannot map the image");
  }
  memcpy(module->image, desc->data, header.image_size);
  if (mprotect(module->image, header.image_size, PROT_READ | PROT_EXEC) != 0) {
    munmap(module->image, module->image_bytes);
    free(module);
    return fail(PRIMSET_LOAD_FAILED, "module_load: cannot make the image executable");
  }
  __builtin___clear_cache((char*)module->image, (char*)module->image + header.image_size);
  module->kernel.entry =
      (primset_native_entry)((uintptr_t)module->image + (uintptr_t)header.entry_offset);
  module->kernel.pointer_count = desc->pointer_count;
  module->kernel.param_bytes = desc->param_bytes;
  *out_module = module;
  return NULL;
}

static void module_unload(primset_device device, primset_module module) {
  munmap(module->image, module->image_bytes);
  free(module);
}

static primset_status* module_kernel(primset_module module, primset_kernel* out_kernel) {
  *out_kernel = &module->kernel;
  return NULL;
}

/* The parameter block is the device addresses of the bindings, then the scalars. */
static primset_status* launch(primset_stream stream, const primset_launch* l) {
  const struct primset_kernel_t* kernel = l->kernel;
  const uint64_t groups = (uint64_t)l->groups[0] * l->groups[1] * l->groups[2];
  uint32_t i;
  if (l->binding_count < kernel->pointer_count ||
      8 * kernel->pointer_count + l->scalar_bytes != kernel->param_bytes)
    return fail(PRIMSET_INVALID_ARGUMENT, "launch: %u bindings and %u scalar bytes",
                l->binding_count, l->scalar_bytes);
  for (i = 0; i < kernel->pointer_count; ++i) {
    const primset_binding* b = &l->bindings[i];
    stream->params[i] = b->buffer ? (uint64_t)(uintptr_t)address(stream, b->buffer, b->offset) : 0;
  }
  if (l->scalar_bytes > 0) memcpy(stream->params + i, l->scalars, l->scalar_bytes);
  if (groups > 0) kernel->entry(stream->params, 0, groups, groups);
  return NULL;
}

/* ---------------------------------------------------------------------------------------------- */
/* The table and the one exported symbol                                                          */
/* ---------------------------------------------------------------------------------------------- */

/* The name is that of the file, libminimal_primset.so, and of the device, "minimal:0". */
static const primset_plugin plugin = {
    .struct_size = sizeof(primset_plugin),
    .abi_version = PRIMSET_ABI_VERSION,
    .name = "minimal",
    .version = "1.0",
    .vendor = "Primset samples",
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
    .launch = launch,
};

primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  *out_plugin = NULL;
  if (min_version > PRIMSET_ABI_VERSION || max_version < PRIMSET_ABI_VERSION)
    return fail(PRIMSET_UNSUPPORTED, "minimal speaks ABI version %u; the host speaks %u to %u",
                PRIMSET_ABI_VERSION, min_version, max_version);
  *out_plugin = &plugin;
  return NULL;
}
