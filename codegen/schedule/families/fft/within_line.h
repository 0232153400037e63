// One transform in all lanes of vectors: of length n = lanes rows it is begun as so many transforms
// of length `rows`, one a lane, and ended by one of as many elements as there are lanes, between
// which blocks of lanes times lanes elements are transposed in registers.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_WITHIN_LINE_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_WITHIN_LINE_H_

#include "codegen/schedule/families/fft/stockham.h"
#include "codegen/schedule/families/fft/twiddle_table.h"

namespace primset::schedule {

// The number of rows, up to whole blocks.
int64_t whole_blocks(int64_t rows, int64_t lanes);

// Rows [first, first + lanes) of a column, transposed.
Complexes transposed_rows(Frame& frame, kir::Type vector, Column& column, kir::Value first);

// A vector of TwiddleTable::add_grid: from number `at` on the real parts, then the imaginary ones.
ElementValue twiddle_vector(Frame& frame, kir::Type vector, kir::Value table, kir::Value at);

class WithinLine {
 public:
  // At the kernel's top level.
  WithinLine(Frame& frame, kir::Type vector, int64_t n, bool forward);

  // The table of the kernel begins with these, of which there are so many.
  static void add_twiddles(TwiddleTable& table, int64_t n, int64_t lanes);
  static int64_t twiddle_numbers(int64_t n, int64_t lanes);

  // `source` gives the elements from a position on, and `sink` takes them, both a vector at a time.
  // Where the frame has a mask then, it says which of them there are. All is read before anything
  // goes to `sink`.
  void run(kir::Value table, const FftSource& source, const FftSink& sink);

 private:
  void begin(kir::Value table, const FftSource& source);
  void end(const FftSink& sink);
  kir::Value constant(int64_t v) { return frame_.index_constant(v); }

  Frame& frame_;
  const kir::Type vector_;
  const int64_t lanes_, rows_;
  const bool forward_;
  Stockham steps_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_WITHIN_LINE_H_
