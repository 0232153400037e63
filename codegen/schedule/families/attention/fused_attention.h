// The common part of attention kernels that keep no matrix of scores in memory. A workgroup has a
// tile of queries and iterates over tiles of keys. For each query it carries the running maximum of
// the scores, the sum of weights (the denominator) and the weighted values, and rescales them when
// the maximum grows (Dao, FlashAttention-2, 2023).
//
// Scores are in base 2, since powers of 2 are cheaper. Weights are rounded to the operands' dtype,
// which matrix units take and the primitive specifies.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_FUSED_ATTENTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_FUSED_ATTENTION_H_

#include <array>
#include <functional>
#include <limits>

#include "codegen/schedule/families/contraction/contraction_parts.h"
#include "codegen/schedule/families/contraction/product_tile.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// The dims of operand 0, 1 or 2 by role: q is [..., queries, head], k [..., keys, head],
// v [..., keys, columns].
ContractionRoles attention_roles(size_t operand, size_t rank);

// The layouts of q, k and v.
using AttentionLayouts = std::array<MatrixLayout, 3>;

class FusedAttention {
 public:
  FusedAttention(const BuildContext& c, const prims::Node& n, const std::vector<Root>& roots);
  virtual ~FusedAttention() = default;
  BuiltKernel build();

 protected:
  using Value = kir::Value;
  using Values = kir::Builder::Values;
  static constexpr float kMasked = -std::numeric_limits<float>::infinity();

  struct Shape {
    int queries, threads;  // queries of a workgroup's tile; threads of the workgroup
    uint32_t store_width;  // contiguous elements of y in one store
  };
  virtual Shape tile_shape() const = 0;
  // Computes the tile of queries from `first_query` on. Both are index-typed.
  virtual void one_tile(Value batch, Value first_query) = 0;

  kir::Builder& b() { return f_.builder(); }
  Value index(Value i) { return f_.index(i); }
  Value constant(int64_t v) { return f_.index_constant(v); }
  Value number(double v) { return b().constant_f(kir::kF32, v); }
  Value minimum(Value x, Value y) { return b().select(b().slt(x, y), x, y); }
  Value maximum(Value x, Value y) { return b().select(b().flt(x, y), y, x); }
  const SymInts& shape(size_t operand) const { return g_.type(n_.operands[operand]).shape; }
  int64_t longest_head() const;

  // One past the last key that any of `count` queries from `first_query` on attends to.
  Value end_of_keys(Value first_query, int64_t count);
  // How many of `width` keys from `first_key` on query `query` attends to; i32.
  Value end_in_tile(Value query, Value first_key, int width);

  // A positive scale keeps the order of the scores: it is applied with the subtraction of the
  // maximum. Any other is applied to the scores first.
  bool scales_late() const { return scale_ > 0; }
  // A score (f32, any number of lanes) from a product of query and key.
  Value scaled(Value score);
  // What is subtracted from a row's scores, whose maximum is `row_max`.
  Value shift_of(Value row_max);
  // 2^(score - shift), any number of lanes.
  Value weight(Value score, Value shift);
  // The factor that normalises a row's weighted values; 0 where it attends to no key.
  Value normalizer(Value row_max, Value weights);
  // A row's weights rounded to the operands' dtype, each in the low half of a word.
  Value rounded_bits(Value weights);

  // Stores tile_shape().store_width contiguous elements of y from `column` on.
  void store_vector(Value batch, Value row, Value column, std::span<const Value> values);
  // Stores the row's logsumexp where `first` (i1) holds.
  void store_logarithm(Value batch, Value row, Value row_max, Value weights, Value first);
  bool has_y() const { return !y_roots_.empty(); }

  const BuildContext& c_;
  const prims::Graph& g_;
  const prims::Node& n_;
  Frame f_;
  ElementEmitter e_;
  const size_t rank_;
  const std::array<ContractionRoles, 3> roles_;
  const SymInt batches_, queries_, keys_, columns_;
  const DType dtype_;
  const bool causal_;

 private:
  double late_scale() const { return scales_late() ? scale_ : 1; }
  std::vector<Root> roots_of(const std::vector<Root>& roots, size_t result) const;

  const double scale_;
  const std::vector<Root> y_roots_, log_roots_;
  ContractionResult y_;
  Value vector_stores_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_FUSED_ATTENTION_H_
