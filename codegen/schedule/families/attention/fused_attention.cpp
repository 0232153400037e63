#include "codegen/schedule/families/attention/fused_attention.h"

#include <algorithm>
#include <numbers>

#include "codegen/kernel/math/math.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Scalar;
using kir::Value;

ContractionRoles attention_roles(size_t operand, size_t rank) {
  ContractionRoles r;
  const auto last = static_cast<int64_t>(rank) - 1;
  for (int64_t d = 0; d < last - 1; ++d) r.batch.push_back(d);
  r.free = {operand == 2 ? last : last - 1};
  r.contract = {operand == 2 ? last - 1 : last};
  return r;
}

FusedAttention::FusedAttention(const BuildContext& c, const prims::Node& n,
                               const std::vector<Root>& roots)
    : c_(c),
      g_(c.values.graph),
      n_(n),
      f_(c.name, c.target, c.index32, g_.type(n.results[0]).shape),
      e_(f_, c.values),
      rank_(shape(0).size()),
      roles_{attention_roles(0, rank_), attention_roles(1, rank_), attention_roles(2, rank_)},
      batches_(size_of(shape(0), roles_[0].batch)),
      queries_(shape(0)[rank_ - 2]),
      keys_(shape(1)[rank_ - 2]),
      columns_(shape(2)[rank_ - 1]),
      dtype_(g_.type(n.operands[0]).dtype),
      causal_(n.attr<bool>("causal")),
      scale_(n.attr<primset::Scalar>("scale").to_double() * std::numbers::log2e),
      y_roots_(roots_of(roots, 0)),
      log_roots_(roots_of(roots, 1)),
      y_(f_, e_, g_, n, y_roots_, roles_[0], roles_[2]) {}

std::vector<Root> FusedAttention::roots_of(const std::vector<Root>& roots, size_t result) const {
  std::vector<Root> out;
  std::ranges::copy_if(roots, std::back_inserter(out),
                       [&](const Root& r) { return r.value == n_.results[result]; });
  return out;
}

int64_t FusedAttention::longest_head() const {
  return std::max(shape(0)[rank_ - 1].specialize(), columns_.specialize());
}

BuiltKernel FusedAttention::build() {
  const Shape tile_of = tile_shape();
  f_.set_error_buffer(c_.errors);
  b().set_group_size(static_cast<uint32_t>(tile_of.threads));
  if (has_y()) vector_stores_ = y_.can_store_vectors(tile_of.store_width);
  const SymInt tiles = prims::ceil_div(queries_, SymInt(tile_of.queries));
  for_each_by_groups(f_, batches_ * tiles, [&](Value tile) {
    ElementEmitter::Scope scope(e_);
    const bool one = batches_.same(SymInt(1));
    const auto [batch, rest] = divide(f_, tile, one ? SymInt(1) : tiles);
    const Value in_batch = one ? tile : rest;
    // Later queries have more keys: they come first, so that no group is left with the longest
    // row at the end.
    const Value place =
        causal_ ? b().sub(b().sub(f_.param(tiles), constant(1)), in_batch) : in_batch;
    one_tile(one ? constant(0) : batch, b().mul(place, constant(tile_of.queries)));
  });
  return built(std::move(f_));
}

Value FusedAttention::end_of_keys(Value first_query, int64_t count) {
  const Value keys = f_.param(keys_);
  return causal_ ? minimum(keys, b().add(first_query, constant(count))) : keys;
}

Value FusedAttention::end_in_tile(Value query, Value first_key, int width) {
  Value keys = b().sub(f_.param(keys_), first_key);
  if (causal_) keys = minimum(keys, b().sub(b().add(query, constant(1)), first_key));
  // Clamped to the tile, so that it fits i32.
  return b().int_resize(minimum(keys, constant(width)), Scalar::i32, true);
}

Value FusedAttention::scaled(Value score) {
  return scales_late() ? score : b().fmul(score, b().constant_f(b().type(score), scale_));
}

// 0 for a row whose keys so far are all masked: -inf - (-inf) would be NaN.
Value FusedAttention::shift_of(Value row_max) {
  return b().select(b().feq(row_max, number(kMasked)), number(0),
                    b().fmul(row_max, number(late_scale())));
}

Value FusedAttention::weight(Value score, Value shift) {
  const Value scale = b().constant_f(b().type(score), late_scale());
  return b().fexp2(b().fma(score, scale, b().fneg(shift)));
}

Value FusedAttention::normalizer(Value row_max, Value weights) {
  return b().select(b().feq(row_max, number(kMasked)), number(0), b().fdiv(number(1), weights));
}

Value FusedAttention::rounded_bits(Value weights) {
  const Value narrow = dtype_ == DType::f16
                           ? b().bitcast(b().fptrunc(weights, Scalar::f16), Scalar::i16)
                           : kir::math::f32_to_bf16_bits(b(), weights);
  return b().zext(narrow, Scalar::i32);
}

// One vector where the elements are inside y and its stores are aligned, else element by element.
void FusedAttention::store_vector(Value batch, Value row, Value column,
                                  std::span<const Value> values) {
  ElementEmitter::Scope scope(e_);
  const Value in_rows = b().slt(row, f_.param(queries_));
  std::vector<Value> columns;
  for (size_t i = 0; i < values.size(); ++i)
    columns.push_back(b().add(column, constant(static_cast<int64_t>(i))));
  const auto by_elements = [&] {
    for (size_t i = 0; i < values.size(); ++i) {
      ElementEmitter::Scope inner(e_);
      f_.set_mask(b().and_(in_rows, b().slt(columns[i], f_.param(columns_))));
      y_.store(values[i], y_.at(batch, row, columns[i]));
      f_.set_mask({});
    }
    return Values{};
  };
  if (!vector_stores_.valid()) {
    by_elements();
    return;
  }
  b().if_else(
      b().and_(vector_stores_, b().and_(in_rows, b().slt(columns.back(), f_.param(columns_)))),
      [&] {
        ElementEmitter::Scope inner(e_);
        std::vector<Indices> at;
        for (const Value c : columns) at.push_back(y_.at(batch, row, c));
        y_.store_vector(values, at);
        return Values{};
      },
      by_elements);
}

void FusedAttention::store_logarithm(Value batch, Value row, Value row_max, Value weights,
                                     Value first) {
  if (log_roots_.empty()) return;
  ElementEmitter::Scope scope(e_);
  const Value natural = b().fmul(row_max, number(late_scale() * std::numbers::ln2));
  const Value sum = b().fadd(natural, kir::math::log(b(), weights));
  const Value v = b().select(b().feq(row_max, number(kMasked)), row_max, sum);
  Indices at(rank_ - 1);
  const SymInts& sizes = g_.type(n_.results[1]).shape;
  delinearize(f_, batch, roles_[0].batch, sizes, at);
  delinearize(f_, row, roles_[0].free, sizes, at);
  f_.set_mask(b().and_(first, b().slt(row, f_.param(queries_))));
  for (const Root& r : log_roots_)
    f_.store(r.out.buffer, DType::f32, element_address(f_, r.out, at), {v, {}});
  f_.set_mask({});
}

}  // namespace primset::schedule
