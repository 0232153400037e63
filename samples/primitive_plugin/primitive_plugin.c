/* A Primset plugin for a device that takes no kernels: fixed functions only.
 *
 * Such a device says PRIMSET_FORMAT_NONE and offers native primitives (PRIMSET_EXT_PRIMITIVES). The
 * SDK makes operands contiguous, decomposes operators into primitives, and asks `find` which of
 * them the device runs. This sample has a small table of them, for f32 mostly; all else is refused
 * as unsupported, and the SDK says so to the user, operator by operator.
 *
 * The plain parts (errors, memory, streams) are those of ../minimal_plugin, kept short. */
#include <math.h>
#include <primset/plugin.h>
#include <stdlib.h>
#include <string.h>

/* Each function has the parameters of its table member, needed or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define MAX_RANK 8
#define MEMORY_BYTES ((uint64_t)4 << 30)

/* ---------------------------------------------------------------------------------------------- */
/* Plain parts                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

static void status_release(primset_status* self) { (void)self; }

/* The sample's errors have fixed texts; one with values in it is made as in ../minimal_plugin. */
#define FAIL(code, text)                                                                 \
  do {                                                                                   \
    static primset_status status = {sizeof(primset_status), code, text, status_release}; \
    return &status;                                                                      \
  } while (0)

struct primset_device_t {
  char unused;
};
struct primset_stream_t {
  char unused;
};
struct primset_event_t {
  char unused;
};
struct primset_buffer_t {
  char* bytes;
};

static void release(const primset_plugin* self) { (void)self; }

static primset_status* device_count(const primset_plugin* self, uint32_t* out_count) {
  *out_count = 1;
  return NULL;
}

/* Makes one zeroed object of any handle type. */
#define MAKE(out)                                                    \
  do {                                                               \
    *(out) = calloc(1, sizeof(**(out)));                             \
    if (!*(out)) FAIL(PRIMSET_OUT_OF_MEMORY, "no host memory left"); \
    return NULL;                                                     \
  } while (0)

static primset_status* device_open(const primset_plugin* self, uint32_t index,
                                   primset_device* out_device) {
  *out_device = NULL;
  if (index != 0) FAIL(PRIMSET_INVALID_ARGUMENT, "device_open: there is only device 0");
  MAKE(out_device);
}

static void device_close(primset_device device) { free(device); }

static primset_status* device_properties(primset_device device, primset_device_properties* out) {
  primset_device_properties p;
  uint32_t known = out->struct_size;
  memset(&p, 0, sizeof(p));
  p.struct_size = known;
  p.kernel_format = PRIMSET_FORMAT_NONE;
  strcpy(p.name, "Primitive sample device");
  p.dtypes = 1u << PRIMSET_F32 | 1u << PRIMSET_I64 | 1u << PRIMSET_BOOL;
  p.memory_bytes = MEMORY_BYTES;
  p.memory_alignment = 16;
  memcpy(out, &p, known < sizeof(p) ? known : sizeof(p));
  return NULL;
}

static primset_status* memory_alloc(primset_device device, uint64_t bytes,
                                    primset_buffer* out_buffer) {
  primset_buffer buffer = calloc(1, sizeof(*buffer));
  *out_buffer = NULL;
  if (buffer) buffer->bytes = bytes <= MEMORY_BYTES ? malloc(bytes) : NULL;
  if (!buffer || !buffer->bytes) {
    free(buffer);
    FAIL(PRIMSET_OUT_OF_MEMORY, "memory_alloc: no memory left");
  }
  *out_buffer = buffer;
  return NULL;
}

static void memory_free(primset_device device, primset_buffer buffer) {
  free(buffer->bytes);
  free(buffer);
}

static primset_status* copy_in(primset_stream stream, primset_buffer buffer, uint64_t offset,
                               const void* source, uint64_t bytes) {
  if (bytes > 0) memcpy(buffer->bytes + offset, source, bytes);
  return NULL;
}

static primset_status* copy_out(primset_stream stream, primset_buffer buffer, uint64_t offset,
                                void* target, uint64_t bytes) {
  if (bytes > 0) memcpy(target, buffer->bytes + offset, bytes);
  return NULL;
}

static primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                            primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  if (bytes > 0) memcpy(target->bytes + target_offset, source->bytes + source_offset, bytes);
  return NULL;
}

static primset_status* fill(primset_stream stream, primset_buffer buffer, uint64_t offset,
                            uint64_t bytes, const void* pattern, uint32_t pattern_bytes) {
  uint64_t i;
  for (i = 0; i < bytes; i += pattern_bytes)
    memcpy(buffer->bytes + offset + i, pattern, pattern_bytes);
  return NULL;
}

static primset_status* stream_create(primset_device device, primset_stream* out_stream) {
  MAKE(out_stream);
}
static void stream_destroy(primset_stream stream) { free(stream); }
static primset_status* stream_synchronize(primset_stream stream) { return NULL; }
static primset_status* event_create(primset_device device, primset_event* out_event) {
  MAKE(out_event);
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

static primset_status* module_load(primset_device device, const primset_module_desc* desc,
                                   primset_module* out_module) {
  *out_module = NULL;
  FAIL(PRIMSET_UNSUPPORTED, "module_load: this device takes no kernels");
}
static void module_unload(primset_device device, primset_module module) {}
static primset_status* module_kernel(primset_module module, primset_kernel* out_kernel) {
  *out_kernel = NULL;
  FAIL(PRIMSET_UNSUPPORTED, "module_kernel: this device takes no kernels");
}
static primset_status* launch(primset_stream stream, const primset_launch* l) {
  FAIL(PRIMSET_UNSUPPORTED, "launch: this device takes no kernels");
}

/* ---------------------------------------------------------------------------------------------- */
/* Primitives. Operands are contiguous; results come allocated, contiguous, with their final sizes
 */
/* ---------------------------------------------------------------------------------------------- */

typedef primset_primitive_call call_t;

static void* data_of(const primset_tensor* t) {
  return t->buffer ? t->buffer->bytes + t->offset : NULL;
}
static const float* in_f32(const call_t* c, int i) { return data_of(&c->operands[i]); }
static float* out_f32(const call_t* c) { return data_of(&c->results[0]); }

static int64_t count_of(const primset_tensor* t) {
  int64_t n = 1;
  uint32_t d;
  for (d = 0; d < t->rank; ++d) n *= t->sizes[d];
  return n;
}

static const primset_attr* attr(const call_t* c, const char* name) {
  uint32_t i;
  for (i = 0; i < c->attr_count; ++i)
    if (strcmp(c->attrs[i].name, name) == 0) return &c->attrs[i];
  return NULL;
}

static int contains(const primset_attr* list, int64_t value) {
  uint32_t i;
  for (i = 0; list && i < list->count; ++i)
    if (list->value.ints[i] == value) return 1;
  return 0;
}

#define ELEMENTWISE(function, from, to, expression)                                             \
  static void function(const call_t* c) {                                                       \
    const from *x = data_of(&c->operands[0]), *y = data_of(&c->operands[c->operand_count - 1]); \
    to* z = data_of(&c->results[0]);                                                            \
    int64_t i, n = count_of(&c->results[0]);                                                    \
    for (i = 0; i < n; ++i) z[i] = expression;                                                  \
    (void)y;                                                                                    \
  }
ELEMENTWISE(run_add, float, float, x[i] + y[i])
ELEMENTWISE(run_sub, float, float, x[i] - y[i])
ELEMENTWISE(run_mul, float, float, x[i] * y[i])
ELEMENTWISE(run_neg, float, float, -x[i])
ELEMENTWISE(run_max, float, float, x[i] > y[i] || isnan(x[i]) ? x[i] : y[i])
ELEMENTWISE(run_i64_to_f32, int64_t, float, (float)x[i])
/* What does not fit, NaN too, gives some value: C leaves the cast itself undefined. */
ELEMENTWISE(run_f32_to_i64, float, int64_t, fabsf(x[i]) < 0x1p63f ? (int64_t)x[i] : INT64_MIN)

static void run_reshape(const call_t* c) {
  const size_t bytes = (size_t)count_of(&c->results[0]) * sizeof(float);
  if (bytes > 0) memcpy(out_f32(c), in_f32(c, 0), bytes);
}

/* Copies with one source stride for each dim of the result. */
static void gather(const call_t* c, const int64_t* strides) {
  const primset_tensor* r = &c->results[0];
  const float* x = in_f32(c, 0);
  float* z = out_f32(c);
  int64_t i, n = count_of(r);
  for (i = 0; i < n; ++i) {
    int64_t rest = i, from = 0;
    int32_t d;
    for (d = (int32_t)r->rank - 1; d >= 0; --d) {
      from += rest % r->sizes[d] * strides[d];
      rest /= r->sizes[d];
    }
    z[i] = x[from];
  }
}

static void run_transpose(const call_t* c) {
  const primset_attr* permutation = attr(c, "permutation");
  int64_t strides[MAX_RANK] = {0};
  uint32_t d;
  for (d = 0; d < c->results[0].rank; ++d)
    strides[d] = c->operands[0].strides[permutation->value.ints[d]];
  gather(c, strides);
}

static void run_broadcast(const call_t* c) {
  const primset_attr* dims = attr(c, "dims");
  int64_t strides[MAX_RANK] = {0};
  uint32_t d;
  for (d = 0; d < c->operands[0].rank; ++d)
    if (c->operands[0].sizes[d] != 1) strides[dims->value.ints[d]] = c->operands[0].strides[d];
  gather(c, strides);
}

/* Each element is added, in double, to the sum of the kept dims. */
static void run_reduce_sum(const call_t* c) {
  const primset_tensor* t = &c->operands[0];
  const primset_attr* dims = attr(c, "dims");
  const float* x = in_f32(c, 0);
  float* z = out_f32(c);
  int64_t o, k, kept = count_of(&c->results[0]), summed = 1;
  uint32_t d;
  for (d = 0; d < t->rank; ++d) summed *= contains(dims, d) ? t->sizes[d] : 1;
  for (o = 0; o < kept; ++o) {
    double sum = 0;
    for (k = 0; k < summed; ++k) {
      int64_t kept_rest = o, summed_rest = k, from = 0;
      int32_t i;
      for (i = (int32_t)t->rank - 1; i >= 0; --i) {
        int64_t* rest = contains(dims, i) ? &summed_rest : &kept_rest;
        from += *rest % t->sizes[i] * t->strides[i];
        *rest /= t->sizes[i];
      }
      sum += x[from];
    }
    z[o] = (float)sum;
  }
}

/* Matrices: either dim of either one may be the contracted one. */
static void run_dot(const call_t* c) {
  const primset_tensor *a = &c->operands[0], *b = &c->operands[1];
  const int64_t ka = attr(c, "a_contract")->value.ints[0],
                kb = attr(c, "b_contract")->value.ints[0];
  const float *x = in_f32(c, 0), *y = in_f32(c, 1);
  float* z = out_f32(c);
  int64_t i, j, q;
  for (i = 0; i < a->sizes[1 - ka]; ++i)
    for (j = 0; j < b->sizes[1 - kb]; ++j) {
      double sum = 0;
      for (q = 0; q < a->sizes[ka]; ++q)
        sum += (double)x[i * a->strides[1 - ka] + q * a->strides[ka]] *
               y[j * b->strides[1 - kb] + q * b->strides[kb]];
      *z++ = (float)sum;
    }
}

/* True for the one form of dot_general that run_dot knows. */
static int is_matrix_product(const call_t* c) {
  const primset_attr *ka = attr(c, "a_contract"), *kb = attr(c, "b_contract");
  return c->operands[0].rank == 2 && c->operands[1].rank == 2 && ka && ka->count == 1 && kb &&
         kb->count == 1;
}

static const struct primitive {
  const char* name;
  uint32_t operands;
  uint32_t from, to; /* element types of all operands, and of the result */
  void (*run)(const call_t*);
  int (*accepts)(const call_t*); /* NULL: all calls of these types */
} primitives[] = {
    {"add", 2, PRIMSET_F32, PRIMSET_F32, run_add, NULL},
    {"sub", 2, PRIMSET_F32, PRIMSET_F32, run_sub, NULL},
    {"mul", 2, PRIMSET_F32, PRIMSET_F32, run_mul, NULL},
    {"max", 2, PRIMSET_F32, PRIMSET_F32, run_max, NULL},
    {"neg", 1, PRIMSET_F32, PRIMSET_F32, run_neg, NULL},
    {"convert", 1, PRIMSET_I64, PRIMSET_F32, run_i64_to_f32, NULL},
    {"convert", 1, PRIMSET_F32, PRIMSET_I64, run_f32_to_i64, NULL},
    {"reshape", 1, PRIMSET_F32, PRIMSET_F32, run_reshape, NULL},
    {"transpose", 1, PRIMSET_F32, PRIMSET_F32, run_transpose, NULL},
    {"broadcast_in_dim", 1, PRIMSET_F32, PRIMSET_F32, run_broadcast, NULL},
    {"reduce_sum", 1, PRIMSET_F32, PRIMSET_F32, run_reduce_sum, NULL},
    {"dot_general", 2, PRIMSET_F32, PRIMSET_F32, run_dot, is_matrix_product},
};

static primset_status* run(primset_stream stream, const void* data, const call_t* call) {
  ((const struct primitive*)data)->run(call);
  return NULL;
}

static int matches(const struct primitive* p, const char* name, const call_t* c) {
  uint32_t i;
  if (strcmp(p->name, name) != 0 || c->operand_count != p->operands || c->result_count != 1 ||
      c->results[0].dtype != p->to || c->results[0].rank > MAX_RANK)
    return 0;
  for (i = 0; i < c->operand_count; ++i)
    if (c->operands[i].dtype != p->from || c->operands[i].rank > MAX_RANK) return 0;
  return !p->accepts || p->accepts(c);
}

static primset_status* find(primset_device device, const char* name, const call_t* call,
                            primset_primitive* out) {
  size_t i;
  for (i = 0; i < sizeof(primitives) / sizeof(primitives[0]); ++i) {
    if (!matches(&primitives[i], name, call)) continue;
    out->flags = 0; /* contiguous operands, please */
    out->run = run;
    out->data = &primitives[i];
    return NULL;
  }
  FAIL(PRIMSET_UNSUPPORTED, "find: not built in for these element types and dims");
}

static const void* device_extension(primset_device device, const char* name) {
  static const primset_primitives table = {sizeof(primset_primitives), 0, find};
  return strcmp(name, PRIMSET_EXT_PRIMITIVES) == 0 ? &table : NULL;
}

/* ---------------------------------------------------------------------------------------------- */
/* The table and the one exported symbol                                                          */
/* ---------------------------------------------------------------------------------------------- */

static const primset_plugin plugin = {
    .struct_size = sizeof(primset_plugin),
    .abi_version = PRIMSET_ABI_VERSION,
    .name = "primitive",
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
    FAIL(PRIMSET_UNSUPPORTED, "primitive speaks ABI version 1 only");
  *out_plugin = &plugin;
  return NULL;
}
