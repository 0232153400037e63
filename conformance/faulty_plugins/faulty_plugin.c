/* The minimal sample plugin with one fault, chosen by PRIMSET_FAULT when it is compiled.
 * Conformance must name each of them: faulty_plugins_test.cpp. */

/* The sample goes first, as it says what system headers are to declare. */
/* clang-format off */
#include "samples/minimal_plugin/changed_plugin.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>
/* clang-format on */

/* Faults. Those that would end a process strike in large launches only, so that it shows whether
 * the other cases of the batch survive. */
#define WRONG_BITS 1     /* one bit of the last byte of each output is flipped */
#define LOST_TAIL 2      /* the last four bytes of each output are never written */
#define OUT_OF_BOUNDS 3  /* one byte behind each output is changed */
#define IGNORED_OFFSET 4 /* inputs are read from their buffer's start */
#define CRASHES 5
#define HANGS 6
#define DEVICE_LOST 7
#define LAUNCH_ERROR 8
#define LOSES_NAN 9        /* f32 NaN becomes 0 */
#define FLUSHES 10         /* f32 denormals become 0, which the properties do not declare */
#define CLAIMS_TOO_MUCH 11 /* f64 tensors are claimed, and kernels cannot compute in f64 */
#define FLAKY 12           /* wrong bits, from a process' 6th launch on */
#define WRONG_NEG 13       /* one primitive, run natively, gives back its operand */
#define IGNORED_STRIDES 14 /* the same primitive takes strided operands, and reads them densely */
#define ODD_SIZES 15       /* wrong bits in outputs that are no whole vectors */
#define SECOND_LAUNCH 16   /* wrong bits when a kernel is launched for the second time */
#define DOES_NOT_WAIT 17   /* a launch is done when the next one comes; waiting does nothing */
#define OFF_BY_AN_ULP 18   /* f32 results are the next greater number */
#define LEAKS 19           /* each launch takes memory and keeps it */
#define HOSTILE_TEXT 20    /* a name and messages with escape codes, markup and no UTF-8 */

#define LARGE_BYTES 4096u
#define SOUND_LAUNCHES 5u
#define VECTOR_BYTES 32u
#define LEAK_BYTES ((uint64_t)32 << 20)
#define MAX_BINDINGS 64u

static int is_output(const primset_binding* b) {
  return (b->access & PRIMSET_ACCESS_WRITE) != 0 && b->size > 0;
}

static int is_large(const primset_launch* l) {
  uint32_t i;
  for (i = 0; i < l->binding_count; ++i) {
    if (l->bindings[i].size > LARGE_BYTES) return 1;
  }
  return 0;
}

static void flip_last_bits(primset_stream stream, const primset_launch* l) {
  uint32_t i;
  for (i = 0; i < l->binding_count; ++i) {
    const primset_binding* b = &l->bindings[i];
    if (is_output(b)) address(stream, b->buffer, b->offset)[b->size - 1] ^= 0x20;
  }
}

static void touch_behind(primset_stream stream, const primset_launch* l) {
  uint32_t i;
  for (i = 0; i < l->binding_count; ++i) {
    const primset_binding* b = &l->bindings[i];
    if (is_output(b)) address(stream, b->buffer, b->offset)[b->size] ^= 0x20;
  }
}

/* Applies f to each f32 of the outputs; of other dtypes it sees nonsense, which is fine. */
static void change_floats(primset_stream stream, const primset_launch* l, float (*f)(float)) {
  uint32_t i;
  uint64_t at;
  for (i = 0; i < l->binding_count; ++i) {
    const primset_binding* b = &l->bindings[i];
    if (!is_output(b)) continue;
    for (at = 0; at + sizeof(float) <= b->size; at += sizeof(float)) {
      float value;
      char* place = address(stream, b->buffer, b->offset + at);
      memcpy(&value, place, sizeof(value));
      value = f(value);
      memcpy(place, &value, sizeof(value));
    }
  }
}

static float without_nan(float x) { return isnan(x) ? 0 : x; }
static float without_denormals(float x) { return fpclassify(x) == FP_SUBNORMAL ? 0 : x; }
static float next_greater(float x) { return x == 0 ? x : nextafterf(x, INFINITY); }

static void flip_odd_sizes(primset_stream stream, const primset_launch* l) {
  uint32_t i;
  for (i = 0; i < l->binding_count; ++i) {
    const primset_binding* b = &l->bindings[i];
    if (is_output(b) && b->size % VECTOR_BYTES != 0)
      address(stream, b->buffer, b->offset)[b->size - 1] ^= 0x20;
  }
}

static int is_second_launch(primset_kernel kernel) {
  static struct {
    primset_kernel kernel;
    unsigned launches;
  } known[4096];
  size_t i = 0;
  while (i < 4095 && known[i].kernel && known[i].kernel != kernel) ++i;
  known[i].kernel = kernel;
  return ++known[i].launches == 2;
}

/* The launch that is yet to be done. Nobody but the next launch waits for it. */
static struct {
  primset_stream stream;
  primset_launch launch;
  primset_binding bindings[MAX_BINDINGS];
  uint64_t scalars[MAX_PARAM_BYTES / 8];
} late;

static primset_status* launch_late(primset_stream stream, const primset_launch* l) {
  primset_status* status = late.stream ? launch(late.stream, &late.launch) : NULL;
  late.stream = stream;
  late.launch = *l;
  if (l->binding_count > 0)
    memcpy(late.bindings, l->bindings, l->binding_count * sizeof(late.bindings[0]));
  if (l->scalar_bytes > 0) memcpy(late.scalars, l->scalars, l->scalar_bytes);
  late.launch.bindings = late.bindings;
  late.launch.scalars = late.scalars;
  return status;
}

static primset_status* launch_and_leak(primset_stream stream, const primset_launch* l) {
  primset_buffer kept;
  primset_status* status = memory_alloc(stream->device, LEAK_BYTES, &kept);
  return status ? status : launch(stream, l);
}

static primset_status* launch_without_tail(primset_stream stream, const primset_launch* l) {
  char old[8][4];
  uint32_t i;
  primset_status* status;
  for (i = 0; i < l->binding_count && i < 8; ++i) {
    const primset_binding* b = &l->bindings[i];
    if (is_output(b) && b->size >= 4)
      memcpy(old[i], address(stream, b->buffer, b->offset + b->size - 4), 4);
  }
  status = launch(stream, l);
  for (i = 0; i < l->binding_count && i < 8; ++i) {
    const primset_binding* b = &l->bindings[i];
    if (is_output(b) && b->size >= 4)
      memcpy(address(stream, b->buffer, b->offset + b->size - 4), old[i], 4);
  }
  return status;
}

static primset_status* launch_without_offsets(primset_stream stream, const primset_launch* l) {
  primset_binding bindings[MAX_BINDINGS];
  primset_launch changed = *l;
  uint32_t i;
  for (i = 0; i < l->binding_count && i < MAX_BINDINGS; ++i) {
    bindings[i] = l->bindings[i];
    if (!is_output(&bindings[i])) bindings[i].offset = 0;
  }
  changed.bindings = bindings;
  return launch(stream, &changed);
}

static primset_status* faulty_launch(primset_stream stream, const primset_launch* l) {
  static unsigned launches = 0;
  primset_status* status;
  ++launches;
  if (PRIMSET_FAULT == LOST_TAIL) return launch_without_tail(stream, l);
  if (PRIMSET_FAULT == IGNORED_OFFSET) return launch_without_offsets(stream, l);
  if (PRIMSET_FAULT == DOES_NOT_WAIT) return launch_late(stream, l);
  if (PRIMSET_FAULT == LEAKS) return launch_and_leak(stream, l);
  if (is_large(l)) {
    if (PRIMSET_FAULT == CRASHES) raise(SIGSEGV);
    if (PRIMSET_FAULT == HANGS) pause();
    if (PRIMSET_FAULT == DEVICE_LOST)
      return fail(PRIMSET_DEVICE_LOST, "launch: the device is gone");
    if (PRIMSET_FAULT == LAUNCH_ERROR) return fail(PRIMSET_INTERNAL, "launch: refused");
    if (PRIMSET_FAULT == HOSTILE_TEXT)
      return fail(PRIMSET_INTERNAL, "launch: \x1b[2J\x07 \xfe\x9b ]]></pre><script>\"");
  }
  status = launch(stream, l);
  if (status) return status;
  if (PRIMSET_FAULT == WRONG_BITS) flip_last_bits(stream, l);
  if (PRIMSET_FAULT == FLAKY && launches > SOUND_LAUNCHES) flip_last_bits(stream, l);
  if (PRIMSET_FAULT == OUT_OF_BOUNDS) touch_behind(stream, l);
  if (PRIMSET_FAULT == LOSES_NAN) change_floats(stream, l, without_nan);
  if (PRIMSET_FAULT == FLUSHES) change_floats(stream, l, without_denormals);
  if (PRIMSET_FAULT == OFF_BY_AN_ULP) change_floats(stream, l, next_greater);
  if (PRIMSET_FAULT == ODD_SIZES) flip_odd_sizes(stream, l);
  if (PRIMSET_FAULT == SECOND_LAUNCH && is_second_launch(l->kernel)) flip_last_bits(stream, l);
  return NULL;
}

/* Faults of one primitive: f32 negation, which these plugins run themselves. */
static primset_status* run_neg(primset_stream stream, const void* data,
                               const primset_primitive_call* call) {
  const primset_tensor *from = &call->operands[0], *to = &call->results[0];
  const float* x = (const float*)address(stream, from->buffer, from->offset);
  float* z = (float*)address(stream, to->buffer, to->offset);
  int64_t i, count = 1;
  uint32_t d;
  for (d = 0; d < to->rank; ++d) count *= to->sizes[d];
  for (i = 0; i < count; ++i) z[i] = PRIMSET_FAULT == WRONG_NEG ? x[i] : -x[i];
  return NULL;
}

static primset_status* find_neg(primset_device device, const char* name,
                                const primset_primitive_call* call, primset_primitive* out) {
  if (strcmp(name, "neg") != 0 || call->operands[0].dtype != PRIMSET_F32)
    return fail(PRIMSET_UNSUPPORTED, "find: f32 negation alone");
  out->flags = PRIMSET_FAULT == IGNORED_STRIDES ? (uint32_t)PRIMSET_PRIMITIVE_STRIDED : 0;
  out->run = run_neg;
  return NULL;
}

static const void* faulty_extension(primset_device device, const char* name) {
  static const primset_primitives table = {sizeof(primset_primitives), 0, find_neg};
  int native = PRIMSET_FAULT == WRONG_NEG || PRIMSET_FAULT == IGNORED_STRIDES;
  return native && strcmp(name, PRIMSET_EXT_PRIMITIVES) == 0 ? &table : NULL;
}

static primset_status* faulty_properties(primset_device device, primset_device_properties* out) {
  primset_status* status = device_properties(device, out);
  if (!status && PRIMSET_FAULT == HOSTILE_TEXT) strcpy(out->name, "Acme \x1b[31m\xff<b>");
  if (!status && PRIMSET_FAULT == CLAIMS_TOO_MUCH) out->features &= ~(uint32_t)PRIMSET_FEATURE_F64;
  return status;
}

static void change_plugin(primset_plugin* plugin) {
  plugin->name = PRIMSET_FAULTY_NAME;
  plugin->launch = faulty_launch;
  plugin->device_properties = faulty_properties;
  plugin->device_extension = faulty_extension;
}
