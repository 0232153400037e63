// Tensors typed on the command line: [1,2.5] or [[1,2],[3,4]]; a vector is 1,2.5 as well, as a list
// is.
#ifndef PRIMSET_SDK_CLI_TENSOR_LITERAL_H_
#define PRIMSET_SDK_CLI_TENSOR_LITERAL_H_

#include <primset/scalar.h>
#include <primset/tensor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace primset::cli {

// At commas outside of brackets. Brackets around the whole are taken off.
std::vector<std::string> split_list(std::string_view text);

// As PyTorch reads nested lists: bool, i64, f32 or c64, the first that holds all numbers. `number`
// reads one. Throws Error{value} where rows differ in length or a bracket is missing.
Tensor parse_tensor(std::string_view text, Device device,
                    const std::function<Scalar(std::string_view)>& number);

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_TENSOR_LITERAL_H_
