// What the normalisations of a batch of channels, [N, C, ...], share.
#ifndef PRIMSET_DECOMPS_OPERATORS_NORMALIZATION_CHANNELS_H_
#define PRIMSET_DECOMPS_OPERATORS_NORMALIZATION_CHANNELS_H_

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "decomps/engine/decomposition.h"

namespace primset::decomps {

using Parameters = std::initializer_list<std::optional<Val>>;
using NamedParameters = std::initializer_list<std::pair<const char*, std::optional<Val>>>;

// Parameters and running statistics have a number for each channel.
void require_per_channel(const Val& input, const SymInt& channels, NamedParameters parameters);

// They are of the input's dtype, or all f32 beside a half type.
void require_parameter_dtypes(const Val& input, NamedParameters parameters);

// What statistics are kept in: the parameters' dtype when it is wider than the input's, which is a
// half type then.
DType statistics_type(const Val& input, Parameters parameters);

std::optional<Val> converted(const std::optional<Val>& v, DType t);
// As the operand of a primitive.
Val operand(const std::optional<Val>& v);
Val operand(const std::optional<Val>& v, DType t);

// What a result that is not asked for is.
Val no_gradient(const Val& like);

// A vector of channels beside [N, C, ...].
Val per_channel(const Val& v, int64_t rank);
// Scaled and shifted in opmath, rounded once to the input's dtype.
Val normalized_by(const Val& x, const Val& mean, const Val& rstd, const std::optional<Val>& weight,
                  const std::optional<Val>& bias);

// 1 / sqrt(variance + eps), in opmath.
Val inverse_root(const Val& variance, double eps);

std::vector<int64_t> all_but_channels(const Val& x);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_NORMALIZATION_CHANNELS_H_
