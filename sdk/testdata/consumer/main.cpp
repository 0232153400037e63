// Adds two tensors on the current device and says where.
#include <primset/ops/pointwise_binary.h>
#include <primset/primset.h>

#include <cstdio>

int main() {
  using namespace primset;
  try {
    const Tensor a = Tensor::of<float>({1, 2, 3}, {3});
    const Tensor sum = add(a, a, 10);
    const std::vector<float> values = sum.to_vector<float>();
    std::printf("%s: %g %g %g\n", sum.device().to_string().c_str(), values[0], values[1],
                values[2]);
  } catch (const Error& e) {
    std::fprintf(stderr, "consumer: %s\n", e.what());
    return 1;
  }
}
