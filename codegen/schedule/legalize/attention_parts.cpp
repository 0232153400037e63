#include "codegen/schedule/legalize/attention_parts.h"

#include <limits>
#include <numeric>

#include "codegen/schedule/tuning/attention_tiles.h"

namespace primset::schedule {

using prims::Builder;
using prims::Prim;
using prims::SymInt;
using prims::SymInts;

namespace {

constexpr int64_t kLeastKeys = 512;  // of a part
constexpr int64_t kMostParts = 64;

// Into how many parts the keys go: a power of two; 1 where there are workgroups enough.
int64_t parts_of_keys(const Legalizer& l, const SymInts& q, const SymInt& keys) {
  const size_t batch = q.size() - 2;
  const AttentionTile& tile = attention_tile(kMatrixAttention, q.back().hint());
  const SymInt groups = prims::product(std::span<const SymInt>(q).first(batch)) *
                        prims::ceil_div(q[batch], SymInt(tile.queries));
  const SymInt processors(int64_t{l.target().multiprocessors});
  if (!(groups * 2 <= processors)) return 1;
  int64_t parts = 1;
  while (parts < kMostParts && groups * parts < processors * 2 &&
         keys >= SymInt(2 * parts * kLeastKeys))
    parts *= 2;
  return parts;
}

class AttentionParts {
 public:
  AttentionParts(Legalizer& l, const Op& op)
      : l_(l),
        b_(l.builder()),
        op_(op),
        batch_(b_.rank(op.operands[0]) - 2),
        keys_(b_.shape(op.operands[1])[batch_]) {}

  // The keys in `parts` parts of one size, and those that are left.
  Values of(int64_t parts) {
    const SymInt size = prims::floor_div(keys_, SymInt(parts)), split = size * parts;
    attend(parts, 0, size);
    if (!(split == keys_)) attend(1, split, keys_ - split);
    return combined();
  }

 private:
  void attend(int64_t parts, const SymInt& begin, const SymInt& size);
  ValueId queries(int64_t parts);
  ValueId cut(ValueId x, int64_t parts, const SymInt& begin, const SymInt& size);
  ValueId joined(const Values& xs) {
    return xs.size() == 1 ? xs[0] : b_.concatenate(xs, part_dim());
  }
  // Along the dim of parts, in front of the queries.
  int64_t part_dim() const { return static_cast<int64_t>(batch_); }
  ValueId along_parts(ValueId x, const SymInts& shape);
  ValueId weighted(ValueId y, ValueId logs, ValueId weights);
  Values combined();

  Legalizer& l_;
  Builder& b_;
  const Op& op_;
  const size_t batch_;  // how many dims are before the queries
  const SymInt keys_;
  Values values_, logs_;  // of parts: [batch, parts, queries, columns] and [batch, parts, queries]
};

ValueId AttentionParts::queries(int64_t parts) {
  const ValueId q = op_.operands[0];
  SymInts shape = b_.shape(q);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < shape.size(); ++d) dims.push_back(static_cast<int64_t>(d + (d >= batch_)));
  shape.insert(shape.begin() + part_dim(), SymInt(parts));
  return b_.broadcast_in_dim(q, shape, dims);
}

ValueId AttentionParts::cut(ValueId x, int64_t parts, const SymInt& begin, const SymInt& size) {
  SymInts shape = b_.shape(x), start(shape.size(), SymInt(0)), limit = shape;
  const SymInts one(shape.size(), SymInt(1));
  start[batch_] = begin;
  limit[batch_] = begin + size * parts;
  shape[batch_] = size;
  shape.insert(shape.begin() + part_dim(), SymInt(parts));
  return b_.reshape(b_.slice(x, start, limit, one), shape);
}

void AttentionParts::attend(int64_t parts, const SymInt& begin, const SymInt& size) {
  const Values made = l_.add(Prim::attention,
                             {queries(parts), cut(op_.operands[1], parts, begin, size),
                              cut(op_.operands[2], parts, begin, size), prims::kNoValue},
                             {{"causal", false}, {"scale", op_.attr<primset::Scalar>("scale")}});
  values_.push_back(made[0]);
  logs_.push_back(made[1]);
}

// x without the dim of parts, as often as there are parts; or without the last dim, likewise.
ValueId AttentionParts::along_parts(ValueId x, const SymInts& shape) {
  std::vector<int64_t> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool left_out = b_.rank(x) == batch_ + 1 ? d == batch_ : d == shape.size() - 1;
    if (!left_out) dims.push_back(static_cast<int64_t>(d));
  }
  return b_.broadcast_in_dim(x, shape, dims);
}

// A part that no score leads to has values that are no numbers, and they count nowhere.
ValueId AttentionParts::weighted(ValueId y, ValueId logs, ValueId weights) {
  const SymInts shape = b_.shape(y);
  const ValueId none = b_.constant(primset::Scalar(-std::numeric_limits<double>::infinity()),
                                   DType::f32, b_.shape(logs));
  const ValueId unseen = along_parts(b_.binary(Prim::eq, logs, none), shape);
  const ValueId term = b_.binary(Prim::mul, b_.convert(y, DType::f32), along_parts(weights, shape));
  return b_.select(unseen, b_.constant(primset::Scalar(0.0), DType::f32, shape), term);
}

Values AttentionParts::combined() {
  const ValueId logs = joined(logs_), y = joined(values_);
  const Ints dims = {part_dim()};
  const ValueId greatest = l_.add(Prim::reduce_max, {logs}, {{"dims", dims}})[0];
  const ValueId weights =
      b_.unary(Prim::exp, b_.binary(Prim::sub, logs, along_parts(greatest, b_.shape(logs))));
  const ValueId total = l_.reduce_sum(weights, dims);
  const ValueId sum = l_.reduce_sum(weighted(y, logs, weights), dims);
  SymInts shape = b_.shape(sum);
  std::vector<int64_t> rows(shape.size() - 1);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  const ValueId mean = b_.binary(Prim::div, sum, b_.broadcast_in_dim(total, shape, rows));
  const ValueId log = b_.binary(Prim::add, greatest, b_.unary(Prim::log, total));
  return {b_.convert(mean, b_.dtype(op_.operands[0])), log};
}

}  // namespace

std::optional<Values> split_attention(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::attention || !l.target().simt || op.attr<bool>("causal"))
    return std::nullopt;
  const bool masked = op.operands.size() > 3 && op.operands[3] != prims::kNoValue;
  if (masked) return std::nullopt;
  const SymInts q = l.builder().shape(op.operands[0]), k = l.builder().shape(op.operands[1]);
  const bool halves = bits(l.builder().dtype(op.operands[0])) == 16;
  if (halves && is_long_and_narrow(q.end()[-2], k.end()[-2])) return std::nullopt;
  const int64_t parts = parts_of_keys(l, q, k[k.size() - 2]);
  if (parts == 1) return std::nullopt;
  return AttentionParts(l, op).of(parts);
}

}  // namespace primset::schedule
