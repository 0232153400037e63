// Long rows sorted digit by digit, as steps of a program.
#include <algorithm>
#include <limits>

#include "codegen/schedule/families/sort/radix_sort.h"
#include "codegen/schedule/families/sort/sort_costs.h"
#include "codegen/schedule/families/sort/sort_families.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
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

void radix_pass(ProgramBuilder& b, const RadixSort& sort, const RadixPass& pass) {
  b.launch(radix_count_kernel(b.context("radix_count"), sort, pass), sort.node);
  b.launch(radix_offsets_kernel(b.context("radix_offsets"), sort), sort.node);
  b.launch(radix_scatter_kernel(b.context("radix_scatter"), sort, pass), sort.node);
}

// `last` is the last pass, which writes the results.
void radix_passes(ProgramBuilder& b, const RadixSort& sort, RadixPass last) {
  const prims::Node& n = b.graph().node(sort.node);
  RadixPass pass;
  pass.keys = b.placement(n.operands[0]).value();
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
          return Placement{b.scratch(dtype, prims::product(sort.shape), note), strides, 0};
        };
        sides.emplace_back(array(sort.key, "keys"), Placement{});
        if (pass.moves_positions) sides.back().second = array(sort.place, "positions");
      }
      pass.to_keys = sides[side].first;
      pass.to_positions = sides[side].second;
    }
    radix_pass(b, sort, pass);
    pass.keys = pass.to_keys;
    if (pass.moves_positions) pass.positions = pass.to_positions;
  }
}

class RadixSortFamily : public Family {
 public:
  std::string_view name() const override { return "radix_sort"; }

  // Long rows, where the device can. Which rows are long depends on their length alone, so that a
  // plan's guard holds for any number of rows. The decision is made here, so the cost is zero.
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    if (n.prim != prims::Prim::sort) return std::nullopt;
    if (is_grouped(g, n, machine)) return std::nullopt;
    const SymInt& length = g.type(n.operands[0]).shape[static_cast<size_t>(n.attr<int64_t>("dim"))];
    const auto tile = radix_tile(machine, g.type(n.operands[0]).dtype, DType::i64);
    if (!tile || length <= SymInt(longest_merged_row(sort_size(g, n), *tile, machine)))
      return std::nullopt;
    return Cost{0, 0, 0};
  }

  // Other arrays than the keys are read by the sorted positions, in the last pass.
  OperandUse operand(const prims::Graph&, const prims::Node&, size_t index,
                     const Machine&) const override {
    return index == 0 ? OperandUse::in_memory : OperandUse::inlined;
  }

  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    RadixSort sort = request(b, group.anchor);
    const SymInt digits = sort.rows() * SymInt(kDigits);
    sort.counts = b.scratch(sort.place, digits * sort.tiles(), "digits of tiles");
    sort.totals = b.scratch(sort.place, digits, "digits");
    RadixPass last;
    last.results = wanted_results(b, group);
    radix_passes(b, sort, std::move(last));
  }

 private:
  static RadixSort request(const ProgramBuilder& b, prims::NodeId id) {
    const prims::Node& n = b.graph().node(id);
    RadixSort sort;
    sort.node = id;
    sort.shape = b.graph().type(n.operands[0]).shape;
    sort.dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    sort.key = b.graph().type(n.operands[0]).dtype;
    sort.descending = n.attr<bool>("descending");
    const SymInt& length = sort.shape[sort.dim];
    const bool narrow =
        b.options().index32 || length <= SymInt(std::numeric_limits<int32_t>::max());
    sort.place = narrow ? DType::i32 : DType::i64;
    sort.tile = *radix_tile(b.machine(), sort.key, sort.place);
    return sort;
  }
};

const RadixSortFamily kRadixSort;

}  // namespace

const Family& radix_sort_family = kRadixSort;

}  // namespace primset::schedule
