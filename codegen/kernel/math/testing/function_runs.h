// Runs a function of the math library over arrays through the interpreter.
#ifndef PRIMSET_CODEGEN_KERNEL_MATH_TESTING_FUNCTION_RUNS_H_
#define PRIMSET_CODEGEN_KERNEL_MATH_TESTING_FUNCTION_RUNS_H_

#include <functional>
#include <string>
#include <vector>

#include "codegen/kernel/interpreter/interpreter.h"
#include "codegen/kernel/ir/builder.h"

namespace primset::kir::math_test {

// The kinds of device that the library takes different ways on.
struct Device {
  std::string name;
  TargetModel target;
  InterpreterOptions options;
};
// With a fused fma; without but with f64 (lavapipe); without either; with sloppy division.
const std::vector<Device>& devices();

using Function = std::function<Value(Builder&, const std::vector<Value>& args)>;

// One array of bit patterns an argument, all of one length, to the results' bit patterns. The
// function sees vectors of `lanes` elements.
std::vector<uint64_t> evaluate(const Device& device, const Function& f, Scalar argument,
                               Scalar result, uint16_t lanes,
                               const std::vector<std::vector<uint64_t>>& arguments);

}  // namespace primset::kir::math_test

#endif  // PRIMSET_CODEGEN_KERNEL_MATH_TESTING_FUNCTION_RUNS_H_
