// A workgroup computes some transforms at once. Each thread has butterflies of all of them in turn;
// between the steps elements go through the workgroup's memory, from one copy to the other.
#include "codegen/schedule/families/fft/group_fft_kernel.h"

#include "codegen/schedule/families/fft/fft_frame.h"
#include "codegen/schedule/families/fft/radices.h"
#include "codegen/schedule/families/fft/stockham.h"
#include "codegen/schedule/families/fft/twiddle_table.h"

namespace primset::schedule {

using kir::Builder;
using kir::Value;

namespace {

class GroupFft {
 public:
  GroupFft(const BuildContext& c, const FftPlan& plan, prims::NodeId node,
           const std::vector<Root>& roots, BufferId table)
      : plan_(plan),
        f_(c, plan, node, roots, std::nullopt),
        steps_(stockham_steps(plan.n)),
        table_(f_.frame().buffer(table, true, false)) {
    b().set_group_size(static_cast<uint32_t>(plan.threads));
    const auto count = static_cast<uint32_t>(plan.transforms * plan.n);
    for (size_t i = 0; i + 1 < steps_.size() && i < 2; ++i)
      copies_.push_back(
          {b().group_alloc(f_.vector().scalar, count), b().group_alloc(f_.vector().scalar, count)});
  }

  BuiltKernel build() {
    const SymInt blocks = prims::ceil_div(f_.lines(), plan_.transforms);
    for_each_by_groups(f_.frame(), blocks, [&](Value block) {
      const Value line = b().mul(block, constant(plan_.transforms));
      for (size_t i = 0; i < steps_.size(); ++i) {
        each_butterfly(i, line);
        // Behind the last step the memory is used again for other transforms.
        if (!copies_.empty()) b().barrier();
      }
    });
    return std::move(f_).finish();
  }

 private:
  Builder& b() { return f_.b(); }
  Value constant(int64_t v) { return f_.frame().index_constant(v); }

  void each_butterfly(size_t step, Value first_line) {
    const StockhamStep& s = steps_[step];
    const int64_t of_transform = plan_.n / s.radix;
    const Value all = constant(plan_.transforms * of_transform);
    b().for_loop(
        f_.frame().index(b().local_id(0)), all, constant(plan_.threads), {}, [&](Value i, auto) {
          const Value transform = b().udiv(i, constant(of_transform));
          const Value j = b().sub(i, b().mul(transform, constant(of_transform)));
          compute(step, b().add(first_line, transform), b().mul(transform, constant(plan_.n)), j);
          return Builder::Values{};
        });
  }

  // Butterfly j of a transform, whose elements begin at `start` in the workgroup's memory.
  void compute(size_t step, Value line, Value start, Value j) {
    const StockhamStep& s = steps_[step];
    const Value p = b().udiv(j, constant(s.stride)), q = b().sub(j, b().mul(p, constant(s.stride)));
    const Value lines = f_.frame().param(f_.lines()), inside = b().slt(line, lines);
    // What is beyond the last transform repeats it, and is not stored.
    f_.move_to_line(b().select(inside, line, b().sub(lines, constant(1))));
    step_butterfly(
        f_.frame(), s, step_twiddles(f_.frame(), f_.vector(), s, table_, p), plan_.forward, p, q,
        [&](Value row) {
          return step == 0 ? f_.operand(row) : get(copies_[(step - 1) % 2], b().add(start, row));
        },
        [&](Value row, const ElementValue& x) {
          if (step + 1 < steps_.size()) return put(copies_[step % 2], b().add(start, row), x);
          b().if_then(inside, [&] { f_.store(row, x); });
        });
  }

  uint32_t align() const { return static_cast<uint32_t>(kir::bytes(f_.vector().scalar)); }
  ElementValue get(const ElementValue& memory, Value at) {
    const kir::Type t = f_.vector();
    return {b().load(t, memory.re, at, align()), b().load(t, memory.im, at, align())};
  }
  void put(const ElementValue& memory, Value at, const ElementValue& x) {
    b().store(memory.re, at, x.re, align());
    b().store(memory.im, at, x.im, align());
  }

  const FftPlan plan_;
  FftFrame f_;
  const std::vector<StockhamStep> steps_;
  Value table_;
  std::vector<ElementValue> copies_;  // of the elements: arrays of their parts
};

}  // namespace

std::vector<std::byte> group_fft_table(const FftPlan& plan, DType part) {
  TwiddleTable t(part, plan.forward);
  t.add_steps(plan.n, radices_of(plan.n));
  return std::move(t).take();
}

BuiltKernel group_fft_kernel(const BuildContext& c, const FftPlan& plan, prims::NodeId node,
                             const std::vector<Root>& roots, BufferId table) {
  return GroupFft(c, plan, node, roots, table).build();
}

}  // namespace primset::schedule
