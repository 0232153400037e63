// Software pipelining through registers: tiles of both operands are in workgroup memory, and while
// they are multiplied the elements of the next ones are loaded into registers. With two stages
// these are written to the other stage, with one stage after a barrier. Sums are f32. A subgroup
// stores its sums through workgroup memory, since the layout of a cooperative matrix over lanes is
// unspecified.
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
        t_(choose_tiling(TileKind::cooperative, elements(), k_size_, c.machine)),
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
  bool can_store_vectors() const override { return true; }
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
    const Value enough = b().sle(constant(t_.depth), f_.param(k_size_));
    return b().if_else(b().and_(enough, b().and_(a_.chunks_aligned(), b_.chunks_aligned())),
                       way(true), way(false));
  }

  // Of operands whose chunks are aligned, and that have as many elements along k as a tile: behind
  // the last tile's the last ones are read again, with zeros instead of what was in the tile
  // before.
  Values inner_sums() {
    a_.begin_inner();
    b_.begin_inner();
    const Value last = b().sub(f_.param(k_size_), constant(t_.depth));
    const auto start = [&](Value first_k) {
      return b().select(b().slt(last, first_k), last, first_k);
    };
    return loop_over_k(
        [&](Value first_k) {
          const Value from = start(first_k);
          return both(a_.read_inner(from), b_.read_inner(from));
        },
        [&](Value stage, const Values& chunks, Value first_k) {
          const auto of_a = static_cast<std::ptrdiff_t>(a_.inner_values());
          const Value from = start(first_k);
          a_.write_inner(stage, Values(chunks.begin(), chunks.begin() + of_a), from, first_k);
          b_.write_inner(stage, Values(chunks.begin() + of_a, chunks.end()), from, first_k);
        });
  }

  Values sums_of_elements() {
    return loop_over_k(
        [&](Value first_k) {
          // Operands that are empty along k may have no memory.
          return b().if_else(
              b().slt(first_k, f_.param(k_size_)),
              [&] { return both(a_.read(first_k, false), b_.read(first_k, false)); },
              [&] { return both(a_.none(), b_.none()); });
        },
        [&](Value stage, const Values& chunks, Value) {
          const std::span<const Value> all(chunks);
          a_.write(stage, all.first(a_.values()));
          b_.write(stage, all.subspan(a_.values()));
        });
  }

  using Read = std::function<Values(Value first_k)>;
  using Write = std::function<void(Value stage, const Values& chunks, Value first_k)>;

  Values loop_over_k(const Read& read, const Write& write) {
    write(b().i32(0), read(constant(0)), constant(0));
    b().barrier();
    const auto count = static_cast<size_t>(row_blocks()) * static_cast<size_t>(column_blocks());
    Values carried(count, b().constant_bits(kir::kAccumulator, 0));
    carried.push_back(b().i32(0));  // the stage that is multiplied
    Values out = b().for_loop(constant(0), f_.param(k_size_), constant(t_.depth), carried,
                              [&](Value first_k, std::span<const Value> now) {
                                const Value after = b().add(first_k, constant(t_.depth));
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
    each_vector(sums, [&](std::span<const Value> vector, Value row, Value column) {
      for (size_t i = 0; i < vector.size(); ++i)
        with(vector[i], row, b().add(column, b().i32(static_cast<int64_t>(i))));
    });
  }

  // A row of a subgroup's matrices after the other: all of it to the subgroup's own patch of
  // memory, then each lane reads what it stores.
  void each_vector(const Values& sums, const WithVector& with) override {
    const Value patch = b().mul(subgroup_, b().i32(patch_words(t_)));
    const Value patch_vec4 = b().mul(subgroup_, b().i32(patch_words(t_) / kVec4Words));
    const auto pitch = static_cast<uint32_t>(patch_pitch(t_));
    const int vectors = t_.subgroup_columns / int{kStoreWidth};
    for (int i = 0; i < row_blocks(); ++i) {
      for (int j = 0; j < column_blocks(); ++j)
        b().cooperative_store(memory_, b().add(patch_vec4, b().i32(int64_t{kSumLineVec4s} * j)),
                              sums[static_cast<size_t>(i) * static_cast<size_t>(column_blocks()) +
                                   static_cast<size_t>(j)],
                              pitch / kVec4Words);
      b().barrier();
      for (int n = 0; n < kCooperativeSide * vectors; n += kCooperativeLanes) {
        const Value vector = b().add(lane_, b().i32(n));
        const Value row = b().udiv(vector, b().i32(vectors));
        const Value column = b().mul(b().urem(vector, b().i32(vectors)), b().i32(kStoreWidth));
        const Value at = b().add(b().add(patch, b().mul(row, b().i32(pitch))), column);
        const Value four = b().bitcast(b().load(kVec4Type, memory_, at, kVec4Bytes), Scalar::f32);
        std::array<Value, kStoreWidth> each;
        for (uint32_t e = 0; e < kStoreWidth; ++e) each[e] = b().extract(four, e);
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

// Do the tiles fit, whatever the operands' layouts are?
bool fits(const ContractionTiling& t, const kir::TargetModel& target) {
  const int tiles =
      t.stages * (PaddedTile::max_words(a_sizes(t)) + PaddedTile::max_words(b_sizes(t)));
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
  const SymInt k_size = size_of(left.shape, contraction_roles(n, 0, left.rank()).contract);
  if (!a_layout || !b_layout || k_size.same(SymInt(0))) return std::nullopt;
  return CooperativeContraction(c, node, roots, *a_layout, *b_layout).build();
}

}  // namespace primset::schedule
