// The one header of the engine for the layers above: from a bound operator call to a PrimGraph. The
// engine sees descriptions of tensors and no data, so it also serves the meta device and the
// conformance suite.
#ifndef PRIMSET_DECOMPS_ENGINE_ENGINE_H_
#define PRIMSET_DECOMPS_ENGINE_ENGINE_H_

#include "decomps/engine/actual.h"
#include "decomps/engine/decomposition.h"
#include "decomps/engine/expand.h"
#include "decomps/engine/promotion.h"
#include "decomps/engine/strides.h"
#include "decomps/engine/trace.h"
#include "sdk/base/number_fit.h"

#endif  // PRIMSET_DECOMPS_ENGINE_ENGINE_H_
