// By matrix units whose fragment layout is known: scores and weights never leave registers, since
// the lanes that hold a score after the first product are those that hold its weight for the
// second.
#include "codegen/schedule/families/attention/attention_kernel.h"
#include "codegen/schedule/tuning/attention_tiles.h"

#include <algorithm>

#include "codegen/schedule/families/attention/cooperative_attention.h"
#include "codegen/schedule/families/attention/fused_attention.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Type;
using kir::Value;
using Values = Builder::Values;

namespace {

constexpr int kMatrixThreads = 128, kMatrixSubgroups = kMatrixThreads / 32;
static_assert(std::ranges::all_of(kMatrixAttention, [](const AttentionTile& t) {
  return t.threads == kMatrixThreads;
}));
constexpr int kMatrixStages = 2;
constexpr Type kFour{Scalar::f32, 4}, kFourInts{Scalar::i32, 4};

// A number for each row that a lane has a part of, two a block of 16 rows: rows g and g + 8.
struct RowPair {
  Value low, high;
};

class MatrixAttention final : public FusedAttention {
 public:
  MatrixAttention(const BuildContext& c, const prims::Node& n, const std::vector<Root>& roots,
                  const AttentionLayouts& layouts)
      : FusedAttention(c, n, roots),
        tiling_(attention_tile(kMatrixAttention, longest_head())),
        q_(f_, dtype_, layouts[0], roles_[0], shape(0),
           {tiling_.queries, tiling_.head, 1, kMatrixThreads}),
        k_(f_, dtype_, layouts[1], roles_[1], shape(1),
           {tiling_.keys, tiling_.head, kMatrixStages, kMatrixThreads}),
        v_(f_, dtype_, layouts[2], roles_[2], shape(2),
           {tiling_.head, tiling_.keys, kMatrixStages, kMatrixThreads}) {
    lane_ = b().and_(b().local_id(0), b().i32(31));
    const Value subgroup = b().lshr(b().local_id(0), b().i32(5));
    own_row_ = b().mul(subgroup, b().i32(16 * row_blocks()));
    lane_row_ = b().add(own_row_, b().lshr(lane_, b().i32(2)));
    lane_column_ = b().mul(b().and_(lane_, b().i32(3)), b().i32(2));
  }

 private:
  // What is carried along the keys. Blocks are 16 rows by 8 columns, as matrix units sum them.
  struct State {
    Values sums;  // weighted values: row_blocks() x head blocks
    // Greatest scores before scale_, the same in a row's four lanes.
    std::vector<RowPair> running_max;
    Values weights;  // sums of weights, a row_blocks() vector each: to be added up
  };

  Shape tile_shape() const override { return {tiling_.queries, kMatrixThreads, 2}; }
  Value four(double v) { return b().constant_f(kFour, v); }
  int row_blocks() const { return tiling_.queries / kMatrixSubgroups / 16; }
  int key_blocks() const { return tiling_.keys / 8; }
  int head_blocks() const { return tiling_.head / 8; }

  // --- values of rows ----------------------------------------------------------------------------

  // Broadcast to the layout of a 16 x 8 block: (low, low, high, high).
  Value spread_rows(const RowPair& r) {
    const Value low = b().splat(r.low, 4), high = b().splat(r.high, 4);
    return b().shuffle(low, high, {0, 1, 4, 5});
  }
  // Reduces over the four lanes of a row.
  template <typename Combine>
  Value across(Value v, Combine combine) {
    for (uint32_t mask : {1u, 2u}) v = combine(v, b().subgroup_shuffle_xor(v, mask));
    return v;
  }
  template <typename Combine>
  RowPair across_block(Value block, Combine combine) {
    return {across(combine(b().extract(block, 0), b().extract(block, 1)), combine),
            across(combine(b().extract(block, 2), b().extract(block, 3)), combine)};
  }

  // --- products ----------------------------------------------------------------------------------

  Value multiply(Value a, Value pair, Value sum) {
    return dtype_ == DType::bf16 ? b().matrix_multiply_bf16(a, pair, sum)
                                 : b().matrix_multiply_f16(a, pair, sum);
  }

  // sums + a b, by blocks of 16: a(i, k) is the left operand's fragment, and the right operand is
  // the tile that begins at `stage`.
  void add_products(Values& sums, const std::function<Value(int, int)>& a, ProductTile& tile,
                    Value stage, int k_size, int columns) {
    for (int k = 0; k < k_size / 16; ++k) {
      Values left;
      for (int i = 0; i < row_blocks(); ++i) left.push_back(a(i, k));
      for (int j = 0; j < columns / 16; ++j) {
        const Value two = tile.fragment(stage, lane_, b().i32(0), j, k, false);
        const Value pairs[] = {b().shuffle(two, two, {0, 1}), b().shuffle(two, two, {2, 3})};
        for (int i = 0; i < row_blocks(); ++i) {
          for (int side = 0; side < 2; ++side) {
            Value& sum =
                sums[static_cast<size_t>(int64_t{i} * (columns / 8) + 2 * int64_t{j} + side)];
            sum = multiply(left[static_cast<size_t>(i)], pairs[side], sum);
          }
        }
      }
    }
  }

  // Two neighbouring blocks of weights as the left operand of a product, neighbours in one word.
  Value rounded(Value left, Value right) {
    const Value even = rounded_bits(b().shuffle(left, right, {0, 2, 4, 6}));
    const Value odd = rounded_bits(b().shuffle(left, right, {1, 3, 5, 7}));
    return b().or_(even, b().shl(odd, b().constant(kFourInts, 16)));
  }

  // --- one tile of queries -----------------------------------------------------------------------

  void one_tile(Value batch, Value first_query) override {
    q_.begin(batch, first_query);
    q_.load(b().i32(0), constant(0));
    const Value end = end_of_keys(first_query, tiling_.queries);
    copy_keys(batch, b().i32(0), constant(0));
    const State done = along_keys(batch, first_query, end);
    b().copy_wait(0);
    b().barrier();  // before the next tile's copies
    finish(batch, first_query, done);
  }

  // Starts to copy the keys and values from `first` on.
  void copy_keys(Value batch, Value stage, Value first) {
    k_.begin(batch, first);
    k_.load(b().mul(stage, b().i32(k_.stage_elements())), constant(0));
    v_.begin(batch, constant(0));
    v_.load(b().mul(stage, b().i32(v_.stage_elements())), first);
    b().copy_commit();
  }

  State along_keys(Value batch, Value first_query, Value end) {
    State start;
    start.sums.assign(static_cast<size_t>(int64_t{row_blocks()} * head_blocks()), four(0));
    start.running_max.assign(static_cast<size_t>(row_blocks()), {number(kMasked), number(kMasked)});
    start.weights.assign(static_cast<size_t>(row_blocks()), four(0));
    Values carried = flat(start);
    carried.push_back(b().i32(0));
    const Values out =
        b().for_loop(constant(0), end, constant(tiling_.keys), carried,
                     [&](Value first_key, std::span<const Value> now) {
                       b().copy_wait(0);
                       b().barrier();
                       const Value stage = now.back(), other = b().sub(b().i32(1), stage);
                       copy_keys(batch, other, b().add(first_key, constant(tiling_.keys)));
                       Values then = flat(one_step(unflat(now), stage, first_query, first_key));
                       then.push_back(other);
                       return then;
                     });
    return unflat(out);
  }

  Values flat(const State& s) {
    Values out = s.sums;
    for (const RowPair& r : s.running_max) out.insert(out.end(), {r.low, r.high});
    out.insert(out.end(), s.weights.begin(), s.weights.end());
    return out;
  }
  State unflat(std::span<const Value> v) {
    State s;
    const auto rows = static_cast<size_t>(row_blocks());
    const size_t sums = rows * static_cast<size_t>(head_blocks());
    s.sums.assign(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(sums));
    for (size_t i = 0; i < rows; ++i)
      s.running_max.push_back({v[sums + 2 * i], v[sums + 2 * i + 1]});
    for (size_t i = 0; i < rows; ++i) s.weights.push_back(v[sums + 2 * rows + i]);
    return s;
  }

  // Online softmax (FlashAttention-2, Algorithm 1): scores of this tile of keys, the new running
  // maximum of each row, the weights. What was summed so far is rescaled from the old maximum to
  // the new one before the tile's weighted values are added.
  State one_step(State s, Value stage, Value first_query, Value first_key) {
    Values scores = scores_of(stage, first_query, first_key);
    const auto blocks = static_cast<size_t>(key_blocks());
    for (size_t i = 0; i < s.running_max.size(); ++i) {
      const std::span<Value> row = std::span(scores).subspan(i * blocks, blocks);
      Value row_max = row[0];
      for (Value block : row.subspan(1)) row_max = maximum(row_max, block);
      const auto maximum_of = [&](Value x, Value y) { return maximum(x, y); };
      RowPair next = across_block(row_max, maximum_of);
      next = {maximum(s.running_max[i].low, next.low), maximum(s.running_max[i].high, next.high)};
      const RowPair shift = {shift_of(next.low), shift_of(next.high)};
      const Value rescale = spread_rows(
          {weight(s.running_max[i].low, shift.low), weight(s.running_max[i].high, shift.high)});
      s.running_max[i] = next;
      s.weights[i] = b().fmul(s.weights[i], rescale);
      const Value lower = spread_rows(shift);
      for (Value& block : row) {
        block = weight(block, lower);
        s.weights[i] = b().fadd(s.weights[i], block);
      }
      const auto head = static_cast<size_t>(head_blocks());
      for (Value& sum : std::span(s.sums).subspan(i * head, head)) sum = b().fmul(sum, rescale);
    }
    const auto weights = [&](int i, int k) {
      const auto at = static_cast<size_t>(int64_t{i} * key_blocks() + 2 * int64_t{k});
      return rounded(scores[at], scores[at + 1]);
    };
    add_products(s.sums, weights, v_, b().mul(stage, b().i32(v_.stage_elements())), tiling_.keys,
                 tiling_.head);
    return s;
  }

  Values scores_of(Value stage, Value first_query, Value first_key) {
    Values scores(static_cast<size_t>(int64_t{row_blocks()} * key_blocks()), four(0));
    const auto queries = [&](int i, int k) {
      return q_.fragment(b().i32(0), lane_, own_row_, i, k, true);
    };
    add_products(scores, queries, k_, b().mul(stage, b().i32(k_.stage_elements())), tiling_.head,
                 tiling_.keys);
    for (Value& s : scores) s = scaled(s);
    // Only the last tiles hold keys that some query does not see.
    const Value first_end = end_of_keys(first_query, 1);
    return b().if_else(
        b().slt(first_end, b().add(first_key, constant(tiling_.keys))),
        [&] { return mask_scores(scores, first_query, first_key); }, [&] { return scores; });
  }

  // Masks the keys behind a query's last one.
  Values mask_scores(Values scores, Value first_query, Value first_key) {
    const Value pairs = b().shuffle(b().splat(lane_column_, 4),
                                    b().splat(b().add(lane_column_, b().i32(1)), 4), {0, 4, 1, 5});
    for (int i = 0; i < row_blocks(); ++i) {
      const auto end = [&](int row) {
        return end_in_tile(b().add(first_query, index(b().add(lane_row_, b().i32(row)))), first_key,
                           tiling_.keys);
      };
      const Value low = b().splat(end(16 * i), 4), high = b().splat(end(16 * i + 8), 4);
      const Value ends = b().shuffle(low, high, {0, 1, 4, 5});
      for (int j = 0; j < key_blocks(); ++j) {
        Value& s = scores[static_cast<size_t>(int64_t{i} * key_blocks() + j)];
        const Value columns = b().add(pairs, b().constant(kFourInts, 8 * j));
        s = b().select(b().slt(columns, ends), s, four(kMasked));
      }
    }
    return scores;
  }

  // --- results -----------------------------------------------------------------------------------

  void finish(Value batch, Value first_query, const State& s) {
    const auto plus = [&](Value x, Value y) { return b().fadd(x, y); };
    for (int i = 0; i < row_blocks(); ++i) {
      const auto at = static_cast<size_t>(i);
      const RowPair weights = across_block(s.weights[at], plus);
      const Value low = index(b().add(lane_row_, b().i32(16 * int64_t{i})));
      const Value rows[] = {b().add(first_query, low),
                            b().add(first_query, b().add(low, constant(8)))};
      const RowPair& row_max = s.running_max[at];
      const Value first = b().ieq(lane_column_, b().i32(0));
      store_logarithm(batch, rows[0], row_max.low, weights.low, first);
      store_logarithm(batch, rows[1], row_max.high, weights.high, first);
      if (!has_y()) continue;
      const Value normalizers[] = {normalizer(row_max.low, weights.low),
                                   normalizer(row_max.high, weights.high)};
      for (int j = 0; j < head_blocks(); ++j) {
        const Value sum = s.sums[at * static_cast<size_t>(head_blocks()) + static_cast<size_t>(j)];
        for (uint32_t half = 0; half < 2; ++half) {
          const Value column = index(b().add(lane_column_, b().i32(8 * int64_t{j})));
          store_vector(batch, rows[half], column,
                       std::array{b().fmul(b().extract(sum, 2 * half), normalizers[half]),
                                  b().fmul(b().extract(sum, 2 * half + 1), normalizers[half])});
        }
      }
    }
  }

  const AttentionTile& tiling_;
  ProductTile q_, k_, v_;
  Value lane_, own_row_, lane_row_, lane_column_;
};

// Of workgroup memory, in bytes.
constexpr uint32_t matrix_memory(const AttentionTile& t) {
  return static_cast<uint32_t>((t.queries + 2 * kMatrixStages * t.keys) * t.head) * 2;
}

// Beside the units themselves.
bool has_arithmetic(const kir::TargetModel& t, DType dtype) {
  return t.fused_fma && t.fast_exp2 && t.i64 && (dtype != DType::f16 || t.f16);
}

bool has_matrix_units(const kir::TargetModel& t, DType dtype) {
  const auto fits = [&](const AttentionTile& tile) {
    return matrix_memory(tile) <= t.group_memory;
  };
  return t.matrix && t.async_copy && (dtype != DType::bf16 || t.rounds_bf16) &&
         std::ranges::all_of(kMatrixAttention, fits) && t.max_group_threads >= kMatrixThreads;
}

}  // namespace

bool fuses_attention(const prims::Graph& g, const prims::Node& n, const kir::TargetModel& t) {
  const auto &q = g.type(n.operands[0]), &v = g.type(n.operands[2]);
  const bool narrow = q.dtype == DType::f16 || q.dtype == DType::bf16;
  const bool masked = n.operands.size() > 3 && n.operands[3] != prims::kNoValue;
  if (!narrow || masked || !has_arithmetic(t, q.dtype) ||
      !(has_matrix_units(t, q.dtype) || has_cooperative_attention(t, q.dtype)))
    return false;
  const std::array heads = {q.shape.back(), v.shape.back()};
  const auto fits = [](const SymInt& size) {
    return size.hint() >= 1 &&
           size.hint() <= kMatrixAttention[std::size(kMatrixAttention) - 1].head;
  };
  if (!std::ranges::all_of(heads, fits)) return false;
  const SymInts& keys = g.type(n.operands[1]).shape;
  if (is_long_and_narrow(q.shape.end()[-2], keys.end()[-2])) return false;
  for (const SymInt& size : heads) size.specialize();
  return true;
}

bool attention_reads(const prims::Graph& g, const prims::Node& n, size_t i, const Placement& p) {
  const SymInts& shape = g.type(n.operands[i]).shape;
  return matrix_layout(p, shape, attention_roles(i, shape.size())).has_value();
}

BuiltKernel attention_kernel(const BuildContext& c, prims::NodeId node,
                             const std::vector<Root>& roots,
                             const std::array<Placement, 3>& operands) {
  const prims::Graph& g = c.values.graph;
  const prims::Node& n = g.node(node);
  const auto layout = [&](size_t i) {
    const SymInts& shape = g.type(n.operands[i]).shape;
    return matrix_layout(operands[i], shape, attention_roles(i, shape.size())).value();
  };
  const AttentionLayouts layouts = {layout(0), layout(1), layout(2)};
  if (has_matrix_units(c.target, g.type(n.operands[0]).dtype))
    return MatrixAttention(c, n, roots, layouts).build();
  return cooperative_attention(c, n, roots, layouts);
}

}  // namespace primset::schedule
