// The common part of the tiled contraction kernels: operands and sizes, the order of the tiles, and
// the epilogue and stores of a tile's sums.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_TILED_CONTRACTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_TILED_CONTRACTION_H_

#include <functional>
#include <span>

#include "codegen/schedule/families/contraction/contraction_parts.h"
#include "codegen/schedule/families/contraction/product_tile.h"

namespace primset::schedule {

class TiledContraction {
 public:
  // `a` and `b` are the operands' layouts; they must outlive this object.
  TiledContraction(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots,
                   const MatrixLayout& a, const MatrixLayout& b);
  virtual ~TiledContraction() = default;
  BuiltKernel build();

 protected:
  using Value = kir::Value;
  using Values = kir::Builder::Values;
  static constexpr uint32_t kStoreWidth = 4;  // contiguous columns in one vector store
  using WithElement = std::function<void(Value sum, Value row, Value column)>;
  using WithVector = std::function<void(std::span<const Value> sums, Value row, Value column)>;

  virtual TileShape tile_shape() const = 0;
  // Computes the sums of the tile that begins there (index-typed), in the kernel's own registers.
  virtual Values sums(Value batch, Value first_row, Value first_column) = 0;
  // Calls with() for each element of the tile that this thread stores. Rows and columns (i32) are
  // relative to the tile.
  virtual void each_element(const Values& sums, const WithElement& with) = 0;
  // Calls with() for kStoreWidth contiguous columns at a time, the first a multiple of kStoreWidth.
  // Only where can_store_vectors() is true.
  virtual bool can_store_vectors() const = 0;
  virtual void each_vector(const Values& sums, const WithVector& with) = 0;

  kir::Builder& b() { return f_.builder(); }
  Value index(Value i) { return f_.index(i); }
  Value constant(int64_t v) { return f_.index_constant(v); }
  SymInt elements() const { return batches_ * rows_ * columns_; }

  const BuildContext& c_;
  const prims::Graph& g_;
  const prims::Node& n_;
  Frame f_;
  ElementEmitter e_;
  const MatrixLayout &a_layout_, &b_layout_;
  const SymInts &a_shape_, &b_shape_;
  const ContractionRoles a_roles_, b_roles_;
  const DType operands_;
  const SymInt batches_, rows_, columns_, k_size_;

 private:
  void one_tile(Value tile, const SymInt& row_tiles, const SymInt& column_tiles);
  void store(Value batch, Value row, Value column, const Values& sums);
  void store_elements(Value batch, Value row, Value column, const Values& sums);
  void store_vectors(Value batch, Value row, Value column, const Values& sums);

  ContractionResult result_;
  Value vector_stores_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_TILED_CONTRACTION_H_
