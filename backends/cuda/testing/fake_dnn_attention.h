// Graphs of attention, computed operation by operation, as the fake toolkit's cuDNN does.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DNN_ATTENTION_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DNN_ATTENTION_H_

#include <map>
#include <vector>

#include "backends/cuda/testing/fake_dnn_descriptors.h"
#include "backends/cuda/testing/fake_toolkit_world.h"

namespace fake_toolkit {

// Whether a graph that begins with this operation is one of attention.
bool is_attention(const Description& first);
// Whether the library has code for it: rows without gaps, of a multiple of eight elements.
bool has_attention(const std::vector<Known>& operations);

// One graph with its tensors' addresses. Numbers are read from the host's memory at once.
class FakeAttention {
 public:
  FakeAttention(Call& call, std::vector<Known> operations, Addresses at);
  void run();

 private:
  double load(const FakeTensor& t, Index i) const;
  void store(const FakeTensor& t, const Index& i, double value);
  void multiply(const Description& operation);
  void apply(const Description& operation);
  void reduce(const Description& operation);

  std::vector<Known> operations_;
  Addresses at_;
  std::map<int64_t, std::vector<double>> virtual_;  // in f32 or narrower, row-major
  std::map<int64_t, float> numbers_;
};

}  // namespace fake_toolkit

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DNN_ATTENTION_H_
