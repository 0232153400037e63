// One call of a native primitive, computed by the reference interpreter.
#ifndef PRIMSET_CONFORMANCE_INTERPRETER_PLUGIN_PRIMITIVE_CALL_H_
#define PRIMSET_CONFORMANCE_INTERPRETER_PLUGIN_PRIMITIVE_CALL_H_

#include "prims/graph/graph.h"
#include "primset/plugin.h"

namespace primset::interpreter_plugin {

// A core primitive whose meaning is no program of its own: all that a device without kernels needs.
bool is_offered(prims::Prim prim);

// Computes the results in host memory; operands are contiguous. Throws Error.
void run(prims::Prim prim, const primset_primitive_call& call);

}  // namespace primset::interpreter_plugin

#endif  // PRIMSET_CONFORMANCE_INTERPRETER_PLUGIN_PRIMITIVE_CALL_H_
