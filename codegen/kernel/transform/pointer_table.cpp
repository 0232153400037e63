#include "codegen/kernel/transform/pointer_table.h"

#include <algorithm>

#include "codegen/kernel/ir/builder.h"
#include "primset/error.h"

namespace primset::kir {
namespace {

class TableForm {
 public:
  TableForm(const Kernel& kernel, const TargetModel& target)
      : from_(kernel),
        layout_(param_layout(kernel.params)),
        b_(kernel.name + "_table", target),
        values_(kernel.types.size()) {}

  Kernel run() {
    b_.set_group_size(from_.group_size[0], from_.group_size[1], from_.group_size[2]);
    b_.set_min_groups_per_multiprocessor(from_.min_groups_per_multiprocessor);
    find_entry();
    block(from_.body());
    return std::move(b_).finish();
  }

 private:
  Value entry_address(Value entry) {
    return b_.ptr_add(table_,
                      b_.mul(b_.sext(entry, Scalar::i64), b_.i64(table_entry_bytes(from_))));
  }
  Value field(Type t, uint32_t offset) {
    const auto size = static_cast<uint32_t>(bytes(t));
    return b_.load(t, b_.ptr_add(entry_, b_.i64(offset)), b_.i32(0), size);
  }

  // Bisection: the entry looked for is at or behind `low` and before `high`.
  void find_entry() {
    table_ = b_.pointer_param("table", true, false, true);
    const Value entries = b_.scalar_param("entries", kI32);
    const Value group = b_.group_id(0);
    const auto found = b_.while_loop(
        {b_.i32(0), entries},
        [&](auto range) { return b_.slt(b_.i32(1), b_.sub(range[1], range[0])); },
        [&](auto range) {
          const Value middle = b_.lshr(b_.add(range[0], range[1]), b_.i32(1));
          const Value first = b_.load(kI64, entry_address(middle), b_.i32(0), 8);
          const Value behind = b_.slt(b_.sext(group, Scalar::i64), first);
          return Builder::Values{b_.select(behind, range[0], middle),
                                 b_.select(behind, middle, range[1])};
        });
    entry_ = entry_address(found[0]);
    group_ = b_.sub(group, b_.trunc(field(kI64, 0), Scalar::i32));
  }

  Value param(uint32_t index) {
    const Type t = from_.params[index].type;
    const uint32_t offset = kTableEntryHeader + layout_.offsets[index];
    return t.is_pointer() ? b_.int_to_ptr(field(kI64, offset)) : field(t, offset);
  }

  Value operand(Value v) const { return values_[v.id]; }
  Builder::Values operands(std::span<const Value> from) const {
    Builder::Values out;
    for (Value v : from) out.push_back(operand(v));
    return out;
  }
  void bind(std::span<const Value> from, std::span<const Value> to) {
    for (size_t i = 0; i < from.size(); ++i) values_[from[i].id] = to[i];
  }

  // Returns what the block's yield yields.
  Builder::Values block(const Block& block) {
    for (InstId id : block.insts) {
      const Inst& inst = from_.insts[id];
      if (inst.op == Op::Yield) return operands(inst.operands);
      bind(inst.results, instruction(inst));
    }
    return {};
  }
  Builder::Values region(BlockId id, std::span<const Value> args) {
    bind(from_.blocks[id].params, args);
    return block(from_.blocks[id]);
  }

  // Repeats an instruction in the new kernel. Parameters and the grid come from the entry of the
  // table that the workgroup belongs to.
  Builder::Values instruction(const Inst& inst) {
    const Builder::Values in = operands(inst.operands);
    switch (inst.op) {
      case Op::Param:
        return {param(inst.imm.index)};
      case Op::GroupId:
        return {group_};
      case Op::GroupCount:
        return {b_.trunc(field(kI64, 8), Scalar::i32)};
      case Op::If:
        return b_.if_else(
            in[0], [&] { return region(inst.regions[0], {}); },
            [&] { return region(inst.regions[1], {}); });
      case Op::For:
        return b_.for_loop(in[0], in[1], in[2], {in.begin() + 3, in.end()},
                           [&](Value i, std::span<const Value> carried) {
                             Builder::Values args{i};
                             args.insert(args.end(), carried.begin(), carried.end());
                             return region(inst.regions[0], args);
                           });
      case Op::While:
        return b_.while_loop(
            in, [&](auto carried) { return region(inst.regions[0], carried)[0]; },
            [&](auto carried) { return region(inst.regions[1], carried); });
      default:
        return b_.repeat(inst, from_, in);
    }
  }

  const Kernel& from_;
  const ParamLayout layout_;
  Builder b_;
  std::vector<Value> values_;  // by id in from_
  Value table_, entry_, group_;
};

}  // namespace

uint32_t table_entry_bytes(const Kernel& kernel) {
  return kTableEntryHeader + param_layout(kernel.params).size;
}

bool has_table_form(const Kernel& kernel, const TargetModel& target) {
  return target.i64 && std::ranges::none_of(kernel.insts, [](const Inst& i) {
           return (i.op == Op::GroupId || i.op == Op::GroupCount) && i.imm.index != 0;
         });
}

Kernel table_form(const Kernel& kernel, const TargetModel& target) {
  if (!has_table_form(kernel, target))
    throw Error(ErrorCode::internal, "kernel '" + kernel.name +
                                         "' uses more than one dimension, or its target lacks i64");
  return TableForm(kernel, target).run();
}

}  // namespace primset::kir
