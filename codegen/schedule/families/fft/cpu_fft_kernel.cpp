// On a CPU vectors' lanes are either transforms of their own, or a transform of length n = lanes
// rows is begun as so many transforms of length `rows` and ended by one of as many elements as
// there are lanes, between which blocks of lanes times lanes elements are transposed in registers.
#include "codegen/schedule/families/fft/cpu_fft_kernel.h"

#include "codegen/schedule/families/fft/fft_frame.h"
#include "codegen/schedule/families/fft/radices.h"
#include "codegen/schedule/families/fft/within_line.h"

namespace primset::schedule {

using kir::Builder;
using kir::Value;

namespace {

class AcrossLines {
 public:
  AcrossLines(const BuildContext& c, const CpuFftRequest& r)
      : plan_(r.plan),
        f_(c, plan_, r.node, r.roots, plan_.lane_dim.value_or(plan_.dim)),
        steps_(f_.frame(), f_.vector(), plan_.n, plan_.forward),
        table_(f_.frame().buffer(r.table, true, false)) {}

  BuiltKernel build() {
    if (!plan_.lane_dim) {
      for_each_fft_item(f_.frame(), f_.lines(), plan_.n, [&](Value line) {
        f_.move_to_line(line);
        transform();
      });
      return std::move(f_).finish();
    }
    const SymInt blocks = prims::ceil_div(f_.lane_size(), plan_.lanes);
    for_each_fft_item(f_.frame(), f_.lines() * blocks, plan_.n * plan_.lanes, [&](Value item) {
      Builder& b = f_.b();
      Frame& frame = f_.frame();
      const Value line = b.udiv(item, frame.param(blocks));
      const Value block = b.sub(item, b.mul(line, frame.param(blocks)));
      const Value lane = b.mul(block, frame.index_constant(plan_.lanes));
      f_.move_to_line(line, lane);
      if (plan_.lanes > 1)
        frame.set_mask(b.active_lane_mask(b.sub(frame.param(f_.lane_size()), lane), plan_.lanes));
      transform();
      frame.set_mask({});
    });
    return std::move(f_).finish();
  }

 private:
  void transform() {
    steps_.run(
        table_, [&](Value row) { return f_.operand(row); },
        [&](Value row, const ElementValue& x) { f_.store(row, x); });
  }

  const FftPlan plan_;
  FftFrame f_;
  Stockham steps_;
  Value table_;
};

BuiltKernel within_line_kernel(const BuildContext& c, const CpuFftRequest& r) {
  FftFrame f(c, r.plan, r.node, r.roots, std::nullopt);
  WithinLine transform(f.frame(), f.vector(), r.plan.n, r.plan.forward);
  const Value table = f.frame().buffer(r.table, true, false);
  for_each_fft_item(f.frame(), f.lines(), r.plan.n, [&](Value line) {
    f.move_to_line(line);
    transform.run(
        table, [&](Value at) { return f.operand(at); },
        [&](Value at, const ElementValue& x) { f.store(at, x); });
  });
  return std::move(f).finish();
}

// The two passes of a long transform, j = j1 second + j2 and k = k2 first + k1, with an array
// between that is [line, j2, k1]: lanes go along j2 in the first one and along k1 in the second.
class TwoPasses {
 public:
  TwoPasses(const BuildContext& c, const CpuFftRequest& r, int64_t n, int64_t others)
      : plan_(r.plan),
        n_(n),
        others_(others),
        lanes_(plan_.lanes),
        f_(c, plan_, r.node, r.roots, std::nullopt),
        steps_(f_.frame(), f_.vector(), n, plan_.forward, n),
        table_(f_.frame().buffer(r.table, true, false)) {}

  BuiltKernel first(BufferId between) {
    Builder& b = f_.b();
    const Value out = f_.frame().buffer(between, false, true);
    const Value grid = constant(TwiddleTable::step_numbers(radices_of(n_)));
    for_each_block([&](Value line, Value lane) {
      steps_.run(
          table_, [&](Value row) { return f_.operand(b.add(b.mul(row, constant(others_)), lane)); },
          [&](Value row, const ElementValue& x) {
            const Value at = b.add(b.mul(row, constant(others_)), lane);
            const Value place = b.add(grid, b.mul(at, constant(2)));
            steps_.kept().put(
                row, complex_product(b, x, twiddle_vector(f_.frame(), f_.vector(), table_, place)));
          });
      b.for_loop(constant(0), constant(n_), constant(lanes_), {}, [&](Value row, auto) {
        const Complexes columns = transposed_rows(f_.frame(), f_.vector(), steps_.kept(), row);
        for (int64_t l = 0; l < lanes_; ++l) {
          const Value column = b.add(lane, constant(l));
          write(out, place_between(line, column, row), columns[static_cast<size_t>(l)]);
        }
        return Builder::Values{};
      });
    });
    return std::move(f_).finish();
  }

  BuiltKernel second(BufferId between) {
    Builder& b = f_.b();
    const Value in = f_.frame().buffer(between, true, false);
    for_each_block([&](Value line, Value lane) {
      steps_.run(
          table_,
          [&](Value row) {
            const Value start = b.mul(line, constant(plan_.n));
            return read(in, b.add(b.add(start, b.mul(row, constant(others_))), lane));
          },
          [&](Value row, const ElementValue& x) {
            f_.store(b.add(b.mul(row, constant(others_)), lane), x);
          });
    });
    return std::move(f_).finish();
  }

 private:
  Value constant(int64_t v) { return f_.frame().index_constant(v); }
  Value place_between(Value line, Value column, Value row) {
    Builder& b = f_.b();
    const Value start = b.add(b.mul(line, constant(plan_.n)), b.mul(column, constant(n_)));
    return b.add(start, row);
  }

  void for_each_block(const std::function<void(Value line, Value lane)>& body) {
    Builder& b = f_.b();
    const int64_t blocks = others_ / lanes_;
    for_each_fft_item(f_.frame(), f_.lines() * blocks, n_ * lanes_, [&](Value item) {
      const Value line = b.udiv(item, constant(blocks));
      f_.move_to_line(line);
      body(line, b.mul(b.sub(item, b.mul(line, constant(blocks))), constant(lanes_)));
    });
  }

  // Parts side by side, from complex element `at` on.
  ElementValue read(Value memory, Value at) {
    Builder& b = f_.b();
    const auto n = static_cast<uint16_t>(2 * lanes_);
    const kir::Type part = f_.vector();
    const Value pairs = b.load({part.scalar, n}, memory, b.mul(at, constant(2)),
                               static_cast<uint32_t>(kir::bytes(part.scalar)));
    std::vector<uint16_t> even, odd;
    for (uint16_t l = 0; l < n; l += 2) even.push_back(l), odd.push_back(l + 1);
    return {b.shuffle(pairs, pairs, even), b.shuffle(pairs, pairs, odd)};
  }
  void write(Value memory, Value at, const ElementValue& x) {
    Builder& b = f_.b();
    std::vector<uint16_t> alternate;
    for (int64_t l = 0; l < lanes_; ++l)
      alternate.push_back(static_cast<uint16_t>(l)),
          alternate.push_back(static_cast<uint16_t>(lanes_ + l));
    b.store(memory, b.mul(at, constant(2)), b.shuffle(x.re, x.im, alternate),
            static_cast<uint32_t>(kir::bytes(f_.vector().scalar)));
  }

  const FftPlan plan_;
  const int64_t n_, others_, lanes_;
  FftFrame f_;
  Stockham steps_;
  Value table_;
};

}  // namespace

std::vector<std::byte> cpu_fft_table(const FftPlan& plan, DType part) {
  TwiddleTable t(part, plan.forward);
  if (plan.kind == FftPlan::Kind::within)
    WithinLine::add_twiddles(t, plan.n, plan.lanes);
  else
    t.add_steps(plan.n, radices_of(plan.n));
  return std::move(t).take();
}

BuiltKernel cpu_fft_kernel(const BuildContext& c, const CpuFftRequest& r) {
  return r.plan.kind == FftPlan::Kind::within ? within_line_kernel(c, r)
                                              : AcrossLines(c, r).build();
}

std::vector<std::byte> first_pass_table(const FftPlan& plan, DType part) {
  TwiddleTable t(part, plan.forward);
  t.add_steps(plan.first, radices_of(plan.first));
  t.add_grid(plan.n, plan.first, plan.second, plan.lanes);
  return std::move(t).take();
}

std::vector<std::byte> second_pass_table(const FftPlan& plan, DType part) {
  TwiddleTable t(part, plan.forward);
  t.add_steps(plan.second, radices_of(plan.second));
  return std::move(t).take();
}

BuiltKernel first_pass_kernel(const BuildContext& c, const CpuFftRequest& r) {
  return TwoPasses(c, r, r.plan.first, r.plan.second).first(r.between);
}

BuiltKernel second_pass_kernel(const BuildContext& c, const CpuFftRequest& r) {
  return TwoPasses(c, r, r.plan.second, r.plan.first).second(r.between);
}

}  // namespace primset::schedule
