// Stockham's algorithm: a transform in steps by radices. A step reads elements n / radix apart and
// writes the results next to those that belong together, so that the last ones stand in order and
// no element has to be moved by itself. Vectors' lanes are transforms of their own.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_STOCKHAM_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_STOCKHAM_H_

#include <functional>
#include <vector>

#include "codegen/schedule/families/fft/butterfly.h"
#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

struct StockhamStep {
  int64_t radix = 1;
  int64_t stride = 1;    // transforms that are joined already, element by element
  int64_t rest = 1;      // the length of those that are left
  int64_t table_at = 0;  // where TwiddleTable::add_steps has its powers
};
std::vector<StockhamStep> stockham_steps(int64_t n);

using FftSource = std::function<ElementValue(kir::Value row)>;
using FftSink = std::function<void(kir::Value row, const ElementValue& x)>;

// What row p of a step is multiplied by; nothing in the last one.
Complexes step_twiddles(Frame& frame, kir::Type vector, const StockhamStep& s, kir::Value table,
                        kir::Value p);
// Element q of transform p of each of `radix` parts gives element q of `radix` transforms.
void step_butterfly(Frame& frame, const StockhamStep& s, const Complexes& twiddles, bool forward,
                    kir::Value p, kir::Value q, const FftSource& source, const FftSink& sink);

// Vectors in a thread's own memory, by parts.
class Column {
 public:
  // At the kernel's top level.
  Column(Frame& frame, kir::Type vector, int64_t rows);

  ElementValue get(kir::Value row);
  void put(kir::Value row, const ElementValue& x);

 private:
  kir::Value place(kir::Value row);
  Frame& frame_;
  kir::Type vector_;
  kir::Value re_, im_;
};

// All steps by one thread.
class Stockham {
 public:
  // At the kernel's top level.
  Stockham(Frame& frame, kir::Type vector, int64_t n, bool forward);
  // One that keeps results, which `sink` may put into kept(): a column of so many rows.
  Stockham(Frame& frame, kir::Type vector, int64_t n, bool forward, int64_t kept_rows);
  Column& kept() { return columns_[(steps_.size() - 1) % 2]; }

  // All is read from `source` before anything goes to `sink`, but where n is one butterfly.
  void run(kir::Value table, const FftSource& source, const FftSink& sink);

 private:
  Frame& frame_;
  kir::Type vector_;
  bool forward_;
  std::vector<StockhamStep> steps_;
  std::vector<Column> columns_;  // steps read one and write the other
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_STOCKHAM_H_
