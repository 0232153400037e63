// The layout of a cooperative matrix over lanes is unspecified, so scores go through workgroup
// memory, where one lane, or a few, process a row. They write the row's weights in the same place,
// as the operand of the second product, and beside them the factor that rescales the row's sums: a
// matrix whose columns all hold the factors scales sums row by row.
#include "codegen/schedule/families/attention/cooperative_attention.h"

#include <algorithm>

#include "codegen/schedule/families/contraction/padded_tile.h"
#include "codegen/schedule/tuning/attention_tiles.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Value;
using Values = Builder::Values;

namespace {

constexpr kir::Type kVec4Floats{Scalar::f32, 4};

// A tile in words of workgroup memory.
struct CooperativeTile : AttentionTile {
  int rows() const { return queries / subgroups(); }  // of a subgroup
  int subgroups() const { return threads / kCooperativeLanes; }
  PaddedTile::Sizes q() const { return {queries, head, threads}; }
  PaddedTile::Sizes k() const { return {keys, head, threads}; }
  PaddedTile::Sizes v() const { return {head, keys, threads}; }
  // A subgroup's scores: lines begin in different banks.
  int pitch() const { return keys + kVec4Words; }
  int patch_words() const { return rows() * pitch(); }
  // Of workgroup memory, for tiles of keys and values of so many words: the queries lie where
  // scores and keys do later.
  int words(int q, int kv) const {
    return std::max(q, kv + subgroups() * (patch_words() + rows()));
  }
};

class CooperativeAttention final : public FusedAttention {
 public:
  CooperativeAttention(const BuildContext& c, const prims::Node& n, const std::vector<Root>& roots,
                       const AttentionLayouts& layouts)
      : FusedAttention(c, n, roots),
        t_{attention_tile(kCooperativeAttention, longest_head())},
        q_(f_, dtype_, layouts[0], roles_[0], shape(0), t_.q()),
        k_(f_, dtype_, layouts[1], roles_[1], shape(1), t_.k()),
        v_(f_, dtype_, layouts[2], roles_[2], shape(2), t_.v()) {
    const int kv = k_.words() + v_.words();
    memory_ = b().group_alloc(Scalar::i32, static_cast<uint32_t>(t_.words(q_.words(), kv)));
    q_.place(memory_, 0);
    k_.place(memory_, 0);
    v_.place(memory_, k_.words());
    const Value thread = b().local_id(0);
    lane_ = b().and_(thread, b().i32(kCooperativeLanes - 1));
    const Value subgroup = b().lshr(thread, b().i32(5));
    patch_ = b().add(b().i32(kv), b().mul(subgroup, b().i32(t_.patch_words() + t_.rows())));
    factors_ = b().add(patch_, b().i32(t_.patch_words()));
    first_row_ = b().mul(subgroup, b().i32(t_.rows()));
    row_ = b().udiv(lane_, b().i32(row_lanes()));
    part_ = b().urem(lane_, b().i32(row_lanes()));
    line_ = b().add(patch_, b().mul(row_, b().i32(t_.pitch())));
  }

 private:
  // What is carried along the keys: of the lane's row, and of the subgroup's weighted values.
  struct State {
    Values sums;                 // matrices: row_blocks() x head_blocks()
    Value running_max, weights;  // greatest score; sum of the weights of the lane's part
  };

  Shape tile_shape() const override {
    return {t_.queries, t_.threads, static_cast<uint32_t>(kVec4Words)};
  }
  int row_blocks() const { return t_.rows() / kCooperativeSide; }
  int head_blocks() const { return t_.head / kCooperativeSide; }
  // Which of row_blocks() x head_blocks() matrices.
  size_t of_head(int i, int j) const {
    return static_cast<size_t>(i) * static_cast<size_t>(head_blocks()) + static_cast<size_t>(j);
  }
  int key_blocks() const { return t_.keys / kCooperativeSide; }
  int row_lanes() const { return kCooperativeLanes / t_.rows(); }
  int part_keys() const { return t_.keys / row_lanes(); }
  Value zero() { return b().i32(0); }
  Value no_sums() { return b().constant_bits(kir::kAccumulator, 0); }
  kir::Type left_operand() const {
    return kir::Type::matrix(dtype_ == DType::bf16 ? Scalar::bf16 : Scalar::f16, kir::MatrixUse::a);
  }
  Value at(Value first, int64_t more) { return b().add(first, b().i32(more)); }
  Value vec4_of(Value word) { return b().udiv(word, b().i32(kVec4Words)); }
  uint32_t pitch_vec4s() const { return static_cast<uint32_t>(t_.pitch() / kVec4Words); }
  // Where the subgroup's matrix of sums lies in its patch, in vectors of 16 bytes.
  Value sums_at(int i, int j) {
    return at(vec4_of(patch_),
              int64_t{kCooperativeSide} * i * pitch_vec4s() + int64_t{kSumLineVec4s} * j);
  }

  // --- keys and values ---------------------------------------------------------------------------

  // There is a key from `first_key` on.
  Values read_keys(Value first_key, bool by_chunks) {
    k_.begin(batch_, first_key);
    v_.begin(batch_, constant(0));
    return both(k_.read(constant(0), by_chunks), v_.read(first_key, by_chunks));
  }
  static Values both(Values k, const Values& v) {
    k.insert(k.end(), v.begin(), v.end());
    return k;
  }

  void write_keys(std::span<const Value> chunks) {
    k_.write(zero(), chunks.first(k_.values()));
    v_.write(zero(), chunks.subspan(k_.values()));
  }

  Values queries() {
    const auto way = [&](bool by_chunks) {
      return [this, by_chunks] { return q_.read(constant(0), by_chunks); };
    };
    q_.write(zero(), b().if_else(q_.chunks_aligned(), way(true), way(false)));
    b().barrier();
    Values out;
    for (int i = 0; i < row_blocks(); ++i)
      for (int k = 0; k < head_blocks(); ++k)
        out.push_back(q_.matrix(zero(), first_row_, i, k, true));
    b().barrier();  // before keys are written there
    return out;
  }

  // --- one tile of queries -----------------------------------------------------------------------

  void one_tile(Value batch, Value first_query) override {
    batch_ = batch;
    q_.begin(batch, first_query);
    const Values q = queries();
    State start{
        Values(static_cast<size_t>(row_blocks()) * static_cast<size_t>(head_blocks()), no_sums()),
        number(kMasked), number(0)};
    const Value end = end_of_keys(first_query, t_.queries);
    const auto way = [&](bool by_chunks) {
      return [&, by_chunks] {
        ElementEmitter::Scope scope(e_);
        return along_keys(start, q, first_query, end, by_chunks);
      };
    };
    finish(first_query, unflat(b().if_else(b().and_(k_.chunks_aligned(), v_.chunks_aligned()),
                                           way(true), way(false))));
  }

  Values along_keys(const State& start, const Values& q, Value first_query, Value end,
                    bool by_chunks) {
    // Without keys there may be no memory.
    const Values first = b().if_else(
        b().slt(constant(0), end), [&] { return read_keys(constant(0), by_chunks); },
        [&] { return both(k_.none(), v_.none()); });
    Values out =
        b().for_loop(constant(0), end, constant(t_.keys), flat(start, first),
                     [&](Value first_key, std::span<const Value> now) {
                       write_keys(now.subspan(state_values()));
                       b().barrier();
                       // The last step loads its keys again instead of the next ones: a branch
                       // here would make everything wait for the loads.
                       const Value after = b().add(first_key, constant(t_.keys));
                       const Values next =
                           read_keys(b().select(b().slt(after, end), after, first_key), by_chunks);
                       const State then = one_step(unflat(now), q, first_query, first_key);
                       b().barrier();  // before the next keys, or queries, are written there
                       return flat(then, next);
                     });
    out.resize(state_values());
    return out;
  }

  size_t state_values() const {
    return static_cast<size_t>(row_blocks()) * static_cast<size_t>(head_blocks()) + 2;
  }
  Values flat(const State& s, const Values& chunks) {
    Values out = s.sums;
    out.insert(out.end(), {s.running_max, s.weights});
    out.insert(out.end(), chunks.begin(), chunks.end());
    return out;
  }
  State unflat(std::span<const Value> v) {
    const size_t sums = state_values() - 2;
    return {Values(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(sums)), v[sums], v[sums + 1]};
  }

  // Online softmax, as in attention_kernel.cpp, but scores and weights go through workgroup memory.
  State one_step(State s, const Values& q, Value first_query, Value first_key) {
    store_scores(q);
    b().barrier();
    Values scores = own_scores(first_query, first_key);
    Value row_max = scores[0];
    for (const Value four : std::span(scores).subspan(1)) row_max = maximum(row_max, four);
    Value next = s.running_max;
    for (uint32_t i = 0; i < kVec4Words; ++i) next = maximum(next, b().extract(row_max, i));
    for (int mask = 1; mask < row_lanes(); mask *= 2)
      next = maximum(next, b().subgroup_shuffle_xor(next, static_cast<uint32_t>(mask)));
    const Value shift = shift_of(next), rescale = weight(s.running_max, shift);
    s.running_max = next;
    s.weights = b().fmul(s.weights, rescale);
    for (Value& four : scores) four = weight(four, b().splat(shift, kVec4Words));
    for (const Value four : scores)
      for (uint32_t i = 0; i < kVec4Words; ++i)
        s.weights = b().fadd(s.weights, b().extract(four, i));
    if (row_lanes() > 1) b().barrier();  // until the row's other lanes have read their scores
    store_weights(scores);
    scale_rows(s.sums, rescale);
    add_values(s.sums);
    return s;
  }

  void store_scores(const Values& q) {
    for (int i = 0; i < row_blocks(); ++i) {
      for (int j = 0; j < key_blocks(); ++j) {
        Value sum = no_sums();
        for (int k = 0; k < head_blocks(); ++k)
          sum = b().cooperative_multiply(q[of_head(i, k)], k_.matrix(zero(), zero(), j, k, false),
                                         sum);
        b().cooperative_store(memory_, sums_at(i, j), sum, pitch_vec4s());
      }
    }
  }

  // The lane's part of its row, four at a time; keys behind the last one are masked.
  Values own_scores(Value first_query, Value first_key) {
    Values scores;
    const Value from = b().add(line_, b().mul(part_, b().i32(part_keys())));
    for (int i = 0; i < part_keys(); i += kVec4Words) {
      const Value words = b().load(kVec4Type, memory_, at(from, i), kVec4Bytes);
      scores.push_back(scaled(b().bitcast(words, Scalar::f32)));
    }
    // Only the last tiles hold keys that some query does not see.
    return b().if_else(
        b().slt(end_of_keys(first_query, 1), b().add(first_key, constant(t_.keys))),
        [&] {
          const Value query = b().add(first_query, index(b().add(first_row_, row_)));
          return mask_scores(scores, end_in_tile(query, first_key, t_.keys));
        },
        [&] { return scores; });
  }

  Values mask_scores(Values scores, Value end) {
    const Value first = b().mul(part_, b().i32(part_keys()));
    Value key = b().splat(first, kVec4Words);
    for (uint32_t i = 0; i < kVec4Words; ++i) key = b().insert(key, at(first, i), i);
    for (size_t i = 0; i < scores.size(); ++i) {
      const Value keys =
          b().add(key, b().constant(kVec4Type, static_cast<uint64_t>(kVec4Words * i)));
      scores[i] = b().select(b().slt(keys, b().splat(end, kVec4Words)), scores[i],
                             b().constant_f(kVec4Floats, kMasked));
    }
    return scores;
  }

  // Of eight scores in 16 bytes, at the front of the row's line.
  void store_weights(const Values& weights) {
    const Value from = b().add(line_, b().mul(part_, b().i32(part_keys() / 2)));
    for (size_t i = 0; i < weights.size(); i += 2) {
      const Value even = b().shuffle(weights[i], weights[i + 1], {0, 2, 4, 6});
      const Value odd = b().shuffle(weights[i], weights[i + 1], {1, 3, 5, 7});
      const Value high = b().shl(rounded_bits(odd), b().constant(kVec4Type, 16));
      b().store(memory_, at(from, static_cast<int64_t>(2 * i)), b().or_(rounded_bits(even), high),
                kVec4Bytes);
    }
  }

  // Scales the sums, row by row, by what the rows' lanes have; with a barrier in it.
  void scale_rows(Values& sums, Value factor) {
    b().if_else(
        b().ieq(part_, zero()),
        [&] {
          b().store(memory_, b().add(factors_, row_), b().bitcast(factor, Scalar::i32), 4);
          return Values{};
        },
        [] { return Values{}; });
    b().barrier();
    for (int i = 0; i < row_blocks(); ++i) {
      const Value factors = b().cooperative_load(
          kir::kAccumulator, memory_, at(vec4_of(factors_), int64_t{kSumLineVec4s} * i), 0, true);
      for (int j = 0; j < head_blocks(); ++j) {
        Value& sum = sums[of_head(i, j)];
        sum = b().cooperative_scale(sum, factors);
      }
    }
  }

  void add_values(Values& sums) {
    for (int k = 0; k < key_blocks(); ++k) {
      Values left;
      for (int i = 0; i < row_blocks(); ++i)
        left.push_back(b().cooperative_load(left_operand(), memory_,
                                            at(sums_at(i, 0), int64_t{kSumLineVec4s / 2} * k),
                                            pitch_vec4s(), false));
      for (int j = 0; j < head_blocks(); ++j) {
        const Value right = v_.matrix(zero(), zero(), j, k, false);
        for (int i = 0; i < row_blocks(); ++i) {
          Value& sum = sums[of_head(i, j)];
          sum = b().cooperative_multiply(left[static_cast<size_t>(i)], right, sum);
        }
      }
    }
  }

  // --- results -----------------------------------------------------------------------------------

  void finish(Value first_query, State s) {
    for (int mask = 1; mask < row_lanes(); mask *= 2)
      s.weights =
          b().fadd(s.weights, b().subgroup_shuffle_xor(s.weights, static_cast<uint32_t>(mask)));
    const Value row = b().add(first_query, index(b().add(first_row_, row_)));
    store_logarithm(batch_, row, s.running_max, s.weights, b().ieq(part_, zero()));
    if (!has_y()) return;
    scale_rows(s.sums, normalizer(s.running_max, s.weights));
    // As many columns at a time as the patch has.
    for (int j = 0; j < head_blocks(); j += key_blocks()) store_columns(first_query, s.sums, j);
  }

  void store_columns(Value first_query, const Values& sums, int first_block) {
    for (int i = 0; i < row_blocks(); ++i)
      for (int j = 0; j < key_blocks(); ++j)
        b().cooperative_store(memory_, sums_at(i, j), sums[of_head(i, first_block + j)],
                              pitch_vec4s());
    b().barrier();
    const int vectors = t_.keys / kVec4Words;  // of a row
    for (int n = 0; n < t_.rows() * vectors; n += kCooperativeLanes) {
      const Value vector = at(lane_, n);
      const Value row = b().udiv(vector, b().i32(vectors));
      const Value column = b().mul(b().urem(vector, b().i32(vectors)), b().i32(kVec4Words));
      const Value from = b().add(b().add(patch_, b().mul(row, b().i32(t_.pitch()))), column);
      const Value four = b().bitcast(b().load(kVec4Type, memory_, from, kVec4Bytes), Scalar::f32);
      std::array<Value, kVec4Words> each;
      for (uint32_t e = 0; e < kVec4Words; ++e) each[e] = b().extract(four, e);
      store_vector(batch_, b().add(first_query, index(b().add(first_row_, row))),
                   index(at(column, int64_t{kCooperativeSide} * first_block)), each);
    }
    b().barrier();
  }

  const CooperativeTile t_;
  PaddedTile q_, k_, v_;
  Value memory_, batch_, lane_, first_row_;
  Value row_, part_;              // of the lane's scores: which row, which part of it
  Value patch_, line_, factors_;  // words: the subgroup's scores, the lane's row, rows' factors
};

bool fits(const CooperativeTile& tile, const kir::TargetModel& t) {
  const int kv = PaddedTile::max_words(tile.k()) + PaddedTile::max_words(tile.v());
  return 4 * static_cast<uint32_t>(tile.words(PaddedTile::max_words(tile.q()), kv)) <=
             t.group_memory &&
         tile.threads <= static_cast<int>(t.max_group_threads);
}

}  // namespace

bool has_cooperative_attention(const kir::TargetModel& t, DType dtype) {
  return t.cooperative && (dtype != DType::bf16 || t.cooperative_bf16) &&
         std::ranges::all_of(kCooperativeAttention,
                             [&](const AttentionTile& tile) { return fits({tile}, t); });
}

BuiltKernel cooperative_attention(const BuildContext& c, const prims::Node& n,
                                  const std::vector<Root>& roots, const AttentionLayouts& layouts) {
  return CooperativeAttention(c, n, roots, layouts).build();
}

}  // namespace primset::schedule
