// One element of long rows, as steps of a program.
#include <algorithm>
#include <limits>

#include "codegen/schedule/families/sort/radix_select.h"
#include "codegen/schedule/families/sort/select_family.h"
#include "codegen/schedule/families/sort/sort_costs.h"
#include "codegen/schedule/families/sort/sort_families.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

bool can_radix_select(const Machine& machine, DType key) {
  const kir::TargetModel& target = machine.target;
  const auto copies = static_cast<uint32_t>(machine.tuning.sort.counter_copies);
  return target.simt && (target.i64 || byte_size(key) < 8) && target.max_group_threads >= kDigits &&
         target.group_memory >= 2 * 4 * copies * (kDigits + 1);
}

RadixTile select_tile(const Machine& machine, DType key) {
  RadixTile tile;
  tile.threads = std::min(machine.target.group_threads, kDigits);
  tile.items = static_cast<uint32_t>(machine.tuning.sort.select_bytes) /
               std::max(uint32_t{4}, static_cast<uint32_t>(byte_size(key)));
  return tile;
}

namespace {

class RadixSelectFamily : public SelectFamily {
 public:
  std::string_view name() const override { return "radix_select"; }

  // Rows that do not fit into a workgroup's memory, of places that fit 32 bits. What the primitives
  // are made of takes two bits a pass.
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    if (!selects(n)) return std::nullopt;
    const auto& type = g.type(n.operands[0]);
    if (!can_radix_select(machine, type.dtype) || is_grouped(g, n, machine)) return std::nullopt;
    const SymInt& length = type.shape[static_cast<size_t>(n.attr<int64_t>("dim"))];
    if (!(SymInt(0) < length && length < SymInt(std::numeric_limits<int32_t>::max())))
      return std::nullopt;
    return radix_select_cost(sort_size(g, n));
  }

  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const prims::NodeId node = group.anchor;
    const RadixSelect select = request(b, group);
    b.launch(select_clear_kernel(b.context("select_clear"), select), node);
    const int bits = 8 * static_cast<int>(byte_size(select.rows.key));
    for (int shift = bits - kDigitBits; shift >= 0; shift -= kDigitBits) {
      const bool first = shift + kDigitBits == bits;
      b.launch(select_count_kernel(b.context("select_count"), select, shift, first), node);
      b.launch(select_pick_kernel(b.context("select_pick"), select, shift, first), node);
    }
    b.launch(select_find_kernel(b.context("select_find"), select), node);
    b.launch(select_store_kernel(b.context("select_store"), select), node);
  }

 private:
  static RadixSelect request(ProgramBuilder& b, const FusionGroup& group) {
    const prims::Node& n = b.graph().node(group.anchor);
    const auto& type = b.graph().type(n.operands[0]);
    RadixSelect select;
    RadixSort& rows = select.rows;
    rows.node = group.anchor;
    rows.shape = type.shape;
    rows.dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    rows.key = type.dtype;
    rows.tile = select_tile(b.machine(), type.dtype);
    const SymInt count = rows.rows();
    rows.totals = b.scratch(DType::i32, count * SymInt(kDigits), "digits");
    select.keys = b.placement(n.operands[0]).value();
    select.nans = b.scratch(DType::i32, count, "NaN");
    select.wanted = b.scratch(DType::i32, count, "wanted");
    select.prefix = b.scratch(select.prefix_dtype(), count, "digits found");
    select.found = b.scratch(DType::i32, count, "place");
    select.results = wanted_results(b, group);
    return select;
  }
};

const RadixSelectFamily kRadixSelect;

}  // namespace

const Family& radix_select_family = kRadixSelect;

}  // namespace primset::schedule
