#include "codegen/schedule/families/fft/stockham.h"

#include <algorithm>

#include "codegen/schedule/families/fft/radices.h"

namespace primset::schedule {

using kir::Builder;
using kir::Value;

std::vector<StockhamStep> stockham_steps(int64_t n) {
  std::vector<StockhamStep> steps;
  StockhamStep s{1, 1, n, 0};
  for (int64_t r : radices_of(n)) {
    s.stride *= s.radix;
    s.radix = r;
    s.rest /= r;
    steps.push_back(s);
    s.table_at += 2 * s.rest * (r - 1);
  }
  return steps;
}

Complexes step_twiddles(Frame& frame, kir::Type vector, const StockhamStep& s, Value table,
                        Value p) {
  Complexes w;
  if (s.rest == 1) return w;
  Builder& b = frame.builder();
  const auto align = static_cast<uint32_t>(kir::bytes(vector.scalar));
  const Value row = b.mul(p, frame.index_constant(2 * (s.radix - 1)));
  for (int64_t k = 1; k < s.radix; ++k) {
    const auto number = [&](int64_t part) {
      const Value at = b.add(row, frame.index_constant(s.table_at + 2 * (k - 1) + part));
      return b.splat(b.load(vector.element(), table, at, align), vector.lanes);
    };
    w.push_back({number(0), number(1)});
  }
  return w;
}

void step_butterfly(Frame& frame, const StockhamStep& s, const Complexes& twiddles, bool forward,
                    Value p, Value q, const FftSource& source, const FftSink& sink) {
  Builder& b = frame.builder();
  const Value first = b.mul(p, frame.index_constant(s.stride));
  const Value joined = b.mul(first, frame.index_constant(s.radix));
  const auto row = [&](Value start, int64_t k) {
    return b.add(b.add(start, q), frame.index_constant(k));
  };
  Complexes x;
  for (int64_t k = 0; k < s.radix; ++k) x.push_back(source(row(first, k * s.rest * s.stride)));
  x = butterfly(b, x, forward);
  for (size_t k = 1; k < x.size() && !twiddles.empty(); ++k)
    x[k] = complex_product(b, x[k], twiddles[k - 1]);
  for (int64_t k = 0; k < s.radix; ++k) sink(row(joined, k * s.stride), x[static_cast<size_t>(k)]);
}

Column::Column(Frame& frame, kir::Type vector, int64_t rows) : frame_(frame), vector_(vector) {
  const auto count = static_cast<uint32_t>(rows * vector.lanes);
  re_ = frame.builder().private_alloc(vector.scalar, count);
  im_ = frame.builder().private_alloc(vector.scalar, count);
}

Value Column::place(Value row) {
  return frame_.builder().mul(row, frame_.index_constant(vector_.lanes));
}

ElementValue Column::get(Value row) {
  Builder& b = frame_.builder();
  const auto align = static_cast<uint32_t>(kir::bytes(vector_.scalar)) * vector_.lanes;
  return {b.load(vector_, re_, place(row), align), b.load(vector_, im_, place(row), align)};
}

void Column::put(Value row, const ElementValue& x) {
  Builder& b = frame_.builder();
  const auto align = static_cast<uint32_t>(kir::bytes(vector_.scalar)) * vector_.lanes;
  b.store(re_, place(row), x.re, align);
  b.store(im_, place(row), x.im, align);
}

Stockham::Stockham(Frame& frame, kir::Type vector, int64_t n, bool forward)
    : frame_(frame), vector_(vector), forward_(forward), steps_(stockham_steps(n)) {
  const size_t between = std::min<size_t>(steps_.empty() ? 0 : steps_.size() - 1, 2);
  for (size_t i = 0; i < between; ++i) columns_.emplace_back(frame, vector, n);
}

// The last of k steps reads column k - 2, modulo 2, and may write the other one as if it were one
// step more.
Stockham::Stockham(Frame& frame, kir::Type vector, int64_t n, bool forward, int64_t kept_rows)
    : frame_(frame), vector_(vector), forward_(forward), steps_(stockham_steps(n)) {
  for (size_t i = 0; i < std::min<size_t>(steps_.size(), 2); ++i)
    columns_.emplace_back(frame, vector, kept_rows);
  if (steps_.empty()) return;
  // Rows that no step writes are read with others; what is made of them goes nowhere.
  const Value zeros = frame.builder().constant_f(vector, 0);
  for (int64_t row = n; row < kept_rows; ++row)
    kept().put(frame.index_constant(row), {zeros, zeros});
}

void Stockham::run(Value table, const FftSource& source, const FftSink& sink) {
  Builder& b = frame_.builder();
  const Value zero = frame_.index_constant(0), one = frame_.index_constant(1);
  if (steps_.empty()) return sink(zero, source(zero));
  for (size_t i = 0; i < steps_.size(); ++i) {
    const StockhamStep& s = steps_[i];
    const FftSource from = [&](Value row) {
      return i == 0 ? source(row) : columns_[(i - 1) % 2].get(row);
    };
    const FftSink to = [&](Value row, const ElementValue& x) {
      i + 1 == steps_.size() ? sink(row, x) : columns_[i % 2].put(row, x);
    };
    b.for_loop(zero, frame_.index_constant(s.rest), one, {}, [&](Value p, auto) {
      const Complexes w = step_twiddles(frame_, vector_, s, table, p);
      b.for_loop(zero, frame_.index_constant(s.stride), one, {}, [&](Value q, auto) {
        step_butterfly(frame_, s, w, forward_, p, q, from, to);
        return Builder::Values{};
      });
      return Builder::Values{};
    });
  }
}

}  // namespace primset::schedule
