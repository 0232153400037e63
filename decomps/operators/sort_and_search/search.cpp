// Places in sorted sequences, and elements that are in them.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/sort_and_search.h"

namespace primset::decomps {
namespace {

bool to_the_right(bool right, const std::optional<std::string>& side) {
  if (!side) return right;
  require(
      *side == "left" || *side == "right", ErrorCode::runtime,
      fmt::format("torch.searchsorted(): side can only be 'left' or 'right' but got {}", *side));
  require(*side == "right" || !right, ErrorCode::runtime,
          "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
          "right was True");
  return *side == "right";
}

void require_sorter(const Val& sequence, const std::optional<Val>& sorter) {
  if (!sorter) return;
  require(equal_sizes(sequence.shape(), sorter->shape()), ErrorCode::runtime,
          fmt::format("torch.searchsorted(): boundary and sorter must have the same size, but got "
                      "boundary tensor {}and got sorter tensor {}",
                      shape_text(sequence.shape()), shape_text(sorter->shape())));
  require(sorter->dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                      "{}",
                      aten_name(sorter->dtype())));
}

void require_sequence(const Val& sequence, const Val& values) {
  require(sequence.rank() > 0, ErrorCode::runtime,
          "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
          "dimension");
  require(values.rank() > 0 || sequence.rank() == 1, ErrorCode::runtime,
          fmt::format("torch.searchsorted(): input value can be a scalar only when boundaries "
                      "tensor dimension is 1, but we got boundaries tensor dim({}) and input "
                      "value's dim(0) numel(1)",
                      sequence.rank()));
  bool fits = sequence.rank() == 1 || sequence.rank() == values.rank();
  for (int64_t d = 0; fits && sequence.rank() > 1 && d + 1 < values.rank(); ++d)
    fits = sequence.size(d) == values.size(d);
  require(fits, ErrorCode::runtime,
          fmt::format("torch.searchsorted(): boundaries tensor should be 1 dimension or the first "
                      "N-1 dimensions of boundaries tensor and input value tensor must match, but "
                      "we got boundaries tensor {} and input value tensor {}",
                      shape_text(sequence.shape()), shape_text(values.shape())));
}

Val searched(Tracer& t, const Val& sequence, const Val& values, bool out_int32, bool right,
             const std::optional<Val>& sorter) {
  require_sequence(sequence, values);
  require_sorter(sequence, sorter);
  const DType common = [&] {
    using enum PromotionOperand::Category;
    const PromotionOperand operands[] = {{sequence.dtype(), dimensioned},
                                         {values.dtype(), values.rank() ? dimensioned : zero_dim}};
    return result_type(operands);
  }();
  if (is_bool(common) || is_complex(common)) not_implemented_for("searchsorted_out_cpu", common);
  if (sorter && !sorter->is_empty()) {
    const Val size = t.constant(sequence.size(-1), DType::i64);
    check(ge(*sorter, Scalar(0)) & lt(*sorter, size), *sorter, ErrorCode::runtime,
          "torch.searchsorted(): sorter index out of range");
  }
  const Val place =
      t.prim1(Prim::search_sorted,
              {convert(sequence, common), convert(values, common), sorter.value_or(Val())},
              {{"right", right}});
  return convert(place, out_int32 ? DType::i32 : DType::i64);
}

// A Scalar as ATen makes it a tensor beside the boundaries.
Val beside(Tracer& t, const ScalarArg& s, const Val& boundaries) {
  const PromotionOperand operands[] = {
      {boundaries.dtype(), PromotionOperand::Category::dimensioned},
      {s.value.dtype(), PromotionOperand::Category::number}};
  return t.scalar(s, result_type(operands));
}

void require_boundaries(const Val& boundaries) {
  require(boundaries.rank() == 1, ErrorCode::runtime,
          fmt::format("boundaries tensor must be 1 dimension, but got dim({})", boundaries.rank()));
}

}  // namespace

Val searchsorted::decompose(Tracer& t, const Val& sorted_sequence, const Val& self, bool out_int32,
                            bool right, const std::optional<std::string>& side,
                            const std::optional<Val>& sorter) {
  return searched(t, sorted_sequence, self, out_int32, to_the_right(right, side), sorter);
}

Val searchsorted_scalar::decompose(Tracer& t, const Val& sorted_sequence, const ScalarArg& self,
                                   bool out_int32, bool right,
                                   const std::optional<std::string>& side,
                                   const std::optional<Val>& sorter) {
  return searched(t, sorted_sequence, beside(t, self, sorted_sequence), out_int32,
                  to_the_right(right, side), sorter);
}

Val bucketize::decompose(Tracer& t, const Val& self, const Val& boundaries, bool out_int32,
                         bool right) {
  require_boundaries(boundaries);
  return searched(t, boundaries, self, out_int32, right, {});
}

Val bucketize_scalar::decompose(Tracer& t, const ScalarArg& self, const Val& boundaries,
                                bool out_int32, bool right) {
  require_boundaries(boundaries);
  return searched(t, boundaries, beside(t, self, boundaries), out_int32, right, {});
}

}  // namespace primset::decomps
