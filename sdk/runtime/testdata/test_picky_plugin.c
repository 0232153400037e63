/* The minimal sample plugin, as "picky": it multiplies f32 matrices itself, unless they are small,
 * have an odd number of rows, or do not lie dense. For 20 rows it lacks memory every other time,
 * for 22 always. So it negates vectors, and attends from one query to enough keys. */
#include "samples/minimal_plugin/changed_plugin.h"

static int is_dense_matrix(const primset_tensor* t) {
  return t->rank == 2 && t->dtype == PRIMSET_F32 && t->strides[1] == 1 &&
         t->strides[0] == t->sizes[1];
}

static const primset_attr* attribute(const primset_primitive_call* call, const char* name) {
  uint32_t i;
  for (i = 0; i < call->attr_count; ++i)
    if (strcmp(call->attrs[i].name, name) == 0) return &call->attrs[i];
  return NULL;
}

static int is_dim(const primset_attr* attr, int64_t dim) {
  return attr && attr->count == 1 && attr->value.ints[0] == dim;
}

static primset_status* run_product(primset_stream stream, const void* data,
                                   const primset_primitive_call* call) {
  const primset_tensor *a = &call->operands[0], *b = &call->operands[1], *c = &call->results[0];
  const float* x = (const float*)address(stream, a->buffer, a->offset);
  const float* y = (const float*)address(stream, b->buffer, b->offset);
  float* z = (float*)address(stream, c->buffer, c->offset);
  const int64_t rows = a->sizes[0], terms = a->sizes[1], cols = b->sizes[1];
  static int full;
  int64_t i, j, k;
  if (rows == 22 || (rows == 20 && (full = !full)))
    return fail(PRIMSET_OUT_OF_MEMORY, "run: no memory for the workspace");
  for (i = 0; i < rows; ++i)
    for (j = 0; j < cols; ++j) {
      z[i * cols + j] = 0;
      for (k = 0; k < terms; ++k) z[i * cols + j] += x[i * terms + k] * y[k * cols + j];
    }
  return NULL;
}

static primset_status* run_negation(primset_stream stream, const void* data,
                                    const primset_primitive_call* call) {
  const primset_tensor *x = &call->operands[0], *y = &call->results[0];
  const float* from = (const float*)address(stream, x->buffer, x->offset);
  float* to = (float*)address(stream, y->buffer, y->offset);
  int64_t i;
  for (i = 0; i < x->sizes[0]; ++i) to[i] = -from[i];
  return NULL;
}

static primset_status* find_negation(const primset_tensor* x, primset_primitive* out) {
  if (x->rank != 1 || x->dtype != PRIMSET_F32 || x->strides[0] != 1)
    return fail(PRIMSET_UNSUPPORTED, "find: dense f32 vectors alone");
  out->flags = PRIMSET_PRIMITIVE_STRIDED;
  out->run = run_negation;
  out->least_products = 100;
  return NULL;
}

/* Of one query and one head. */
static primset_status* run_attention(primset_stream stream, const void* data,
                                     const primset_primitive_call* call) {
  const primset_tensor *q = &call->operands[0], *k = &call->operands[1], *v = &call->operands[2],
                       *y = &call->results[0], *l = &call->results[1];
  const float* query = (const float*)address(stream, q->buffer, q->offset);
  const float* keys = (const float*)address(stream, k->buffer, k->offset);
  const float* values = (const float*)address(stream, v->buffer, v->offset);
  float* to = (float*)address(stream, y->buffer, y->offset);
  const int64_t count = k->sizes[0], width = k->sizes[1];
  float total = 0;
  int64_t i, j;
  for (j = 0; j < width; ++j) to[j] = 0;
  for (i = 0; i < count; ++i) {
    float score = 0, power;
    for (j = 0; j < width; ++j) score += query[j] * keys[i * width + j];
    power = __builtin_expf(score);
    total += power;
    for (j = 0; j < width; ++j) to[j] += power * values[i * width + j];
  }
  for (j = 0; j < width; ++j) to[j] /= total;
  *(float*)address(stream, l->buffer, l->offset) = __builtin_logf(total);
  return NULL;
}

static primset_status* find_attention(const primset_primitive_call* call, primset_primitive* out) {
  const primset_attr* scale = attribute(call, "scale");
  if (call->operand_count != 3 || !is_dense_matrix(&call->operands[0]) ||
      !is_dense_matrix(&call->operands[1]) || !is_dense_matrix(&call->operands[2]) ||
      call->operands[0].sizes[0] != 1 || scale->kind != PRIMSET_ATTR_FLOAT || scale->value.f != 1)
    return fail(PRIMSET_UNSUPPORTED, "find: one query of one head, not scaled");
  out->flags = PRIMSET_PRIMITIVE_STRIDED;
  out->run = run_attention;
  out->least_products = 1024;
  return NULL;
}

static primset_status* find_product(primset_device device, const char* name,
                                    const primset_primitive_call* call, primset_primitive* out) {
  const int fits = strcmp(name, "dot_general") == 0 && is_dense_matrix(&call->operands[0]) &&
                   is_dense_matrix(&call->operands[1]) && call->operands[0].sizes[0] % 2 == 0 &&
                   is_dim(attribute(call, "a_contract"), 1) &&
                   is_dim(attribute(call, "b_contract"), 0);
  if (strcmp(name, "attention") == 0) return find_attention(call, out);
  if (strcmp(name, "neg") == 0) return find_negation(&call->operands[0], out);
  if (!fits) return fail(PRIMSET_UNSUPPORTED, "find: dense f32 matrices of even rows alone");
  out->flags = PRIMSET_PRIMITIVE_STRIDED;
  out->run = run_product;
  out->least_products = 64;
  return NULL;
}

static const void* picky_extension(primset_device device, const char* name) {
  static const primset_primitives table = {sizeof(primset_primitives), 0, find_product};
  return strcmp(name, PRIMSET_EXT_PRIMITIVES) == 0 ? &table : NULL;
}

static void change_plugin(primset_plugin* plugin) {
  plugin->name = "picky";
  plugin->device_extension = picky_extension;
}
