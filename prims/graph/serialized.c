#include "prims/graph/serialized.h"

#include <string.h>

enum { kHeaderSize = 24, kMaxDType = 48 };

static const uint32_t kRecordSize[PRIMSET_GRAPH_SECTIONS] = {
    1, 4, 8, 24, 16, 16, 8, 8, 16, 48, 24, 40, 16, 16,
};

static uint32_t load32(const unsigned char* p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t load64(const unsigned char* p) {
  return (uint64_t)load32(p) | (uint64_t)load32(p + 4) << 32;
}

static primset_graph_range load_range(const unsigned char* p) {
  primset_graph_range r = {load32(p), load32(p + 4)};
  return r;
}

static const unsigned char* record(const primset_graph* g, primset_graph_section s, uint32_t i) {
  return g->data + g->offset[s] + (size_t)i * kRecordSize[s];
}

primset_graph_symbol primset_graph_get_symbol(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_SYMBOLS, i);
  primset_graph_symbol s = {load_range(p), (int64_t)load64(p + 8), (int64_t)load64(p + 16)};
  return s;
}

primset_graph_atom primset_graph_get_atom(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_ATOMS, i);
  primset_graph_atom a = {load32(p), load32(p + 4), load32(p + 8), load32(p + 12)};
  return a;
}

primset_graph_term primset_graph_get_term(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_TERMS, i);
  primset_graph_term t = {(int64_t)load64(p), load_range(p + 8)};
  return t;
}

primset_graph_poly primset_graph_get_poly(const primset_graph* g, uint32_t i) {
  primset_graph_poly poly = {load_range(record(g, PRIMSET_GRAPH_POLYS, i))};
  return poly;
}

primset_graph_guard primset_graph_get_guard(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_GUARDS, i);
  primset_graph_guard guard = {load32(p), load32(p + 4)};
  return guard;
}

primset_graph_value primset_graph_get_value(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_VALUES, i);
  primset_graph_value v = {load32(p), load32(p + 4), load_range(p + 8)};
  return v;
}

primset_graph_attr primset_graph_get_attr(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_ATTRS, i);
  primset_graph_attr a = {load_range(p),           load32(p + 8),  load32(p + 12),
                          (int64_t)load64(p + 16), load64(p + 24), load64(p + 32),
                          load_range(p + 40)};
  return a;
}

primset_graph_region primset_graph_get_region(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_REGIONS, i);
  primset_graph_region r = {load_range(p), load_range(p + 8), load_range(p + 16)};
  return r;
}

primset_graph_node primset_graph_get_node(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_NODES, i);
  primset_graph_node n = {load_range(p), load_range(p + 8), load_range(p + 16), load_range(p + 24),
                          load_range(p + 32)};
  return n;
}

primset_graph_input primset_graph_get_input(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_INPUTS, i);
  primset_graph_input in = {load_range(p), load32(p + 8), load32(p + 12)};
  return in;
}

primset_graph_output primset_graph_get_output(const primset_graph* g, uint32_t i) {
  const unsigned char* p = record(g, PRIMSET_GRAPH_OUTPUTS, i);
  primset_graph_output out = {load_range(p), load32(p + 8), load32(p + 12)};
  return out;
}

uint32_t primset_graph_list_at(const primset_graph* g, primset_graph_range r, uint32_t i) {
  return load32(record(g, PRIMSET_GRAPH_INDICES, r.first + i));
}

int64_t primset_graph_integer_at(const primset_graph* g, primset_graph_range r, uint32_t i) {
  return (int64_t)load64(record(g, PRIMSET_GRAPH_INTEGERS, r.first + i));
}

const char* primset_graph_text(const primset_graph* g, primset_graph_range r) {
  return (const char*)record(g, PRIMSET_GRAPH_TEXT, r.first);
}

static int64_t floor_div(int64_t a, int64_t b) {
  int64_t q;
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t ceil_log2(int64_t a) {
  int64_t k = 0;
  while (k < 63 && ((int64_t)1 << k) < a) ++k;
  return k;
}

static int64_t evaluate_atom(primset_graph_atom a, int64_t x, int64_t y) {
  switch (a.kind) {
    case PRIMSET_GRAPH_FLOOR_DIV:
      return floor_div(x, y);
    case PRIMSET_GRAPH_MOD:
      return y == 0 ? 0 : (int64_t)((uint64_t)x - (uint64_t)y * (uint64_t)floor_div(x, y));
    case PRIMSET_GRAPH_MIN:
      return x < y ? x : y;
    case PRIMSET_GRAPH_CEIL_LOG2:
      return ceil_log2(x);
    default:
      return x < y ? y : x;
  }
}

void primset_graph_evaluate_atoms(const primset_graph* g, const int64_t* symbols, int64_t* atoms) {
  uint32_t i;
  for (i = 0; i < g->count[PRIMSET_GRAPH_ATOMS]; ++i) {
    primset_graph_atom a = primset_graph_get_atom(g, i);
    atoms[i] = a.kind == PRIMSET_GRAPH_SYMBOL
                   ? symbols[a.symbol]
                   : evaluate_atom(a, primset_graph_evaluate(g, a.lhs, atoms),
                                   primset_graph_evaluate(g, a.rhs, atoms));
  }
}

int64_t primset_graph_evaluate(const primset_graph* g, uint32_t poly, const int64_t* atoms) {
  primset_graph_range terms = primset_graph_get_poly(g, poly).terms;
  uint64_t sum = 0;
  uint32_t i, k;
  for (i = 0; i < terms.count; ++i) {
    primset_graph_term t = primset_graph_get_term(g, terms.first + i);
    uint64_t product = (uint64_t)t.coefficient;
    for (k = 0; k < t.atoms.count; ++k) {
      product *= (uint64_t)atoms[primset_graph_list_at(g, t.atoms, k)];
    }
    sum += product;
  }
  return (int64_t)sum;
}

/* Checks. */

static int is_range(const primset_graph* g, primset_graph_section s, primset_graph_range r) {
  return r.first <= g->count[s] && r.count <= g->count[s] - r.first;
}

/* A list of indices into section `s`; with `absent`, PRIMSET_GRAPH_NONE may stand for one. */
static int is_list(const primset_graph* g, primset_graph_range r, primset_graph_section s,
                   int absent) {
  uint32_t i;
  if (!is_range(g, PRIMSET_GRAPH_INDICES, r)) return 0;
  for (i = 0; i < r.count; ++i) {
    uint32_t index = primset_graph_list_at(g, r, i);
    if (index >= g->count[s] && !(absent && index == PRIMSET_GRAPH_NONE)) return 0;
  }
  return 1;
}

static const char* check_sections(primset_graph* g) {
  uint32_t s, end = kHeaderSize + 8 * PRIMSET_GRAPH_SECTIONS;
  for (s = 0; s < PRIMSET_GRAPH_SECTIONS; ++s) {
    const unsigned char* p = g->data + kHeaderSize + 8 * s;
    uint64_t bytes;
    g->offset[s] = load32(p);
    g->count[s] = load32(p + 4);
    bytes = (uint64_t)g->count[s] * kRecordSize[s];
    if (g->offset[s] % 8 != 0) return "a section is not aligned";
    if (g->offset[s] < end || g->offset[s] > g->size) return "a section begins outside of the data";
    if (bytes > g->size - g->offset[s]) return "a section ends outside of the data";
    end = g->offset[s] + (uint32_t)bytes;
  }
  return NULL;
}

/* The atoms of a polynomial come before atom `limit`. */
static int uses_atoms_below(const primset_graph* g, uint32_t poly, uint32_t limit) {
  primset_graph_range terms = primset_graph_get_poly(g, poly).terms;
  uint32_t i, k;
  for (i = 0; i < terms.count; ++i) {
    primset_graph_term t = primset_graph_get_term(g, terms.first + i);
    for (k = 0; k < t.atoms.count; ++k) {
      if (primset_graph_list_at(g, t.atoms, k) >= limit) return 0;
    }
  }
  return 1;
}

static const char* check_sizes(const primset_graph* g) {
  uint32_t i, polys = g->count[PRIMSET_GRAPH_POLYS];
  for (i = 0; i < g->count[PRIMSET_GRAPH_SYMBOLS]; ++i) {
    if (!is_range(g, PRIMSET_GRAPH_TEXT, primset_graph_get_symbol(g, i).name))
      return "a symbol's name";
  }
  for (i = 0; i < g->count[PRIMSET_GRAPH_TERMS]; ++i) {
    if (!is_list(g, primset_graph_get_term(g, i).atoms, PRIMSET_GRAPH_ATOMS, 0))
      return "a term's atoms";
  }
  for (i = 0; i < polys; ++i) {
    if (!is_range(g, PRIMSET_GRAPH_TERMS, primset_graph_get_poly(g, i).terms))
      return "a polynomial's terms";
  }
  for (i = 0; i < g->count[PRIMSET_GRAPH_ATOMS]; ++i) {
    primset_graph_atom a = primset_graph_get_atom(g, i);
    if (a.kind > PRIMSET_GRAPH_CEIL_LOG2) return "an atom's kind";
    if (a.kind == PRIMSET_GRAPH_SYMBOL) {
      if (a.symbol >= g->count[PRIMSET_GRAPH_SYMBOLS]) return "an atom's symbol";
    } else if (a.lhs >= polys || a.rhs >= polys || !uses_atoms_below(g, a.lhs, i) ||
               !uses_atoms_below(g, a.rhs, i)) {
      return "an atom's operands";
    }
  }
  for (i = 0; i < g->count[PRIMSET_GRAPH_GUARDS]; ++i) {
    primset_graph_guard guard = primset_graph_get_guard(g, i);
    if (guard.poly >= polys || guard.relation > 3) return "a guard";
  }
  return NULL;
}

static const char* check_attr(const primset_graph* g, primset_graph_attr a) {
  if (!is_range(g, PRIMSET_GRAPH_TEXT, a.name)) return "an attribute's name";
  switch (a.type) {
    case PRIMSET_GRAPH_INTEGER:
      return NULL;
    case PRIMSET_GRAPH_BOOLEAN:
      return a.integer == 0 || a.integer == 1 ? NULL : "a flag";
    case PRIMSET_GRAPH_STRING:
      return is_range(g, PRIMSET_GRAPH_TEXT, a.range) ? NULL : "a string";
    case PRIMSET_GRAPH_DTYPE:
      return a.integer >= 0 && a.integer < kMaxDType ? NULL : "a dtype";
    case PRIMSET_GRAPH_INTEGER_LIST:
      return is_range(g, PRIMSET_GRAPH_INTEGERS, a.range) ? NULL : "a list of integers";
    case PRIMSET_GRAPH_SIZE:
      return a.integer >= 0 && a.integer < (int64_t)g->count[PRIMSET_GRAPH_POLYS] ? NULL : "a size";
    case PRIMSET_GRAPH_SIZE_LIST:
      return is_list(g, a.range, PRIMSET_GRAPH_POLYS, 0) ? NULL : "a list of sizes";
    case PRIMSET_GRAPH_SCALAR:
      return a.scalar_kind <= 3 ? NULL : "a scalar's kind";
    default:
      return "an attribute's type";
  }
}

static const char* check_nodes(const primset_graph* g) {
  uint32_t i;
  for (i = 0; i < g->count[PRIMSET_GRAPH_VALUES]; ++i) {
    primset_graph_value v = primset_graph_get_value(g, i);
    if (v.dtype >= kMaxDType || v.reserved != 0) return "a value's dtype";
    if (!is_list(g, v.shape, PRIMSET_GRAPH_POLYS, 0)) return "a value's shape";
  }
  for (i = 0; i < g->count[PRIMSET_GRAPH_ATTRS]; ++i) {
    const char* error = check_attr(g, primset_graph_get_attr(g, i));
    if (error) return error;
  }
  for (i = 0; i < g->count[PRIMSET_GRAPH_REGIONS]; ++i) {
    primset_graph_region r = primset_graph_get_region(g, i);
    if (!is_list(g, r.params, PRIMSET_GRAPH_VALUES, 0) ||
        !is_list(g, r.nodes, PRIMSET_GRAPH_NODES, 0) ||
        !is_list(g, r.results, PRIMSET_GRAPH_VALUES, 0)) {
      return "a region";
    }
  }
  for (i = 0; i < g->count[PRIMSET_GRAPH_NODES]; ++i) {
    primset_graph_node n = primset_graph_get_node(g, i);
    if (!is_range(g, PRIMSET_GRAPH_TEXT, n.prim)) return "a primitive's name";
    if (!is_list(g, n.operands, PRIMSET_GRAPH_VALUES, 1)) return "a node's operands";
    if (!is_list(g, n.results, PRIMSET_GRAPH_VALUES, 0)) return "a node's results";
    if (!is_range(g, PRIMSET_GRAPH_ATTRS, n.attrs)) return "a node's attributes";
    if (!is_range(g, PRIMSET_GRAPH_REGIONS, n.regions)) return "a node's regions";
  }
  return NULL;
}

/* Regions stand in order of their depth, the deepest first, and the nodes and nested regions of
 * each in the order of that walk: so every node lies in one region, every region but the body in
 * one node. */
static const char* check_nesting(const primset_graph* g) {
  uint32_t i, k, regions = g->count[PRIMSET_GRAPH_REGIONS], nodes = 0, nested = 0;
  if (regions == 0 || g->body != regions - 1) return "the body is not the last region";
  for (i = 0; i < regions; ++i) {
    primset_graph_range list = primset_graph_get_region(g, i).nodes;
    for (k = 0; k < list.count; ++k) {
      primset_graph_node n;
      if (primset_graph_list_at(g, list, k) != nodes) return "nodes are not in order";
      n = primset_graph_get_node(g, nodes++);
      if (n.regions.count == 0) continue;
      if (n.regions.first != nested) return "regions are not in order";
      nested += n.regions.count;
      if (nested > i) return "a region lies in itself";
    }
  }
  if (nodes != g->count[PRIMSET_GRAPH_NODES]) return "a node lies in no region";
  return nested == g->body ? NULL : "a region lies in no node";
}

static const char* check_borders(const primset_graph* g) {
  uint32_t i;
  for (i = 0; i < g->count[PRIMSET_GRAPH_INPUTS]; ++i) {
    primset_graph_input in = primset_graph_get_input(g, i);
    if (!is_range(g, PRIMSET_GRAPH_TEXT, in.name) || in.is_scalar > 1 ||
        in.value >= g->count[PRIMSET_GRAPH_VALUES]) {
      return "an input";
    }
  }
  for (i = 0; i < g->count[PRIMSET_GRAPH_OUTPUTS]; ++i) {
    primset_graph_output out = primset_graph_get_output(g, i);
    if (!is_range(g, PRIMSET_GRAPH_TEXT, out.name) || out.value >= g->count[PRIMSET_GRAPH_VALUES]) {
      return "an output";
    }
    if (out.writes_input != PRIMSET_GRAPH_NONE &&
        out.writes_input >= g->count[PRIMSET_GRAPH_INPUTS]) {
      return "an output that writes an input";
    }
  }
  return NULL;
}

const char* primset_graph_open(primset_graph* g, const void* data, size_t size) {
  const char* error;
  g->data = (const unsigned char*)data;
  if (size < kHeaderSize + 8 * PRIMSET_GRAPH_SECTIONS) return "shorter than a header";
  if (memcmp(g->data, PRIMSET_GRAPH_MAGIC, 8) != 0) return "not a serialised graph";
  if (load32(g->data + 8) != PRIMSET_GRAPH_VERSION) return "of another version";
  if (load32(g->data + 12) != size) return "cut short";
  if (load32(g->data + 20) != PRIMSET_GRAPH_SECTIONS) return "the number of sections";
  g->size = (uint32_t)size;
  g->body = load32(g->data + 16);
  if ((error = check_sections(g)) != NULL) return error;
  if ((error = check_sizes(g)) != NULL) return error;
  if ((error = check_nodes(g)) != NULL) return error;
  if ((error = check_nesting(g)) != NULL) return error;
  return check_borders(g);
}
