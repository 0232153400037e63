// Tiles of both operands lie in workgroup memory, two stages of each: while the matrices of one are
// multiplied, the elements of the next are on their way to registers. Sums are f32; what a subgroup
// has of them goes through workgroup memory to be stored, since nobody knows which lane has what.
#include "codegen/schedule/cooperative_contraction.h"

#include <algorithm>

#include "codegen/schedule/tiled_contraction.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Type;
using kir::Value;
using Values = Builder::Values;

namespace {

constexpr int kSide = 16;   // of a matrix
constexpr int kLanes = 32;  // of a subgroup
constexpr int kChunk = 8;   // elements of 16 bytes
constexpr int kChunkWords = 4;
constexpr Type kWords4{Scalar::i32, kChunkWords};

struct CooperativeTiling {
  TileShape shape;
  int depth;
  int subgroup_rows, subgroup_columns;  // of the part that a subgroup computes

  int subgroups() const { return shape.threads / kLanes; }
  // Sums of one row of matrices, as a subgroup stores them: lines begin in different banks.
  int patch_pitch() const { return subgroup_columns + kChunkWords; }
  int patch_words() const { return kSide * patch_pitch(); }
};
constexpr CooperativeTiling kLargeCooperative{{128, 128, 256}, 32, 64, 32};
constexpr CooperativeTiling kSmallCooperative{{64, 64, 128}, 32, 32, 32};
constexpr int kCooperativeStages = 2;

// A tile of an operand, as lines of what is contiguous in the operand's memory, in words of two
// elements. Behind each line is a gap of a chunk: neighbouring lines begin in different banks.
struct TileLines {
  int lines, chunks;  // chunks of a line

  TileLines(int extent, int depth, bool along_terms)
      : lines(along_terms ? extent : depth), chunks((along_terms ? depth : extent) / kChunk) {}
  int pitch() const { return (chunks + 1) * kChunk; }  // elements
  int words() const { return lines * pitch() / 2; }
};

class PaddedTile {
 public:
  PaddedTile(Frame& f, DType dtype, const MatrixLayout& layout, const ContractionRoles& roles,
             const SymInts& shape, int extent, const CooperativeTiling& t)
      : f_(f),
        source_(f, dtype, layout, roles, shape),
        lines_(extent, t.depth, layout.along_terms),
        threads_(t.shape.threads),
        bf16_(dtype == DType::bf16) {}

  Value whole() const { return source_.whole(); }
  int words() const { return kCooperativeStages * lines_.words(); }
  // The tile's stages begin at word `first` of memory.
  void place(Value memory, int first) {
    memory_ = memory;
    first_word_ = first;
  }
  void begin(Value batch, Value first_row) { source_.begin(batch, first_row); }

  // This thread's chunks of the tile's terms from `first_term` on; zeros where the operand ends.
  // By chunks: only where they are whole().
  Values read(Value first_term, bool by_chunks) {
    Values out;
    for (int i = 0; i < chunks_of_thread(); ++i) {
      const auto [line, chunk] = place_of(i);
      const Value outer = f_.index(line), inner = f_.index(b().mul(chunk, b().i32(kChunk)));
      const bool along = source_.along_terms();
      const Value row = b().add(source_.first_row(), along ? outer : inner);
      const Value term = b().add(first_term, along ? inner : outer);
      out.push_back(by_chunks ? chunk_at(row, term) : elements_at(row, term));
    }
    return out;
  }
  // Puts them into `stage` (i32: 0 or 1).
  void write(Value stage, std::span<const Value> chunks) {
    for (int i = 0; i < chunks_of_thread(); ++i) {
      const auto [line, chunk] = place_of(i);
      const Value in_line = b().mul(chunk, b().i32(kChunkWords));
      const Value in_tile = b().add(b().mul(line, b().i32(lines_.pitch() / 2)), in_line);
      b().store(memory_, b().add(first_of(stage), in_tile), chunks[static_cast<size_t>(i)],
                kChunk * 2);
    }
  }
  int chunks_of_thread() const { return lines_.lines * lines_.chunks / threads_; }

  // Rows (or columns of the result) `first` + 16 i and on by terms 16 k and on, as an operand.
  Value matrix(Value stage, Value first, int i, int k, bool left) {
    const bool along = source_.along_terms();
    const int64_t pitch = lines_.pitch();
    const Value row = b().add(first, b().i32(int64_t{kSide} * i));
    const Value at = along ? b().add(b().mul(row, b().i32(pitch)), b().i32(int64_t{kSide} * k))
                           : b().add(row, b().i32(kSide * k * pitch));
    const Scalar type = left ? (bf16_ ? Scalar::bf16_left : Scalar::f16_left)
                             : (bf16_ ? Scalar::bf16_right : Scalar::f16_right);
    const Value from = b().add(b().mul(first_of(stage), b().i32(2)), at);
    return b().cooperative_load(type, memory_, from, static_cast<uint32_t>(pitch), left != along);
  }

 private:
  Builder& b() { return f_.builder(); }

  // Line and chunk of the thread's `i`-th.
  std::pair<Value, Value> place_of(int i) {
    const Value n = b().add(b().local_id(0), b().i32(int64_t{threads_} * i));
    return {b().udiv(n, b().i32(lines_.chunks)), b().urem(n, b().i32(lines_.chunks))};
  }
  Value first_of(Value stage) {
    return b().add(b().mul(stage, b().i32(lines_.words())), b().i32(first_word_));
  }

  Value chunk_at(Value row, Value term) {
    const auto [inside, from] = source_.at(row, term);
    // Outside of the operand the first chunk is read, and dropped.
    const Value at = b().select(inside, b().lshr(from, f_.index_constant(1)), f_.index_constant(0));
    return b().select(inside, b().load(kWords4, source_.pointer(), at, kChunk * 2),
                      b().constant(kWords4, 0));
  }
  Value elements_at(Value row, Value term) {
    Value words = b().constant(kWords4, 0);
    for (uint32_t w = 0; w < kChunkWords; ++w) {
      const Value low = element(row, term, 2 * w), high = element(row, term, 2 * w + 1);
      words = b().insert(words, b().or_(low, b().shl(high, b().i32(16))), w);
    }
    return words;
  }
  // Element `i` of the chunk that begins there, in the low half of a word.
  Value element(Value row, Value term, uint32_t i) {
    const Value more = f_.index_constant(i);
    const bool along = source_.along_terms();
    const Value v =
        source_.load(along ? row : b().add(row, more), along ? b().add(term, more) : term);
    return b().zext(b().bitcast(v, Scalar::i16), Scalar::i32);
  }

  Frame& f_;
  TileSource source_;
  const TileLines lines_;
  const int threads_;
  const bool bf16_;
  Value memory_;
  int first_word_ = 0;
};

class CooperativeContraction final : public TiledContraction {
 public:
  CooperativeContraction(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots,
                         const MatrixLayout& a, const MatrixLayout& b)
      : TiledContraction(c, node, roots, a, b),
        t_(enough_tiles(elements(), kLargeCooperative.shape, c.target.processors)
               ? kLargeCooperative
               : kSmallCooperative),
        a_(f_, operands_, a, a_roles_, a_shape_, t_.shape.rows, t_),
        b_(f_, operands_, b, b_roles_, b_shape_, t_.shape.columns, t_) {
    Builder& to = f_.builder();
    const int words = std::max(a_.words() + b_.words(), t_.subgroups() * t_.patch_words());
    memory_ = to.group_alloc(Scalar::i32, static_cast<uint32_t>(words));
    a_.place(memory_, 0);
    b_.place(memory_, a_.words());
    const Value thread = to.local_id(0);
    lane_ = to.and_(thread, to.i32(kLanes - 1));
    subgroup_ = to.lshr(thread, to.i32(5));
    const int across = t_.shape.columns / t_.subgroup_columns;
    first_row_ = to.mul(to.udiv(subgroup_, to.i32(across)), to.i32(t_.subgroup_rows));
    first_column_ = to.mul(to.urem(subgroup_, to.i32(across)), to.i32(t_.subgroup_columns));
  }

 private:
  TileShape tile_shape() const override { return t_.shape; }
  bool has_runs() const override { return true; }
  int row_blocks() const { return t_.subgroup_rows / kSide; }
  int column_blocks() const { return t_.subgroup_columns / kSide; }

  Values sums(Value batch, Value first_row, Value first_column) override {
    a_.begin(batch, first_row);
    b_.begin(batch, first_column);
    const auto way = [&](bool by_chunks) {
      return [this, by_chunks] {
        ElementEmitter::Scope scope(e_);
        return sums_of(by_chunks);
      };
    };
    return b().if_else(b().and_(a_.whole(), b_.whole()), way(true), way(false));
  }

  Values sums_of(bool by_chunks) {
    const auto read = [&](Value first_term) {
      Values chunks = a_.read(first_term, by_chunks);
      const Values more = b_.read(first_term, by_chunks);
      chunks.insert(chunks.end(), more.begin(), more.end());
      return chunks;
    };
    const auto write = [&](Value stage, std::span<const Value> chunks) {
      const auto of_a = static_cast<size_t>(a_.chunks_of_thread());
      a_.write(stage, chunks.first(of_a));
      b_.write(stage, chunks.subspan(of_a));
    };
    write(b().i32(0), read(constant(0)));
    b().barrier();
    const auto count = static_cast<size_t>(row_blocks()) * static_cast<size_t>(column_blocks());
    Values carried(count, b().constant_bits({Scalar::f32_sums}, 0));
    carried.push_back(b().i32(0));  // the stage that is multiplied
    Values out = b().for_loop(constant(0), f_.param(terms_), constant(t_.depth), carried,
                              [&](Value first_term, std::span<const Value> now) {
                                const Values next = read(b().add(first_term, constant(t_.depth)));
                                Values then = multiply(now[count], now.first(count));
                                const Value other = b().sub(b().i32(1), now[count]);
                                write(other, next);
                                b().barrier();
                                then.push_back(other);
                                return then;
                              });
    out.resize(count);
    return out;
  }

  Values multiply(Value stage, std::span<const Value> sums) {
    Values next(sums.begin(), sums.end());
    for (int k = 0; k < t_.depth / kSide; ++k) {
      Values left, right;
      for (int i = 0; i < row_blocks(); ++i)
        left.push_back(a_.matrix(stage, first_row_, i, k, true));
      for (int j = 0; j < column_blocks(); ++j)
        right.push_back(b_.matrix(stage, first_column_, j, k, false));
      for (size_t i = 0; i < left.size(); ++i) {
        for (size_t j = 0; j < right.size(); ++j) {
          Value& sum = next[i * right.size() + j];
          sum = b().cooperative_multiply(left[i], right[j], sum);
        }
      }
    }
    return next;
  }

  void each_element(const Values& sums, const WithElement& with) override {
    each_run(sums, [&](std::span<const Value> run, Value row, Value column) {
      for (size_t i = 0; i < run.size(); ++i)
        with(run[i], row, b().add(column, b().i32(static_cast<int64_t>(i))));
    });
  }

  // A row of a subgroup's matrices after the other: all of it to the subgroup's own patch of
  // memory, then each lane reads what it stores.
  void each_run(const Values& sums, const WithRun& with) override {
    const Value patch = b().mul(subgroup_, b().i32(t_.patch_words()));
    const auto pitch = static_cast<uint32_t>(t_.patch_pitch());
    const int runs = t_.subgroup_columns / int{kRun};
    for (int i = 0; i < row_blocks(); ++i) {
      for (int j = 0; j < column_blocks(); ++j)
        b().cooperative_store(memory_, b().add(patch, b().i32(int64_t{kSide} * j)),
                              sums[static_cast<size_t>(i * column_blocks() + j)], pitch);
      b().barrier();
      for (int n = 0; n < kSide * runs; n += kLanes) {
        const Value run = b().add(lane_, b().i32(n));
        const Value row = b().udiv(run, b().i32(runs));
        const Value column = b().mul(b().urem(run, b().i32(runs)), b().i32(kRun));
        const Value at = b().add(b().add(patch, b().mul(row, b().i32(pitch))), column);
        const Value four = b().bitcast(b().load(kWords4, memory_, at, 16), Scalar::f32);
        std::array<Value, kRun> each;
        for (uint32_t e = 0; e < kRun; ++e) each[e] = b().extract(four, e);
        with(each, b().add(b().add(first_row_, b().i32(int64_t{kSide} * i)), row),
             b().add(first_column_, column));
      }
      b().barrier();
    }
  }

  const CooperativeTiling& t_;
  PaddedTile a_, b_;
  Value memory_, lane_, subgroup_, first_row_, first_column_;
};

// Of both operands however they lie.
uint32_t most_bytes(const CooperativeTiling& t) {
  const auto words = [&](int extent) {
    return std::max(TileLines(extent, t.depth, true).words(),
                    TileLines(extent, t.depth, false).words());
  };
  const int tiles = kCooperativeStages * (words(t.shape.rows) + words(t.shape.columns));
  return 4 * static_cast<uint32_t>(std::max(tiles, t.subgroups() * t.patch_words()));
}

}  // namespace

std::optional<BuiltKernel> cooperative_contraction(const BuildContext& c, prims::NodeId node,
                                                   const std::vector<Root>& roots,
                                                   const std::optional<Placement>& a,
                                                   const std::optional<Placement>& b) {
  const prims::Graph& g = c.values.graph;
  const prims::Node& n = g.node(node);
  const kir::TargetModel& t = c.target;
  const auto &left = g.type(n.operands[0]), &right = g.type(n.operands[1]);
  const bool multiplies = left.dtype == DType::f16
                              ? t.cooperative
                              : left.dtype == DType::bf16 && t.cooperative && t.cooperative_bf16;
  if (!multiplies || !t.i64 ||
      t.group_memory < std::max(most_bytes(kLargeCooperative), most_bytes(kSmallCooperative)) ||
      t.max_group_threads < static_cast<uint32_t>(kLargeCooperative.shape.threads) ||
      n.attr<DType>("accumulate") != DType::f32 || !a || !b)
    return std::nullopt;
  const auto a_layout = matrix_layout(*a, left.shape, contraction_roles(n, 0, left.rank()));
  const auto b_layout = matrix_layout(*b, right.shape, contraction_roles(n, 1, right.rank()));
  const SymInt terms = size_of(left.shape, contraction_roles(n, 0, left.rank()).contract);
  if (!a_layout || !b_layout || terms.same(SymInt(0))) return std::nullopt;
  return CooperativeContraction(c, node, roots, *a_layout, *b_layout).build();
}

}  // namespace primset::schedule
