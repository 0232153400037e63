// What kernels of attention without a matrix of weights in memory have in common. A group takes a
// tile of queries and goes along the keys, tile by tile: it carries each query's greatest score,
// the sum of its weights and the weighted values so far, and scales them when a greater score turns
// up (Dao, FlashAttention-2, 2023).
//
// Scores are of base 2, as powers of 2 are cheaper. Matrix units take weights in the operands'
// dtype, to which the primitive has them rounded.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_FUSED_ATTENTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_FUSED_ATTENTION_H_

#include <array>
#include <functional>
#include <limits>

#include "codegen/schedule/families/contraction/contraction_parts.h"
#include "codegen/schedule/families/contraction/product_tile.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Which dims of operand 0, 1 or 2 a product goes along: q is [..., queries, head], k
// [..., keys, head], v [..., keys, columns].
ContractionRoles attention_roles(size_t operand, size_t rank);

// Where q, k and v lie.
using AttentionLayouts = std::array<MatrixLayout, 3>;

class FusedAttention {
 public:
  FusedAttention(const BuildContext& c, const prims::Node& n, const std::vector<Root>& roots);
  virtual ~FusedAttention() = default;
  BuiltKernel build();

 protected:
  using Value = kir::Value;
  using Values = kir::Builder::Values;
  static constexpr float kHidden = -std::numeric_limits<float>::infinity();

  struct Shape {
    int queries, threads;  // of a group's tile, which `threads` threads go through
    uint32_t run;          // neighbours of y that are stored together
  };
  virtual Shape tile_shape() const = 0;
  // The tile of queries from `first_query` on. Both are index-typed.
  virtual void one_tile(Value batch, Value first_query) = 0;

  kir::Builder& b() { return f_.builder(); }
  Value index(Value i) { return f_.index(i); }
  Value constant(int64_t v) { return f_.index_constant(v); }
  Value number(double v) { return b().constant_f(kir::kF32, v); }
  Value least(Value x, Value y) { return b().select(b().slt(x, y), x, y); }
  Value greater(Value x, Value y) { return b().select(b().flt(x, y), y, x); }
  const SymInts& shape(size_t operand) const { return g_.type(n_.operands[operand]).shape; }
  int64_t longest_head() const;

  // Behind the last key that any of `count` queries from `first_query` on sees.
  Value end_of_keys(Value first_query, int64_t count);
  // Behind the last key of `width` from `first_key` on that query `query` sees; i32, at most width.
  Value end_in_tile(Value query, Value first_key, int width);

  // A scale above 0 keeps the order of the scores, and joins in with the difference to the
  // greatest; any other comes first.
  bool scales_late() const { return scale_ > 0; }
  // Of scores, f32 of any number of lanes, as the products of queries and keys are.
  Value scaled(Value score);
  // What is taken off a row's scores, of which `most` is the greatest.
  Value shift_of(Value most);
  // 2 to a score (of any number of lanes) above the shift.
  Value weight(Value score, Value shift);
  // What a row's weighted values are multiplied by: 0 where no key is seen.
  Value share(Value most, Value weights);
  // A row's weights as the operands' dtype has them, each in the low half of a word.
  Value rounded_bits(Value weights);

  // Stores neighbours of y from `column` on, of which there are tile_shape().run.
  void store_run(Value batch, Value row, Value column, std::span<const Value> values);
  // Stores the natural logarithm of the row's denominator, where `first` (i1) says so.
  void store_logarithm(Value batch, Value row, Value most, Value weights, Value first);
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
  Value runs_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_FUSED_ATTENTION_H_
