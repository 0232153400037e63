// The view functions of view operators: from a call's arguments to the steps of the views.
#ifndef PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_FUNCTIONS_H_
#define PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_FUNCTIONS_H_

#include <span>
#include <string_view>
#include <vector>

#include "decomps/engine/apply.h"
#include "decomps/engine/functionalization/view_steps.h"

namespace primset::decomps {

// `viewed`: the tensors of the first argument (one, or those of a list).
using ViewFunction = std::vector<View> (*)(Tracer& t, std::span<const TensorMeta> viewed,
                                           const Arguments& args);
// The function that specs/ops name so (`decompose: {view: f}`); null when there is none.
ViewFunction find_view(std::string_view function);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_FUNCTIONS_H_
