// The one header that a decomposition includes.
#ifndef PRIMSET_DECOMPS_ENGINE_DECOMPOSITION_H_
#define PRIMSET_DECOMPS_ENGINE_DECOMPOSITION_H_

#include "decomps/engine/arithmetic.h"
#include "decomps/engine/broadcasting.h"
#include "decomps/engine/shape_ops.h"
#include "decomps/engine/tracer.h"

#endif  // PRIMSET_DECOMPS_ENGINE_DECOMPOSITION_H_
