#include "codegen/schedule/legalize/chunks.h"

#include "codegen/schedule/tuning/summation_order.h"

namespace primset::schedule {

using prims::SymInt;
using prims::SymInts;
using prims::ValueId;

namespace {

// The workgroups of a SIMT device that reduce rows, or neighbouring columns each.
class Groups {
 public:
  Groups(const Machine& machine, const SymInts& shape, size_t dim) : length_(shape[dim]) {
    SymInt inner = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d != dim) rows_ *= shape[d];
      if (d > dim) inner *= shape[d];
    }
    for (width_ = machine.tuning.columns.width; width_ > 1 && !(inner > SymInt(width_ / 2));)
      width_ /= 2;
  }

  // Of chunks of that many elements; or of whole rows.
  bool are_at_least(int64_t groups, int64_t chunk) const {
    return !(SymInt(groups * width_) > rows_ * prims::ceil_div(length_, chunk));
  }
  bool are_at_least(int64_t groups) const { return !(SymInt(groups * width_) > rows_); }
  bool of_columns() const { return width_ > 1; }
  int64_t width() const { return width_; }

 private:
  const SymInt length_;
  SymInt rows_ = 1;
  int64_t width_ = 1;
};

}  // namespace

std::optional<int64_t> reduction_chunk(const Machine& machine, const SymInts& shape, size_t dim) {
  const bool is_long = SymInt(kReductionChunk) < shape[dim];
  if (!machine.target.simt) return is_long ? std::optional(kReductionChunk) : std::nullopt;
  const auto& tuning = machine.tuning.reduction;
  const int64_t multiprocessors = machine.target.multiprocessors;
  const Groups groups(machine, shape, dim);
  // Columns that leave most multiprocessors idle for long pay for a second step's launch. Rows do
  // not: what is computed from their elements shares their kernel.
  const auto are_few = [&] {
    return groups.of_columns() && shape[dim] > SymInt(tuning.least_split / groups.width()) &&
           !groups.are_at_least(multiprocessors / 2);
  };
  if (!is_long && !are_few()) return std::nullopt;
  int64_t chunk = kReductionChunk;
  while (chunk * groups.width() > tuning.least_chunk &&
         !groups.are_at_least(multiprocessors * tuning.groups, chunk))
    chunk /= 2;
  return chunk;
}

ValueId in_chunks(prims::Builder& b, ValueId x, ValueId fill, size_t dim, int64_t length) {
  const SymInts shape = b.shape(x);
  const SymInt chunks = prims::ceil_div(shape[dim], length);
  SymInts zero(shape.size(), SymInt(0)), high = zero, split = shape;
  high[dim] = chunks * SymInt(length) - shape[dim];
  split[dim] = length;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(dim), chunks);
  return b.reshape(b.pad(x, fill, zero, high, zero), split);
}

}  // namespace primset::schedule
