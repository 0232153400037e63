#include "codegen/schedule/testing/random/check_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/plan_invariants.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/staged_schedule.h"
#include "decomps/engine/expand.h"
#include "prims/reference/float_format.h"
#include "primset/error.h"
#include "specs/bundle/reader.h"

namespace primset::schedule {
namespace {

using prims::SymInt;
using prims::SymInts;
using prims::reference::Array;
using prims::reference::Element;
using Ints = std::vector<int64_t>;

// What fresh memory and the gaps of layouts hold: no number, and no index.
constexpr std::byte kPoison{0xff};

// --- where elements lie --------------------------------------------------------------------------

// Calls f(element, byte) for each element of a strided array: its number in row-major order, and
// where it begins in memory.
template <typename F>
void each_element(const Ints& shape, const Ints& strides, size_t width, F f) {
  int64_t count = 1;
  for (int64_t n : shape) count *= n;
  Ints index(shape.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    f(static_cast<size_t>(i), static_cast<size_t>(at) * width);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

Ints evaluated(const SymInts& list, const prims::SymContext& context, const Ints& symbols) {
  Ints out;
  for (const SymInt& s : list)
    out.push_back(s.is_constant() ? s.constant() : context.evaluate(s.poly(), symbols));
  return out;
}

// The array's bytes at these strides, with poison between them.
std::vector<std::byte> laid_out(const Array& a, const Ints& strides) {
  const std::vector<std::byte> dense = prims::reference::to_bytes(a);
  const size_t width = byte_size(a.dtype);
  size_t end = 0;
  each_element(a.shape, strides, width,
               [&](size_t, size_t at) { end = std::max(end, at + width); });
  std::vector<std::byte> out(end, kPoison);
  each_element(a.shape, strides, width, [&](size_t i, size_t at) {
    std::memcpy(out.data() + at, dense.data() + i * width, width);
  });
  return out;
}

// What lies there, in row-major order.
Array picked_up(const Array& like, const Ints& strides, const std::vector<std::byte>& bytes) {
  const size_t width = byte_size(like.dtype);
  std::vector<std::byte> dense(like.data.size() * width);
  each_element(like.shape, strides, width, [&](size_t i, size_t at) {
    if (at + width > bytes.size()) throw std::runtime_error("an output's buffer is too small");
    std::memcpy(dense.data() + i * width, bytes.data() + at, width);
  });
  return prims::reference::from_bytes(like.dtype, like.shape, dense);
}

// --- comparison ----------------------------------------------------------------------------------

// In another order, a sum that overflows may do so to the other side, or meet its opposite.
bool part_fits(long double want, long double got, long double allowed) {
  if (!std::isfinite(want)) return !std::isfinite(got);
  return want == got || std::abs(want - got) <= allowed;
}

// What the reference is sure of, to the last bit; else as far off as it says, and rounded.
bool fits(DType t, const Element& want, const Element& got) {
  if (want.undecided) return true;
  if (is_integral(t) || is_bool(t)) return want.integer == got.integer;
  const long double re = want.re, im = want.im;
  const auto unit = [&](long double x) {
    return std::isfinite(x) ? prims::reference::ulp(x, t) : 0.0L;
  };
  long double allowed = 0;
  if (want.error != 0) allowed = want.error * 1.01L + unit(re) + (is_complex(t) ? unit(im) : 0);
  if (std::isnan(allowed)) return true;
  if (is_complex(t) && (!std::isfinite(re) || !std::isfinite(im)))
    return !std::isfinite(got.re) || !std::isfinite(got.im);
  return part_fits(re, got.re, allowed) && part_fits(im, got.im, allowed);
}

std::string text(DType t, const Element& e) {
  if (is_integral(t) || is_bool(t)) return std::to_string(e.integer);
  std::string out = std::to_string(static_cast<double>(e.re));
  if (is_complex(t)) out += " + " + std::to_string(static_cast<double>(e.im)) + "i";
  if (e.error != 0) out += " +- " + std::to_string(static_cast<double>(e.error));
  return out;
}

std::optional<std::string> difference(const Array& want, const Array& got) {
  for (size_t i = 0; i < want.data.size(); ++i) {
    if (fits(want.dtype, want.data[i], got.data[i])) continue;
    return "element " + std::to_string(i) + " is " + text(want.dtype, got.data[i]) + "; expected " +
           text(want.dtype, want.data[i]);
  }
  return std::nullopt;
}

// Nothing is written between the elements of a layout: there is what was there before.
std::optional<std::string> gap_written(const std::vector<std::byte>& now,
                                       const std::vector<std::byte>& before, const Array& like,
                                       const Ints& strides) {
  const size_t width = byte_size(like.dtype);
  std::vector<bool> element(now.size());
  each_element(like.shape, strides, width, [&](size_t, size_t at) {
    for (size_t b = at; b < at + width; ++b) element[b] = true;
  });
  for (size_t b = 0; b < now.size(); ++b) {
    const std::byte then = b < before.size() ? before[b] : kPoison;
    if (!element[b] && now[b] != then)
      return "byte " + std::to_string(b) + " between its elements is written";
  }
  return std::nullopt;
}

// --- one run -------------------------------------------------------------------------------------

class CaseRun {
 public:
  CaseRun(const RandomCase& c, const RandomTarget& target, Coverage* coverage)
      : c_(c), target_(target), coverage_(coverage) {}

  std::optional<std::string> check() {
    const size_t guards = c_.graph->context().guards().size();
    const prims::reference::Result want =
        prims::reference::run(for_reference(), c_.inputs, c_.symbols);
    const prims::Graph legal = expanded();
    const StagedSchedule s(legal, target_.machine, c_.options);
    if (coverage_) note(s.plan(), want);
    auto failure = joined(violations(s.plan(), s.graph(), target_.machine.limits));
    if (!failure) failure = check_program(s.program(), want);
    if (failure) *failure += "\n" + print(s.plan(), s.graph());
    c_.graph->context().truncate_guards(guards);
    return failure;
  }

 private:
  using IsKept = std::function<bool(const prims::Graph&, prims::NodeId)>;
  // Without the derived primitives but for those that are kept.
  prims::Graph expanded(const IsKept& is_kept) const {
    const bool is_cpu = !target_.machine.target.simt;
    prims::Graph graph = *c_.graph;
    decomps::expand_derived(graph, specs::embedded_bundle(), is_kept,
                            {.fast_f64 = is_cpu, .flush_f32 = false, .fast_scatter = is_cpu});
    return graph;
  }

  // As the machine's kernels compute it.
  prims::Graph expanded() const {
    return expanded([&](const prims::Graph& g, prims::NodeId n) {
      return is_legal_derived(g, n, target_.machine);
    });
  }

  // The reference has transforms, and no other derived primitive.
  prims::Graph for_reference() const {
    return expanded([](const prims::Graph& g, prims::NodeId n) {
      const prims::Prim p = g.node(n).prim;
      return p == prims::Prim::fft_c2c || p == prims::Prim::fft_r2c || p == prims::Prim::fft_c2r;
    });
  }

  void note(const FusionPlan& plan, const prims::reference::Result& want) {
    coverage_->add(*c_.graph);
    coverage_->add(plan);
    coverage_->failed_checks += want.failures.size();
    for (const prims::Output& o : c_.graph->outputs)
      coverage_->overwriting += o.writes_input ? 1 : 0;
    for (const Array& a : want.outputs) {
      coverage_->elements += a.data.size();
      for (const Element& e : a.data) coverage_->undecided += e.undecided ? 1 : 0;
    }
  }

  static std::optional<std::string> joined(const std::vector<std::string>& wrong) {
    if (wrong.empty()) return std::nullopt;
    std::string all;
    for (const std::string& w : wrong) all += (all.empty() ? "" : "\n") + w;
    return all;
  }

  std::optional<std::string> check_program(const Program& program,
                                           const prims::reference::Result& want) {
    try {
      if (auto wrong = joined(violations(program))) return wrong;
      return run(program, want);
    } catch (const Error& e) {
      return std::string("exception: ") + e.what();
    }
  }

  std::optional<std::string> run(const Program& program, const prims::reference::Result& want) {
    const prims::SymContext& context = c_.graph->context();
    std::vector<RunnerTensor> memory;
    std::vector<Ints> strides;
    for (size_t i = 0; i < c_.inputs.size(); ++i) {
      strides.push_back(evaluated(c_.options.inputs[i].strides, context, c_.symbols));
      memory.push_back({laid_out(c_.inputs[i], strides[i])});
    }
    const RunOptions options{
        .shift = static_cast<int64_t>(c_.seed % 3), .interpret = true, .poison = kPoison};
    const RunnerResult got =
        run_program(program, target_.machine.target, memory, c_.symbols, options);
    for (size_t j = 0; j < want.outputs.size(); ++j) {
      if (auto wrong = check_output(j, want.outputs[j], got, memory))
        return "output " + std::to_string(j) + ": " + *wrong;
    }
    for (size_t i = 0; i < memory.size(); ++i) {
      const std::vector<std::byte>& before = memory[i].bytes;
      const std::vector<std::byte>& now = got.inputs[i].bytes;  // a scalar has none
      const bool same = now.empty() || std::equal(before.begin(), before.end(), now.begin());
      if (!is_overwritten(i) && !same) return "input " + std::to_string(i) + " has been written";
    }
    return check_error(program, want, got.error);
  }

  // An index out of bounds is no error where nobody asks for the element that it stands for.
  static std::optional<std::string> check_error(const Program& program,
                                                const prims::reference::Result& want,
                                                const ErrorSlot& got) {
    if (got.code != 0 && want.failures.empty())
      return "a check failed: " + program.checks.at(got.code - 1).message;
    for (const prims::reference::CheckFailure& f : want.failures) {
      if (f.code == kCheckCode && got.code == 0) return "no check failed; expected " + f.message;
    }
    return std::nullopt;
  }

  std::optional<std::string> check_output(size_t j, const Array& want, const RunnerResult& got,
                                          const std::vector<RunnerTensor>& memory) const {
    const Ints strides = evaluated(c_.options.outputs[j].strides, c_.graph->context(), got.symbols);
    const std::vector<std::byte>& bytes = got.outputs[j].bytes;
    if (auto wrong = difference(want, picked_up(want, strides, bytes))) return wrong;
    const auto input = c_.graph->outputs[j].writes_input;
    return gap_written(bytes, input ? memory[*input].bytes : std::vector<std::byte>{}, want,
                       strides);
  }

  bool is_overwritten(size_t input) const {
    for (const prims::Output& o : c_.graph->outputs) {
      if (o.writes_input == input) return true;
    }
    return false;
  }

  const RandomCase& c_;
  const RandomTarget& target_;
  Coverage* coverage_;
};

}  // namespace

void Coverage::add(const prims::Graph& g) {
  for (prims::NodeId n = 0; n < g.node_count(); ++n) ++prims[g.node(n).prim];
}

void Coverage::add(const FusionPlan& plan) {
  for (const Unfused& u : plan.unfused) ++reasons[u.why];
  for (const FusionGroup& group : plan.groups) ++families[group.family->name()];
  detached += plan.detached.size();
  in_place += plan.in_place.size();
  views += plan.views.size();
}

std::optional<std::string> check_case(const RandomCase& c, const RandomTarget& target,
                                      Coverage* coverage) {
  try {
    return CaseRun(c, target, coverage).check();
  } catch (const std::exception& e) {
    return std::string("exception: ") + e.what();
  }
}

// --- targets -------------------------------------------------------------------------------------

namespace {

kir::TargetModel cpu_model(uint32_t vector_bytes) {
  kir::TargetModel m;
  m.vector_bytes = vector_bytes;
  return m;
}

kir::TargetModel small_simt_model() {
  kir::TargetModel m = simt_model();
  m.group_threads = 8;
  m.max_group_threads = 16;
  m.max_groups_x = 3;
  m.multiprocessors = 2;
  return m;
}

Machine with_limits(const kir::TargetModel& m, uint32_t operations, uint32_t depth,
                    uint32_t parameter_bytes) {
  Machine machine(m);
  machine.limits = {operations, depth, parameter_bytes};
  return machine;
}

// Large tiles are worth it there.
kir::TargetModel one_processor(kir::TargetModel m) {
  m.multiprocessors = 1;
  return m;
}

}  // namespace

const std::vector<RandomTarget>& random_targets() {
  // A few operations, a few nodes deep, six buffers; and a little more.
  const auto tiny = [](const kir::TargetModel& m) { return with_limits(m, 8, 4, 192); };
  const auto small = [](const kir::TargetModel& m) { return with_limits(m, 24, 8, 400); };
  const auto by_digits = [](const kir::TargetModel& m) {
    return Machine(m, "sort.radix_row=5,sort.group_row=4");
  };
  static const std::vector<RandomTarget> targets = {
      {"cpu", Machine(cpu_model(64))},
      {"simt", Machine(simt_model())},
      {"cpu with narrow vectors", Machine(cpu_model(16))},
      {"cpu with tiny kernels", tiny(cpu_model(32))},
      {"simt with tiny kernels", tiny(simt_model())},
      {"small simt", Machine(small_simt_model())},
      {"simt with ballots", by_digits(ballot_model(16))},
      {"small simt with small kernels", small(small_simt_model())},
      {"simt with matrix units", by_digits(one_processor(matrix_model()))},
      {"cpu with small kernels", small(cpu_model(64))},
  };
  return targets;
}

const RandomTarget& target_of(uint64_t seed) {
  return random_targets()[seed % random_targets().size()];
}

}  // namespace primset::schedule
