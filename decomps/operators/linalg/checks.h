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
// f32, f64 or complex: what `kernel` has code for.
void require_factorable_dtype(std::string_view kernel, const Val& a);
// As ATen has it where half types are refused by a rule of its own.
void require_full_precision(std::string_view op, const Val& a);
void require_one_dtype(std::string_view op, std::string_view a_name, const Val& a,
                       std::string_view b_name, const Val& b);

// What became of the factorizations of a batch: where an element of `info` is not 0, the error that
// ATen raises for an API of this name.
void check_info(std::string_view api, const Val& info, bool is_matrix);
inline void check_info(std::string_view api, const Val& info) {
  check_info(api, info, info.rank() == 0);
}

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_LINALG_CHECKS_H_
