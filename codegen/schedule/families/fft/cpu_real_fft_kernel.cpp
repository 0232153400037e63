// Transforms of 2 n real values on a CPU: pairs of neighbours are transformed as n complex numbers
// z. The spectra of the even values and of the odd ones are what is conjugate symmetric in theirs,
// and what is not:
//   even[k] = (z[k] + conj z[n - k]) / 2, odd[k] = (z[k] - conj z[n - k]) / 2i,
//   x[k] = even[k] + w^k odd[k] with w = e^(-2 pi i / 2n), for k from 0 to n.
// Back, z[k] = (x[k] + conj x[n - k]) + i w^-k (x[k] - conj x[n - k]) is twice as much.
#include "codegen/schedule/families/fft/cpu_fft_kernel.h"
#include "codegen/schedule/families/fft/fft_frame.h"
#include "codegen/schedule/families/fft/radices.h"
#include "codegen/schedule/families/fft/within_line.h"

namespace primset::schedule {

using kir::Builder;
using kir::Value;

namespace {

// Complex numbers 0 to n of a line, in a thread's own memory. Vectors of them may begin or end up
// to a vector outside.
class Line {
 public:
  Line(FftFrame& f, int64_t n)
      : f_(f),
        margin_(f.vector().lanes),
        align_(static_cast<uint32_t>(kir::bytes(f.vector().scalar))) {
    const auto count = static_cast<uint32_t>(n + 1 + 2 * margin_);
    re_ = f.b().private_alloc(f.vector().scalar, count);
    im_ = f.b().private_alloc(f.vector().scalar, count);
    // What is read outside goes nowhere, but has a value.
    const Value zeros = f.b().constant_f(f.vector(), 0);
    for (Value memory : {re_, im_})
      for (const int64_t at : {-margin_, n + 1})
        f.b().store(memory, place(f.frame().index_constant(at)), zeros, align_);
  }

  ElementValue get(Value at) {
    return {f_.b().load(f_.vector(), re_, place(at), align_),
            f_.b().load(f_.vector(), im_, place(at), align_)};
  }
  // Elements at, at - 1, ...
  ElementValue get_backwards(Value at) {
    const ElementValue x = get(f_.b().sub(at, f_.frame().index_constant(margin_ - 1)));
    std::vector<uint16_t> lanes;
    for (uint16_t l = f_.vector().lanes; l-- > 0;) lanes.push_back(l);
    return {f_.b().shuffle(x.re, x.re, lanes), f_.b().shuffle(x.im, x.im, lanes)};
  }
  // Those that the frame's mask says, if it has one.
  void put(Value at, const ElementValue& x) {
    const Value mask = f_.frame().mask();
    for (const auto& [memory, part] : {std::pair(re_, x.re), std::pair(im_, x.im)}) {
      if (mask.valid())
        f_.b().masked_store(memory, place(at), part, mask, align_);
      else
        f_.b().store(memory, place(at), part, align_);
    }
  }
  void copy_number(int64_t from, int64_t to) {
    for (Value memory : {re_, im_}) put_number(memory, to, number(memory, from));
  }
  void clear_imaginary(int64_t at) {
    put_number(im_, at, f_.b().constant_f(f_.vector().element(), 0));
  }

 private:
  Value place(Value at) { return f_.b().add(at, f_.frame().index_constant(margin_)); }
  Value number(Value memory, int64_t at) {
    return f_.b().load(f_.vector().element(), memory, place(f_.frame().index_constant(at)), align_);
  }
  void put_number(Value memory, int64_t at, Value v) {
    f_.b().store(memory, place(f_.frame().index_constant(at)), v, align_);
  }

  FftFrame& f_;
  const int64_t margin_;
  const uint32_t align_;
  Value re_, im_;
};

class RealFft {
 public:
  RealFft(const BuildContext& c, const CpuFftRequest& r)
      : plan_(r.plan),
        f_(c, plan_, r.node, r.roots, std::nullopt),
        transform_(f_.frame(), f_.vector(), plan_.n, plan_.forward),
        line_(f_, plan_.n),
        table_(f_.frame().buffer(r.table, true, false)),
        powers_(WithinLine::twiddle_numbers(plan_.n, plan_.lanes)) {}

  BuiltKernel build() {
    for_each_fft_item(f_.frame(), f_.lines(), plan_.n, [&](Value line) {
      f_.move_to_line(line);
      plan_.kind == FftPlan::Kind::to_half ? to_half() : from_half();
    });
    return std::move(f_).finish();
  }

 private:
  Builder& b() { return f_.b(); }
  Value constant(int64_t v) { return f_.frame().index_constant(v); }
  Value half(Value v) { return b().fmul(v, b().constant_f(f_.vector(), 0.5)); }
  // Powers k, k + 1, ... of the 2 n-th root; k is a multiple of the number of lanes.
  ElementValue powers(Value k) {
    const Value at = b().add(b().mul(k, constant(2)), constant(powers_));
    return twiddle_vector(f_.frame(), f_.vector(), table_, at);
  }
  // Vectors of elements 0 to n, the last one under a mask.
  void each_vector(const std::function<void(Value k)>& body) {
    b().for_loop(constant(0), constant(plan_.n + 1), constant(plan_.lanes), {}, [&](Value k, auto) {
      f_.frame().set_mask(b().active_lane_mask(b().sub(constant(plan_.n + 1), k), plan_.lanes));
      body(k);
      f_.frame().set_mask({});
      return Builder::Values{};
    });
  }

  void to_half() {
    transform_.run(
        table_, [&](Value at) { return f_.operand_pairs(at); },
        [&](Value at, const ElementValue& z) { line_.put(at, z); });
    line_.copy_number(0, plan_.n);
    each_vector([&](Value k) {
      const ElementValue z = line_.get(k),
                         mirrored = line_.get_backwards(b().sub(constant(plan_.n), k));
      const ElementValue even{half(b().fadd(z.re, mirrored.re)), half(b().fsub(z.im, mirrored.im))};
      const ElementValue odd{half(b().fadd(z.im, mirrored.im)), half(b().fsub(mirrored.re, z.re))};
      const ElementValue turned = complex_product(b(), odd, powers(k));
      f_.store(k, {b().fadd(even.re, turned.re), b().fadd(even.im, turned.im)});
    });
  }

  void from_half() {
    each_vector([&](Value k) { line_.put(k, f_.operand(k)); });
    line_.clear_imaginary(0);
    line_.clear_imaginary(plan_.n);
    transform_.run(
        table_,
        [&](Value k) {
          const ElementValue x = line_.get(k),
                             mirrored = line_.get_backwards(b().sub(constant(plan_.n), k));
          const ElementValue difference{b().fsub(x.re, mirrored.re), b().fadd(x.im, mirrored.im)};
          const ElementValue odd = complex_product(b(), difference, powers(k));
          return ElementValue{b().fsub(b().fadd(x.re, mirrored.re), odd.im),
                              b().fadd(b().fsub(x.im, mirrored.im), odd.re)};
        },
        [&](Value at, const ElementValue& z) { f_.store_pairs(at, z); });
  }

  const FftPlan plan_;
  FftFrame f_;
  WithinLine transform_;
  Line line_;
  Value table_;
  const int64_t powers_;  // where the table has those of the 2 n-th root
};

}  // namespace

std::vector<std::byte> cpu_real_fft_table(const FftPlan& plan, DType part) {
  TwiddleTable t(part, plan.forward);
  WithinLine::add_twiddles(t, plan.n, plan.lanes);
  t.add_powers(2 * plan.n, plan.n + 1, plan.lanes);
  return std::move(t).take();
}

BuiltKernel cpu_real_fft_kernel(const BuildContext& c, const CpuFftRequest& r) {
  return RealFft(c, r).build();
}

}  // namespace primset::schedule
