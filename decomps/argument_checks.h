// Mistakes that ATen reports operator by operator, before it computes anything.
#ifndef PRIMSET_DECOMPS_ARGUMENT_CHECKS_H_
#define PRIMSET_DECOMPS_ARGUMENT_CHECKS_H_

#include "decomps/apply.h"

namespace primset::decomps {

// Throws what ATen throws for these arguments of an operator; `args` follow the schema.
void check_arguments(const specs::Overload& overload, const Arguments& args);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ARGUMENT_CHECKS_H_
