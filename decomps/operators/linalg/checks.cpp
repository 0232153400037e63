#include "decomps/operators/linalg/checks.h"

#include <fmt/format.h>

#include "decomps/engine/engine.h"

namespace primset::decomps {

void require_floating_or_complex(std::string_view op, const Val& x) {
  require(is_floating(x.dtype()) || is_complex(x.dtype()), ErrorCode::runtime,
          fmt::format("{}: Expected a floating point or complex tensor as input. Got {}", op,
                      aten_name(x.dtype())));
}

void require_matrices(std::string_view op, const Val& a, std::string_view argument) {
  require(a.rank() >= 2, ErrorCode::runtime,
          fmt::format("{}: The input tensor {} must have at least 2 dimensions.", op, argument));
}

void require_square(std::string_view op, const Val& a, std::string_view argument) {
  require_matrices(op, a, argument);
  require(a.size(-1) == a.size(-2), ErrorCode::runtime,
          fmt::format("{}: {} must be batches of square matrices, but they are {} by {} matrices",
                      op, argument, a.size(-2).hint(), a.size(-1).hint()));
}

}  // namespace primset::decomps
