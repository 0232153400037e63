// Contractions for tests of devices that claim dot_general: dims in all their roles, memory of many
// forms, numbers of every dtype, and what comes out.
#ifndef PRIMSET_BACKENDS_COMMON_TESTING_CONTRACTIONS_H_
#define PRIMSET_BACKENDS_COMMON_TESTING_CONTRACTIONS_H_

#include <primset/plugin.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sdk/runtime/plugin/loader.h"

namespace primset_backend_test {

struct TestOperand {
  std::vector<int64_t> sizes, strides;
  std::vector<int64_t> contract, batch;
};

// b batches of (m x k) times (k x n).
struct TestContraction {
  const char* name;
  TestOperand a, b;
  int64_t batch, m, n, k;
};

std::span<const TestContraction> test_contractions();

// Elements of the memory that an operand spans, gaps included.
uint64_t elements(const TestOperand& operand);
// The place of every element: batch dims outermost, then free ones, then contracted ones.
std::vector<int64_t> places(const TestOperand& operand);

// Numbers as they lie in memory, and what they are.
struct TestNumbers {
  std::vector<char> bytes;
  std::vector<std::complex<double>> values;
};
// One for each element of the operand's memory; integers are any, others normally distributed.
TestNumbers random_numbers(const TestOperand& operand, uint32_t dtype, uint32_t seed);
std::vector<std::complex<double>> numbers(std::span<const char> bytes, uint32_t dtype);

struct TestSum {
  std::complex<double> value;
  double size = 0;  // the sum of the terms' absolute values
};
// What an element of the result comes to, in row-major order.
std::vector<TestSum> sums(const TestContraction& c, const TestNumbers& a, const TestNumbers& b);

// The same product as a matmul takes it, with batch dims first; nullopt when it has another form.
std::optional<TestContraction> as_matmul(const TestContraction& c);

// A call as the host makes it: a dot_general, or a matmul of a contraction as as_matmul() gives it,
// with a bias if asked. Does not move.
class ContractionCall {
 public:
  enum class Form { dot_general, matmul, matmul_with_bias };
  ContractionCall(TestContraction c, uint32_t dtype, uint32_t result,
                  Form form = Form::dot_general);
  ContractionCall(const ContractionCall&) = delete;
  ContractionCall& operator=(const ContractionCall&) = delete;

  // What the device says of the call; nullopt when it leaves it to kernels.
  std::optional<primset_primitive> find(const primset::plugin::PluginDevice& device);
  // `first`: where in a buffer of its own each tensor begins, in elements.
  std::vector<char> run(primset::plugin::PluginDevice& device,
                        const primset::plugin::StreamHandle& stream,
                        const primset_primitive& primitive, const TestNumbers& a,
                        const TestNumbers& b, uint64_t first = 0,
                        const TestNumbers* bias = nullptr);
  const char* name() const;
  // The bias as an operand: a number for each column.
  TestOperand bias() const { return {{contraction_.n}, {1}, {}, {}}; }

  primset_tensor operands[3];
  primset_tensor result;
  primset_primitive_call call{};

 private:
  const TestContraction contraction_;
  const Form form_;
  const std::vector<int64_t> sizes_, strides_, bias_sizes_, bias_strides_;
  primset_attr attrs_[4] = {};
};

}  // namespace primset_backend_test

#endif  // PRIMSET_BACKENDS_COMMON_TESTING_CONTRACTIONS_H_
