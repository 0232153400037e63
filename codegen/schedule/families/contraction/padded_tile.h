// A tile of one operand of a matrix product in workgroup memory, copied there through registers,
// for cooperative matrices.
//
// k is the contracted dimension. A tile is `extent` rows (for the right operand: columns of the
// result) by `depth` along k, in lines of what is contiguous in the operand's memory: one row along
// k, or the rows at one k. Words have two elements. Lines
// are padded by 16 bytes, so that adjacent lines begin in different banks.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PADDED_TILE_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PADDED_TILE_H_

#include <span>

#include "codegen/schedule/families/contraction/product_tile.h"

namespace primset::schedule {

inline constexpr int kCooperativeSide = 16;   // of a cooperative matrix
inline constexpr int kCooperativeLanes = 32;  // of a subgroup that has one
inline constexpr uint32_t kVec4Bytes = 16;    // of a memory access: four words
inline constexpr int kVec4Words = 4;
inline constexpr kir::Type kVec4Type{kir::Scalar::i32, kVec4Words};
// Of one line of a matrix of sums.
inline constexpr int kSumLineVec4s = kCooperativeSide / kVec4Words;

class PaddedTile {
 public:
  struct Sizes {
    int extent, depth, threads;
    // write_inner() selects zeros chunk by chunk; else under a branch for the last tile, which
    // costs a small tile more.
    bool selects = false;
  };
  PaddedTile(Frame& f, DType dtype, const MatrixLayout& layout, const ContractionRoles& roles,
             const SymInts& shape, Sizes sizes);

  // Words of workgroup memory of a tile, and the most for any layout of the operand.
  int words() const { return lines_ * pitch() / 2; }
  static int max_words(Sizes sizes);
  // The tile, or the first of several, begins at word `first` of `memory`, an array of i32.
  void place(kir::Value memory, int first);

  // i1: every chunk is aligned and completely inside or outside the operand.
  kir::Value chunks_aligned() const { return source_.chunks_aligned(); }
  // Selects the rows and the batch of the tile. Both are index-typed.
  void begin(kir::Value batch, kir::Value first_row) { source_.begin(batch, first_row); }

  // Reads without bounds tests, for operands that have aligned chunks and `depth` elements along k
  // from `first_k` on. Rows past the end are clamped to other rows. begin_inner() first computes
  // where this thread's chunks at k = 0 are.
  void begin_inner();
  kir::Builder::Values read_inner(kir::Value first_k);
  // Stores them into tile `number`, with zeros for k before `from`.
  void write_inner(kir::Value number, kir::Builder::Values chunks, kir::Value first_k,
                   kir::Value from);

  // This thread's chunks of the tile from `first_k` on: for each, four words and an i1
  // that says whether they are inside the operand, which is not empty. The test is applied by
  // write(), so that the loads stay in flight meanwhile. `by_chunks`: only where chunks_aligned()
  // holds.
  kir::Builder::Values read(kir::Value first_k, bool by_chunks);
  // What read() returns for an empty operand.
  kir::Builder::Values none();
  // The number of values that read(), and read_inner(), return.
  size_t values() const { return 2 * inner_values(); }
  size_t inner_values() const { return static_cast<size_t>(chunks_of_thread()); }
  // Stores them into tile `number` (i32), with zeros outside the operand.
  void write(kir::Value number, std::span<const kir::Value> chunks);
  // The 16 x 16 matrix of tile `number` at rows `first` + 16 i and k = 16 k, as an operand of a
  // product. Rows of a right operand are columns of the result.
  kir::Value matrix(kir::Value number, kir::Value first, int i, int k, bool left);

 private:
  kir::Builder& b() { return f_.builder(); }
  static int line_chunks(int elements) { return elements / kChunk; }
  int pitch() const { return (chunks_ + 1) * kChunk; }  // elements
  kir::Builder::Values zeros_before(kir::Value first_k, kir::Value from,
                                    const kir::Builder::Values& chunks);
  void store_chunk(kir::Value number, int i, kir::Value words);
  kir::Value no_chunk() { return b().constant(kVec4Type, 0); }
  // Line and chunk of the thread's `i`-th chunk.
  std::pair<kir::Value, kir::Value> place_of(int i);
  kir::Value first_of(kir::Value number);
  int chunks_of_thread() const { return lines_ * chunks_ / sizes_.threads; }
  kir::Value elements_at(kir::Value row, kir::Value k);
  kir::Value element(kir::Value row, kir::Value k, uint32_t i);

  static constexpr int kChunk = 8;  // elements of 16 bytes

  Frame& f_;
  TileSource source_;
  const Sizes sizes_;
  const int lines_, chunks_;  // chunks of a line
  const bool bf16_;
  kir::Value memory_;
  int first_word_ = 0;
  kir::Builder::Values inner_;  // words before this thread's chunks at k = 0
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PADDED_TILE_H_
