// The parameters of the kernel families for one device (parameters.def), as a struct: a family
// reads tuning.reduction.thread_row. They follow from what the device says of itself; a user who
// measures better ones on a device overrides them by name.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_TUNING_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_TUNING_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "codegen/kernel/ir/target_model.h"

namespace primset::schedule {

struct Tuning {
#define FAMILY(family) struct {
#define PARAMETER(family, name, range, value, text) int64_t name = 0;
#define END_FAMILY(family) \
  }                        \
  family;
#include "codegen/schedule/tuning/parameters.def"
#undef FAMILY
#undef PARAMETER
#undef END_FAMILY

  // The defaults for a device.
  explicit Tuning(const kir::TargetModel& target);

  // Sets parameters from text "family.name=value,…" (PRIMSET_TUNING). Throws Error{value}, which
  // says the entry and what would be right, for an unknown name or a value outside of the
  // parameter's range; then nothing has been set.
  void set(std::string_view overrides);

  struct Parameter {
    std::string_view family, name, text;
    int64_t value = 0;
  };
  // All of them, in the order of parameters.def, with their present values.
  std::vector<Parameter> parameters() const;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_TUNING_H_
