// A tile of one operand of a matrix product in workgroup memory, copied there asynchronously in
// several stages.
//
// k is the contracted dimension. A tile is `extent` rows (for the right operand: columns of the
// result) by `depth` along k, in lines of what is contiguous in the operand's memory: one row along
// k, or the rows at one k. A line consists of chunks of 16 bytes, which are
// swizzled (chunk c of line l is at c xor some bits of l), so that neither eight adjacent chunks of
// a line nor one chunk of eight adjacent lines share banks.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PRODUCT_TILE_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PRODUCT_TILE_H_

#include <optional>

#include "codegen/schedule/families/contraction/contraction_parts.h"

namespace primset::schedule {

// An operand's memory as matrices: element (row, k) of a batch is at `row * row_stride +
// k * k_stride` elements from its first, and one of the two strides is 1.
struct MatrixLayout {
  Placement place;
  SymInt row_stride, k_stride;
  bool k_contiguous = false;  // k_stride is 1
};
// nullopt: another layout, as far as is known without the symbols' values.
std::optional<MatrixLayout> matrix_layout(const Placement& place, const SymInts& shape,
                                          const ContractionRoles& roles);

// Which elements of an operand belong to a tile, and their addresses.
class TileSource {
 public:
  TileSource(Frame& f, DType dtype, const MatrixLayout& layout, const ContractionRoles& roles,
             const SymInts& shape);

  bool k_contiguous() const { return layout_.k_contiguous; }
  kir::Scalar scalar() const { return scalar_; }
  int chunk() const { return chunk_; }  // elements of 16 bytes
  kir::Value pointer() const { return pointer_; }
  kir::Value first_row() const { return first_row_; }
  // i1: every chunk is aligned and completely inside or outside the operand.
  kir::Value chunks_aligned() const { return chunks_aligned_; }

  // Selects the rows and the batch of the tile. Both are index-typed.
  void begin(kir::Value batch, kir::Value first_row);
  // Is element (row, k) inside the operand (i1), and its address in the buffer.
  std::pair<kir::Value, kir::Value> at(kir::Value row, kir::Value k);
  // The row, clamped so that `count` rows from it on are inside the operand.
  kir::Value inside_row(kir::Value row, int count);
  // The distance in elements from k = 0 to `k`.
  kir::Value k_offset(kir::Value k) { return b().mul(k, f_.param(layout_.k_stride)); }
  // The element's bits; zero outside the operand.
  kir::Value load(kir::Value row, kir::Value k);

 private:
  kir::Builder& b() { return f_.builder(); }
  kir::Value test_chunk_alignment();

  Frame& f_;
  const MatrixLayout& layout_;
  const ContractionRoles& roles_;
  const SymInts& shape_;
  const kir::Scalar scalar_;
  const int chunk_;
  const SymInt rows_, k_size_;
  kir::Value pointer_, chunks_aligned_, base_, first_row_;
};

class ProductTile {
 public:
  struct Sizes {
    int extent, depth, stages, threads;
    // A tile that is contiguous along k is stored in blocks of so many rows; 0: in one block.
    int block_rows = 0;
  };
  ProductTile(Frame& f, DType dtype, const MatrixLayout& layout, const ContractionRoles& roles,
              const SymInts& shape, Sizes sizes);

  bool k_contiguous() const { return source_.k_contiguous(); }
  kir::Value memory() const { return memory_; }
  int stage_elements() const { return sizes_.extent * sizes_.depth; }
  int chunk() const { return source_.chunk(); }  // elements of a chunk
  kir::Scalar scalar() const { return source_.scalar(); }

  // Selects the rows and the batch of the tiles. Both are index-typed.
  void begin(kir::Value batch, kir::Value first_row) { source_.begin(batch, first_row); }
  // Starts to copy the elements from `first_k` on into the stage that begins at element `stage`
  // (i32), with zeros outside the operand. The caller calls copy_commit() afterwards.
  void load(kir::Value stage, kir::Value first_k);
  // load() copies chunks where chunks_aligned() holds, else elements; these are its two cases.
  kir::Value chunks_aligned() const { return source_.chunks_aligned(); }
  void load_chunks(kir::Value stage, kir::Value first_k);
  void load_elements(kir::Value stage, kir::Value first_k);

  // The offset of chunk `chunk` of a line in a stage, in elements; i32. `swizzle` is
  // swizzle_of(line).
  kir::Value place(kir::Value line, kir::Value chunk, kir::Value swizzle);
  // Rows `first` + 16 i to 16 i + 15 by k = 16 k to 16 k + 15 of the tile that begins at `stage`,
  // as what lane `lane` of a subgroup holds of four matrices of 8 x 8 (f16, bf16; ops.def): of a
  // left operand they are ordered by rows first; of a right one, whose rows are columns of the
  // result, by k first. `first` is a multiple of 8.
  kir::Value fragment(kir::Value stage, kir::Value lane, kir::Value first, int i, int k, bool left);
  // The bits that chunks of a line are swizzled by: equal for lines whose distance is a multiple of
  // eight.
  kir::Value swizzle_of(kir::Value line);

 private:
  kir::Builder& b() { return f_.builder(); }
  int block_rows() const { return sizes_.block_rows ? sizes_.block_rows : sizes_.extent; }
  int line_elements() const { return k_contiguous() ? sizes_.depth : block_rows(); }
  int lines() const { return stage_elements() / line_elements(); }
  int line_chunks() const { return line_elements() / chunk(); }
  kir::Value index(kir::Value i) { return f_.index(i); }

  Frame& f_;
  TileSource source_;
  const Sizes sizes_;
  kir::Value memory_, thread_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PRODUCT_TILE_H_
