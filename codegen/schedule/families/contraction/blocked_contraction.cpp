// A group computes one tile of the result. Along k it goes in steps of kDepth: it packs so many
// terms of its rows of the left operand and of its columns of the right one into memory of its own,
// where they lie as they are read, and then multiplies them, block by block: a few rows by a
// panel of a few vectors of columns, whose sums stay in registers over the whole step. Each step's
// sums are added to those of the tile. Packing costs one load and store an element, and pays by all
// the rows, or columns, of the tile that it is multiplied with.
//
// Loads may be views, conversions and the windows of a convolution (an implicit GEMM). Of windows
// an element's indices take divisions: they are made once for a tile's places and a step's terms,
// and kept in tables.
#include "codegen/schedule/families/contraction/blocked_contraction.h"

#include <algorithm>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/families/contraction/contraction_parts.h"
#include "codegen/schedule/loops/lane_transpose.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Builder;
using kir::Value;

namespace {

// The kernel's own domain, by dims: numbers of a batch, a row, a column and a term of the sums.
enum Dim : size_t { kBatch, kRow, kColumn, kTerm, kDims };

constexpr int kTileRows = 96, kTileColumns = 128;
constexpr int kPackedBytes = 512;  // of a row, or a column, in one step along k

// The part of the result whose sums are in registers.
struct RegisterBlock {
  int rows, vectors;
};

// Beside its sums a block needs registers for the panel's vectors and one factor: 24 + 4 + 1 of 32,
// or of narrow vectors 12 + 2 + 1 of 16. Few columns are a panel of fewer vectors.
RegisterBlock register_block(const SymInt& columns, int lanes, bool narrow) {
  const int sums = narrow ? 12 : 24;
  int vectors = narrow ? 2 : 4;
  while (vectors > 1 && columns < SymInt(vectors / 2 * lanes + 1)) vectors /= 2;
  return {sums / vectors, vectors};
}

// Does the result's memory run along the first operand's last free dim? Then vectors do, too.
bool stores_along_first(const prims::Graph& g, const prims::Node& n,
                        const std::vector<Root>& roots) {
  const ContractionRoles a = contraction_roles(n, 0, g.type(n.operands[0]).rank());
  if (a.free.empty()) return false;
  const size_t last = a.batch.size() + a.free.size() - 1;
  const SymInts& strides = roots[0].out.strides;
  return strides[last].same(SymInt(1)) &&
         !(last + 1 < strides.size() && strides.back().same(SymInt(1)));
}

class BlockedContraction {
 public:
  BlockedContraction(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots)
      : c_(c),
        g_(c.values.graph),
        n_(g_.node(node)),
        roots_(roots),
        transposed_(stores_along_first(g_, n_, roots)),
        left_(operand(transposed_ ? 1 : 0, kRow)),
        right_(operand(transposed_ ? 0 : 1, kColumn)),
        accumulate_(g_.type(n_.results[0]).dtype),
        f_(c.name, c.machine, c.index32,
           {size_of(shape(left_), left_.roles.batch), size_of(shape(left_), left_.roles.free),
            size_of(shape(right_), right_.roles.free),
            size_of(shape(left_), left_.roles.contract)}),
        e_(f_, c.values),
        scalar_(register_scalar(accumulate_)),
        bytes_(static_cast<uint32_t>(kir::bytes(scalar_))),
        lanes_(static_cast<uint16_t>(c.target.vector_bytes / bytes_)),
        depth_(kPackedBytes / static_cast<int>(bytes_)),
        block_(register_block(size(kColumn), lanes_, f_.narrow_vectors())),
        panel_(block_.vectors * lanes_) {}

  BuiltKernel build() {
    f_.set_error_buffer(c_.errors);
    f_.set_prefetches(false);
    left_.memory = b().private_alloc(scalar_, static_cast<uint32_t>(kTileRows * depth_));
    right_.memory = b().private_alloc(scalar_, static_cast<uint32_t>(kTileColumns * depth_));
    sums_ = b().private_alloc(scalar_, kTileRows * kTileColumns);
    place_tables(left_, kTileRows);
    place_tables(right_, kTileColumns);
    const SymInt row_tiles = prims::ceil_div(size(kRow), SymInt(kTileRows)),
                 column_tiles = prims::ceil_div(size(kColumn), SymInt(kTileColumns));
    for_each_by_groups(f_, size(kBatch) * row_tiles * column_tiles, [&](Value tile) {
      ElementEmitter::Scope scope(e_);
      const auto [rest, column] = divide(f_, tile, column_tiles);
      const auto [batch, row] = divide(f_, rest, row_tiles);
      first_[kBatch] = batch;
      first_[kRow] = b().mul(row, constant(kTileRows));
      first_[kColumn] = b().mul(column, constant(kTileColumns));
      one_tile();
    });
    return built(std::move(f_));
  }

 private:
  // The indices along several dims that the numbers of a range have, part by part.
  struct IndexTable {
    DimList dims;
    int64_t range = 0;
    Value memory = {};
  };
  struct Operand {
    prims::ValueId value;
    ContractionRoles roles;
    Dim free;
    Value memory = {};
    IndexTable free_indices = {}, term_indices = {};  // of an operand that is computed from others
  };
  using Body = std::function<void(Value)>;

  Builder& b() { return f_.builder(); }
  Operand operand(size_t i, Dim free) const {
    const prims::ValueId v = n_.operands[i];
    return {v, contraction_roles(n_, i, g_.type(v).rank()), free};
  }
  const SymInts& shape(const Operand& o) const { return g_.type(o.value).shape; }
  const SymInt& size(Dim d) const { return f_.domain()[d]; }
  Value constant(int64_t v) { return f_.index_constant(v); }
  kir::Type vector() const { return {scalar_, lanes_}; }

  void each(Value lo, Value hi, int64_t step, const Body& body) {
    b().for_loop(lo, hi, constant(step), {}, [&](Value i, auto) {
      ElementEmitter::Scope scope(e_);
      body(i);
      return Builder::Values{};
    });
  }
  Value rounded_up(Value v, int64_t to) {
    return b().mul(b().udiv(b().add(v, constant(to - 1)), constant(to)), constant(to));
  }
  Value smaller(Value x, Value y) { return b().select(b().slt(x, y), x, y); }
  // How many of a tile's `most` rows or columns there are.
  Value extent(Dim d, int64_t most) {
    return smaller(b().sub(f_.param(size(d)), first_[d]), constant(most));
  }

  // --- the tile ---

  void one_tile() {
    rows_ = extent(kRow, kTileRows);
    columns_ = extent(kColumn, kTileColumns);
    padded_rows_ = rounded_up(rows_, block_.rows);
    padded_columns_ = rounded_up(columns_, panel_);
    each(constant(0), b().mul(padded_rows_, constant(kTileColumns)), lanes_,
         [&](Value i) { b().store(sums_, i, b().constant(vector(), 0), align()); });
    for (const Operand* o : {&left_, &right_}) fill(o->free_indices, *o, o->free);
    each(constant(0), f_.param(size(kTerm)), depth_, [&](Value term) {
      first_[kTerm] = term;
      terms_ = extent(kTerm, depth_);
      for (const Operand* o : {&left_, &right_}) fill(o->term_indices, *o, kTerm);
      pack_left();
      pack_right();
      each(constant(0), columns_, panel_, [&](Value column) {
        each(constant(0), rows_, block_.rows, [&](Value row) { multiply(row, column); });
      });
    });
    each(constant(0), rows_, 1, [&](Value row) {
      each(constant(0), columns_, lanes_, [&](Value column) { finish(row, column); });
    });
  }

  uint32_t align() const { return bytes_ * lanes_; }

  // Adds one step's products to a block of the sums.
  void multiply(Value row, Value column) {
    const auto [block_rows, vectors] = block_;
    const Value panel = b().mul(column, constant(depth_));
    const Builder::Values zero(static_cast<size_t>(block_rows * vectors),
                               b().constant(vector(), 0));
    const auto sums =
        b().for_loop(constant(0), terms_, constant(1), zero, [&](Value k, auto before) {
          Builder::Values y, next;
          const Value line = b().add(panel, b().mul(k, constant(panel_)));
          for (int v = 0; v < vectors; ++v)
            y.push_back(b().load(vector(), right_.memory,
                                 b().add(line, constant(int64_t{v} * lanes_)), align()));
          for (int r = 0; r < block_rows; ++r) {
            const Value at = packed_left(b().add(row, constant(r)), k);
            const Value x = b().splat(b().load({scalar_}, left_.memory, at, bytes_), lanes_);
            for (int v = 0; v < vectors; ++v)
              next.push_back(multiply_add(x, y[static_cast<size_t>(v)], before[next.size()]));
          }
          return next;
        });
    for (int r = 0; r < block_rows; ++r) {
      const Value line =
          b().add(b().mul(b().add(row, constant(r)), constant(kTileColumns)), column);
      for (int v = 0; v < vectors; ++v) {
        const Value at = b().add(line, constant(int64_t{v} * lanes_));
        const Value before = b().load(vector(), sums_, at, align());
        const Value more =
            sums[static_cast<size_t>(r) * static_cast<size_t>(vectors) + static_cast<size_t>(v)];
        b().store(sums_, at, add(before, more), align());
      }
    }
  }

  Value add(Value x, Value y) { return is_floating(accumulate_) ? b().fadd(x, y) : b().add(x, y); }
  Value multiply_add(Value x, Value y, Value sum) {
    if (!is_floating(accumulate_)) return b().add(b().mul(x, y), sum);
    if (c_.target.fused_fma) return b().fma(x, y, sum);
    return b().fadd(b().fmul(x, y), sum);
  }

  // --- packing ---

  // Element (row, k) of the left operand lies where its memory's order has it, so that it is packed
  // in vectors; it is read as one number.
  Value packed_left(Value row, Value k) {
    return runs_along_k(left_) ? b().add(b().mul(row, constant(depth_)), k)
                               : b().add(b().mul(k, constant(kTileRows)), row);
  }

  void pack_left() {
    const Dim lanes = runs_along_k(left_) ? kTerm : kRow, other = lanes == kTerm ? kRow : kTerm;
    each(constant(0), count_of(other), 1, [&](Value i) {
      each(constant(0), count_of(lanes), lanes_, [&](Value j) {
        const Value at = lanes == kTerm ? packed_left(i, j) : packed_left(j, i);
        b().store(left_.memory, at, load(left_, lanes, j, other, i), align());
      });
    });
  }

  // What is packed: whole blocks, with zeros outside of the operands.
  Value count_of(Dim d) { return d == kTerm ? terms_ : d == kRow ? padded_rows_ : padded_columns_; }

  // Element (k, column) of the right operand: line k of the column's panel.
  Value packed_right(Value k, Value column) {
    const Value in_panel = b().urem(column, constant(panel_));
    const Value panel = b().mul(b().sub(column, in_panel), constant(depth_));
    return b().add(b().add(panel, b().mul(k, constant(panel_))), in_panel);
  }

  void pack_right() {
    if (runs_along_k(right_)) return pack_right_transposed();
    each(constant(0), terms_, 1, [&](Value k) {
      each(constant(0), padded_columns_, lanes_, [&](Value column) {
        b().store(right_.memory, packed_right(k, column), load(right_, kColumn, column, kTerm, k),
                  align());
      });
    });
  }

  // Where memory runs along k: a square of elements is read in vectors along k, and transposed in
  // registers.
  void pack_right_transposed() {
    each(constant(0), padded_columns_, lanes_, [&](Value column) {
      each(constant(0), terms_, lanes_, [&](Value k) {
        Builder::Values square;
        for (int i = 0; i < lanes_; ++i)
          square.push_back(load(right_, kTerm, k, kColumn, b().add(column, constant(i))));
        square = transposed(b(), std::move(square));
        for (int i = 0; i < lanes_; ++i)
          b().store(right_.memory, packed_right(b().add(k, constant(i)), column),
                    square[static_cast<size_t>(i)], align());
      });
    });
  }

  // A vector of an operand's elements, along `lanes` from `from` on; 0 outside of the operand.
  Value load(const Operand& o, Dim lanes, Value from, Dim other, Value at) {
    ElementEmitter::Scope scope(e_);
    const Value first = b().add(first_[lanes], from), line = b().add(first_[other], at);
    const Value left = b().sub(f_.param(size(lanes)), first);
    const Value inside = b().select(b().slt(line, f_.param(size(other))), left, constant(0));
    const Value mask = b().active_lane_mask(inside, lanes_);
    set_position(lanes, first, other, line);
    Indices indices = indices_of(o);
    look_up(o.free_indices, lanes == o.free, lanes == o.free ? from : at, indices);
    look_up(o.term_indices, lanes == kTerm, lanes == kTerm ? from : at, indices);
    const ElementValue e = e_.emit_under(mask, o.value, indices);
    f_.set_lanes(1);
    const Value x = lower_convert(b(), e, g_.type(o.value).dtype, accumulate_).re;
    const bool same_in_all = b().type(x).lanes == 1;
    return b().select(mask, same_in_all ? b().splat(x, lanes_) : x, b().constant(vector(), 0));
  }

  // Lanes along a dim, at one place of another.
  void set_position(Dim lanes, Value first, Dim other, Value at) {
    std::vector<LoopDim> loops;
    for (const Dim d : {kBatch, kRow, kColumn, kTerm})
      if (d == lanes || d == other || d == kBatch)
        loops.push_back({{d},
                         size(d),
                         d == lanes   ? first
                         : d == other ? at
                                      : first_[d],
                         d == lanes});
    f_.set_loops(std::move(loops));
    f_.set_lanes(lanes_);
  }

  // An operand's indices at the position.
  Indices indices_of(const Operand& o) const {
    const SymInts& sizes = shape(o);
    Indices at(sizes.size());
    split(kBatch, o.roles.batch, sizes, at);
    split(o.free, o.roles.free, sizes, at);
    split(kTerm, o.roles.contract, sizes, at);
    return at;
  }

  // The parts of a number over `dims`.
  static void split(Dim d, const DimList& dims, const SymInts& sizes, Indices& at) {
    DimList parts;
    for (const int64_t dim : dims)
      if (!sizes[static_cast<size_t>(dim)].same(SymInt(1))) parts.push_back(dim);
    if (parts.size() == 1) {
      at[static_cast<size_t>(parts[0])] = affine_index(loop_variable(d));
      return;
    }
    auto whole = std::make_shared<Index::Split>();
    whole->linear = loop_variable(d);
    for (const int64_t dim : parts) whole->sizes.push_back(sizes[static_cast<size_t>(dim)]);
    for (size_t i = 0; i < parts.size(); ++i) at[static_cast<size_t>(parts[i])] = {{}, whole, i};
  }

  // --- index tables ---

  void place_tables(Operand& o, int64_t rows) {
    if (memory_runs_along(c_.values, o.value, o.roles.contract)) return;
    const auto place = [&](IndexTable& table, const DimList& dims, int64_t range) {
      if (dims.size() < 2) return;
      const auto count = static_cast<uint32_t>(static_cast<int64_t>(dims.size()) * range);
      table = {dims, range, b().private_alloc(f_.index_type().scalar, count)};
    };
    place(o.free_indices, o.roles.free, rows);
    place(o.term_indices, o.roles.contract, depth_);
  }

  uint32_t index_bytes() const { return static_cast<uint32_t>(kir::bytes(f_.index_type().scalar)); }
  Value table_place(const IndexTable& table, size_t part, Value i) {
    return b().add(constant(static_cast<int64_t>(part) * table.range), i);
  }

  // For the numbers of the tile, or the step, along d.
  void fill(const IndexTable& table, const Operand& o, Dim d) {
    if (!table.memory.valid()) return;
    Indices indices(shape(o).size());
    split(d, table.dims, shape(o), indices);
    each(constant(0), count_of(d), lanes_, [&](Value i) {
      set_position(d, b().add(first_[d], i), kBatch, first_[kBatch]);
      FrameArithmetic arithmetic(f_);
      for (size_t part = 0; part < table.dims.size(); ++part) {
        const Index& index = indices[static_cast<size_t>(table.dims[part])];
        const Value v = f_.materialize(arithmetic.affine(index));
        b().store(table.memory, table_place(table, part, i),
                  b().type(v).lanes == 1 ? b().splat(v, lanes_) : v, index_bytes());
      }
      f_.set_lanes(1);
    });
  }

  // Replaces what the table has: of lanes from number i on, or of number i.
  void look_up(const IndexTable& table, bool lanes, Value i, Indices& indices) {
    if (!table.memory.valid()) return;
    const kir::Type type{f_.index_type().scalar, lanes ? lanes_ : uint16_t{1}};
    for (size_t part = 0; part < table.dims.size(); ++part) {
      Affine a;
      a.opaque = b().load(type, table.memory, table_place(table, part, i), index_bytes());
      indices[static_cast<size_t>(table.dims[part])] = affine_index(std::move(a));
    }
  }

  // --- the result ---

  void finish(Value row, Value column) {
    const Value sum =
        b().load(vector(), sums_, b().add(b().mul(row, constant(kTileColumns)), column), align());
    const Value first = b().add(first_[kColumn], column);
    set_position(kColumn, first, kRow, b().add(first_[kRow], row));
    f_.set_mask(b().active_lane_mask(b().sub(f_.param(size(kColumn)), first), lanes_));
    const Indices at = result_indices();
    e_.bind(n_.results[0], at, {sum, {}});
    for (const Root& r : roots_)
      f_.store(r.out.buffer, g_.type(r.value).dtype, element_address(f_, r.out, at),
               e_.emit(r.value, at));
    f_.set_mask({});
    f_.set_lanes(1);
  }

  const Operand& first_operand() const { return transposed_ ? right_ : left_; }
  const Operand& second_operand() const { return transposed_ ? left_ : right_; }

  // Its dims are those of the batch, and what is free of the first and of the second operand.
  Indices result_indices() const {
    const SymInts& sizes = g_.type(n_.results[0]).shape;
    Indices at(sizes.size());
    int64_t next = 0;
    const auto part = [&](Dim d, size_t count) {
      DimList dims(count);
      for (int64_t& dim : dims) dim = next++;
      split(d, dims, sizes, at);
    };
    part(kBatch, left_.roles.batch.size());
    for (const Operand* o : {&first_operand(), &second_operand()})
      part(o->free, o->roles.free.size());
    return at;
  }

  bool runs_along_k(const Operand& o) const {
    return memory_runs_along(c_.values, o.value, o.roles.contract).value_or(false);
  }

  const BuildContext& c_;
  const prims::Graph& g_;
  const prims::Node& n_;
  const std::vector<Root>& roots_;
  const bool transposed_;  // the first operand has the columns
  Operand left_, right_;
  const DType accumulate_;
  Frame f_;
  ElementEmitter e_;
  const kir::Scalar scalar_;
  const uint32_t bytes_;
  const uint16_t lanes_;
  const int depth_;  // of a step
  const RegisterBlock block_;
  const int panel_;                      // columns of a block
  Value sums_, rows_, columns_, terms_;  // of the tile and the step
  Value padded_rows_, padded_columns_;   // in whole blocks
  Value first_[kDims];
};

}  // namespace

BuiltKernel blocked_contraction(const BuildContext& c, prims::NodeId node,
                                const std::vector<Root>& roots) {
  return BlockedContraction(c, node, roots).build();
}

}  // namespace primset::schedule
