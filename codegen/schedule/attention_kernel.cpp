// A group takes a tile of queries and goes along the keys, tile by tile: it carries each query's
// greatest score, the sum of its weights and the weighted values so far, and scales them when a
// greater score turns up (Dao, FlashAttention-2, 2023). Scores and weights never leave registers:
// the lanes that hold a score after the first product are those that the second wants the weight
// from.
//
// Scores are of base 2, as powers of 2 are cheaper. Matrix units take weights in the operands'
// dtype, to which the primitive has them rounded.
#include "codegen/schedule/attention_kernel.h"

#include <algorithm>
#include <numbers>

#include "codegen/kernel/math.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/product_tile.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Type;
using kir::Value;
using Values = Builder::Values;

namespace {

constexpr int kThreads = 128, kSubgroups = kThreads / 32;
constexpr int kStages = 2;
constexpr int kLongestHead = 128;
constexpr uint32_t kGroupMemory = 49152;
constexpr Type kFour{Scalar::f32, 4}, kFourInts{Scalar::i32, 4};
constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct Tiling {
  int queries, keys, head;
};

// Of heads of up to `head` elements, a power of two that a tile's lines have; such that the tiles
// fit into workgroup memory and a thread's shares into registers.
Tiling tiling_for(int64_t longest) {
  if (longest <= 32) return {128, 64, 32};
  if (longest <= 64) return {128, 64, 64};
  return {64, 32, kLongestHead};
}

// Which dims of operand 0, 1 or 2 a product goes along: q is [..., queries, head], k
// [..., keys, head], v [..., keys, columns].
ContractionRoles roles_of(size_t operand, size_t rank) {
  ContractionRoles r;
  const auto last = static_cast<int64_t>(rank) - 1;
  for (int64_t d = 0; d < last - 1; ++d) r.batch.push_back(d);
  r.free = {operand == 2 ? last : last - 1};
  r.contract = {operand == 2 ? last - 1 : last};
  return r;
}

// A number for each row that a lane has a part of, two a block of 16 rows: rows g and g + 8.
struct RowPair {
  Value low, high;
};

class AttentionKernel {
 public:
  AttentionKernel(const BuildContext& c, const prims::Node& n, const std::vector<Root>& roots,
                  const std::array<MatrixLayout, 3>& layouts)
      : c_(c),
        g_(c.values.graph),
        n_(n),
        f_(c.name, c.target, c.index32, g_.type(n.results[0]).shape),
        e_(f_, c.values),
        rank_(shape(0).size()),
        roles_{roles_of(0, rank_), roles_of(1, rank_), roles_of(2, rank_)},
        y_roots_(roots_of(roots, 0)),
        log_roots_(roots_of(roots, 1)),
        y_(f_, e_, g_, n, y_roots_, roles_[0], roles_[2]),
        batches_(size_of(shape(0), roles_[0].batch)),
        queries_(shape(0)[rank_ - 2]),
        keys_(shape(1)[rank_ - 2]),
        columns_(shape(2)[rank_ - 1]),
        dtype_(g_.type(n.operands[0]).dtype),
        causal_(n.attr<bool>("causal")),
        scale_(n.attr<primset::Scalar>("scale").to_double() * std::numbers::log2e),
        tiling_(tiling_for(std::max(shape(0)[rank_ - 1].specialize(), columns_.specialize()))),
        q_(f_, dtype_, layouts[0], roles_[0], shape(0),
           {tiling_.queries, tiling_.head, 1, kThreads}),
        k_(f_, dtype_, layouts[1], roles_[1], shape(1),
           {tiling_.keys, tiling_.head, kStages, kThreads}),
        v_(f_, dtype_, layouts[2], roles_[2], shape(2),
           {tiling_.head, tiling_.keys, kStages, kThreads}) {
    lane_ = b().and_(b().local_id(0), b().i32(31));
    const Value subgroup = b().lshr(b().local_id(0), b().i32(5));
    own_row_ = b().mul(subgroup, b().i32(16 * row_blocks()));
    lane_row_ = b().add(own_row_, b().lshr(lane_, b().i32(2)));
    lane_column_ = b().mul(b().and_(lane_, b().i32(3)), b().i32(2));
  }

  BuiltKernel build() {
    f_.set_error_buffer(c_.errors);
    b().set_group_size(kThreads);
    if (!y_roots_.empty()) pairs_ = y_.has_runs(2);
    const SymInt tiles = prims::ceil_div(queries_, SymInt(tiling_.queries));
    for_each_by_groups(f_, batches_ * tiles, [&](Value tile) {
      ElementEmitter::Scope scope(e_);
      const bool one = batches_.same(SymInt(1));
      const auto [batch, rest] = divide(f_, tile, one ? SymInt(1) : tiles);
      const Value in_batch = one ? tile : rest;
      // Later queries have more keys: they come first, so that no group is left with the longest
      // row at the end.
      const Value place =
          causal_ ? b().sub(b().sub(f_.param(tiles), constant(1)), in_batch) : in_batch;
      one_tile(one ? constant(0) : batch, b().mul(place, constant(tiling_.queries)));
    });
    return built(std::move(f_));
  }

 private:
  // What is carried along the keys. Blocks are 16 rows by 8 columns, as matrix units sum them.
  struct State {
    Values sums;                // weighted values: row_blocks() x head blocks
    std::vector<RowPair> most;  // greatest scores before scale_, the same in a row's four lanes
    Values weights;             // sums of weights, a row_blocks() vector each: to be added up
  };

  Builder& b() { return f_.builder(); }
  Value index(Value i) { return f_.index(i); }
  Value constant(int64_t v) { return f_.index_constant(v); }
  Value number(double v) { return b().constant_f(kir::kF32, v); }
  Value four(double v) { return b().constant_f(kFour, v); }
  const SymInts& shape(size_t operand) const { return g_.type(n_.operands[operand]).shape; }
  std::vector<Root> roots_of(const std::vector<Root>& roots, size_t result) const {
    std::vector<Root> out;
    std::ranges::copy_if(roots, std::back_inserter(out),
                         [&](const Root& r) { return r.value == n_.results[result]; });
    return out;
  }
  int row_blocks() const { return tiling_.queries / kSubgroups / 16; }
  int key_blocks() const { return tiling_.keys / 8; }
  int head_blocks() const { return tiling_.head / 8; }

  // --- values of rows ----------------------------------------------------------------------------

  // As a block of 16 x 8 has them: (low, low, high, high).
  Value spread_rows(const RowPair& r) {
    const Value low = b().splat(r.low, 4), high = b().splat(r.high, 4);
    return b().shuffle(low, high, {0, 1, 4, 5});
  }
  Value greater(Value x, Value y) { return b().select(b().flt(x, y), y, x); }
  // Of what the four lanes of a row have.
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
                    Value stage, int terms, int columns) {
    for (int k = 0; k < terms / 16; ++k) {
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
    const auto bits = [&](Value v) {
      const Value narrow = dtype_ == DType::f16
                               ? b().bitcast(b().fptrunc(v, Scalar::f16), Scalar::i16)
                               : b().round_bf16(v);
      return b().zext(narrow, Scalar::i32);
    };
    const Value even = bits(b().shuffle(left, right, {0, 2, 4, 6}));
    const Value odd = bits(b().shuffle(left, right, {1, 3, 5, 7}));
    return b().or_(even, b().shl(odd, b().constant(kFourInts, 16)));
  }

  // --- one tile of queries -----------------------------------------------------------------------

  void one_tile(Value batch, Value first_query) {
    q_.begin(batch, first_query);
    q_.load(b().i32(0), constant(0));
    const Value end = causal_
                          ? least(f_.param(keys_), b().add(first_query, constant(tiling_.queries)))
                          : f_.param(keys_);
    copy_keys(batch, b().i32(0), constant(0));
    const State done = along_keys(batch, first_query, end);
    b().copy_wait(0);
    b().barrier();  // before the next tile's copies
    finish(batch, first_query, done);
  }

  Value least(Value x, Value y) { return b().select(b().slt(x, y), x, y); }

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
    start.most.assign(static_cast<size_t>(row_blocks()), {number(kHidden), number(kHidden)});
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
    for (const RowPair& r : s.most) out.insert(out.end(), {r.low, r.high});
    out.insert(out.end(), s.weights.begin(), s.weights.end());
    return out;
  }
  State unflat(std::span<const Value> v) {
    State s;
    const auto rows = static_cast<size_t>(row_blocks());
    const size_t sums = rows * static_cast<size_t>(head_blocks());
    s.sums.assign(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(sums));
    for (size_t i = 0; i < rows; ++i) s.most.push_back({v[sums + 2 * i], v[sums + 2 * i + 1]});
    for (size_t i = 0; i < rows; ++i) s.weights.push_back(v[sums + 2 * rows + i]);
    return s;
  }

  State one_step(State s, Value stage, Value first_query, Value first_key) {
    Values scores = scores_of(stage, first_query, first_key);
    const auto wide = static_cast<size_t>(key_blocks());
    for (size_t i = 0; i < s.most.size(); ++i) {
      const std::span<Value> row = std::span(scores).subspan(i * wide, wide);
      Value most = row[0];
      for (Value block : row.subspan(1)) most = greater(most, block);
      const auto greater_of = [&](Value x, Value y) { return greater(x, y); };
      RowPair next = across_block(most, greater_of);
      next = {greater(s.most[i].low, next.low), greater(s.most[i].high, next.high)};
      const RowPair shift = {visible(next.low), visible(next.high)};
      const Value shrink =
          spread_rows({weight(s.most[i].low, shift.low), weight(s.most[i].high, shift.high)});
      s.most[i] = next;
      s.weights[i] = b().fmul(s.weights[i], shrink);
      const Value lower = spread_rows(shift);
      for (Value& block : row) {
        block = weight(block, lower);
        s.weights[i] = b().fadd(s.weights[i], block);
      }
      const auto head = static_cast<size_t>(head_blocks());
      for (Value& sum : std::span(s.sums).subspan(i * head, head)) sum = b().fmul(sum, shrink);
    }
    const auto weights = [&](int i, int k) {
      const auto at = static_cast<size_t>(int64_t{i} * key_blocks() + 2 * int64_t{k});
      return rounded(scores[at], scores[at + 1]);
    };
    add_products(s.sums, weights, v_, b().mul(stage, b().i32(v_.stage_elements())), tiling_.keys,
                 tiling_.head);
    return s;
  }

  bool scales_late() const { return scale_ > 0; }
  double late_scale() const { return scales_late() ? scale_ : 1; }
  // A row of which nothing is seen yet: its weights are powers of -inf, not of NaN.
  Value visible(Value most) {
    return b().select(b().feq(most, number(kHidden)), number(0),
                      b().fmul(most, number(late_scale())));
  }
  // 2 to a score, or to four, above `shift`, which is scaled.
  Value weight(Value score, Value shift) {
    const Value scale = b().constant_f(b().type(score), late_scale());
    return b().fexp2(b().fma(score, scale, b().fneg(shift)));
  }

  Values scores_of(Value stage, Value first_query, Value first_key) {
    Values scores(static_cast<size_t>(int64_t{row_blocks()} * key_blocks()), four(0));
    const auto queries = [&](int i, int k) {
      return q_.fragment(b().i32(0), lane_, own_row_, i, k, true);
    };
    add_products(scores, queries, k_, b().mul(stage, b().i32(k_.stage_elements())), tiling_.head,
                 tiling_.keys);
    // Where the greatest product is the greatest score, the scale joins in with the difference.
    if (!scales_late())
      for (Value& s : scores) s = b().fmul(s, four(scale_));
    // Only the last tiles hold keys that some query does not see.
    const Value first_end =
        causal_ ? least(f_.param(keys_), b().add(first_query, constant(1))) : f_.param(keys_);
    return b().if_else(
        b().slt(first_end, b().add(first_key, constant(tiling_.keys))),
        [&] { return seen(scores, first_query, first_key); }, [&] { return scores; });
  }

  // Hides what lies behind a query's last key.
  Values seen(Values scores, Value first_query, Value first_key) {
    const Value pairs = b().shuffle(b().splat(lane_column_, 4),
                                    b().splat(b().add(lane_column_, b().i32(1)), 4), {0, 4, 1, 5});
    for (int i = 0; i < row_blocks(); ++i) {
      const auto end = [&](int row) {
        Value keys = b().sub(f_.param(keys_), first_key);
        if (causal_) {
          const Value query = b().add(first_query, index(b().add(lane_row_, b().i32(row))));
          keys = least(keys, b().sub(b().add(query, constant(1)), first_key));
        }
        // Within i32: more than a tile is a tile.
        return b().int_resize(least(keys, constant(tiling_.keys)), Scalar::i32, true);
      };
      const Value low = b().splat(end(16 * i), 4), high = b().splat(end(16 * i + 8), 4);
      const Value ends = b().shuffle(low, high, {0, 1, 4, 5});
      for (int j = 0; j < key_blocks(); ++j) {
        Value& s = scores[static_cast<size_t>(int64_t{i} * key_blocks() + j)];
        const Value columns = b().add(pairs, b().constant(kFourInts, 8 * j));
        s = b().select(b().slt(columns, ends), s, four(kHidden));
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
      const RowPair& most = s.most[at];
      store_logarithm(batch, rows[0], most.low, weights.low);
      store_logarithm(batch, rows[1], most.high, weights.high);
      if (y_roots_.empty()) continue;
      const Value shares[] = {share(most.low, weights.low), share(most.high, weights.high)};
      for (int j = 0; j < head_blocks(); ++j) {
        const Value sum = s.sums[at * static_cast<size_t>(head_blocks()) + static_cast<size_t>(j)];
        for (uint32_t half = 0; half < 2; ++half) {
          const Value column = index(b().add(lane_column_, b().i32(8 * int64_t{j})));
          store_two(batch, rows[half], column, b().fmul(b().extract(sum, 2 * half), shares[half]),
                    b().fmul(b().extract(sum, 2 * half + 1), shares[half]));
        }
      }
    }
  }

  // What a row's weighted values are multiplied by: 0 where no key is seen.
  Value share(Value most, Value weights) {
    return b().select(b().feq(most, number(kHidden)), number(0), b().fdiv(number(1), weights));
  }

  void store_two(Value batch, Value row, Value column, Value first, Value second) {
    ElementEmitter::Scope scope(e_);
    const Value in_rows = b().slt(row, f_.param(queries_));
    const Value next = b().add(column, constant(1));
    const auto one = [&](Value v, Value at) {
      ElementEmitter::Scope inner(e_);
      f_.set_mask(b().and_(in_rows, b().slt(at, f_.param(columns_))));
      y_.store(v, y_.at(batch, row, at));
      f_.set_mask({});
    };
    const auto by_elements = [&] {
      one(first, column);
      one(second, next);
      return Values{};
    };
    if (!pairs_.valid()) {
      by_elements();
      return;
    }
    b().if_else(
        b().and_(pairs_, b().and_(in_rows, b().slt(next, f_.param(columns_)))),
        [&] {
          ElementEmitter::Scope inner(e_);
          y_.store_run(std::array{first, second},
                       std::array{y_.at(batch, row, column), y_.at(batch, row, next)});
          return Values{};
        },
        by_elements);
  }

  // The natural logarithm of the denominator, of which a row's first lane stores it.
  void store_logarithm(Value batch, Value row, Value most, Value weights) {
    if (log_roots_.empty()) return;
    ElementEmitter::Scope scope(e_);
    const Value natural = b().fmul(most, number(late_scale() * std::numbers::ln2));
    const Value sum = b().fadd(natural, kir::math::log(b(), weights));
    const Value v = b().select(b().feq(most, number(kHidden)), most, sum);
    Indices at(rank_ - 1);
    const SymInts& sizes = g_.type(n_.results[1]).shape;
    spread(f_, batch, roles_[0].batch, sizes, at);
    spread(f_, row, roles_[0].free, sizes, at);
    f_.set_mask(b().and_(b().ieq(lane_column_, b().i32(0)), b().slt(row, f_.param(queries_))));
    for (const Root& r : log_roots_)
      f_.store(r.out.buffer, DType::f32, place_address(f_, r.out, at), {v, {}});
    f_.set_mask({});
  }

  const BuildContext& c_;
  const prims::Graph& g_;
  const prims::Node& n_;
  Frame f_;
  ElementEmitter e_;
  const size_t rank_;
  const std::array<ContractionRoles, 3> roles_;
  const std::vector<Root> y_roots_, log_roots_;
  ContractionResult y_;
  const SymInt batches_, queries_, keys_, columns_;
  const DType dtype_;
  const bool causal_;
  const double scale_;
  const Tiling tiling_;
  ProductTile q_, k_, v_;
  Value lane_, own_row_, lane_row_, lane_column_, pairs_;
};

constexpr bool holds(const Tiling& t) {
  return static_cast<uint32_t>((t.queries + 2 * kStages * t.keys) * t.head) * 2 <= kGroupMemory;
}

}  // namespace

bool fuses_attention(const prims::Graph& g, const prims::Node& n, const kir::TargetModel& t) {
  const auto &q = g.type(n.operands[0]), &v = g.type(n.operands[2]);
  const bool narrow = q.dtype == DType::f16 || q.dtype == DType::bf16;
  const bool masked = n.operands.size() > 3 && n.operands[3] != prims::kNoValue;
  if (!t.matrix || !t.async_copy || !t.fused_fma || !t.fast_exp2 || !t.i64 ||
      (q.dtype == DType::f16 && !t.f16) || !narrow || masked ||
      (q.dtype == DType::bf16 && !t.rounds_bf16) || t.group_memory < kGroupMemory ||
      t.max_group_threads < kThreads)
    return false;
  const std::array heads = {q.shape.back(), v.shape.back()};
  const auto fits = [](const SymInt& size) {
    return size.hint() >= 1 && size.hint() <= kLongestHead;
  };
  if (!std::ranges::all_of(heads, fits)) return false;
  for (const SymInt& size : heads) size.specialize();
  return true;
}

bool attention_reads(const prims::Graph& g, const prims::Node& n, size_t i, const Placement& p) {
  const SymInts& shape = g.type(n.operands[i]).shape;
  return matrix_layout(p, shape, roles_of(i, shape.size())).has_value();
}

BuiltKernel attention_kernel(const BuildContext& c, prims::NodeId node,
                             const std::vector<Root>& roots,
                             const std::array<Placement, 3>& operands) {
  static_assert(holds({128, 64, 32}) && holds({128, 64, 64}) && holds({64, 32, 128}));
  const prims::Graph& g = c.values.graph;
  const prims::Node& n = g.node(node);
  const auto layout = [&](size_t i) {
    const SymInts& shape = g.type(n.operands[i]).shape;
    return matrix_layout(operands[i], shape, roles_of(i, shape.size())).value();
  };
  const std::array<MatrixLayout, 3> layouts = {layout(0), layout(1), layout(2)};
  return AttentionKernel(c, n, roots, layouts).build();
}

}  // namespace primset::schedule
