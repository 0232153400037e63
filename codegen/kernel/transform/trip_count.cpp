#include "codegen/kernel/transform/trip_count.h"

#include <algorithm>
#include <cstring>

namespace primset::kir {
namespace {

using Wide = __int128;

// The values that an integer may have, both ends included.
struct Range {
  int64_t low = INT64_MIN, high = INT64_MAX;
  bool negative() const { return low < 0; }
};

Range all_of(Scalar s) {
  if (s == Scalar::i1) return {0, 1};
  const int bits = is_int(s) ? width(s) : 64;
  if (bits == 64) return {};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

int64_t signed_bits(uint64_t value, Scalar s) {
  const int unused = 64 - width(s);
  return static_cast<int64_t>(value << unused) >> unused;
}

uint64_t saturated(Wide iterations) {
  return iterations >= Wide{kUnbounded} ? kUnbounded : static_cast<uint64_t>(iterations);
}

class Counter {
 public:
  Counter(const Kernel& kernel, std::span<const uint32_t, 3> groups,
          std::span<const std::byte> scalars)
      : k_(kernel),
        groups_(groups),
        scalars_(scalars),
        layout_(param_layout(kernel.params)),
        maker_(kernel.types.size(), nullptr) {
    ranges_.reserve(kernel.types.size());
    for (const Type& t : kernel.types) ranges_.push_back(all_of(t.scalar));
  }

  uint64_t block(BlockId id) {
    Wide sum = 0;
    for (InstId i : k_.blocks[id].insts) sum += inst(k_.insts[i]);
    return saturated(sum);
  }

 private:
  uint64_t inst(const Inst& i) {
    switch (i.op) {
      case Op::For:
        return for_loop(i);
      case Op::While:
        return saturated(Wide{kWhileIterations} *
                         (Wide{1} + block(i.regions[0]) + block(i.regions[1])));
      case Op::If:  // threads that go both ways go together
        return saturated(Wide{block(i.regions[0])} + block(i.regions[1]));
      default:
        if (i.results.size() == 1) evaluate(i);
        return 0;
    }
  }

  uint64_t for_loop(const Inst& i) {
    const Range first = range(i.operands[0]), last = range(i.operands[1]);
    const Range step = range(i.operands[2]);
    ranges_[k_.blocks[i.regions[0]].params[0].id] = {
        first.low, std::max(first.low, last.high) - (last.high > first.low ? 1 : 0)};
    const Wide inner = Wide{1} + block(i.regions[0]);
    if (last.high <= first.low) return 1;
    if (step.low < 1) return kUnbounded;
    const Wide iterations = (Wide{last.high} - first.low + step.low - 1) / step.low;
    return saturated(iterations * inner + 1);
  }

  Range range(Value v) const { return ranges_[v.id]; }

  void evaluate(const Inst& i) {
    const Value result = i.results[0];
    const Type type = k_.type(result);
    maker_[result.id] = &i;
    if (!is_int(type.scalar) || type.is_vector()) return;
    const Range every = all_of(type.scalar);
    const auto [low, high] = value_of(i, type.scalar);
    // What wraps around may be anything.
    if (low >= every.low && high <= every.high)
      ranges_[result.id] = {static_cast<int64_t>(low), static_cast<int64_t>(high)};
  }

  struct WideRange {
    Wide low, high;
  };
  static WideRange wide(Range r) { return {r.low, r.high}; }

  // Interval analysis: the range of a result from the ranges of the operands. Computed exactly;
  // what exceeds the type may wrap around, and evaluate() then knows nothing of it.
  WideRange value_of(const Inst& i, Scalar type) const {
    switch (i.op) {
      case Op::Const: {
        const int64_t v = type == Scalar::i1 ? static_cast<int64_t>(i.imm.bits & 1)
                                             : signed_bits(i.imm.bits, type);
        return {v, v};
      }
      case Op::Param: {
        const int64_t v = param(i.imm.index, type);
        return {v, v};
      }
      case Op::GroupId:
        return {0, Wide{groups_[i.imm.index]} - 1};
      case Op::GroupCount:
        return {groups_[i.imm.index], groups_[i.imm.index]};
      case Op::LocalId:
        return {0, Wide{k_.group_size[i.imm.index]} - 1};
      case Op::SExt:
      case Op::Trunc:
        return wide(range(i.operands[0]));
      case Op::ZExt: {
        const Range x = range(i.operands[0]);
        return x.negative() ? wide(all_of(type)) : wide(x);
      }
      case Op::Select:
        return choice(i);
      default:
        return info(i.op).group == Group::IntBinary ? arithmetic(i, type) : wide(all_of(type));
    }
  }

  int64_t param(uint32_t index, Scalar type) const {
    int64_t value = 0;
    std::memcpy(&value, scalars_.data() + layout_.offsets[index] - 8 * layout_.pointers,
                static_cast<size_t>(bytes(type)));
    return signed_bits(static_cast<uint64_t>(value), type);
  }

  WideRange arithmetic(const Inst& i, Scalar type) const {
    const Range x = range(i.operands[0]), y = range(i.operands[1]);
    const WideRange any = wide(all_of(type));
    switch (i.op) {
      case Op::Add:
        return {Wide{x.low} + y.low, Wide{x.high} + y.high};
      case Op::Sub:
        return {Wide{x.low} - y.high, Wide{x.high} - y.low};
      case Op::Mul: {
        const auto [low, high] = std::minmax({Wide{x.low} * y.low, Wide{x.low} * y.high,
                                              Wide{x.high} * y.low, Wide{x.high} * y.high});
        return {low, high};
      }
      case Op::SDiv:
      case Op::UDiv:
        if (x.negative() || y.low < 1) return any;
        return {x.low / y.high, x.high / y.low};
      case Op::SRem:
      case Op::URem:
        if (x.negative() || y.low < 1) return any;
        return {0, std::min(x.high, y.high - 1)};
      case Op::And:
        if (x.negative() && y.negative()) return any;
        return {0, std::min(x.negative() ? INT64_MAX : x.high, y.negative() ? INT64_MAX : y.high)};
      case Op::LShr:
      case Op::AShr:
        if (x.negative() || y.negative() || y.high >= width(type)) return any;
        return {x.low >> y.high, x.high >> y.low};
      case Op::Shl:
        if (x.negative() || y.negative() || y.high >= width(type)) return any;
        return {Wide{x.low} << y.low, Wide{x.high} << y.high};
      default:
        return any;
    }
  }

  // The least and the greatest of two values are written as selects.
  WideRange choice(const Inst& i) const {
    const Value a = i.operands[1], b = i.operands[2];
    const Range x = range(a), y = range(b);
    const Inst* test = maker_[i.operands[0].id];
    if (test && (test->op == Op::SLt || test->op == Op::SLe)) {
      if (test->operands[0] == a && test->operands[1] == b)
        return {std::min(x.low, y.low), std::min(x.high, y.high)};
      if (test->operands[0] == b && test->operands[1] == a)
        return {std::max(x.low, y.low), std::max(x.high, y.high)};
    }
    return {std::min(x.low, y.low), std::max(x.high, y.high)};
  }

  const Kernel& k_;
  std::span<const uint32_t, 3> groups_;
  std::span<const std::byte> scalars_;
  ParamLayout layout_;
  std::vector<Range> ranges_;       // by Value::id
  std::vector<const Inst*> maker_;  // of values that a plain instruction makes
};

}  // namespace

uint64_t max_iterations(const Kernel& kernel, std::span<const uint32_t, 3> groups,
                        std::span<const std::byte> scalars) {
  return Counter(kernel, groups, scalars).block(0);
}

}  // namespace primset::kir
