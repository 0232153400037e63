// Operators whose results depend on a value in more than their elements: where a view starts, how
// large the result is, which arguments are written. In an eager call the value is read first; a
// graph, which cannot read one, takes the number as an argument.
#ifndef PRIMSET_SDK_RUNTIME_CALL_VALUE_READS_H_
#define PRIMSET_SDK_RUNTIME_CALL_VALUE_READS_H_

#include "sdk/runtime/call/operator_info.h"

namespace primset::runtime {

// narrow.Tensor: a view from the place that a tensor names.
void narrow_at_tensor(Call& call);
// repeat_interleave without output_size: as many results as the repeats add up to.
void repeat_by_tensor(Call& call);
// bincount: as many bins as the greatest value needs.
void count_to_greatest(Call& call);
// as_strided_copy: of a view of the memory, which may reach beyond the tensor's own elements.
void copy_strided_view(Call& call);
// native_batch_norm and batch_norm in training update the running statistics, which their schemas
// do not say: the overload whose schema does is called.
void update_statistics(Call& call);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_VALUE_READS_H_
