// View functions of operators that return views of a list of tensors.
#ifndef PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_LISTS_H_
#define PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_LISTS_H_

#include <string_view>

#include "decomps/engine/functionalization/view_functions.h"

namespace primset::decomps {

// By name, as find_view (view_functions.h); null when there is none.
ViewFunction find_list_view(std::string_view function);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_LISTS_H_
