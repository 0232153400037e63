// Products of halves that are faster as kernels of ours, with what is done to their sums, than by a
// library that writes the sums first.
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_PRODUCT_EPILOGUE_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_PRODUCT_EPILOGUE_H_

#include <primset/plugin.h>

#include "prims/graph/graph.h"

namespace primset::runtime {

// Is the node such a product: a dot_general of f16 or bf16 into f32 whose sums are computed on
// element by element before they are rounded? On devices whose kernels multiply matrices, and of
// sums that are not long; records a guard on which side of that the length is. A product whose sums
// are rounded as they are is none, so that it gives the same bits whatever follows it.
bool is_faster_with_epilogue(const primset_device_properties& device, const prims::Graph& graph,
                             prims::NodeId node);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_PRODUCT_EPILOGUE_H_
