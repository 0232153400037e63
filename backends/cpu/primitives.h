// The native primitives of the cpu back end: what a library does faster than generated kernels.
#ifndef PRIMSET_BACKENDS_CPU_PRIMITIVES_H_
#define PRIMSET_BACKENDS_CPU_PRIMITIVES_H_

#include <primset/plugin.h>

namespace primset_cpu {

// Null when this build has none.
const primset_primitives* native_primitives();

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_PRIMITIVES_H_
