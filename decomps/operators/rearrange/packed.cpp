// Sequences of different lengths: padded to one length, packed step by step, or jagged, one after
// another.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/rearrange.h"

namespace primset::decomps {
namespace {

// x with a condition on its first dims.
Val where_leading(const Val& condition, const Val& x, const Val& otherwise) {
  Val c = condition;
  while (c.rank() < x.rank()) c = unsqueeze(c, c.rank());
  return where(c, x, otherwise);
}

Val swapped(const Val& x) {
  std::vector<int64_t> order = dims_from(0, x.rank());
  std::swap(order[0], order[1]);
  return transpose(x, order);
}

Val clamped_place(const Val& place, const SymInt& size) {
  return binary(Prim::max, binary(Prim::min, place, full_like(place, size - 1)),
                full_like(place, 0));
}

Val rows_at(const Val& x, const std::vector<Val>& places, const char* name) {
  Tracer& t = x.tracer();
  std::vector<ValueId> ids;
  for (const Val& p : places) ids.push_back(p.id());
  return t.wrap(
      t.builder().gather(x.id(), ids, dims_from(0, static_cast<int64_t>(ids.size())), true, name));
}

void require_lengths_vector(const Val& lengths) {
  require(lengths.rank() == 1 && lengths.dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("'lengths' argument should be a 1D CPU int64 tensor, but got {}D {} tensor",
                      lengths.rank(), aten_name(lengths.dtype())));
}

// Of steps with `sizes` rows each, [time]: where each step begins.
Val step_starts(Tracer& t, const Val& sizes) {
  return t.wrap(t.builder().scan(Prim::scan_sum, sizes.id(), 0)[0]) - sizes;
}

void check_lengths(const Val& lengths, const SymInt& time) {
  check(gt(lengths, Scalar(0)), lengths, ErrorCode::runtime,
        "Length of all samples has to be greater than 0, but found an element in 'lengths' that is "
        "<= 0");
  check(le(lengths, full_like(lengths, time)), lengths, ErrorCode::runtime,
        "Expected lengths within the padded sequences, but found {value}");
  const SymInt rest = lengths.size(0) - 1;
  const Val next = slice(lengths, 0, 1, rest + 1, 1), here = slice(lengths, 0, 0, rest, 1);
  check(ge(here, next), next, ErrorCode::runtime,
        "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
        "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
        "requirement if you do not need ONNX exportability.");
}

}  // namespace

// The places whose step is below their sequence's length, step by step; how many these and the
// steps are is known when the lengths are.
std::tuple<Val, Val> _pack_padded_sequence::decompose(Tracer& t, const Val& input,
                                                      const Val& lengths, bool batch_first) {
  require(!input.is_empty(), ErrorCode::runtime, "Cannot pack empty tensors.");
  require_lengths_vector(lengths);
  require(input.rank() >= 2, ErrorCode::runtime,
          fmt::format("Expected padded sequences of at least 2 dims, but got {}",
                      shape_text(input.shape())));
  const Val x = batch_first ? swapped(input) : input;
  const SymInt time = x.size(0), batch = x.size(1);
  require(lengths.size(0) == batch, ErrorCode::runtime,
          fmt::format("Expected `len(lengths)` to be equal to batch_size, but got {} "
                      "(batch_size={})",
                      lengths.size(0).hint(), batch.hint()));
  check_lengths(lengths, time);
  const SymInts steps = {time, batch}, flat = {time * batch};
  const Val active = lt(t.iota(steps, 0, DType::i64), lengths);
  const auto packed = t.prim(Prim::compact, {t.iota(flat, 0, DType::i64), reshape(active, flat)});
  SymInts rows = x.shape();
  rows.erase(rows.begin());
  rows[0] = flat[0];
  const Val data = rows_at(reshape(x, rows), {clamped_place(packed[0], flat[0])}, "lengths");
  const Val sizes = reduce(Prim::reduce_sum, convert(active, DType::i64), {1}, false);
  const Val longest = reduce(Prim::reduce_max, lengths, {0}, false);
  return {t.wrap(t.builder().set_dim(data.id(), packed[1].id(), 0)),
          t.wrap(t.builder().set_dim(sizes.id(), longest.id(), 0))};
}

namespace {

// [time, batch, ...] of packed rows; `otherwise` where a sequence has ended.
Val unpacked(Tracer& t, const Val& data, const Val& batch_sizes, const SymInt& time,
             const SymInt& batch, const Val& otherwise) {
  const SymInt given = batch_sizes.size(0);
  const SymInts steps = {time, batch};
  if (given == SymInt(0) || data.is_empty()) {
    SymInts shape = data.shape();
    shape[0] = batch;
    shape.insert(shape.begin(), time);
    return broadcast_to(otherwise, shape);
  }
  const Val step = t.iota(steps, 0, DType::i64), place = t.iota(steps, 1, DType::i64);
  const Val known = clamped_place(step, given);
  const Val row = rows_at(step_starts(t, batch_sizes), {known}, "batch_sizes") + place;
  const Val active =
      lt(step, full_like(step, given)) & lt(place, rows_at(batch_sizes, {known}, "batch_sizes"));
  const Val x = rows_at(data, {clamped_place(row, data.size(0))}, "batch_sizes");
  return where_leading(active, x, otherwise);
}

}  // namespace

Val _pack_padded_sequence_backward::decompose(Tracer& t, const Val& grad, const SymInts& input_size,
                                              const Val& batch_sizes, bool batch_first) {
  require_lengths_vector(batch_sizes);
  require(
      input_size.size() >= 2, ErrorCode::runtime,
      fmt::format("Expected an input_size of at least 2 dims, but got {}", shape_text(input_size)));
  const SymInt &time = input_size[batch_first ? 1 : 0], &batch = input_size[batch_first ? 0 : 1];
  const Val x = unpacked(t, grad, batch_sizes, time, batch, t.constant(0, grad.dtype()));
  return batch_first ? swapped(x) : x;
}

// How many sequences there are stands in batch_sizes. An eager call reads it and takes as many of
// the rows as begin; here there may be one for each row.
std::tuple<Val, Val> _pad_packed_sequence::decompose(Tracer& t, const Val& data,
                                                     const Val& batch_sizes, bool batch_first,
                                                     const ScalarArg& padding_value,
                                                     int64_t total_length) {
  require_lengths_vector(batch_sizes);
  require(!batch_sizes.is_empty(), ErrorCode::runtime,
          "_pad_packed_sequence: expected batch_sizes of a step at least, but got none");
  const SymInt steps = batch_sizes.size(0), time = total_length > 0 ? SymInt(total_length) : steps;
  require(time >= steps, ErrorCode::runtime,
          fmt::format("Expected total_length to be at least the length of the longest sequence in "
                      "input, but got total_length={} and max sequence length being {}",
                      total_length, steps.hint()));
  const SymInt most = data.size(0) - steps + 1;
  const Val x = unpacked(t, data, batch_sizes, time, most, t.scalar(padding_value, data.dtype()));
  const Val batch = select(batch_sizes, 0, 0);
  const Val numbers = t.iota({steps, most}, 1, DType::i64);
  const Val active = lt(numbers, unsqueeze(batch_sizes, 1));
  const Val lengths = reduce(Prim::reduce_sum, convert(active, DType::i64), {0}, false);
  const Val padded = batch_first ? swapped(x) : x;
  return {t.wrap(t.builder().set_dim(padded.id(), batch.id(), batch_first ? 0 : 1)),
          t.wrap(t.builder().set_dim(lengths.id(), batch.id(), 0))};
}

// --- jagged ---

namespace {

// Offsets of any dtype, as i64.
Val one_jagged_dim(const std::vector<Val>& offsets, size_t lengths, const char* op) {
  require(offsets.size() == 1 && lengths == 1, ErrorCode::runtime,
          fmt::format("{}(): only a single jagged dim is supported for now", op));
  require(offsets[0].rank() == 1 && offsets[0].size(0) >= SymInt(1), ErrorCode::runtime,
          fmt::format("{}(): expected offsets to be a vector, but got one of size {}", op,
                      shape_text(offsets[0].shape())));
  return convert(offsets[0], DType::i64);
}

}  // namespace

Val _jagged_to_padded_dense_forward::decompose(Tracer& t, const Val& values,
                                               const std::vector<Val>& offsets,
                                               const SymInts& max_lengths,
                                               const ScalarArg& padding_value) {
  const Val bounds = one_jagged_dim(offsets, max_lengths.size(), "_jagged_to_padded_dense_forward");
  const SymInt count = bounds.size(0) - 1;
  const SymInts shape = {count, max_lengths[0]};
  const Val row = unsqueeze(slice(bounds, 0, 0, count, 1), 1) + t.iota(shape, 1, DType::i64);
  const Val inside = lt(row, unsqueeze(slice(bounds, 0, 1, count + 1, 1), 1));
  const Val padding = t.scalar(padding_value, values.dtype());
  if (values.size(0) == SymInt(0)) {
    SymInts all = values.shape();
    all.erase(all.begin());
    all.insert(all.begin(), shape.begin(), shape.end());
    return broadcast_to(padding, all);
  }
  const Val x = rows_at(values, {clamped_place(row, values.size(0))}, "offsets");
  return where_leading(inside, x, padding);
}

Val _padded_dense_to_jagged_forward::decompose(Tracer& t, const Val& dense,
                                               const std::vector<Val>& offsets,
                                               const std::optional<SymInt>& total_L) {
  constexpr const char* kName = "_padded_dense_to_jagged_forward";
  const Val bounds = one_jagged_dim(offsets, 1, kName);
  require(total_L.has_value(), ErrorCode::not_implemented,
          fmt::format("{}(): without total_L the size of the result depends on the values of "
                      "offsets; pass total_L",
                      kName));
  require(
      *total_L >= SymInt(0), ErrorCode::runtime,
      fmt::format("{}(): expected a total_L of at least 0, but got {}", kName, total_L->hint()));
  require(dense.rank() >= 2, ErrorCode::runtime,
          fmt::format("{}(): expected a padded tensor of at least 2 dims, but got {}", kName,
                      shape_text(dense.shape())));
  const SymInt count = bounds.size(0) - 1;
  const Val starts = slice(bounds, 0, 0, count, 1), ends = slice(bounds, 0, 1, count + 1, 1);
  const Val last = select(bounds, 0, count);
  check(eq(last, full_like(last, *total_L)), last, ErrorCode::runtime,
        fmt::format("{}(): final offset should match total_L value", kName));
  check(le(ends - starts, full_like(ends, dense.size(1))), ends - starts, ErrorCode::runtime,
        fmt::format("{}(): found batch item of length {{value}} when max length specified by "
                    "padded input is {}",
                    kName, dense.size(1).hint()));
  if (dense.is_empty() || count == SymInt(0)) {
    SymInts shape = dense.shape();
    shape.erase(shape.begin());
    shape[0] = *total_L;
    return zeros(t, shape, dense.dtype());
  }
  const Val row = t.iota({*total_L}, 0, DType::i64);
  const Val found = bounds_up_to(ends, *total_L);
  const Val item = clamped_place(found, count);
  const Val place = clamped_place(row - rows_at(starts, {item}, "offsets"), dense.size(1));
  return rows_at(dense, {item, place}, "offsets");
}

}  // namespace primset::decomps
