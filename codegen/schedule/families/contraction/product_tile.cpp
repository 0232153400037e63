#include "codegen/schedule/families/contraction/product_tile.h"

namespace primset::schedule {

using kir::Builder;
using kir::Value;

namespace {

constexpr int kChunkBytes = 16;

// The stride of the dims merged into one; nullopt where strides do not allow that. 1 for no dims.
std::optional<SymInt> merged_stride(const DimList& dims, const SymInts& shape,
                                    const SymInts& strides) {
  std::optional<SymInt> inner;
  SymInt covered = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(dims[i]);
    if (shape[d].same(SymInt(1))) continue;
    if (!inner)
      inner = strides[d];
    else if (!strides[d].same(*inner * covered))
      return std::nullopt;
    covered *= shape[d];
  }
  return inner ? inner : std::optional(SymInt(1));
}

}  // namespace

std::optional<MatrixLayout> matrix_layout(const Placement& place, const SymInts& shape,
                                          const ContractionRoles& roles) {
  const auto row_stride = merged_stride(roles.free, shape, place.strides);
  const auto k_stride = merged_stride(roles.contract, shape, place.strides);
  if (!row_stride || !k_stride) return std::nullopt;
  const bool k_contiguous = k_stride->same(SymInt(1));
  if (!k_contiguous && !row_stride->same(SymInt(1))) return std::nullopt;
  return MatrixLayout{place, *row_stride, *k_stride, k_contiguous};
}

// --- the operand ---------------------------------------------------------------------------------

TileSource::TileSource(Frame& f, DType dtype, const MatrixLayout& layout,
                       const ContractionRoles& roles, const SymInts& shape)
    : f_(f),
      layout_(layout),
      roles_(roles),
      shape_(shape),
      scalar_(memory_scalar(dtype)),
      chunk_(kChunkBytes / kir::bytes(scalar_)),
      rows_(size_of(shape, roles.free)),
      k_size_(size_of(shape, roles.contract)) {
  pointer_ = f.buffer(layout.place.buffer, true, false);
  chunks_aligned_ = test_chunk_alignment();
}

Value TileSource::test_chunk_alignment() {
  const auto low_word = [&](const SymInt& s) {
    return b().int_resize(f_.param(s), kir::Scalar::i32, true);
  };
  Value elements = low_word(k_contiguous() ? k_size_ : rows_);
  elements = b().or_(elements, low_word(layout_.place.offset));
  elements = b().or_(elements, low_word(k_contiguous() ? layout_.row_stride : layout_.k_stride));
  for (int64_t d : roles_.batch)
    elements = b().or_(elements, low_word(layout_.place.strides[static_cast<size_t>(d)]));
  const Value rest = b().or_(b().and_(elements, b().i32(chunk_ - 1)),
                             b().and_(b().address_low_word(pointer_), b().i32(kChunkBytes - 1)));
  return b().ieq(rest, b().i32(0));
}

void TileSource::begin(Value batch, Value first_row) {
  Indices at(shape_.size());
  delinearize(f_, batch, roles_.batch, shape_, at);
  Affine address;
  address.constant = layout_.place.offset;
  for (int64_t d : roles_.batch) {
    const auto i = static_cast<size_t>(d);
    address = f_.add(address, f_.scale(at[i].affine, layout_.place.strides[i]));
  }
  base_ = f_.materialize(address);
  first_row_ = first_row;
  address.opaque = base_;
  f_.analysis().accesses.push_back({layout_.place.buffer, address, false});
}

std::pair<Value, Value> TileSource::at(Value row, Value k) {
  const Value inside = b().and_(b().slt(row, f_.param(rows_)), b().slt(k, f_.param(k_size_)));
  const Value along_row = b().add(base_, b().mul(row, f_.param(layout_.row_stride)));
  return {inside, b().add(along_row, b().mul(k, f_.param(layout_.k_stride)))};
}

Value TileSource::inside_row(Value row, int count) {
  const Value last = b().sub(f_.param(rows_), f_.index_constant(count));
  return b().select(b().slt(last, row), last, row);
}

Value TileSource::load(Value row, Value k) {
  const auto [inside, from] = at(row, k);
  // A masked-off access may point anywhere: point it at the first element instead.
  const Value place = b().select(inside, from, f_.index_constant(0));
  const auto align = static_cast<uint32_t>(kir::bytes(scalar_));
  return b().select(inside, b().load({scalar_}, pointer_, place, align),
                    b().constant_bits({scalar_}, 0));
}

// --- the tile ------------------------------------------------------------------------------------

ProductTile::ProductTile(Frame& f, DType dtype, const MatrixLayout& layout,
                         const ContractionRoles& roles, const SymInts& shape, Sizes sizes)
    : f_(f), source_(f, dtype, layout, roles, shape), sizes_(sizes) {
  kir::Builder& b = f.builder();
  memory_ = b.group_alloc(scalar(), static_cast<uint32_t>(sizes.stages * stage_elements()));
  thread_ = b.local_id(0);
}

void ProductTile::load(Value stage, Value first_k) {
  const auto with = [&](void (ProductTile::*copy)(Value, Value)) {
    return [this, copy, stage, first_k] {
      (this->*copy)(stage, first_k);
      return Builder::Values{};
    };
  };
  b().if_else(chunks_aligned(), with(&ProductTile::load_chunks), with(&ProductTile::load_elements));
}

void ProductTile::load_chunks(Value stage, Value first_k) {
  const int step = sizes_.threads / line_chunks();
  const Value line = b().udiv(thread_, b().i32(line_chunks()));
  const Value chunk = b().urem(thread_, b().i32(line_chunks()));
  // The swizzle has a period of eight lines.
  const auto to = [&](int first_line) {
    const int like = first_line % 8;
    const Value at = b().add(line, b().i32(like));
    const Value first = b().add(stage, place(at, chunk, swizzle_of(at)));
    return b().add(first, b().i32(int64_t{first_line - like} * line_elements()));
  };
  const Value inner = index(b().mul(chunk, b().i32(this->chunk())));
  for (int first_line = 0; first_line < lines(); first_line += step) {
    const int block = k_contiguous() ? 0 : first_line / sizes_.depth;
    const Value outer = index(b().add(line, b().i32(first_line - int64_t{block} * sizes_.depth)));
    const Value first_row =
        b().add(source_.first_row(), f_.index_constant(int64_t{block} * block_rows()));
    const Value row = b().add(first_row, k_contiguous() ? outer : inner);
    const Value k = b().add(first_k, k_contiguous() ? inner : outer);
    const auto [inside, from] = source_.at(row, k);
    b().copy_async(scalar(), static_cast<uint32_t>(this->chunk()), memory_, to(first_line),
                   source_.pointer(), from, inside);
  }
}

void ProductTile::load_elements(Value stage, Value first_k) {
  const int count = stage_elements() / sizes_.threads;
  b().for_loop(b().i32(0), b().i32(count), b().i32(1), {}, [&](Value j, auto) {
    const Value linear = b().add(b().mul(j, b().i32(sizes_.threads)), thread_);
    const Value line = b().udiv(linear, b().i32(line_elements()));
    const Value in_line = b().urem(linear, b().i32(line_elements()));
    // Of a tile that is contiguous along rows a line is one k of a block's rows.
    const Value block = b().udiv(line, b().i32(sizes_.depth));
    const Value in_tile = b().add(in_line, b().mul(block, b().i32(block_rows())));
    const Value row = b().add(source_.first_row(), index(k_contiguous() ? line : in_tile));
    const Value k =
        b().add(first_k, index(k_contiguous() ? in_line : b().urem(line, b().i32(sizes_.depth))));
    const Value v = source_.load(row, k);
    const Value chunk = b().udiv(in_line, b().i32(this->chunk()));
    const Value to =
        b().add(place(line, chunk, swizzle_of(line)), b().urem(in_line, b().i32(this->chunk())));
    b().store(memory_, b().add(stage, to), v, static_cast<uint32_t>(kir::bytes(scalar())));
    return Builder::Values{};
  });
}

Value ProductTile::fragment(Value stage, Value lane, Value first, int i, int k, bool left) {
  const Value matrix = b().lshr(lane, b().i32(3)), line = b().and_(lane, b().i32(7));
  const Value low = b().and_(matrix, b().i32(1)), high = b().lshr(matrix, b().i32(1));
  const Value row_half = left ? low : high, k_half = left ? high : low;
  if (k_contiguous()) {
    const Value own = b().add(b().mul(row_half, b().i32(8)), line);
    const Value at =
        place(b().add(first, own), b().add(k_half, b().i32(2 * int64_t{k})), swizzle_of(own));
    const Value block = b().add(stage, at);
    return b().matrix_load(memory_, b().add(block, b().i32(16 * int64_t{i} * sizes_.depth)), false);
  }
  const Value own = b().add(b().mul(k_half, b().i32(8)), line);
  const Value chunk =
      b().add(b().add(b().lshr(first, b().i32(3)), row_half), b().i32(2 * int64_t{i}));
  const Value block = b().add(stage, place(own, chunk, swizzle_of(own)));
  return b().matrix_load(memory_, b().add(block, b().i32(16 * int64_t{k} * sizes_.extent)), true);
}

Value ProductTile::swizzle_of(Value line) {
  const int chunks = line_chunks();
  if (chunks >= 8) return b().and_(line, b().i32(7));
  return b().and_(b().udiv(line, b().i32(8 / chunks)), b().i32(chunks - 1));
}

Value ProductTile::place(Value line, Value chunk, Value swizzle) {
  const Value start = b().mul(line, b().i32(line_elements()));
  return b().add(start, b().mul(b().xor_(chunk, swizzle), b().i32(this->chunk())));
}

}  // namespace primset::schedule
