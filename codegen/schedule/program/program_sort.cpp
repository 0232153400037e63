// Steps that sort.
#include <algorithm>
#include <limits>
#include <set>

#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

using prims::SymInt;
using prims::SymInts;
using prims::ValueId;

void ProgramBuilder::sort(NodeId id, const std::vector<Root>& roots) {
  if (!radix_sort(id, roots)) merge_sort(id, roots);
}

void ProgramBuilder::merge_sort(NodeId id, const std::vector<Root>& roots) {
  const Node& n = g_.node(id);
  const SymInts shape = g_.type(n.operands[0]).shape;
  const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  SortRequest r{id, 1, shape[dim], 1, {}, {}, 0};
  for (size_t d = 0; d < shape.size(); ++d)
    (d < dim ? r.rows : r.inner) *= d == dim ? SymInt(1) : shape[d];
  // The arrays are sorted where they are to stay when that place is dense, else in a temporary.
  std::vector<Placement> places;
  for (size_t k = 0; k < n.operands.size(); ++k) {
    const ValueId result = n.results[k];
    auto root =
        std::find_if(roots.begin(), roots.end(), [&](const Root& x) { return x.value == result; });
    const bool direct =
        root != roots.end() && same_shape(root->out.strides, dense(0, shape).strides);
    places.push_back(direct ? root->out : temp(result));
    copy_into(n.operands[k], places.back());
    r.arrays.push_back(places.back().buffer);
    r.others.push_back(new_buffer(
        {Buffer::Kind::temp, 0, g_.type(result).dtype, prims::product(shape), "merged"}));
  }
  // Original positions, which make the order of equal keys that of the input.
  for (std::vector<BufferId>* arrays : {&r.arrays, &r.others})
    arrays->push_back(
        new_buffer({Buffer::Kind::temp, 0, DType::i64, prims::product(shape), "positions"}));
  launch(positions_kernel(context("pointwise"), shape, dim, dense(r.arrays.back(), shape)), id);
  merge_passes(r);
  for (size_t k = 0; k < n.results.size(); ++k) places_.emplace(n.results[k], places[k]);
  for (const Root& root : roots) {
    if (places_.at(root.value).buffer != root.out.buffer) copy_into(root.value, root.out);
  }
}

void ProgramBuilder::merge_passes(SortRequest r) {
  launch(sort_runs_kernel(context("sort"), r), r.node);
  prims::SymContext& symbols = g_.context();
  r.round = symbols.symbol("sort_round", 0, 0);
  LoopStep loop{sort_rounds(r, target_), *symbols.as_symbol(r.round), {}};
  std::vector<Step>* before = steps_;
  steps_ = &loop.body;
  looped([&] {
    for (const bool back : {false, true})
      launch(merge_runs_kernel(context("merge"), r, back), r.node);
  });
  steps_ = before;
  steps_->push_back({std::move(loop)});
}

namespace {

// Rows along `dim` dense in memory, one behind the other.
SymInts row_strides(const SymInts& shape, size_t dim) {
  SymInts strides(shape.size());
  strides[dim] = 1;
  SymInt step = shape[dim];
  for (size_t d = shape.size(); d-- > 0;) {
    if (d == dim) continue;
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

}  // namespace

// Of long rows, where the device can. What nobody asks for is not made.
bool ProgramBuilder::radix_sort(NodeId id, const std::vector<Root>& roots) {
  const Node& n = g_.node(id);
  RadixSort sort;
  sort.node = id;
  sort.shape = g_.type(n.operands[0]).shape;
  sort.dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  sort.key = g_.type(n.operands[0]).dtype;
  sort.descending = n.attr<bool>("descending");
  const SymInt length = sort.shape[sort.dim];
  if (!radix_tile(target_, sort.key, DType::i64) || length <= SymInt(options_.radix_length))
    return false;
  const bool narrow = options_.index32 || length <= SymInt(std::numeric_limits<int32_t>::max());
  sort.place = narrow ? DType::i32 : DType::i64;
  sort.tile = *radix_tile(target_, sort.key, sort.place);
  const auto scratch = [&](DType dtype, const SymInt& elements, const char* note) {
    return new_buffer({Buffer::Kind::temp, 0, dtype, elements, note});
  };
  const SymInt digits = sort.rows() * SymInt(kDigits);
  sort.counts = scratch(sort.place, digits * sort.tiles(), "digits of tiles");
  sort.totals = scratch(sort.place, digits, "digits");

  RadixPass pass;
  for (size_t k = 0; k < n.results.size(); ++k) {
    const auto root = std::ranges::find(roots, n.results[k], &Root::value);
    const bool wanted =
        root != roots.end() || users_.count(n.results[k]) != 0 || is_output(n.results[k]);
    if (wanted) pass.results.push_back({k, root != roots.end() ? root->out : temp(n.results[k])});
  }
  radix_passes(sort, std::move(pass));
  return true;
}

// `last` knows the results.
void ProgramBuilder::radix_passes(const RadixSort& sort, RadixPass last) {
  const Node& n = g_.node(sort.node);
  if (!viewed(n.operands[0])) materialize(n.operands[0]);
  RadixPass pass;
  pass.keys = viewed(n.operands[0]).value();
  pass.moves_positions = last.results.size() > 1 || last.results[0].number != 0;
  const int bits = 8 * static_cast<int>(byte_size(sort.key));
  const SymInts strides = row_strides(sort.shape, sort.dim);
  std::vector<std::pair<Placement, Placement>> sides;  // keys and positions, to and fro
  for (; pass.shift < bits; pass.shift += kDigitBits) {
    if (pass.shift + kDigitBits == bits) {
      pass.results = std::move(last.results);
    } else {
      const size_t side = static_cast<size_t>(pass.shift / kDigitBits) % 2;
      if (side == sides.size()) {
        const auto array = [&](DType dtype, const char* note) {
          return Placement{
              new_buffer({Buffer::Kind::temp, 0, dtype, prims::product(sort.shape), note}),
              strides};
        };
        sides.emplace_back(array(sort.key, "keys"), Placement{});
        if (pass.moves_positions) sides.back().second = array(sort.place, "positions");
      }
      pass.to_keys = sides[side].first;
      pass.to_positions = sides[side].second;
    }
    radix_pass(sort, pass);
    pass.keys = pass.to_keys;
    if (pass.moves_positions) pass.positions = pass.to_positions;
  }
  for (const RadixPass::Result& r : pass.results) places_.emplace(n.results[r.number], r.out);
}

void ProgramBuilder::radix_pass(const RadixSort& sort, const RadixPass& pass) {
  std::set<ValueId> needed, seen;
  for (const RadixPass::Result& r : pass.results) {
    if (r.number != 0) frontier(g_.node(sort.node).operands[r.number], needed, seen);
  }
  for (ValueId u : needed) materialize(u);
  launch(radix_count_kernel(context("radix_count"), sort, pass), sort.node);
  launch(radix_offsets_kernel(context("radix_offsets"), sort), sort.node);
  launch(fused([&] { return radix_scatter_kernel(context("radix_scatter"), sort, pass); }),
         sort.node);
}

}  // namespace primset::schedule
