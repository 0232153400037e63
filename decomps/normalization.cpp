#include "decomps/normalization.h"

#include "decomps/prim_normalization.h"

namespace primset::decomps {

// ATen keeps the normalised dims of mean and rstd as 1.
std::tuple<Val, Val, Val> native_layer_norm::decompose(Tracer& t, const Val& input,
                                                       const SymInts& normalized_shape,
                                                       const std::optional<Val>& weight,
                                                       const std::optional<Val>& bias,
                                                       const ScalarArg& eps) {
  const auto dims = static_cast<int64_t>(normalized_shape.size());
  require(dims >= 1, ErrorCode::runtime,
          "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
          "element, but got normalized_shape = []");
  require(input.rank() >= dims, ErrorCode::runtime,
          "Given normalized_shape with " + std::to_string(dims) +
              " dims, expected input of at least that rank, but got " +
              std::to_string(input.rank()));
  for (int64_t d = 0; d < dims; ++d) {
    require(input.size(d - dims) == normalized_shape[static_cast<size_t>(d)], ErrorCode::runtime,
            "Given normalized_shape, the input's last sizes must equal it, but size " +
                std::to_string(input.size(d - dims).hint()) + " is not " +
                std::to_string(normalized_shape[static_cast<size_t>(d)].hint()));
  }
  // The decomposition itself and not a node of the primitive: eps is known at launch only.
  auto [y, mean, rstd] = prim::layer_norm::decompose(t, input, weight, bias, dims, eps);
  SymInts kept = input.shape();
  for (int64_t d = 0; d < dims; ++d) kept[kept.size() - 1 - static_cast<size_t>(d)] = 1;
  return {y, reshape(mean, kept), reshape(rstd, kept)};
}

}  // namespace primset::decomps
