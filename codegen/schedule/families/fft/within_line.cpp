#include "codegen/schedule/families/fft/within_line.h"

#include "codegen/schedule/families/fft/radices.h"
#include "codegen/schedule/loops/lane_transpose.h"

namespace primset::schedule {

using kir::Builder;
using kir::Value;

int64_t whole_blocks(int64_t rows, int64_t lanes) {
  return (rows + lanes - 1) / lanes * lanes;
}

Complexes transposed_rows(Frame& frame, kir::Type vector, Column& column, Value first) {
  Builder& b = frame.builder();
  std::vector<Value> re, im;
  for (int64_t i = 0; i < vector.lanes; ++i) {
    const ElementValue x = column.get(b.add(first, frame.index_constant(i)));
    re.push_back(x.re), im.push_back(x.im);
  }
  re = transposed(b, std::move(re));
  im = transposed(b, std::move(im));
  Complexes out;
  for (size_t i = 0; i < re.size(); ++i) out.push_back({re[i], im[i]});
  return out;
}

ElementValue twiddle_vector(Frame& frame, kir::Type vector, Value table, Value at) {
  Builder& b = frame.builder();
  const auto align = static_cast<uint32_t>(kir::bytes(vector.scalar));
  return {b.load(vector, table, at, align),
          b.load(vector, table, b.add(at, frame.index_constant(vector.lanes)), align)};
}

WithinLine::WithinLine(Frame& frame, kir::Type vector, int64_t n, bool forward)
    : frame_(frame),
      vector_(vector),
      lanes_(vector.lanes),
      rows_(n / vector.lanes),
      forward_(forward),
      steps_(frame, vector, rows_, forward, whole_blocks(rows_, lanes_)) {}

void WithinLine::add_twiddles(TwiddleTable& table, int64_t n, int64_t lanes) {
  const int64_t rows = n / lanes;
  table.add_steps(rows, radices_of(rows));
  table.add_grid(n, rows, lanes, lanes);
}

int64_t WithinLine::twiddle_numbers(int64_t n, int64_t lanes) {
  return TwiddleTable::step_numbers(radices_of(n / lanes)) + 2 * n;
}

void WithinLine::run(Value table, const FftSource& source, const FftSink& sink) {
  begin(table, source);
  end(sink);
}

// Lane v has elements v, v + lanes, ...; its element k is multiplied by the root to the power v k.
void WithinLine::begin(Value table, const FftSource& source) {
  Builder& b = frame_.builder();
  const Value grid = constant(TwiddleTable::step_numbers(radices_of(rows_)));
  steps_.run(
      table, [&](Value row) { return source(b.mul(row, constant(lanes_))); },
      [&](Value row, const ElementValue& x) {
        const Value at = b.add(grid, b.mul(row, constant(2 * lanes_)));
        steps_.kept().put(row, complex_product(b, x, twiddle_vector(frame_, vector_, table, at)));
      });
}

// Elements k + rows l of the result, for l from 0 to lanes - 1, are the transform of row k.
void WithinLine::end(const FftSink& sink) {
  Builder& b = frame_.builder();
  b.for_loop(constant(0), constant(rows_), constant(lanes_), {}, [&](Value first, auto) {
    const Complexes y =
        butterfly(b, transposed_rows(frame_, vector_, steps_.kept(), first), forward_);
    if (rows_ % lanes_ != 0)
      frame_.set_mask(b.active_lane_mask(b.sub(constant(rows_), first), vector_.lanes));
    for (int64_t l = 0; l < lanes_; ++l)
      sink(b.add(first, constant(l * rows_)), y[static_cast<size_t>(l)]);
    frame_.set_mask({});
    return Builder::Values{};
  });
}

}  // namespace primset::schedule
