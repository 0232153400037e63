// Matrix products on SIMT devices: tiles of both operands in workgroup memory, a small block of the
// result in each thread's registers.
//
// The operands are computed where they are loaded into the tile, so views, conversions and the
// windows of a convolution cost no memory of their own (an implicit GEMM); what is made of the
// result elementwise is computed before it is stored.
#include <algorithm>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/families/contraction/contraction_kernel.h"
#include "codegen/schedule/families/contraction/contraction_parts.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Builder;
using kir::Value;
using prims::SymInt;
using prims::ValueId;

namespace {

constexpr int kBlockRows = 4;  // of the result in a thread: kBlockRows x kBlockColumns
constexpr int kBlockColumns = 4;
constexpr int kDepth = 16;  // of a tile along k

// A group's threads, `across` of them along n: adjacent threads have adjacent columns.
struct ThreadTiling {
  int threads, across;

  constexpr int rows() const { return threads / across * kBlockRows; }
  constexpr int columns() const { return across * kBlockColumns; }
};
constexpr int kAcross = 16;  // threads across a usual tile
constexpr ThreadTiling kNarrow{64, 8};

ThreadTiling tiling_of(const SymInt& m, const SymInt& n, const kir::TargetModel& target) {
  const ThreadTiling usual{static_cast<int>(target.group_threads), kAcross};
  const bool narrow = !(SymInt(kNarrow.rows()) < m) || !(SymInt(kNarrow.columns()) < n);
  return narrow && kNarrow.threads < usual.threads ? kNarrow : usual;
}

class ContractionBuilder {
 public:
  ContractionBuilder(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots)
      : c_(c),
        g_(c.values.graph),
        n_(g_.node(node)),
        f_(c.name, c.machine, c.index32, g_.type(n_.results[0]).shape),
        e_(f_, c.values),
        accumulate_(g_.type(n_.results[0]).dtype),
        a_{n_.operands[0], contraction_roles(n_, 0, rank(0))},
        b_{n_.operands[1], contraction_roles(n_, 1, rank(1))},
        result_(f_, e_, g_, n_, roots, a_.roles, b_.roles),
        m_(size_of(shape(a_), a_.roles.free)),
        n_size_(size_of(shape(b_), b_.roles.free)),
        k_(size_of(shape(a_), a_.roles.contract)),
        tiling_(tiling_of(m_, n_size_, c.target)),
        rows_(tiling_.rows()),
        columns_(tiling_.columns()) {}

  BuiltKernel build() {
    f_.set_error_buffer(c_.errors);
    b().set_group_size(static_cast<uint32_t>(tiling_.threads));
    place_tile(a_, rows_);
    place_tile(b_, columns_);
    const SymInt row_tiles = prims::ceil_div(m_, SymInt(rows_)),
                 column_tiles = prims::ceil_div(n_size_, SymInt(columns_));
    const SymInt tiles = size_of(shape(a_), a_.roles.batch) * row_tiles * column_tiles;
    thread_ = index(b().local_id(0));
    for_each_by_groups(f_, tiles, [&](Value tile) {
      ElementEmitter::Scope scope(e_);
      const auto [rest, column] = divide(f_, tile, column_tiles);
      const auto [batch, row] = divide(f_, rest, row_tiles);
      one_tile(batch, b().mul(row, constant(rows_)), b().mul(column, constant(columns_)));
    });
    return built(std::move(f_));
  }

 private:
  struct Operand {
    ValueId value;
    ContractionRoles roles;
    Value memory = {};  // the tile: element (k, i) at k * pitch + i
    int extent = 0, pitch = 0;
  };

  Builder& b() { return f_.builder(); }
  size_t rank(size_t operand) const { return g_.type(n_.operands[operand]).rank(); }
  const prims::SymInts& shape(const Operand& o) const { return g_.type(o.value).shape; }
  Value index(Value i) { return f_.index(i); }
  Value constant(int64_t v) { return f_.index_constant(v); }
  kir::Type element_type() const { return {register_scalar(accumulate_)}; }
  uint32_t element_bytes() const {
    return static_cast<uint32_t>(kir::bytes(element_type().scalar));
  }

  void place_tile(Operand& o, int extent) {
    o.extent = extent;
    o.pitch = extent + 1;  // padded by one, so that threads that load along k meet different banks
    o.memory = b().group_alloc(element_type().scalar, static_cast<uint32_t>(kDepth * o.pitch));
  }

  // Then neighbouring threads load along k.
  bool runs_along_k(const Operand& o) const {
    return memory_runs_along(c_.values, o.value, o.roles.contract).value_or(false);
  }

  // Each thread brings extent * kDepth / threads elements into the tile; 0 outside the operand.
  void load_tile(const Operand& o, Value batch, Value first, const SymInt& limit, Value k_first) {
    const bool along_k = runs_along_k(o);
    const int width = along_k ? kDepth : o.extent;
    const int count = o.extent * kDepth / tiling_.threads;
    for (int j = 0; j < count; ++j) {
      ElementEmitter::Scope scope(e_);
      const Value linear = b().add(thread_, constant(int64_t{j} * tiling_.threads));
      const Value slow = b().udiv(linear, constant(width));
      const Value fast = b().sub(linear, b().mul(slow, constant(width)));
      const Value k = along_k ? fast : slow, i = along_k ? slow : fast;
      const Value row = b().add(first, i), depth = b().add(k_first, k);
      const Value inside = b().and_(b().slt(row, f_.param(limit)), b().slt(depth, f_.param(k_)));
      Indices at(g_.type(o.value).rank());
      delinearize(f_, batch, o.roles.batch, shape(o), at);
      delinearize(f_, row, o.roles.free, shape(o), at);
      delinearize(f_, depth, o.roles.contract, shape(o), at);
      ElementValue e = e_.emit_under(inside, o.value, at);
      e = lower_convert(b(), e, g_.type(o.value).dtype, accumulate_);
      const Value v = b().select(inside, e.re, b().constant(element_type(), 0));
      b().store(o.memory, b().add(b().mul(k, constant(o.pitch)), i), v, element_bytes());
    }
  }

  Value at_tile(const Operand& o, Value k, Value i) {
    return b().load(element_type(), o.memory, b().add(b().mul(k, constant(o.pitch)), i),
                    element_bytes());
  }
  Value multiply_add(Value x, Value y, Value sum) {
    if (!is_floating(accumulate_)) return b().add(b().mul(x, y), sum);
    if (c_.target.fused_fma) return b().fma(x, y, sum);
    return b().fadd(b().fmul(x, y), sum);
  }

  // Each step along k loads a tile of both operands into workgroup memory, then every thread adds
  // the outer products of kBlockRows x kBlockColumns elements to the sums in its registers.
  void one_tile(Value batch, Value row, Value column) {
    const Value mine = b().udiv(thread_, constant(tiling_.across));
    const Value block_row = b().mul(mine, constant(kBlockRows));
    const Value block_column = b().sub(thread_, b().mul(mine, constant(tiling_.across)));
    const Builder::Values zero(kBlockRows * kBlockColumns, b().constant(element_type(), 0));
    const auto sums = b().for_loop(
        constant(0), f_.param(k_), constant(kDepth), zero,
        [&](Value k_first, std::span<const Value> outer) {
          load_tile(a_, batch, row, m_, k_first);
          load_tile(b_, batch, column, n_size_, k_first);
          b().barrier();
          auto inner = b().for_loop(
              constant(0), constant(kDepth), constant(1), {outer.begin(), outer.end()},
              [&](Value k, std::span<const Value> sum) {
                Builder::Values x, y, next;
                for (int r = 0; r < kBlockRows; ++r)
                  x.push_back(at_tile(a_, k, b().add(block_row, constant(r))));
                for (int s = 0; s < kBlockColumns; ++s)
                  y.push_back(
                      at_tile(b_, k, b().add(block_column, constant(int64_t{tiling_.across} * s))));
                for (size_t i = 0; i < sum.size(); ++i)
                  next.push_back(multiply_add(x[i / kBlockColumns], y[i % kBlockColumns], sum[i]));
                return next;
              });
          b().barrier();
          return inner;
        });
    for (int r = 0; r < kBlockRows; ++r) {
      for (int s = 0; s < kBlockColumns; ++s) {
        finish(batch, b().add(row, b().add(block_row, constant(r))),
               b().add(column, b().add(block_column, constant(int64_t{tiling_.across} * s))),
               sums[static_cast<size_t>(r) * kBlockColumns + static_cast<size_t>(s)]);
      }
    }
  }

  void finish(Value batch, Value row, Value column, Value sum) {
    const Value inside = b().and_(b().slt(row, f_.param(m_)), b().slt(column, f_.param(n_size_)));
    b().if_then(inside, [&] { result_.store(sum, result_.at(batch, row, column)); });
  }

  const BuildContext& c_;
  const prims::Graph& g_;
  const prims::Node& n_;
  Frame f_;
  ElementEmitter e_;
  const DType accumulate_;
  Operand a_, b_;
  ContractionResult result_;
  const SymInt m_, n_size_, k_;
  const ThreadTiling tiling_;
  const int rows_, columns_;
  Value thread_;
};

}  // namespace

BuiltKernel contraction_kernel(const BuildContext& c, prims::NodeId node,
                               const std::vector<Root>& roots) {
  return ContractionBuilder(c, node, roots).build();
}

}  // namespace primset::schedule
