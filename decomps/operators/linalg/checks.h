// What operators over matrices ask of their arguments, in ATen's words. `op` is the name that the
// error begins with: "linalg.cholesky".
#ifndef PRIMSET_DECOMPS_OPERATORS_LINALG_CHECKS_H_
#define PRIMSET_DECOMPS_OPERATORS_LINALG_CHECKS_H_

#include <string_view>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

void require_floating_or_complex(std::string_view op, const Val& x);
void require_matrices(std::string_view op, const Val& a, std::string_view argument = "A");
void require_square(std::string_view op, const Val& a, std::string_view argument = "A");

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_LINALG_CHECKS_H_
