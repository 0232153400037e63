// Operators whose time is the time of reading and writing memory, on tensors of 2^24 f32 elements,
// each with and without out=. The benchmark program and the worker that takes turns with PyTorch
// run the same ones.
#ifndef PRIMSET_CONFORMANCE_BENCHMARKS_MEMORY_CASES_H_
#define PRIMSET_CONFORMANCE_BENCHMARKS_MEMORY_CASES_H_

#include <primset/device.h>
#include <primset/invoke.h>
#include <primset/tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace primset::benchmarks {

constexpr int64_t kRows = 4096, kColumns = 4096;

struct Inputs {
  Tensor x, y;          // [kRows, kColumns]
  Tensor weight, bias;  // [kColumns]
};
// Reproducible and nearly normal.
Inputs make_inputs(Device device);

struct MemoryCase {
  std::string name;
  double bytes = 0;  // what one call has to read and write at least
  std::string op, op_out;
  // Name, sizes of the results that out= takes; the first is the one that is looked at.
  std::vector<std::pair<std::string, std::vector<int64_t>>> outs;
  std::function<std::vector<Value>(const Inputs&)> arguments;
};
const std::vector<MemoryCase>& memory_cases();
// Throws Error{value} that lists the names.
const MemoryCase& memory_case(const std::string& name);

// A case with its operator looked up, its arguments made and, with out=, its results allocated.
class PreparedCase {
 public:
  PreparedCase(const MemoryCase& c, const Inputs& inputs, bool with_out);

  Tensor run() const { return op_.invoke(args_, named_)[0].tensor(); }
  // Runs once into memory in which an element nobody wrote is NaN.
  Tensor run_poisoned() const;

 private:
  Operator op_;
  std::vector<Value> args_;
  std::vector<NamedValue> named_;
  std::vector<int64_t> sizes_;
  Device device_;
};

// Copies `bytes` with the C library, split between `threads`; the yardstick for GB/s.
void plain_copy(void* to, const void* from, size_t bytes, int threads);

}  // namespace primset::benchmarks

#endif  // PRIMSET_CONFORMANCE_BENCHMARKS_MEMORY_CASES_H_
