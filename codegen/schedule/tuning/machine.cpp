#include "codegen/schedule/tuning/machine.h"

#include <utility>

namespace primset::schedule {

Machine::Machine(kir::TargetModel t, std::string_view overrides)
    : target(std::move(t)), tuning(target), rates(target) {
  tuning.set(overrides);
  limits = {static_cast<uint32_t>(tuning.fusion.kernel_operations),
            static_cast<uint32_t>(tuning.fusion.kernel_depth), target.param_bytes};
}

}  // namespace primset::schedule
