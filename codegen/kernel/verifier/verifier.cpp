// The verifier's walk: structure and scopes. Types are in types.cpp, divergence in
// uniformity.cpp. The rules, each with its test in verifier_test.cpp:
//
//   K1   the kernel's name is a C identifier; the group is not empty, fits the target, and is one
//        thread where the target is not SIMT
//   K2   parameters: pointers to global memory, then i32, i64, f32, f64 scalars; they fit a launch
//   K3   lanes are a power of two up to 128; pointers have one lane
//   K4   a value is used where its definition is in scope, and only after it
//   K5   operand and result counts are the operation's
//   K6   regions: as many as the operation has, each used once, ending in its only yield; the body
//        has no yield
//   K7   what regions take and yield has the types of what is carried and of the results
//   K8   conditions are i1 scalars; loop bounds and steps are of one type, i32 or i64
//   K9   integer operations have integer operands of one type; i1 only in logic
//   K10  floating operations have operands of one type, f32 or f64
//   K11  f16 is stored and converted to and from f32, never computed with
//   K12  a type is used only where the target has it
//   K13  fma only where the target rounds it once
//   K14  comparisons: operands of one type of the right kind, result i1 with as many lanes
//   K15  select: an i1 of one or as many lanes, two values and a result of one type, no pointers
//        but to global memory
//   K16  conversions keep the lanes; source, result and widths are the operation's
//   K17  vector operations: element types, lanes and lane numbers in range
//   K18  addresses: a pointer, and an i32 or i64 index with as many lanes as the access needs
//   K19  memory holds no i1 and no pointers; masks, passthru and values have the access's lanes
//   K20  alignment is a power of two, and for atomics at least the size of the element
//   K21  workgroup and private memory is accessed as its element type and through the alloc itself
//   K22  allocs stand at the top level, are not empty, and fit the target
//   K23  atomics: i32, i64, or f32 and f64 for the floating ones; not in private memory
//   K24  barriers and subgroup operations only on a SIMT target; the xor mask fits the subgroup
//   K25  barriers and subgroup shuffles stand in no divergent control flow
//   K26  a constant fits its type
//   K27  ids: dimension 0 to 2 and type i32; parameters exist and have the type they were declared
//        with
//   K28  a parameter that is loaded from is marked read, one that is stored to written, and an
//        invariant one is not written
//   K29  asynchronous copies only where the target has them: from global memory to workgroup memory
//        as it was made, 4, 8 or 16 bytes, under an i1
//   K30  matrices only where the target has them: loaded from workgroup memory of 16-bit elements,
//        as words; multiplied as vec<i32, 4> and vec<i32, 2>, onto vec<f32, 4>
//   K31  matrices in workgroup memory only where the target multiplies them, by four subgroups;
//        what is begun is waited for
//   K32  cooperative matrices only where the target has them, between workgroup memory of i32,
//        their operations, zero sums and control flow
#include "codegen/kernel/verifier/verifier.h"

#include <bit>
#include <cctype>
#include <span>

#include "codegen/kernel/ir/text.h"
#include "codegen/kernel/verifier/checker.h"
#include "primset/error.h"

namespace primset::kir {

void Checker::fail(const char* rule, const std::string& what) {
  violations.push_back({rule, std::string(rule) + ": " + what});
}

void Checker::fail(const char* rule, const std::string& what, InstId inst, BlockId block) {
  const std::string where = block == 0 ? "the body" : "block " + std::to_string(block);
  fail(rule, what + "; " + print(kernel, inst) + "; in " + where);
}

namespace {

// Thousands of messages help nobody.
constexpr size_t kMaxViolations = 20;

bool is_identifier(const std::string& s) {
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0]))) return false;
  for (char ch : s) {
    if (!std::isalnum(static_cast<unsigned char>(ch)) && ch != '_') return false;
  }
  return true;
}

size_t region_count(Op op) {
  switch (op) {
    case Op::If:
    case Op::While:
      return 2;
    case Op::For:
      return 1;
    default:
      return 0;
  }
}

void check_header(Checker& c) {
  const Kernel& k = c.kernel;
  if (!is_identifier(k.name)) c.fail("K1", "'" + k.name + "' is no C identifier");
  uint64_t threads = 1;
  for (uint32_t n : k.group_size) threads *= n;
  const uint64_t limit = c.target.simt ? c.target.max_group_threads : 1;
  if (threads == 0 || threads > limit) {
    c.fail("K1", "a group of " + std::to_string(threads) + " threads; the target allows 1 to " +
                     std::to_string(limit));
  }
}

// Is all that the type says of its kind, and nothing of another one?
bool is_well_formed(Type t) {
  switch (t.kind) {
    case Type::Kind::number:
      return t == Type{t.scalar, t.lanes} && (t.scalar == Scalar::i1 || is_storable(t.scalar));
    case Type::Kind::pointer:
      return t == Type::pointer(t.space);
    case Type::Kind::matrix:
      break;
  }
  const bool operand = t.scalar == Scalar::f16 || t.scalar == Scalar::bf16;
  return t == kAccumulator ||
         (operand && t.use != MatrixUse::accumulator && t == Type::matrix(t.scalar, t.use));
}

void check_params(Checker& c) {
  bool scalars = false;
  for (const Param& p : c.kernel.params) {
    const Scalar s = p.type.scalar;
    const bool pointer = p.type == kGlobalPointer;
    const bool scalar = p.type == Type{s} && (s == Scalar::i32 || s == Scalar::i64 ||
                                              s == Scalar::f32 || s == Scalar::f64);
    if (p.type.lanes != 1 || (!pointer && !scalar)) {
      c.fail("K2", "parameter '" + p.name + "' has type " + to_string(p.type));
    }
    if (pointer && scalars)
      c.fail("K2", "pointer parameter '" + p.name + "' stands after a scalar");
    if (p.invariant && p.written) {
      c.fail("K28", "parameter '" + p.name + "' is invariant and written");
    }
    scalars |= scalar;
  }
  const uint32_t size = param_layout(c.kernel.params).size;
  if (size > c.target.param_bytes) {
    c.fail("K2", "the parameters take " + std::to_string(size) + " bytes of at most " +
                     std::to_string(c.target.param_bytes));
  }
}

// Follows the blocks and checks structure and scopes, then each sound instruction's types.
class Walk {
 public:
  explicit Walk(Checker& c)
      : c_(c),
        in_scope_(c.kernel.types.size()),
        defined_(c.kernel.types.size()),
        seen_(c.kernel.blocks.size()) {}

  void block(BlockId id) {
    seen_[id] = true;
    const Block& block = c_.kernel.blocks[id];
    std::vector<Value> made;
    for (Value v : block.params) {
      define(v, made, 0, id);
      check_type(v, 0, id);
    }
    for (size_t i = 0; i < block.insts.size() && c_.violations.size() < kMaxViolations; ++i) {
      const InstId inst = block.insts[i];
      if (inst >= c_.kernel.insts.size()) {
        c_.fail("K6", "block " + std::to_string(id) + " lists an instruction that does not exist");
        continue;
      }
      instruction(inst, id, i + 1 == block.insts.size());
      for (Value v : c_.kernel.insts[inst].results) define(v, made, inst, id);
    }
    const bool yields = !block.insts.empty() && block.insts.back() < c_.kernel.insts.size() &&
                        c_.kernel.insts[block.insts.back()].op == Op::Yield;
    if (id != 0 && !yields) c_.fail("K6", "block " + std::to_string(id) + " does not end in yield");
    for (Value v : made) in_scope_[v.id] = false;
  }

 private:
  void define(Value v, std::vector<Value>& made, InstId inst, BlockId block) {
    if (v.id >= defined_.size()) {
      c_.fail("K4", "a result that is no value of the kernel", inst, block);
      return;
    }
    if (defined_[v.id]) c_.fail("K4", "a value is defined twice", inst, block);
    defined_[v.id] = in_scope_[v.id] = true;
    made.push_back(v);
  }

  void check_type(Value v, InstId inst, BlockId block) {
    if (v.id >= defined_.size()) return;
    const Type t = c_.kernel.types[v.id];
    if (t.lanes == 0 || t.lanes > 128 || !std::has_single_bit(t.lanes) || !is_well_formed(t)) {
      c_.fail("K3", "no value can have type " + to_string(t), inst, block);
    }
  }

  void instruction(InstId id, BlockId block, bool last) {
    const Inst& inst = c_.kernel.insts[id];
    const OpInfo& op = info(inst.op);
    const size_t before = c_.violations.size();
    for (Value v : inst.operands) {
      if (v.id >= in_scope_.size() || !in_scope_[v.id]) {
        c_.fail("K4", "an operand is not defined before this use", id, block);
      }
    }
    for (Value v : inst.results) {
      if (v.id >= defined_.size()) return;  // define() says so
      check_type(v, id, block);
    }
    const auto fits = [](int wants, size_t has) {
      return wants < 0 || static_cast<size_t>(wants) == has;
    };
    if (!fits(op.operands, inst.operands.size()) || !fits(op.results, inst.results.size()) ||
        (inst.op == Op::For && inst.operands.size() < 3)) {
      c_.fail("K5", std::string(op.text) + " with a wrong number of operands or results", id,
              block);
    }
    if (inst.op == Op::Yield && (block == 0 || !last)) {
      c_.fail("K6", "yield ends a region and stands nowhere else", id, block);
    }
    if (op.group == Group::Alloc && block != 0) {
      c_.fail("K22", "an alloc stands at the top level only", id, block);
    }
    if (c_.violations.size() != before) return;
    check_types(c_, id, block);
    regions(id, block);
  }

  void regions(InstId id, BlockId block) {
    const Inst& inst = c_.kernel.insts[id];
    if (inst.regions.size() != region_count(inst.op)) {
      c_.fail("K6", std::string(info(inst.op).text) + " with a wrong number of regions", id, block);
      return;
    }
    for (BlockId region : inst.regions) {
      if (region >= seen_.size() || seen_[region]) {
        c_.fail("K6", "a region does not exist or belongs to two instructions", id, block);
        return;
      }
      this->block(region);
    }
    if (c_.violations.empty() && !inst.regions.empty()) carried(id, block);
  }

  std::vector<Type> types(std::span<const Value> values, size_t from = 0) const {
    std::vector<Type> out;
    for (size_t i = from; i < values.size(); ++i) out.push_back(c_.kernel.type(values[i]));
    return out;
  }
  std::vector<Type> yielded(BlockId region) const {
    return types(c_.kernel.insts[c_.kernel.blocks[region].insts.back()].operands);
  }

  // What goes round a loop, or comes out of an arm.
  void carried(InstId id, BlockId block) {
    const Inst& inst = c_.kernel.insts[id];
    const std::vector<Type> results = types(inst.results);
    for (Type t : results) {
      if (t.is_pointer() && t != kGlobalPointer) {
        c_.fail("K7", "only pointers to global memory leave a region", id, block);
      }
    }
    if (inst.op == Op::If) {
      for (BlockId region : inst.regions) {
        expect(c_.kernel.blocks[region].params.empty(), "the arms of if take no values", id, block);
        expect(yielded(region) == results, "an arm of if yields other types than its results", id,
               block);
      }
      return;
    }
    const bool is_for = inst.op == Op::For;
    expect(types(inst.operands, is_for ? 3 : 0) == results,
           "the results are not of the types carried in", id, block);
    std::vector<Type> params = results;
    if (is_for) params.insert(params.begin(), c_.kernel.type(inst.operands[0]));
    for (BlockId region : inst.regions) {
      expect(types(c_.kernel.blocks[region].params) == params,
             "a region takes other types than are carried", id, block);
    }
    expect(yielded(inst.regions.back()) == results, "the body yields other types than are carried",
           id, block);
    if (!is_for && yielded(inst.regions[0]) != std::vector<Type>{kI1}) {
      c_.fail("K8", "the condition of while yields one i1 scalar", id, block);
    }
  }
  void expect(bool ok, const char* what, InstId id, BlockId block) {
    if (!ok) c_.fail("K7", what, id, block);
  }

  Checker& c_;
  std::vector<bool> in_scope_;  // by Value::id
  std::vector<bool> defined_;
  std::vector<bool> seen_;  // by BlockId
};

std::vector<const Inst*> makers_of(const Kernel& kernel) {
  std::vector<const Inst*> makers(kernel.types.size());
  for (const Inst& inst : kernel.insts) {
    for (Value v : inst.results) {
      if (v.id < makers.size()) makers[v.id] = &inst;
    }
  }
  return makers;
}

// Memory of the whole kernel, since allocs share one budget.
void check_memory(Checker& c) {
  // A CPU's private and group memory is its thread's stack.
  constexpr uint64_t kMaxPrivate = 256 << 10;
  uint64_t group = 0, priv = 0;
  for (InstId id : c.kernel.body().insts) {
    const Inst& inst = c.kernel.insts[id];
    const uint64_t size = static_cast<uint64_t>(bytes(inst.imm.elem)) * inst.imm.count;
    if (inst.op == Op::GroupAlloc) group += size;
    if (inst.op == Op::PrivateAlloc) priv += size;
  }
  const uint64_t most = std::max(c.target.group_memory, c.target.large_group_memory);
  if (group > most) {
    c.fail("K22", std::to_string(group) + " bytes of workgroup memory; the target has " +
                      std::to_string(most));
  }
  if (priv > kMaxPrivate) c.fail("K22", std::to_string(priv) + " bytes of private memory");
}

}  // namespace

std::vector<Violation> verify(const Kernel& kernel, const TargetModel& target) {
  Checker c{kernel, target, makers_of(kernel)};
  check_header(c);
  check_params(c);
  if (kernel.blocks.empty()) {
    c.fail("K6", "the kernel has no body");
    return c.violations;
  }
  Walk(c).block(0);
  if (c.violations.empty()) check_memory(c);
  if (c.violations.empty()) check_uniformity(c);
  if (c.violations.empty()) check_in_flight(c);
  return c.violations;
}

void verify_or_throw(const Kernel& kernel, const TargetModel& target) {
  const std::vector<Violation> violations = verify(kernel, target);
  if (violations.empty()) return;
  std::string message = "kernel '" + kernel.name + "' breaks rules of kernel IR:";
  for (const Violation& v : violations) message += "\n  " + v.message;
  throw Error(ErrorCode::internal, message);
}

}  // namespace primset::kir
