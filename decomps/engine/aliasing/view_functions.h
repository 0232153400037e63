// View operators by name: what a call makes of its first argument, as steps.
#ifndef PRIMSET_DECOMPS_ENGINE_ALIASING_VIEW_FUNCTIONS_H_
#define PRIMSET_DECOMPS_ENGINE_ALIASING_VIEW_FUNCTIONS_H_

#include <span>
#include <string_view>
#include <vector>

#include "decomps/engine/aliasing/view_steps.h"
#include "decomps/engine/apply.h"

namespace primset::decomps {

// By the name that the YAML uses; null when there is none. `viewed` is the first argument, with
// strides where it has any: a tensor, or those of a list.
using ViewFunction = std::vector<View> (*)(Tracer& t, std::span<const TensorMeta> viewed,
                                           const Arguments& args);
ViewFunction find_view(std::string_view function);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_ALIASING_VIEW_FUNCTIONS_H_
