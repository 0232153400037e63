// What a call costs: operators on 16 elements through Primset's C++ API and through PyTorch's, in
// one process, in turns. Built and run by measure_call_overhead.py, since it needs libtorch.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <primset/ops.h>
#include <primset/primset.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

struct Pair {
  std::string name;
  std::function<void()> primset, torch;
};

// Nanoseconds a call, over `calls` of them.
double time_calls(const std::function<void()>& call, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / calls;
}

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

void measure(const Pair& pair, int repeats, int calls) {
  time_calls(pair.primset, calls);
  time_calls(pair.torch, calls);
  std::vector<double> ours, theirs, ratios;
  for (int i = 0; i < repeats; ++i) {
    ours.push_back(time_calls(pair.primset, calls));
    theirs.push_back(time_calls(pair.torch, calls));
    ratios.push_back(theirs.back() / ours.back());
  }
  std::ranges::sort(ratios);
  std::printf("| %s | %.0f | %.0f | **%.2f** (%.2f to %.2f) |\n", pair.name.c_str(), median(ours),
              median(theirs), median(ratios), ratios.front(), ratios.back());
}

void require_equal(const primset::Tensor& ours, const at::Tensor& theirs) {
  const std::vector<float> values = ours.to_vector<float>();
  const at::Tensor dense = theirs.contiguous();
  if (!std::equal(values.begin(), values.end(), dense.data_ptr<float>())) {
    std::fprintf(stderr, "call_overhead: the two do not compute the same\n");
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 31;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 20000;
  at::set_num_threads(2);
  std::vector<float> x(16), y(16);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.5f * static_cast<float>(i);
    y[i] = 3.0f - static_cast<float>(i);
  }
  const primset::DeviceGuard on_cpu(primset::Device::cpu());
  const auto a = primset::Tensor::of<float>(std::span<const float>(x), {16});
  const auto b = primset::Tensor::of<float>(std::span<const float>(y), {16});
  const auto out = primset::Tensor::empty({16}, primset::DType::f32);
  const at::Tensor ta = at::from_blob(x.data(), {16}).clone(),
                   tb = at::from_blob(y.data(), {16}).clone();
  at::Tensor tout = at::empty({16});
  const primset::Operator boxed("add.Tensor");
  require_equal(primset::add(a, b), at::add(ta, tb));

  const Pair pairs[] = {
      {"add", [&] { primset::add(a, b); }, [&] { at::add(ta, tb); }},
      {"add out=", [&] { primset::add_out(out, a, b); }, [&] { at::add_out(tout, ta, tb); }},
      {"add_", [&] { primset::add_(out, b); }, [&] { tout.add_(tb); }},
      {"add of a number", [&] { primset::add(a, 2.5); }, [&] { at::add(ta, 2.5); }},
      {"slice", [&] { primset::slice(a, 0, 2, 9); }, [&] { at::slice(ta, 0, 2, 9); }},
      {"sum", [&] { primset::sum(a); }, [&] { at::sum(ta); }},
      {"add, boxed", [&] { boxed(a, b); }, [&] { at::add(ta, tb); }},
  };
  std::printf("| call | Primset ns | PyTorch ns | PyTorch / Primset |\n|---|---|---|---|\n");
  for (const Pair& p : pairs) measure(p, repeats, calls);
}
