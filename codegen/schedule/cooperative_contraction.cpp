// Tiles of both operands lie in workgroup memory, two stages of each: while the matrices of one are
// multiplied, the elements of the next are on their way to registers. Sums are f32; what a subgroup
// has of them goes through workgroup memory to be stored, since nobody knows which lane has what.
#include "codegen/schedule/cooperative_contraction.h"

#include <algorithm>

#include "codegen/schedule/padded_tile.h"
#include "codegen/schedule/tiled_contraction.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Value;
using Values = Builder::Values;

namespace {

struct CooperativeTiling {
  TileShape shape;
  int depth;
  int subgroup_rows, subgroup_columns;  // of the part that a subgroup computes

  PaddedTile::Sizes a() const { return {shape.rows, depth, shape.threads}; }
  PaddedTile::Sizes b() const { return {shape.columns, depth, shape.threads}; }
  int subgroups() const { return shape.threads / kCooperativeLanes; }
  // Sums of one row of matrices, as a subgroup stores them: lines begin in different banks.
  int patch_pitch() const { return subgroup_columns + 4; }
  int patch_words() const { return kCooperativeSide * patch_pitch(); }
};
constexpr CooperativeTiling kLargeCooperative{{128, 128, 256}, 32, 64, 32};
constexpr CooperativeTiling kSmallCooperative{{64, 64, 128}, 32, 32, 32};
constexpr int kCooperativeStages = 2;

class CooperativeContraction final : public TiledContraction {
 public:
  CooperativeContraction(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots,
                         const MatrixLayout& a, const MatrixLayout& b)
      : TiledContraction(c, node, roots, a, b),
        t_(enough_tiles(elements(), kLargeCooperative.shape, c.target.processors)
               ? kLargeCooperative
               : kSmallCooperative),
        a_(f_, operands_, a, a_roles_, a_shape_, t_.a()),
        b_(f_, operands_, b, b_roles_, b_shape_, t_.b()) {
    Builder& to = f_.builder();
    const int words =
        std::max(kCooperativeStages * (a_.words() + b_.words()), t_.subgroups() * t_.patch_words());
    memory_ = to.group_alloc(Scalar::i32, static_cast<uint32_t>(words));
    a_.place(memory_, 0);
    b_.place(memory_, kCooperativeStages * a_.words());
    const Value thread = to.local_id(0);
    lane_ = to.and_(thread, to.i32(kCooperativeLanes - 1));
    subgroup_ = to.lshr(thread, to.i32(5));
    const int across = t_.shape.columns / t_.subgroup_columns;
    first_row_ = to.mul(to.udiv(subgroup_, to.i32(across)), to.i32(t_.subgroup_rows));
    first_column_ = to.mul(to.urem(subgroup_, to.i32(across)), to.i32(t_.subgroup_columns));
  }

 private:
  TileShape tile_shape() const override { return t_.shape; }
  bool has_runs() const override { return true; }
  int row_blocks() const { return t_.subgroup_rows / kCooperativeSide; }
  int column_blocks() const { return t_.subgroup_columns / kCooperativeSide; }

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
    // Nothing is read behind the last term: operands of no terms may have no memory.
    const auto read = [&](Value first_term) {
      return b().if_else(
          b().slt(first_term, f_.param(terms_)),
          [&] { return both(a_.read(first_term, by_chunks), b_.read(first_term, by_chunks)); },
          [&] { return both(a_.none(), b_.none()); });
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

  static Values both(Values a, const Values& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  Values multiply(Value stage, std::span<const Value> sums) {
    Values next(sums.begin(), sums.end());
    for (int k = 0; k < t_.depth / kCooperativeSide; ++k) {
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
        b().cooperative_store(memory_, b().add(patch, b().i32(int64_t{kCooperativeSide} * j)),
                              sums[static_cast<size_t>(i * column_blocks() + j)], pitch);
      b().barrier();
      for (int n = 0; n < kCooperativeSide * runs; n += kCooperativeLanes) {
        const Value run = b().add(lane_, b().i32(n));
        const Value row = b().udiv(run, b().i32(runs));
        const Value column = b().mul(b().urem(run, b().i32(runs)), b().i32(kRun));
        const Value at = b().add(b().add(patch, b().mul(row, b().i32(pitch))), column);
        const Value four = b().bitcast(b().load(kQuadWords, memory_, at, kQuadBytes), Scalar::f32);
        std::array<Value, kRun> each;
        for (uint32_t e = 0; e < kRun; ++e) each[e] = b().extract(four, e);
        with(each, b().add(b().add(first_row_, b().i32(int64_t{kCooperativeSide} * i)), row),
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
  const int tiles =
      kCooperativeStages * (PaddedTile::most_words(t.a()) + PaddedTile::most_words(t.b()));
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
