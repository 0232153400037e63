#include "sdk/runtime/plan/bytecode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "primset/error.h"
#include "sdk/base/floor_mod.h"

namespace primset::runtime {
namespace {

// A divisor of 0 can only come from a number that is not set yet; the result is not used then.
int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

// Sets `overflow` where the result does not fit 64 bits, and leaves it else. Part of every call.
[[gnu::always_inline]] inline int64_t compute(Code::Op op, int64_t a, int64_t b, bool& overflow) {
  int64_t out = 0;
  switch (op) {
    case Code::Op::add:
      overflow |= __builtin_add_overflow(a, b, &out);
      return out;
    case Code::Op::sub:
      overflow |= __builtin_sub_overflow(a, b, &out);
      return out;
    case Code::Op::mul:
      overflow |= __builtin_mul_overflow(a, b, &out);
      return out;
    case Code::Op::floor_div:
      if (b != -1) return floor_div(a, b);
      overflow |= __builtin_sub_overflow(int64_t{0}, a, &out);
      return out;
    case Code::Op::mod:
      return floor_mod(a, b);
    case Code::Op::min:
      return std::min(a, b);
    case Code::Op::max:
      return std::max(a, b);
    case Code::Op::ceil_log2:
      return a <= 1 ? 0 : std::bit_width(static_cast<uint64_t>(a) - 1);
  }
  return 0;
}

}  // namespace

// A size that wrapped would be taken for a small one, and memory outside of a tensor for its own.
void Code::run(std::span<const Inst> insts, int64_t* slots) {
  bool overflow = false;
  for (const Inst& i : insts) slots[i.target] = compute(i.op, slots[i.a], slots[i.b], overflow);
  if (overflow) [[unlikely]]
    throw Error(ErrorCode::runtime,
                "a size, stride or offset does not fit 64 bits; expected less than 2**63");
}

CodeBuilder::CodeBuilder(const prims::SymContext& context, uint32_t symbol_values)
    : context_(context), nodes_(symbol_values) {
  code_.symbol_values = symbol_values;
}

Slot CodeBuilder::add_node(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<Slot>(nodes_.size() - 1);
}

void CodeBuilder::bind(uint32_t symbol, uint32_t index) {
  symbols_.emplace(symbol, index);
}

uint32_t CodeBuilder::bind_dynamic(uint32_t symbol) {
  const auto number = static_cast<uint32_t>(code_.dynamic_slots.size());
  const Slot slot = add_node({false, 0, {number}});
  code_.dynamic_slots.push_back(slot);
  code_.dynamic.emplace_back();
  symbols_[symbol] = slot;
  return number;
}

Slot CodeBuilder::constant(int64_t value) {
  auto [it, fresh] = constants_.try_emplace(value, 0);
  if (fresh) {
    it->second = add_node({true, value, {}});
    code_.constants.push_back({it->second, value});
  }
  return it->second;
}

Slot CodeBuilder::binary(Op op, Slot a, Slot b) {
  if (nodes_[a].constant && nodes_[b].constant) {
    bool overflow = false;
    const int64_t value = compute(op, nodes_[a].value, nodes_[b].value, overflow);
    if (!overflow) return constant(value);  // else the run says so
  }
  const bool commutes =
      op != Op::sub && op != Op::floor_div && op != Op::mod && op != Op::ceil_log2;
  if (commutes && a > b) std::swap(a, b);
  auto [it, fresh] = known_.try_emplace({op, a, b}, 0);
  if (!fresh) return it->second;
  std::vector<uint32_t> depends;
  std::ranges::set_union(nodes_[a].depends, nodes_[b].depends, std::back_inserter(depends));
  const Slot target = it->second = add_node({false, 0, depends});
  const Code::Inst inst{op, target, a, b};
  if (depends.empty()) code_.insts.push_back(inst);
  for (const uint32_t n : depends) code_.dynamic[n].push_back(inst);
  return target;
}

Slot CodeBuilder::slot(const prims::SymInt& value) {
  return value.is_constant() ? constant(value.constant()) : slot_of_poly(context_.poly_of(value));
}

Slot CodeBuilder::slot_of_poly(const prims::SymContext::Poly& poly) {
  make_atoms(poly);
  return sum(poly);
}

// Its atoms have slots.
Slot CodeBuilder::product(const prims::SymContext::Term& term) {
  Slot product = atoms_.at(term.atoms[0]);
  for (size_t i = 1; i < term.atoms.size(); ++i)
    product = binary(Op::mul, product, atoms_.at(term.atoms[i]));
  return term.coefficient == 1 ? product : binary(Op::mul, product, constant(term.coefficient));
}

Slot CodeBuilder::sum(const prims::SymContext::Poly& poly) {
  int64_t offset = 0;
  Slot sum = 0;
  bool any = false;
  for (const auto& term : poly) {
    if (term.atoms.empty()) {
      offset += term.coefficient;
      continue;
    }
    sum = any ? binary(Op::add, sum, product(term)) : product(term);
    any = true;
  }
  if (!any) return constant(offset);
  return offset == 0 ? sum : binary(Op::add, sum, constant(offset));
}

// Gives all atoms of the polynomial slots, those inside of others before them: an atom is made
// when it is met again above operands that have been made by then.
void CodeBuilder::make_atoms(const prims::SymContext::Poly& poly) {
  std::vector<uint32_t> pending;
  const auto add = [&](const prims::SymContext::Poly& p) {
    // The last one added is made first.
    for (auto term = p.rbegin(); term != p.rend(); ++term) {
      for (auto id = term->atoms.rbegin(); id != term->atoms.rend(); ++id) {
        if (!atoms_.contains(*id)) pending.push_back(*id);
      }
    }
  };
  add(poly);
  while (!pending.empty()) {
    const uint32_t id = pending.back();
    const size_t before = pending.size();
    if (!atoms_.contains(id)) {
      add(context_.atom(id).rhs);
      add(context_.atom(id).lhs);
      if (pending.size() != before) continue;
      make_atom(id);
    }
    pending.pop_back();
  }
}

void CodeBuilder::make_atom(uint32_t id) {
  using Kind = prims::SymContext::AtomKind;
  const auto& a = context_.atom(id);
  if (a.kind == Kind::symbol) {
    auto it = symbols_.find(a.symbol);
    if (it == symbols_.end())
      throw Error(ErrorCode::internal, fmt::format("symbol {} has no source in this plan",
                                                   context_.symbol_name(a.symbol)));
    atoms_.emplace(id, it->second);
    return;
  }
  const auto op = [&] {
    switch (a.kind) {
      case Kind::floor_div:
        return Op::floor_div;
      case Kind::mod:
        return Op::mod;
      case Kind::min:
        return Op::min;
      case Kind::max:
        return Op::max;
      case Kind::ceil_log2:
        return Op::ceil_log2;
      case Kind::symbol:
        break;
    }
    throw Error(ErrorCode::internal, "an unknown kind of symbolic integer");
  }();
  // rhs is empty, and so the constant 0, where there is only one operand
  const Slot lhs = sum(a.lhs), rhs = sum(a.rhs);
  atoms_.emplace(id, binary(op, lhs, rhs));
}

Code CodeBuilder::finish() && {
  code_.slots = static_cast<uint32_t>(nodes_.size());
  return std::move(code_);
}

}  // namespace primset::runtime
