#include "codegen/schedule/legalize/chunks.h"

#include "codegen/schedule/tuning/summation_order.h"

namespace primset::schedule {

using prims::SymInt;
using prims::SymInts;
using prims::ValueId;

bool is_long(const prims::Builder& b, ValueId x, size_t dim) {
  return SymInt(kReductionChunk) < b.shape(x)[dim];
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
