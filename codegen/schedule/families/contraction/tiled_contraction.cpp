#include "codegen/schedule/families/contraction/tiled_contraction.h"

#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

namespace {

// Rasterization: so many rows of tiles are computed together, column by column, and share in the
// cache what they read (CUTLASS calls it a threadblock swizzle).
constexpr int kRowsTogether = 8;

}  // namespace

TiledContraction::TiledContraction(const BuildContext& c, prims::NodeId node,
                                   const std::vector<Root>& roots, const MatrixLayout& a,
                                   const MatrixLayout& b)
    : c_(c),
      g_(c.values.graph),
      n_(g_.node(node)),
      f_(c.name, c.machine, c.index32, g_.type(n_.results[0]).shape),
      e_(f_, c.values),
      a_layout_(a),
      b_layout_(b),
      a_shape_(g_.type(n_.operands[0]).shape),
      b_shape_(g_.type(n_.operands[1]).shape),
      a_roles_(contraction_roles(n_, 0, a_shape_.size())),
      b_roles_(contraction_roles(n_, 1, b_shape_.size())),
      operands_(g_.type(n_.operands[0]).dtype),
      batches_(size_of(a_shape_, a_roles_.batch)),
      rows_(size_of(a_shape_, a_roles_.free)),
      columns_(size_of(b_shape_, b_roles_.free)),
      k_size_(size_of(a_shape_, a_roles_.contract)),
      result_(f_, e_, g_, n_, roots, a_roles_, b_roles_) {}

BuiltKernel TiledContraction::build() {
  const TileShape shape = tile_shape();
  f_.set_error_buffer(c_.errors);
  b().set_group_size(static_cast<uint32_t>(shape.threads));
  if (shape.min_groups_per_multiprocessor != 0)
    b().set_min_groups_per_multiprocessor(shape.min_groups_per_multiprocessor);
  if (can_store_vectors()) vector_stores_ = result_.can_store_vectors(kStoreWidth);
  const SymInt row_tiles = prims::ceil_div(rows_, SymInt(shape.rows)),
               column_tiles = prims::ceil_div(columns_, SymInt(shape.columns));
  const SymInt tiles = batches_ * row_tiles * column_tiles;
  for_each_by_groups(f_, tiles, [&](Value tile) {
    ElementEmitter::Scope scope(e_);
    one_tile(tile, row_tiles, column_tiles);
  });
  return built(std::move(f_));
}

void TiledContraction::one_tile(Value tile, const SymInt& row_tiles, const SymInt& column_tiles) {
  const auto [batch, in_batch] = divide(f_, tile, row_tiles * column_tiles);
  // A batch of one is not divided: then `batch` is the whole number.
  const bool one = batches_.same(SymInt(1));
  const Value place = one ? tile : in_batch;
  const Value together = b().mul(f_.param(column_tiles), constant(kRowsTogether));
  const Value first = b().mul(b().udiv(place, together), constant(kRowsTogether));
  const Value left = b().sub(f_.param(row_tiles), first);
  const Value height =
      b().select(b().slt(left, constant(kRowsTogether)), left, constant(kRowsTogether));
  const Value rest = b().urem(place, together);
  const Value row = b().add(first, b().urem(rest, height)), column = b().udiv(rest, height);
  const Value first_row = b().mul(row, constant(tile_shape().rows));
  const Value first_column = b().mul(column, constant(tile_shape().columns));
  const Value b_index = one ? constant(0) : batch;
  store(b_index, first_row, first_column, sums(b_index, first_row, first_column));
}

// A tile that lies completely inside a result whose columns can be stored as vectors is stored so,
// any other element by element.
void TiledContraction::store(Value batch, Value row, Value column, const Values& sums) {
  if (!vector_stores_.valid()) return store_elements(batch, row, column, sums);
  const Value inside =
      b().and_(b().sle(b().add(row, constant(tile_shape().rows)), f_.param(rows_)),
               b().sle(b().add(column, constant(tile_shape().columns)), f_.param(columns_)));
  b().if_else(
      b().and_(inside, vector_stores_),
      [&] {
        store_vectors(batch, row, column, sums);
        return Values{};
      },
      [&] {
        store_elements(batch, row, column, sums);
        return Values{};
      });
}

void TiledContraction::store_vectors(Value batch, Value row, Value column, const Values& sums) {
  ElementEmitter::Scope scope(e_);
  each_vector(sums, [&](std::span<const Value> vector, Value r, Value s) {
    const Value at_row = b().add(row, index(r)), at_column = b().add(column, index(s));
    std::vector<Indices> at;
    for (uint32_t j = 0; j < kStoreWidth; ++j)
      at.push_back(result_.at(batch, at_row, b().add(at_column, constant(j))));
    result_.store_vector(vector, at);
  });
}

void TiledContraction::store_elements(Value batch, Value row, Value column, const Values& sums) {
  each_element(sums, [&](Value sum, Value r, Value s) {
    ElementEmitter::Scope scope(e_);
    const Value at_row = b().add(row, index(r)), at_column = b().add(column, index(s));
    f_.set_mask(b().and_(b().slt(at_row, f_.param(rows_)), b().slt(at_column, f_.param(columns_))));
    result_.store(sum, result_.at(batch, at_row, at_column));
    f_.set_mask({});
  });
}

}  // namespace primset::schedule
