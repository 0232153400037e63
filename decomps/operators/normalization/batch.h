// What batch norm, its gradients and its synchronised forms share.
#ifndef PRIMSET_DECOMPS_OPERATORS_NORMALIZATION_BATCH_H_
#define PRIMSET_DECOMPS_OPERATORS_NORMALIZATION_BATCH_H_

#include "decomps/operators/normalization/channels.h"

namespace primset::decomps {

// A batch of channels, with floating parameters that have a number for each.
void require_batch(const Val& input, NamedParameters parameters);
void require_elements(const Val& input);

// running statistics moved towards those of a batch: momentum fresh + (1 - momentum) running.
Val folded(const Val& running, const Val& fresh, const ScalarArg& momentum);
// count / (count - 1) of a variance.
Val unbiased(const Val& variance, const SymInt& count);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_NORMALIZATION_BATCH_H_
