#include "codegen/schedule/families/fft/fft_plan.h"

#include <algorithm>

#include "codegen/schedule/families/fft/radices.h"

namespace primset::schedule {
namespace {

using prims::SymInt;
using prims::SymInts;

bool is_one(const SymInt& size) {
  return size.same(SymInt(1));
}

// The last dim but `dim` that has more than one element.
std::optional<size_t> neighbours(const SymInts& shape, size_t dim) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (d != dim && !is_one(shape[d])) return d;
  }
  return std::nullopt;
}

// A short line stays in the first-level cache with all lanes of its vectors. Longer ones are taken
// along their own elements where these are neighbours in memory.
void plan_line(FftPlan& p, const SymInts& shape, int64_t lanes, int64_t most_bytes,
               int64_t element_bytes) {
  const bool innermost =
      std::all_of(shape.begin() + static_cast<std::ptrdiff_t>(p.dim) + 1, shape.end(), is_one);
  int64_t inside = power_of_two_in(p.n, lanes);
  while (inside * inside > p.n) inside /= 2;
  if (innermost && inside > 1 && inside >= std::min<int64_t>(4, lanes)) {
    p.kind = FftPlan::Kind::within;
    p.lanes = static_cast<uint16_t>(inside);
    return;
  }
  p.kind = FftPlan::Kind::across;
  p.lane_dim = neighbours(shape, p.dim);
  while (lanes > 1 && p.n * lanes * element_bytes > most_bytes) lanes /= 2;
  p.lanes = static_cast<uint16_t>(p.lane_dim ? lanes : 1);
}

std::optional<FftPlan> cpu_plan(FftPlan p, const SymInts& shape, int64_t element_bytes,
                                const Machine& machine) {
  const auto& tuning = machine.tuning.fft;
  int64_t lanes = 2 * machine.target.vector_bytes / element_bytes;
  if (p.n * element_bytes <= tuning.line_bytes) {
    plan_line(p, shape, lanes, tuning.lines_bytes, element_bytes);
    return p;
  }
  if (p.n > tuning.two_pass_elements) return std::nullopt;
  for (; lanes >= 4; lanes /= 2) {
    const Split split = split_near_root(p.n, lanes);
    if (split.first == 0 || split.second * lanes * element_bytes > tuning.lines_bytes) continue;
    p.kind = FftPlan::Kind::two_passes;
    p.lanes = static_cast<uint16_t>(lanes);
    p.first = split.first;
    p.second = split.second;
    return p;
  }
  return std::nullopt;
}

int64_t smallest_radix(int64_t n) {
  const std::vector<int64_t> radices = radices_of(n);
  return *std::ranges::min_element(radices);
}

// Two copies of the elements, of which steps read one and write the other.
std::optional<FftPlan> group_plan(FftPlan p, int64_t element_bytes, const Machine& machine) {
  const int64_t room = machine.target.group_memory / (2 * element_bytes);
  if (p.n > room) return std::nullopt;
  p.kind = FftPlan::Kind::group;
  p.threads = machine.target.group_threads;
  const int64_t butterflies = p.n / smallest_radix(p.n);
  p.transforms = std::clamp<int64_t>(p.threads / butterflies, 1, room / p.n);
  return p;
}

}  // namespace

namespace {

// Of real values, or to them: those of even length that are within vectors.
std::optional<FftPlan> real_plan(FftPlan p, int64_t length, FftPlan::Kind kind,
                                 const SymInts& shape, int64_t element_bytes,
                                 const Machine& machine) {
  if (machine.target.simt || length % 2 != 0) return std::nullopt;
  p.n = length / 2;
  if (p.n < 2 || !is_smooth(p.n)) return std::nullopt;
  const auto plan = cpu_plan(p, shape, element_bytes, machine);
  if (!plan || plan->kind != FftPlan::Kind::within) return std::nullopt;
  p = *plan;
  p.kind = kind;
  return p;
}

}  // namespace

std::optional<FftPlan> fft_plan(const prims::Graph& g, const prims::Node& n,
                                const Machine& machine) {
  using enum prims::Prim;
  if (n.prim != fft_c2c && n.prim != fft_r2c && n.prim != fft_c2r) return std::nullopt;
  const auto& dims = n.attr<std::vector<int64_t>>("dims");
  if (dims.size() != 1) return std::nullopt;
  const prims::ValueType &x = g.type(n.operands[0]), &y = g.type(n.results[0]);
  FftPlan p;
  p.dim = static_cast<size_t>(dims[0]);
  const auto element_bytes = static_cast<int64_t>(2 * byte_size(real_type(x.dtype)));
  if (n.prim == fft_r2c)
    return real_plan(p, x.shape[p.dim].specialize(), FftPlan::Kind::to_half, x.shape, element_bytes,
                     machine);
  if (n.prim == fft_c2r) {
    p.forward = false;
    return real_plan(p, y.shape[p.dim].specialize(), FftPlan::Kind::from_half, y.shape,
                     element_bytes, machine);
  }
  p.n = x.shape[p.dim].specialize();
  p.forward = n.attr<bool>("forward");
  if (p.n < 2 || !is_smooth(p.n)) return std::nullopt;
  return machine.target.simt ? group_plan(p, element_bytes, machine)
                             : cpu_plan(p, x.shape, element_bytes, machine);
}

}  // namespace primset::schedule
