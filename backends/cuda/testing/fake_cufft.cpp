// cuFFT of the fake toolkit: sums of the definition.
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <numbers>

#include "backends/cuda/libraries/cufft_api.h"
#include "backends/cuda/testing/fake_toolkit_world.h"

namespace fake_toolkit {
namespace {

using primset_cuda::DataType;
using Number = std::complex<double>;

struct Side {
  std::array<long long, 3> embed{};
  long long stride = 0, distance = 0;
  DataType type{};

  bool is_real() const { return type == DataType::f32 || type == DataType::f64; }
  bool is_wide() const { return type == DataType::f64 || type == DataType::c128; }
  size_t bytes() const { return (is_wide() ? 8u : 4u) * (is_real() ? 1u : 2u); }
  long long place(int rank, long long batch, const std::array<long long, 3>& at) const {
    long long p = at[0];
    for (size_t d = 1; d < static_cast<size_t>(rank); ++d) p = p * embed[d] + at[d];
    return batch * distance + p * stride;
  }
};

struct Plan {
  bool allocates = true, made = false;
  int rank = 0;
  std::array<long long, 3> sizes{1, 1, 1};
  Side in, out;
  long long batch = 0;
  size_t work_bytes = 0;
  void* work = nullptr;
  primset_cuda::Stream stream = nullptr;
};
std::map<int, std::unique_ptr<Plan>>& all_plans() {
  static auto* plans = new std::map<int, std::unique_ptr<Plan>>;
  return *plans;
}

Number load(const Side& s, const char* base, long long at) {
  const char* p = base + static_cast<size_t>(at) * s.bytes();
  double d[2] = {};
  float f[2] = {};
  std::memcpy(s.is_wide() ? static_cast<void*>(d) : f, p, s.bytes());
  return s.is_wide() ? Number(d[0], d[1]) : Number(f[0], f[1]);
}
void store(const Side& s, char* base, long long at, Number x) {
  char* p = base + static_cast<size_t>(at) * s.bytes();
  const double d[2] = {x.real(), x.imag()};
  const float f[2] = {static_cast<float>(x.real()), static_cast<float>(x.imag())};
  std::memcpy(p, s.is_wide() ? static_cast<const void*>(d) : f, s.bytes());
}

template <typename F>
void each(const std::array<long long, 3>& n, const F& f) {
  std::array<long long, 3> i{};
  for (i[0] = 0; i[0] < n[0]; ++i[0])
    for (i[1] = 0; i[1] < n[1]; ++i[1])
      for (i[2] = 0; i[2] < n[2]; ++i[2]) f(i);
}

std::array<long long, 3> extents(const Plan& p, const Side& s) {
  std::array<long long, 3> n{1, 1, 1};
  for (size_t d = 0; d < static_cast<size_t>(p.rank); ++d) n[d] = p.sizes[d];
  if (p.in.is_real() != p.out.is_real() && !s.is_real()) {
    long long& last = n[static_cast<size_t>(p.rank) - 1];
    last = last / 2 + 1;
  }
  return n;
}

size_t span(const Plan& p, const Side& s) {
  std::array<long long, 3> last = extents(p, s);
  for (long long& n : last) --n;
  return static_cast<size_t>(s.place(p.rank, p.batch - 1, last) + 1) * s.bytes();
}

// The whole spectrum or signal of a batch. Of half a spectrum the ends' imaginary parts leak into
// the result, as the library does not promise that they do not.
std::vector<Number> gather(const Plan& p, const char* in, long long batch, double& leak) {
  std::vector<Number> x;
  const auto half = extents(p, p.in);
  const bool mirrored = p.out.is_real();
  each(extents(p, {{}, 0, 0, DataType::f32}), [&](std::array<long long, 3> i) {
    const bool beyond = mirrored && i[0] >= half[0];  // of one dim
    if (beyond) i[0] = p.sizes[0] - i[0];
    const Number value = load(p.in, in, p.in.place(p.rank, batch, i));
    if (mirrored && !beyond && 2 * i[0] % p.sizes[0] == 0) leak += value.imag();
    x.push_back(beyond ? std::conj(value) : value);
  });
  return x;
}

void transform(const Plan& p, char* in, char* out, int direction) {
  const auto whole = extents(p, {{}, 0, 0, DataType::f32});
  for (long long b = 0; b < p.batch; ++b) {
    double leak = 0;
    const std::vector<Number> x = gather(p, in, b, leak);
    each(extents(p, p.out), [&](const std::array<long long, 3>& k) {
      Number sum = p.out.is_real() ? leak : 0;
      size_t at = 0;
      each(whole, [&](const std::array<long long, 3>& j) {
        double turns = 0;
        for (size_t d = 0; d < 3; ++d)
          turns += static_cast<double>(k[d] * j[d] % whole[d]) / static_cast<double>(whole[d]);
        sum += x[at++] * std::polar(1.0, direction * 2 * std::numbers::pi * turns);
      });
      store(p.out, out, p.out.place(p.rank, b, k), sum);
    });
  }
  if (p.out.is_real()) std::memset(in, 0xff, span(p, p.in));  // it may
}

Plan* find_plan(Call& call, int handle) {
  const auto it = all_plans().find(handle);
  call.needs(it != all_plans().end(), "no such plan");
  return call.status == 0 ? it->second.get() : nullptr;
}

}  // namespace
}  // namespace fake_toolkit

using namespace fake_toolkit;

FAKE_TOOLKIT(cufftGetVersion)(int* version) {
  *version = world().cufft;
  return Call(__func__).status;
}
FAKE_TOOLKIT(cufftCreate)(int* handle) {
  Call call(__func__);
  if (call.status != 0) return call.status;
  static int next = 0;
  *handle = next++;
  all_plans()[*handle] = std::make_unique<Plan>();
  ++world().plans;
  return 0;
}
FAKE_TOOLKIT(cufftDestroy)(int handle) {
  Call call(__func__);
  if (!find_plan(call, handle)) return call.status;
  all_plans().erase(handle);
  --world().plans;
  return 0;
}
FAKE_TOOLKIT(cufftSetAutoAllocation)(int handle, int allocate) {
  Call call(__func__);
  if (Plan* p = find_plan(call, handle)) p->allocates = allocate != 0;
  return call.status;
}
FAKE_TOOLKIT(cufftSetWorkArea)(int handle, void* area) {
  Call call(__func__);
  if (Plan* p = find_plan(call, handle)) p->work = area;
  return call.status;
}
FAKE_TOOLKIT(cufftSetStream)(int handle, primset_cuda::Stream stream) {
  Call call(__func__);
  if (Plan* p = find_plan(call, handle)) p->stream = stream;
  return call.status;
}
FAKE_TOOLKIT(cufftXtMakePlanMany)(int handle, int rank, long long* n, long long* in_embed,
                                  long long in_stride, long long in_dist, DataType in,
                                  long long* out_embed, long long out_stride, long long out_dist,
                                  DataType out, long long batch, size_t* work_bytes,
                                  DataType computed_in) {
  Call call(__func__);
  Plan* p = find_plan(call, handle);
  if (!p) return call.status;
  call.needs(!p->allocates, "the library would allocate the workspace itself")
      .needs(!p->made, "a plan is made twice")
      .needs(rank >= 1 && rank <= 3 && batch >= 1, "rank or batch")
      .needs(computed_in == DataType::c64 || computed_in == DataType::c128, "the type computed in");
  if (call.status != 0) return call.status;
  if (!fake_cuda::outside_capture(__func__)) return kWrongCall;
  p->made = true;
  p->rank = rank;
  p->batch = batch;
  p->in = {{}, in_stride, in_dist, in};
  p->out = {{}, out_stride, out_dist, out};
  for (size_t d = 0; d < static_cast<size_t>(rank); ++d) {
    p->sizes[d] = n[d];
    p->in.embed[d] = in_embed[d];
    p->out.embed[d] = out_embed[d];
  }
  *work_bytes = p->work_bytes = world().workspace_bytes;
  return 0;
}
FAKE_TOOLKIT(cufftXtExec)(int handle, void* in, void* out, int direction) {
  Call call(__func__);
  const Plan* plan = find_plan(call, handle);
  if (!plan) return call.status;
  call.reads(in, span(*plan, plan->in)).reads(out, span(*plan, plan->out));
  call.reads(plan->work, plan->work_bytes);
  const size_t complex_bytes = plan->in.is_wide() ? 16 : 8;
  call.needs(reinterpret_cast<uintptr_t>(in) % complex_bytes == 0 &&
                 reinterpret_cast<uintptr_t>(out) % complex_bytes == 0,
             "memory that is not aligned");
  if (call.status != 0) return call.status;
  const bool given =
      fake_cuda::give_work(__func__, plan->stream, [handle, p = *plan, in, out, direction] {
        if (!all_plans().contains(handle))
          return fake_cuda::add_violation("cufftXtExec: the plan is gone when it is run");
        transform(p, static_cast<char*>(in), static_cast<char*>(out), direction);
      });
  return given ? 0 : primset_cuda::kFftExecFailed;
}
