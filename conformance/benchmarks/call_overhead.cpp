// What a call costs: operators on 16 elements through Primset's C++ API and through PyTorch's, in
// one process, in turns. On a CUDA device a launch by the driver alone stands beside them, of a
// kernel that adds such tensors. Built and run by measure_call_overhead.py, since it needs
// libtorch.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <primset/ops.h>
#include <primset/primset.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bare_launch.h"

namespace {

using Call = std::function<void()>;

struct Pair {
  std::string name;
  Call primset, torch;
  bool launches = true;
};

// How often, and what is called to have a device finish: its queue should never be full.
struct Plan {
  int repeats, calls;
  Call wait;
};

// Nanoseconds of the host a call.
double time_calls(const Call& call, const Plan& plan) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < plan.calls; ++i) call();
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  plan.wait();
  return elapsed.count() / plan.calls;
}

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

// Nanoseconds of a call, a number a turn.
struct Times {
  std::vector<double> primset, torch, bare;
};

// Every pair once a turn: a processor whose clock drifts is the same to all of them.
std::vector<Times> measure(std::span<const Pair> pairs, const Call& bare, const Plan& plan) {
  std::vector<Times> all(pairs.size());
  for (int turn = -1; turn < plan.repeats; ++turn) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      const double ours = time_calls(pairs[i].primset, plan);
      const double launch = bare ? time_calls(bare, plan) : 0;
      const double theirs = time_calls(pairs[i].torch, plan);
      if (turn < 0) continue;  // to warm up
      all[i].primset.push_back(ours);
      all[i].torch.push_back(theirs);
      all[i].bare.push_back(launch);
    }
  }
  return all;
}

// Of each turn's two numbers.
template <typename F>
std::vector<double> combined(const std::vector<double>& x, const std::vector<double>& y, F f) {
  std::vector<double> out;
  std::ranges::transform(x, y, std::back_inserter(out), f);
  return out;
}

void print(const Pair& pair, const Times& t, bool has_bare) {
  const std::vector<double> ratios = combined(t.torch, t.primset, std::divides());
  const auto [least, most] = std::ranges::minmax(ratios);
  std::printf("| %s | %.0f | %.0f | **%.2f** (%.2f to %.2f) |", pair.name.c_str(),
              median(t.primset), median(t.torch), median(ratios), least, most);
  if (has_bare && pair.launches)
    std::printf(" %.0f |", median(combined(t.primset, t.bare, std::minus())));
  else if (has_bare)
    std::printf(" – |");
  std::printf("\n");
}

void require_equal(const primset::Tensor& ours, const at::Tensor& theirs) {
  const std::vector<float> values = ours.to_vector<float>();
  const at::Tensor dense = theirs.cpu().contiguous();
  if (!std::equal(values.begin(), values.end(), dense.data_ptr<float>())) {
    std::fprintf(stderr, "call_overhead: the two do not compute the same\n");
    std::exit(1);
  }
}

}  // namespace

// DEVICE PEER_DEVICE REPEATS CALLS
int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: primset_call_overhead DEVICE PEER_DEVICE REPEATS CALLS\n");
    return 2;
  }
  const std::string device = argv[1];
  const at::Device peer(argv[2]);
  at::set_num_threads(2);
  std::vector<float> x(16), y(16);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.5f * static_cast<float>(i);
    y[i] = 3.0f - static_cast<float>(i);
  }
  const primset::DeviceGuard on(device);
  const auto a = primset::Tensor::of<float>(std::span<const float>(x), {16});
  const auto b = primset::Tensor::of<float>(std::span<const float>(y), {16});
  const auto out = primset::Tensor::empty({16}, primset::DType::f32);
  const at::Tensor ta = at::from_blob(x.data(), {16}).to(peer, at::kFloat, false, true),
                   tb = at::from_blob(y.data(), {16}).to(peer, at::kFloat, false, true);
  at::Tensor tout = at::empty({16}, peer);
  const primset::Operator boxed("add.Tensor");
  require_equal(primset::add(a, b), at::add(ta, tb));

  Call bare;
  std::optional<BareLaunch> launch;
  if (peer.is_cuda()) {
    launch.emplace(ta.data_ptr(), tb.data_ptr(), tout.data_ptr());
    bare = [&] { launch->run(); };
    bare();
    launch->wait();
    require_equal(primset::add(a, b), tout);
  }
  // Copies to the host wait for what was asked for before them.
  const Plan plan{std::atoi(argv[3]), std::atoi(argv[4]), [&] {
                    primset::synchronize();
                    tout.cpu();
                    if (launch) launch->wait();
                  }};
  const Pair pairs[] = {
      {"add", [&] { primset::add(a, b); }, [&] { at::add(ta, tb); }},
      {"add out=", [&] { primset::add_out(out, a, b); }, [&] { at::add_out(tout, ta, tb); }},
      {"add_", [&] { primset::add_(out, b); }, [&] { tout.add_(tb); }},
      {"add of a number", [&] { primset::add(a, 2.5); }, [&] { at::add(ta, 2.5); }},
      {"slice", [&] { primset::slice(a, 0, 2, 9); }, [&] { at::slice(ta, 0, 2, 9); }, false},
      {"sum", [&] { primset::sum(a); }, [&] { at::sum(ta); }},
      {"add, boxed", [&] { boxed(a, b); }, [&] { at::add(ta, tb); }},
  };
  std::printf("| call | Primset ns | PyTorch ns | PyTorch / Primset |%s\n|---|---|---|---|%s\n",
              bare ? " Primset above a bare launch, ns |" : "", bare ? "---|" : "");
  const std::vector<Times> times = measure(pairs, bare, plan);
  std::vector<double> launches;
  for (size_t i = 0; i < times.size(); ++i) {
    print(pairs[i], times[i], bool(bare));
    launches.insert(launches.end(), times[i].bare.begin(), times[i].bare.end());
  }
  if (bare) std::printf("\na bare launch: %.0f ns\n", median(launches));
}
