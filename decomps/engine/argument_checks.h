// Errors that ATen reports for single operators before it computes anything (`checks` in specs/ops;
// the functions are declared in specs/host_functions.yaml).
#ifndef PRIMSET_DECOMPS_ENGINE_ARGUMENT_CHECKS_H_
#define PRIMSET_DECOMPS_ENGINE_ARGUMENT_CHECKS_H_

#include "decomps/engine/apply.h"

namespace primset::decomps {

// Throws what ATen throws for these arguments of an operator; `args` follow the schema.
void check_arguments(const specs::Overload& overload, const Arguments& args);

// The same for a result that an in-place overload is about to write over `self`.
void check_written(const specs::Overload& overload, DType self, DType result);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_ARGUMENT_CHECKS_H_
