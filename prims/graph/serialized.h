/* The serialised form of PrimGraph, version 1, and its reader in C11: for plugins that compile
 * whole graphs. Needs nothing else of Primset; copy this header and serialized.c.
 *
 *   primset_graph graph;
 *   const char* error = primset_graph_open(&graph, data, size);
 *   if (error) ...                       // not a graph: cut short, damaged, of another version
 *   primset_graph_region body = primset_graph_get_region(&graph, graph.body);
 *   for (uint32_t i = 0; i < body.nodes.count; ++i) {
 *     primset_graph_node node = primset_graph_get_node(&graph, primset_graph_list_at(&graph,
 * body.nodes, i));
 *
 * The file: a header, then one array of fixed-size records for each section, in the order of
 * primset_graph_section. All numbers are little-endian; records consist of 32-bit and 64-bit fields
 * without gaps, and sections begin at multiples of 8 bytes. The header is
 *   8 bytes "PSGRAPH\n"; u32 version; u32 total size; u32 body region; u32 number of sections;
 *   then for each section u32 offset from the file's start, u32 count of records.
 *
 * primset_graph_open checks every offset, count, index and enumerator, so that what follows cannot
 * read outside of the data. It does not check what the nodes mean. Threads: an open graph is
 * read-only. The data belongs to the caller and must stay while the graph is used. */
#ifndef PRIMSET_PRIMS_GRAPH_SERIALIZED_H_
#define PRIMSET_PRIMS_GRAPH_SERIALIZED_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PRIMSET_GRAPH_MAGIC "PSGRAPH\n"
#define PRIMSET_GRAPH_VERSION 1u
#define PRIMSET_GRAPH_NONE UINT32_MAX /* no value, no input */

typedef enum primset_graph_section {
  PRIMSET_GRAPH_TEXT,     /* bytes: names and strings, not terminated */
  PRIMSET_GRAPH_INDICES,  /* u32: what lists refer to */
  PRIMSET_GRAPH_INTEGERS, /* i64: integer lists of attributes */
  PRIMSET_GRAPH_SYMBOLS,
  PRIMSET_GRAPH_ATOMS,
  PRIMSET_GRAPH_TERMS,
  PRIMSET_GRAPH_POLYS,
  PRIMSET_GRAPH_GUARDS,
  PRIMSET_GRAPH_VALUES,
  PRIMSET_GRAPH_ATTRS,
  PRIMSET_GRAPH_REGIONS,
  PRIMSET_GRAPH_NODES,
  PRIMSET_GRAPH_INPUTS,
  PRIMSET_GRAPH_OUTPUTS,
  PRIMSET_GRAPH_SECTIONS
} primset_graph_section;

typedef struct primset_graph {
  const unsigned char* data;
  uint32_t size;
  uint32_t body; /* region */
  uint32_t offset[PRIMSET_GRAPH_SECTIONS];
  uint32_t count[PRIMSET_GRAPH_SECTIONS];
} primset_graph;

/* `count` records or indices from `first` on. */
typedef struct primset_graph_range {
  uint32_t first, count;
} primset_graph_range;

/* A symbolic size whose value comes with the call; `lower` is INT64_MIN where there is no bound. */
typedef struct primset_graph_symbol {
  primset_graph_range name; /* text */
  int64_t hint, lower;
} primset_graph_symbol;

/* An atom is a symbol, or an opaque function of two polynomials, which use earlier atoms only. */
typedef enum primset_graph_atom_kind {
  PRIMSET_GRAPH_SYMBOL,
  PRIMSET_GRAPH_FLOOR_DIV,
  PRIMSET_GRAPH_MOD,
  PRIMSET_GRAPH_MIN,
  PRIMSET_GRAPH_MAX,
  PRIMSET_GRAPH_CEIL_LOG2 /* the least k with 2^k >= lhs; rhs is not used */
} primset_graph_atom_kind;

typedef struct primset_graph_atom {
  uint32_t kind, symbol, lhs, rhs; /* lhs, rhs: polynomials */
} primset_graph_atom;

/* coefficient times the product of the atoms */
typedef struct primset_graph_term {
  int64_t coefficient;
  primset_graph_range atoms; /* indices */
} primset_graph_term;

/* The sum of terms; every size is a polynomial, constants too. */
typedef struct primset_graph_poly {
  primset_graph_range terms;
} primset_graph_poly;

/* The polynomial's value ==, !=, < or >= 0, as relation is 0, 1, 2 or 3. */
typedef struct primset_graph_guard {
  uint32_t poly, relation;
} primset_graph_guard;

typedef struct primset_graph_value {
  uint32_t dtype; /* ATen's ScalarType code */
  uint32_t reserved;
  primset_graph_range shape; /* indices of polynomials */
} primset_graph_value;

typedef enum primset_graph_attr_type {
  PRIMSET_GRAPH_INTEGER,
  PRIMSET_GRAPH_BOOLEAN,
  PRIMSET_GRAPH_STRING,
  PRIMSET_GRAPH_DTYPE,
  PRIMSET_GRAPH_INTEGER_LIST,
  PRIMSET_GRAPH_SIZE,
  PRIMSET_GRAPH_SIZE_LIST,
  PRIMSET_GRAPH_SCALAR
} primset_graph_attr_type;

typedef struct primset_graph_attr {
  primset_graph_range name; /* text */
  uint32_t type;
  uint32_t scalar_kind;      /* scalar: 0 bool, 1 integer, 2 floating, 3 complex */
  int64_t integer;           /* integer, boolean, dtype; size: polynomial; scalar: bool, integer */
  uint64_t real, imag;       /* scalar: bit patterns of doubles */
  primset_graph_range range; /* string: text; lists: integers, or indices of polynomials */
} primset_graph_attr;

typedef struct primset_graph_region {
  primset_graph_range params, nodes, results; /* indices of values, nodes, values */
} primset_graph_region;

typedef struct primset_graph_node {
  primset_graph_range prim;     /* text: the primitive's name */
  primset_graph_range operands; /* indices of values; PRIMSET_GRAPH_NONE: absent */
  primset_graph_range results;  /* indices of values */
  primset_graph_range attrs;    /* records */
  primset_graph_range regions;  /* records, deeper ones before; the body is the last */
} primset_graph_node;

typedef struct primset_graph_input {
  primset_graph_range name; /* text */
  uint32_t value;
  uint32_t is_scalar; /* a number of the launch's parameters, else an array */
} primset_graph_input;

typedef struct primset_graph_output {
  primset_graph_range name; /* text */
  uint32_t value;
  uint32_t writes_input; /* whose memory it is written into, or PRIMSET_GRAPH_NONE */
} primset_graph_output;

/* Null, or what is wrong with the data; then *graph is not to be used. */
const char* primset_graph_open(primset_graph* graph, const void* data, size_t size);

/* pre: index < graph->count[section] */
primset_graph_symbol primset_graph_get_symbol(const primset_graph* graph, uint32_t index);
primset_graph_atom primset_graph_get_atom(const primset_graph* graph, uint32_t index);
primset_graph_term primset_graph_get_term(const primset_graph* graph, uint32_t index);
primset_graph_poly primset_graph_get_poly(const primset_graph* graph, uint32_t index);
primset_graph_guard primset_graph_get_guard(const primset_graph* graph, uint32_t index);
primset_graph_value primset_graph_get_value(const primset_graph* graph, uint32_t index);
primset_graph_attr primset_graph_get_attr(const primset_graph* graph, uint32_t index);
primset_graph_region primset_graph_get_region(const primset_graph* graph, uint32_t index);
primset_graph_node primset_graph_get_node(const primset_graph* graph, uint32_t index);
primset_graph_input primset_graph_get_input(const primset_graph* graph, uint32_t index);
primset_graph_output primset_graph_get_output(const primset_graph* graph, uint32_t index);

/* pre: i < range.count */
uint32_t primset_graph_list_at(const primset_graph* graph, primset_graph_range range, uint32_t i);
int64_t primset_graph_integer_at(const primset_graph* graph, primset_graph_range range, uint32_t i);
/* range.count bytes, not terminated */
const char* primset_graph_text(const primset_graph* graph, primset_graph_range range);

/* Values of all atoms for the symbols' values, into an array of count[PRIMSET_GRAPH_ATOMS]; with it
 * the value of any polynomial. Division by 0 gives 0; overflow wraps. */
void primset_graph_evaluate_atoms(const primset_graph* graph, const int64_t* symbols,
                                  int64_t* atoms);
int64_t primset_graph_evaluate(const primset_graph* graph, uint32_t poly, const int64_t* atoms);

#ifdef __cplusplus
}
#endif

#endif /* PRIMSET_PRIMS_GRAPH_SERIALIZED_H_ */
