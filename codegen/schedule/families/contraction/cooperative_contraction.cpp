// Tiles of both operands lie in workgroup memory: while their matrices are multiplied, the elements
// of the next are on their way to registers. With two stages of each they are written beside, with
// one a barrier later. Sums are f32; what a subgroup
// has of them goes through workgroup memory to be stored, since nobody knows which lane has what.
#include "codegen/schedule/families/contraction/cooperative_contraction.h"

#include <algorithm>
#include <functional>

#include "codegen/schedule/families/contraction/padded_tile.h"
#include "codegen/schedule/families/contraction/tiled_contraction.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Value;
using Values = Builder::Values;

namespace {

int subgroups(const ContractionTiling& t) {
  return t.shape.threads / kCooperativeLanes;
}
PaddedTile::Sizes a_sizes(const ContractionTiling& t) {
  return {t.shape.rows, t.depth, t.shape.threads, t.selects};
}
PaddedTile::Sizes b_sizes(const ContractionTiling& t) {
  return {t.shape.columns, t.depth, t.shape.threads, t.selects};
}
// Sums of one row of matrices, as a subgroup stores them: lines begin in different banks.
int patch_pitch(const ContractionTiling& t) {
  return t.subgroup_columns + 4;
}
int patch_words(const ContractionTiling& t) {
  return kCooperativeSide * patch_pitch(t);
}

class CooperativeContraction final : public TiledContraction {
 public:
  CooperativeContraction(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots,
                         const MatrixLayout& a, const MatrixLayout& b)
      : TiledContraction(c, node, roots, a, b),
        t_(choose_tiling(TileKind::cooperative, elements(), terms_, c.machine)),
        a_(f_, operands_, a, a_roles_, a_shape_, a_sizes(t_)),
        b_(f_, operands_, b, b_roles_, b_shape_, b_sizes(t_)) {
    Builder& to = f_.builder();
    const int words =
        std::max(t_.stages * (a_.words() + b_.words()), subgroups(t_) * patch_words(t_));
    memory_ = to.group_alloc(Scalar::i32, static_cast<uint32_t>(words));
    a_.place(memory_, 0);
    b_.place(memory_, t_.stages * a_.words());
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
    const auto way = [&](bool inner) {
      return [this, inner] {
        ElementEmitter::Scope scope(e_);
        return inner ? inner_sums() : sums_of_elements();
      };
    };
    const Value enough = b().sle(constant(t_.depth), f_.param(terms_));
    return b().if_else(b().and_(enough, b().and_(a_.whole(), b_.whole())), way(true), way(false));
  }

  // Of operands whose chunks are whole, and that have as many terms as a tile: behind the last
  // tile's the last ones are read again, with zeros instead of what was in the tile before.
  Values inner_sums() {
    a_.begin_inner();
    b_.begin_inner();
    const Value last = b().sub(f_.param(terms_), constant(t_.depth));
    const auto start = [&](Value first_term) {
      return b().select(b().slt(last, first_term), last, first_term);
    };
    return along_terms(
        [&](Value first_term) {
          const Value from = start(first_term);
          return both(a_.read_inner(from), b_.read_inner(from));
        },
        [&](Value stage, const Values& chunks, Value first_term) {
          const auto of_a = static_cast<std::ptrdiff_t>(a_.inner_values());
          const Value from = start(first_term);
          a_.write_inner(stage, Values(chunks.begin(), chunks.begin() + of_a), from, first_term);
          b_.write_inner(stage, Values(chunks.begin() + of_a, chunks.end()), from, first_term);
        });
  }

  Values sums_of_elements() {
    return along_terms(
        [&](Value first_term) {
          // Operands of no terms may have no memory.
          return b().if_else(
              b().slt(first_term, f_.param(terms_)),
              [&] { return both(a_.read(first_term, false), b_.read(first_term, false)); },
              [&] { return both(a_.none(), b_.none()); });
        },
        [&](Value stage, const Values& chunks, Value) {
          const std::span<const Value> all(chunks);
          a_.write(stage, all.first(a_.values()));
          b_.write(stage, all.subspan(a_.values()));
        });
  }

  using Read = std::function<Values(Value first_term)>;
  using Write = std::function<void(Value stage, const Values& chunks, Value first_term)>;

  Values along_terms(const Read& read, const Write& write) {
    write(b().i32(0), read(constant(0)), constant(0));
    b().barrier();
    const auto count = static_cast<size_t>(row_blocks()) * static_cast<size_t>(column_blocks());
    Values carried(count, b().constant_bits(kir::kAccumulator, 0));
    carried.push_back(b().i32(0));  // the stage that is multiplied
    Values out = b().for_loop(constant(0), f_.param(terms_), constant(t_.depth), carried,
                              [&](Value first_term, std::span<const Value> now) {
                                const Value after = b().add(first_term, constant(t_.depth));
                                const Values next = read(after);
                                const Value stage = now[count];
                                Values then = multiply(stage, now.first(count));
                                const bool two = t_.stages == 2;
                                const Value other = two ? b().sub(b().i32(1), stage) : stage;
                                if (!two) b().barrier();
                                write(other, next, after);
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
    const Value patch = b().mul(subgroup_, b().i32(patch_words(t_)));
    const Value patch_quad = b().mul(subgroup_, b().i32(patch_words(t_) / kQuadWordCount));
    const auto pitch = static_cast<uint32_t>(patch_pitch(t_));
    const int runs = t_.subgroup_columns / int{kRun};
    for (int i = 0; i < row_blocks(); ++i) {
      for (int j = 0; j < column_blocks(); ++j)
        b().cooperative_store(memory_, b().add(patch_quad, b().i32(int64_t{kSumQuads} * j)),
                              sums[static_cast<size_t>(i) * static_cast<size_t>(column_blocks()) +
                                   static_cast<size_t>(j)],
                              pitch / kQuadWordCount);
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

  const ContractionTiling& t_;
  PaddedTile a_, b_;
  Value memory_, lane_, subgroup_, first_row_, first_column_;
};

// However both operands lie.
bool fits(const ContractionTiling& t, const kir::TargetModel& target) {
  const int tiles =
      t.stages * (PaddedTile::most_words(a_sizes(t)) + PaddedTile::most_words(b_sizes(t)));
  const int words = std::max(tiles, subgroups(t) * patch_words(t));
  return target.group_memory >= 4 * static_cast<uint32_t>(words) &&
         target.max_group_threads >= static_cast<uint32_t>(t.shape.threads);
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
      !std::ranges::all_of(contraction_tilings(TileKind::cooperative),
                           [&](const auto& tiling) { return fits(tiling, t); }) ||
      n.attr<DType>("accumulate") != DType::f32 || !a || !b)
    return std::nullopt;
  const auto a_layout = matrix_layout(*a, left.shape, contraction_roles(n, 0, left.rank()));
  const auto b_layout = matrix_layout(*b, right.shape, contraction_roles(n, 1, right.rank()));
  const SymInt terms = size_of(left.shape, contraction_roles(n, 0, left.rank()).contract);
  if (!a_layout || !b_layout || terms.same(SymInt(0))) return std::nullopt;
  return CooperativeContraction(c, node, roots, *a_layout, *b_layout).build();
}

}  // namespace primset::schedule
