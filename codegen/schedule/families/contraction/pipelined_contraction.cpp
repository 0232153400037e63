// Matrix products on devices that copy to workgroup memory asynchronously (software pipelining):
// tiles of both operands are in flight while earlier ones are multiplied. f16 and bf16 are
// multiplied by matrix units, either by each subgroup from its registers or by four subgroups
// together straight from workgroup memory; f32 by fma. Sums are f32, and their order depends on
// nothing but the tile's size.
#include <algorithm>
#include <memory>

#include "codegen/schedule/families/contraction/pipelined_contraction.h"
#include "codegen/schedule/families/contraction/tiled_contraction.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Type;
using kir::Value;
using Values = Builder::Values;

namespace {

constexpr Type kSums{Scalar::f32, 4};

// Of products by four subgroups together: lines of 64 elements, and 64 rows for each four.
constexpr int kGroupLine = 64, kGroupRows = 64, kGroupThreads = 128;

bool by_matrices(DType operands) {
  return operands == DType::f16 || operands == DType::bf16;
}

// Contiguous columns that are stored as one vector.
constexpr uint32_t kStoreWidth = 4;
using WithVector = std::function<void(std::span<const Value> sums, Value row, Value column)>;

// How a tile is multiplied, and which sums of it a thread holds: by matrix units or by fma.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  virtual Values zero() = 0;
  // The sums after the tiles in the stages that begin there (i32) are multiplied.
  virtual Values multiply(Value a_stage, Value b_stage, std::span<const Value> sums) = 0;
  // The same, but only issues the products. `meanwhile` runs while they are in flight. Those issued
  // the time before are complete afterwards, so that nothing reads their stages any more.
  virtual Values begin(Value a_stage, Value b_stage, std::span<const Value> sums,
                       const std::function<void()>& meanwhile) {
    meanwhile();
    return multiply(a_stage, b_stage, sums);
  }
  // Waits for all products that were issued; returns the sums.
  virtual Values finish(std::span<const Value> sums) { return {sums.begin(), sums.end()}; }
  // Calls with(first, second, row, column) for each pair of sums in a row. `column` is the first
  // one's: even, with the second next to it, except where ScalarArithmetic has no contiguous pairs.
  // Rows and columns (i32) are relative to the tile.
  virtual void each_pair(
      std::span<const Value> sums,
      const std::function<void(Value, Value, Value row, Value column)>& with) = 0;
  // Calls with(sums, row, column) for each kStoreWidth contiguous columns, the first of them a
  // multiple of it. Only where pairs are contiguous; all threads of a group call it.
  virtual void each_vector(std::span<const Value> sums, const WithVector& with) = 0;
};

// Makes vectors of four columns for stores. Of each eight columns of a matrix a lane holds two:
// lane 4 g + t has those from 2 t on. Of two adjacent blocks of eight, an even lane and the next
// exchange one pair, so that the even lane has four columns of the first and the odd lane four of
// the second.
class FragmentVectors {
 public:
  FragmentVectors(Builder& b, Value lane) : b_(b), odd_(b.ine(b.and_(lane, b.i32(1)), b.i32(0))) {}

  // `first` and `second`: the lane's pairs. `column`: that of `first`.
  void vector(std::array<Value, 2> first, std::array<Value, 2> second, Value row, Value column,
              const WithVector& with) {
    std::array<Value, kStoreWidth> four;
    for (size_t i = 0; i < 2; ++i) {
      const Value got = b_.subgroup_shuffle_xor(b_.select(odd_, first[i], second[i]), 1);
      four[i] = b_.select(odd_, got, first[i]);
      four[2 + i] = b_.select(odd_, second[i], got);
    }
    with(four, row, b_.select(odd_, b_.add(column, b_.i32(8 - 2)), column));
  }

 private:
  Builder& b_;
  Value odd_;
};

// --- matrix units --------------------------------------------------------------------------------

class MatrixArithmetic final : public Arithmetic {
 public:
  MatrixArithmetic(Frame& f, const ContractionTiling& t, DType operands, ProductTile& a,
                   ProductTile& b)
      : b_(f.builder()), t_(t), bf16_(operands == DType::bf16), a_tile_(a), b_tile_(b) {
    const Value thread = b_.local_id(0);
    lane_ = b_.and_(thread, b_.i32(31));
    const Value subgroup = b_.lshr(thread, b_.i32(5));
    const int across = t.shape.columns / t.subgroup_columns;
    first_row_ = b_.mul(b_.udiv(subgroup, b_.i32(across)), b_.i32(t.subgroup_rows));
    first_column_ = b_.mul(b_.urem(subgroup, b_.i32(across)), b_.i32(t.subgroup_columns));
  }

  Values zero() override {
    const auto blocks = static_cast<size_t>(row_blocks()) * static_cast<size_t>(column_blocks());
    return Values(blocks, b_.constant(kSums, 0));
  }

  Values multiply(Value a_stage, Value b_stage, std::span<const Value> sums) override {
    Values next(sums.begin(), sums.end());
    for (int k = 0; k < t_.depth / 16; ++k) {
      Values a, b;
      for (int i = 0; i < row_blocks(); ++i)
        a.push_back(a_tile_.fragment(a_stage, lane_, first_row_, i, k, true));
      for (int j = 0; j < column_blocks() / 2; ++j) {
        const Value two = b_tile_.fragment(b_stage, lane_, first_column_, j, k, false);
        b.push_back(b_.shuffle(two, two, {0, 1}));
        b.push_back(b_.shuffle(two, two, {2, 3}));
      }
      for (size_t i = 0; i < a.size(); ++i) {
        for (size_t j = 0; j < b.size(); ++j) {
          Value& sum = next[i * b.size() + j];
          sum = bf16_ ? b_.matrix_multiply_bf16(a[i], b[j], sum)
                      : b_.matrix_multiply_f16(a[i], b[j], sum);
        }
      }
    }
    return next;
  }

  void each_pair(std::span<const Value> sums,
                 const std::function<void(Value, Value, Value, Value)>& with) override {
    const Value group = b_.lshr(lane_, b_.i32(2)), member = b_.and_(lane_, b_.i32(3));
    const Value row = b_.add(first_row_, group);
    const Value column = b_.add(first_column_, b_.mul(member, b_.i32(2)));
    for (int i = 0; i < row_blocks(); ++i) {
      for (uint32_t half = 0; half < 2; ++half) {
        for (int j = 0; j < column_blocks(); ++j) {
          const Value sum = sums[static_cast<size_t>(int64_t{i} * column_blocks() + j)];
          with(b_.extract(sum, 2 * half), b_.extract(sum, 2 * half + 1),
               b_.add(row, b_.i32(16 * i + 8 * int64_t{half})), b_.add(column, b_.i32(8 * j)));
        }
      }
    }
  }

  void each_vector(std::span<const Value> sums, const WithVector& with) override {
    const Value group = b_.lshr(lane_, b_.i32(2)), member = b_.and_(lane_, b_.i32(3));
    const Value row = b_.add(first_row_, group);
    const Value column = b_.add(first_column_, b_.mul(member, b_.i32(2)));
    FragmentVectors vectors(b_, lane_);
    for (int i = 0; i < row_blocks(); ++i) {
      for (uint32_t half = 0; half < 2; ++half) {
        for (int j = 0; j < column_blocks(); j += 2) {
          const auto pair = [&](int block) {
            const Value sum = sums[static_cast<size_t>(int64_t{i} * column_blocks() + block)];
            return std::array{b_.extract(sum, 2 * half), b_.extract(sum, 2 * half + 1)};
          };
          vectors.vector(pair(j), pair(j + 1), b_.add(row, b_.i32(16 * i + 8 * int64_t{half})),
                         b_.add(column, b_.i32(8 * j)), with);
        }
      }
    }
  }

 private:
  int row_blocks() const { return t_.subgroup_rows / 16; }
  int column_blocks() const { return t_.subgroup_columns / 8; }

  Builder& b_;
  const ContractionTiling& t_;
  const bool bf16_;
  ProductTile &a_tile_, &b_tile_;
  Value lane_, first_row_, first_column_;
};

// --- matrix units that read workgroup memory -----------------------------------------------------

// Each four subgroups have 64 rows, and the columns in parts of what one operation gives.
class GroupMatrixArithmetic final : public Arithmetic {
 public:
  GroupMatrixArithmetic(Frame& f, const ContractionTiling& t, DType operands, ProductTile& a,
                        ProductTile& b)
      : b_(f.builder()), t_(t), bf16_(operands == DType::bf16), a_tile_(a), b_tile_(b) {
    const Value thread = b_.local_id(0);
    const Value four = b_.udiv(thread, b_.i32(kGroupThreads));
    first_row_ = b_.mul(four, b_.i32(kGroupRows));
    const Value in_four = b_.urem(thread, b_.i32(kGroupThreads));
    const Value lane = b_.and_(thread, b_.i32(31));
    row_ = b_.add(b_.add(first_row_, b_.mul(b_.lshr(in_four, b_.i32(5)), b_.i32(16))),
                  b_.lshr(lane, b_.i32(2)));
    column_ = b_.mul(b_.and_(lane, b_.i32(3)), b_.i32(2));
  }

  Values zero() override {
    return Values(static_cast<size_t>(t_.shape.columns / kColumns),
                  b_.constant({Scalar::f32, kColumns / 2}, 0));
  }

  Values multiply(Value a_stage, Value b_stage, std::span<const Value> sums) override {
    return finish(begun(a_stage, b_stage, sums));
  }

  Values begin(Value a_stage, Value b_stage, std::span<const Value> sums,
               const std::function<void()>& meanwhile) override {
    Values now = begun(a_stage, b_stage, sums);
    meanwhile();
    now.back() = b_.group_multiply_wait(now.back(), static_cast<uint32_t>(now.size()));
    return now;
  }

  Values finish(std::span<const Value> sums) override {
    Values out;
    for (const Value v : sums) out.push_back(b_.group_multiply_wait(v));
    return out;
  }

  void each_pair(std::span<const Value> sums,
                 const std::function<void(Value, Value, Value, Value)>& with) override {
    for (size_t part = 0; part < sums.size(); ++part) {
      const auto first = static_cast<int64_t>(part) * kColumns;
      for (uint32_t half = 0; half < 2; ++half) {
        const Value row = b_.add(row_, b_.i32(8 * half));
        for (uint32_t j = 0; j < kColumns / 8; ++j) {
          const uint32_t at = 4 * j + 2 * half;
          with(b_.extract(sums[part], at), b_.extract(sums[part], at + 1), row,
               b_.add(column_, b_.i32(first + 8 * j)));
        }
      }
    }
  }

  void each_vector(std::span<const Value> sums, const WithVector& with) override {
    FragmentVectors vectors(b_, b_.local_id(0));
    for (size_t part = 0; part < sums.size(); ++part) {
      const auto first = static_cast<int64_t>(part) * kColumns;
      for (uint32_t half = 0; half < 2; ++half) {
        const Value row = b_.add(row_, b_.i32(8 * half));
        for (uint32_t j = 0; j < kColumns / 8; j += 2) {
          const auto pair = [&](uint32_t block) {
            const uint32_t at = 4 * block + 2 * half;
            return std::array{b_.extract(sums[part], at), b_.extract(sums[part], at + 1)};
          };
          vectors.vector(pair(j), pair(j + 1), row, b_.add(column_, b_.i32(first + 8 * j)), with);
        }
      }
    }
  }

 private:
  static constexpr int kColumns = 256;  // of one operation

  Values begun(Value a_stage, Value b_stage, std::span<const Value> sums) {
    // Both lie in lines of 64: 64 rows take as much memory either way.
    const auto tile = [&](ProductTile& t, Value first) {
      return Builder::GroupTile{t.memory(), first, !t.k_contiguous()};
    };
    const auto a = tile(a_tile_, b_.add(a_stage, b_.mul(first_row_, b_.i32(kGroupLine))));
    Values out;
    for (size_t part = 0; part < sums.size(); ++part) {
      const auto skipped = static_cast<int64_t>(part) * kColumns * kGroupLine;
      const auto b = tile(b_tile_, b_.add(b_stage, b_.i32(skipped)));
      out.push_back(bf16_ ? b_.group_multiply_bf16(a, b, sums[part])
                          : b_.group_multiply_f16(a, b, sums[part]));
    }
    return out;
  }

  Builder& b_;
  const ContractionTiling& t_;
  const bool bf16_;
  ProductTile &a_tile_, &b_tile_;
  Value first_row_, row_, column_;
};

// --- plain arithmetic ----------------------------------------------------------------------------

// 8 x 8 sums a thread, sixteen of them side by side. Where n threads share the rows of a tile that
// is contiguous along k, each has every n-th; else two blocks of four adjacent ones, read as one
// vector.
class ScalarArithmetic final : public Arithmetic {
 public:
  ScalarArithmetic(Frame& f, const ContractionTiling& t, ProductTile& a, ProductTile& b)
      : b_(f.builder()), t_(t), a_tile_(a), b_tile_(b) {
    // A subgroup of 32 is a block of 8 x 4 threads.
    const Value thread = b_.local_id(0), block = b_.lshr(thread, b_.i32(5));
    const Value lane = b_.and_(thread, b_.i32(31));
    thread_row_ = b_.add(b_.mul(b_.lshr(block, b_.i32(2)), b_.i32(8)), b_.lshr(lane, b_.i32(2)));
    thread_column_ = b_.add(b_.mul(b_.and_(block, b_.i32(3)), b_.i32(4)), b_.and_(lane, b_.i32(3)));
  }

  Values zero() override { return Values(kSide * kSide, b_.constant(kir::kF32, 0)); }

  Values multiply(Value a_stage, Value b_stage, std::span<const Value> sums) override {
    Values next(sums.begin(), sums.end());
    for (int k = 0; k < t_.depth; k += 4) {
      const Block a = block(a_tile_, a_stage, thread_row_, t_.shape.rows / int{kSide}, k);
      const Block b = block(b_tile_, b_stage, thread_column_, t_.shape.columns / int{kSide}, k);
      for (size_t kk = 0; kk < 4; ++kk) {
        for (size_t i = 0; i < kSide; ++i) {
          for (size_t j = 0; j < kSide; ++j) {
            Value& sum = next[i * kSide + j];
            sum = b_.fma(a[kk][i], b[kk][j], sum);
          }
        }
      }
    }
    return next;
  }

  void each_pair(std::span<const Value> sums,
                 const std::function<void(Value, Value, Value, Value)>& with) override {
    for (int i = 0; i < int{kSide}; ++i) {
      const Value at_row = row(i);
      for (int j = 0; j < int{kSide}; j += 2) {
        const auto at = static_cast<size_t>(i) * kSide + static_cast<size_t>(j);
        with(sums[at], sums[at + 1], at_row, column(j));
      }
    }
  }
  void each_vector(std::span<const Value> sums, const WithVector& with) override {
    for (size_t i = 0; i < kSide; ++i) {
      for (size_t j = 0; j < kSide; j += kStoreWidth) {
        with(sums.subspan(i * kSide + j, kStoreWidth), row(static_cast<int>(i)),
             column(static_cast<int>(j)));
      }
    }
  }
  // Are the columns of a pair contiguous?
  bool has_contiguous_pairs() const { return !b_tile_.k_contiguous(); }

 private:
  static constexpr size_t kSide = 8;
  using Block = std::array<std::array<Value, kSide>, 4>;  // by offset from k, then row

  // Row or column `i` of a thread's.
  Value row(int i) { return place(a_tile_, thread_row_, t_.shape.rows / int{kSide}, i); }
  Value column(int i) { return place(b_tile_, thread_column_, t_.shape.columns / int{kSide}, i); }
  Value place(const ProductTile& tile, Value thread, int threads, int64_t i) {
    if (tile.k_contiguous()) return b_.add(thread, b_.i32(threads * i));
    return b_.add(b_.mul(thread, b_.i32(4)), b_.i32(4 * threads * (i / 4) + i % 4));
  }

  Value load(ProductTile& tile, Value at) {
    return b_.load({Scalar::f32, 4}, tile.memory(), at, 16);
  }

  // The thread's rows at k to k + 3.
  Block block(ProductTile& tile, Value stage, Value thread, int threads, int k) {
    Block out;
    if (tile.k_contiguous()) {
      const Value at = b_.add(stage, tile.place(thread, b_.i32(k / 4), tile.swizzle_of(thread)));
      for (size_t i = 0; i < kSide; ++i) {
        const Value four =
            load(tile, b_.add(at, b_.i32(static_cast<int64_t>(i) * threads * t_.depth)));
        for (uint32_t kk = 0; kk < 4; ++kk) out[kk][i] = b_.extract(four, kk);
      }
      return out;
    }
    for (int kk = 0; kk < 4; ++kk) {
      const Value line = b_.i32(k + kk);
      for (int j = 0; j < 2; ++j) {
        const Value at =
            tile.place(line, b_.add(thread, b_.i32(int64_t{threads} * j)), tile.swizzle_of(line));
        const Value four = load(tile, b_.add(stage, at));
        for (uint32_t i = 0; i < 4; ++i)
          out[static_cast<size_t>(kk)][4 * static_cast<size_t>(j) + i] = b_.extract(four, i);
      }
    }
    return out;
  }

  Builder& b_;
  const ContractionTiling& t_;
  ProductTile &a_tile_, &b_tile_;
  Value thread_row_, thread_column_;
};

// --- the kernel ----------------------------------------------------------------------------------

class PipelinedContraction final : public TiledContraction {
 public:
  PipelinedContraction(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots,
                       const MatrixLayout& a, const MatrixLayout& b)
      : TiledContraction(c, node, roots, a, b),
        tiling_(choose()),
        a_(f_, operands_, a, a_roles_, a_shape_, tile_sizes(tiling_.shape.rows)),
        b_(f_, operands_, b, b_roles_, b_shape_, tile_sizes(tiling_.shape.columns)) {
    if (in_groups()) {
      arithmetic_ = std::make_unique<GroupMatrixArithmetic>(f_, tiling_, operands_, a_, b_);
      contiguous_pairs_ = true;
    } else if (by_matrices(operands_)) {
      arithmetic_ = std::make_unique<MatrixArithmetic>(f_, tiling_, operands_, a_, b_);
      contiguous_pairs_ = true;
    } else {
      auto scalar = std::make_unique<ScalarArithmetic>(f_, tiling_, a_, b_);
      contiguous_pairs_ = scalar->has_contiguous_pairs();
      arithmetic_ = std::move(scalar);
    }
  }

 private:
  using Load = void (ProductTile::*)(Value, Value);

  TileShape tile_shape() const override { return tiling_.shape; }
  bool in_groups() const { return tiling_.kind == TileKind::group_matrix; }
  ProductTile::Sizes tile_sizes(int extent) const {
    return {extent, tiling_.depth, tiling_.stages, tiling_.shape.threads,
            in_groups() ? kGroupLine : 0};
  }

  const ContractionTiling& choose() const {
    const auto chosen = [&](TileKind kind) -> const ContractionTiling& {
      return choose_tiling(kind, elements(), k_size_, c_.machine);
    };
    if (!by_matrices(operands_)) return chosen(TileKind::async_scalar);
    const ContractionTiling& group = contraction_tilings(TileKind::group_matrix).front();
    const bool able = c_.target.group_matrix &&
                      c_.target.large_group_memory >= group.group_bytes(2) &&
                      c_.target.max_group_threads >= static_cast<uint32_t>(group.shape.threads);
    if (able && enough_tiles(elements(), group.shape, c_.target.multiprocessors)) return group;
    return chosen(TileKind::async_matrix);
  }

  Values sums(Value batch, Value first_row, Value first_column) override {
    a_.begin(batch, first_row);
    b_.begin(batch, first_column);
    if (!in_groups()) return sums_of(&ProductTile::load, false);
    // What is begun in groups may meet no branch until it is waited for: the one that loads need is
    // around all of it.
    return b().if_else(
        b().and_(a_.chunks_aligned(), b_.chunks_aligned()),
        [&] {
          ElementEmitter::Scope scope(e_);
          return sums_of(&ProductTile::load_chunks, true);
        },
        [&] {
          ElementEmitter::Scope scope(e_);
          return sums_of(&ProductTile::load_elements, false);
        });
  }

  // The tiles along k, one after the other. While those of a stage are multiplied, those of
  // the others are on their way. Where products overlap, those of one more stage go on.
  Values sums_of(Load load, bool overlap) {
    const int ahead = tiling_.stages - (overlap ? 2 : 1);
    const auto copy = [&](Value stage, Value first_k) {
      (a_.*load)(b().mul(stage, b().i32(a_.stage_elements())), first_k);
      (b_.*load)(b().mul(stage, b().i32(b_.stage_elements())), first_k);
      b().copy_commit();
    };
    for (int s = 0; s < ahead; ++s) copy(b().i32(s), constant(int64_t{s} * tiling_.depth));
    const auto next = [&](Value stage) {
      const Value up = b().add(stage, b().i32(1));
      return b().select(b().ieq(up, b().i32(tiling_.stages)), b().i32(0), up);
    };
    Values carried = arithmetic_->zero();
    const size_t count = carried.size();
    carried.push_back(b().i32(0));      // the stage that is multiplied
    carried.push_back(b().i32(ahead));  // the one that is filled: read by no product any more
    Values out = b().for_loop(
        constant(0), f_.param(k_size_), constant(tiling_.depth), carried,
        [&](Value first_k, std::span<const Value> now) {
          b().copy_wait(static_cast<uint32_t>(ahead - 1));
          b().barrier();
          const auto copy_next = [&] {
            copy(now[count + 1], b().add(first_k, constant(int64_t{ahead} * tiling_.depth)));
          };
          const Value a_stage = b().mul(now[count], b().i32(a_.stage_elements()));
          const Value b_stage = b().mul(now[count], b().i32(b_.stage_elements()));
          if (!overlap) copy_next();
          Values then = overlap ? arithmetic_->begin(a_stage, b_stage, now.first(count), copy_next)
                                : arithmetic_->multiply(a_stage, b_stage, now.first(count));
          then.push_back(next(now[count]));
          then.push_back(next(now[count + 1]));
          return then;
        });
    out.resize(count);
    if (overlap) out = arithmetic_->finish(out);
    b().copy_wait(0);
    b().barrier();  // before the next tile's copies
    return out;
  }

  bool can_store_vectors() const override { return contiguous_pairs_; }
  void each_vector(const Values& sums, const WithVector& with) override {
    arithmetic_->each_vector(sums, with);
  }
  void each_element(const Values& sums, const WithElement& with) override {
    arithmetic_->each_pair(sums, [&](Value first, Value second, Value row, Value column) {
      with(first, row, column);
      with(second, row, b().add(column, b().i32(contiguous_pairs_ ? 1 : 16)));
    });
  }

  const ContractionTiling& tiling_;
  ProductTile a_, b_;
  std::unique_ptr<Arithmetic> arithmetic_;
  bool contiguous_pairs_ = false;
};

// Is more of the matrices' tiles inside them than outside? A guard says so.
bool mostly_fill(const SymInt& rows, const SymInt& columns, const TileShape& t) {
  const auto tiled = [](const SymInt& size, int tile) {
    return prims::ceil_div(size, SymInt(tile)) * SymInt(tile);
  };
  return tiled(rows, t.rows) * tiled(columns, t.columns) < SymInt(2) * rows * columns;
}

}  // namespace

std::optional<BuiltKernel> pipelined_contraction(const BuildContext& c, prims::NodeId node,
                                                 const std::vector<Root>& roots,
                                                 const std::optional<Placement>& a,
                                                 const std::optional<Placement>& b) {
  const prims::Graph& g = c.values.graph;
  const prims::Node& n = g.node(node);
  const kir::TargetModel& t = c.target;
  const auto &left = g.type(n.operands[0]), &right = g.type(n.operands[1]);
  const bool matrices = by_matrices(left.dtype) && t.matrix;
  const bool scalars = left.dtype == DType::f32 && t.fused_fma;
  const auto all = contraction_tilings(matrices ? TileKind::async_matrix : TileKind::async_scalar);
  const bool fits = std::ranges::all_of(all, [&](const ContractionTiling& tiling) {
    return tiling.group_bytes(matrices ? 2 : 4) <= t.group_memory &&
           static_cast<uint32_t>(tiling.shape.threads) <= t.max_group_threads;
  });
  if (!t.async_copy || !t.i64 || !(matrices || scalars) || !fits ||
      n.attr<DType>("accumulate") != DType::f32 || !a || !b)
    return std::nullopt;
  const auto a_layout = matrix_layout(*a, left.shape, contraction_roles(n, 0, left.rank()));
  const auto b_layout = matrix_layout(*b, right.shape, contraction_roles(n, 1, right.rank()));
  const SymInt k_size = size_of(left.shape, contraction_roles(n, 0, left.rank()).contract);
  if (!a_layout || !b_layout || k_size.same(SymInt(0))) return std::nullopt;
  // The plainer kernel's tiles are half as large, and smaller still for narrow matrices.
  const SymInt rows = size_of(left.shape, contraction_roles(n, 0, left.rank()).free);
  const SymInt columns = size_of(right.shape, contraction_roles(n, 1, right.rank()).free);
  const SymInt elements = prims::product(g.type(n.results[0]).shape);
  const TileShape& least = all.back().shape;
  if (!matrices && !(enough_tiles(elements, least, std::max(t.multiprocessors / 2, 1u)) &&
                     mostly_fill(rows, columns, least)))
    return std::nullopt;
  return PipelinedContraction(c, node, roots, *a_layout, *b_layout).build();
}

}  // namespace primset::schedule
