// The verifier's rules on one instruction: K8 to K24, K26 to K32.
#include <algorithm>
#include <bit>

#include "codegen/kernel/verifier/checker.h"

namespace primset::kir {
namespace {

bool computes(Scalar s) {
  return s == Scalar::f32 || s == Scalar::f64;
}
bool is_index(Scalar s) {
  return s == Scalar::i32 || s == Scalar::i64;
}

// One instruction's check: shorthand for its types and failures.
struct InstCheck {
  Checker& c;
  InstId id;
  BlockId block;
  const Inst& inst;

  Type in(size_t i) const { return c.type(inst.operands[i]); }
  Type out() const { return c.type(inst.results[0]); }
  void expect(bool ok, const char* rule, const char* what) {
    if (!ok) c.fail(rule, std::string(info(inst.op).text) + " " + what, id, block);
  }
  const Inst* maker(Value v) const { return c.makers[v.id]; }
};

// --- leaves --------------------------------------------------------------------------------------

void check_constant(InstCheck& k) {
  const Scalar s = k.out().scalar;
  const int w = width(s);
  k.expect(!k.out().is_pointer(), "K26", "is no pointer; int_to_ptr makes one");
  k.expect(!k.out().is_matrix() || (k.out() == kAccumulator && k.inst.imm.bits == 0), "K32",
           "is no matrix but zero sums");
  k.expect(w == 64 || k.inst.imm.bits >> w == 0, "K26", "has more bits than its type");
}

void check_leaf(InstCheck& k) {
  switch (k.inst.op) {
    case Op::Const:
      return check_constant(k);
    case Op::Param: {
      const auto& params = k.c.kernel.params;
      const bool exists = k.inst.imm.index < params.size();
      k.expect(exists, "K27", "names no parameter");
      if (exists) {
        k.expect(params[k.inst.imm.index].type == k.out(), "K27", "has another type than declared");
      }
      return;
    }
    case Op::LaneIota:
      return k.expect(k.out().lanes > 1 && is_int(k.out().scalar) && k.out().scalar != Scalar::i1,
                      "K17", "makes an integer vector");
    default:
      k.expect(k.inst.imm.index <= 2 && k.out() == kI32, "K27",
               "has dimension 0 to 2 and type i32");
  }
}

// --- arithmetic, comparisons, choice -------------------------------------------------------------

void check_same_types(InstCheck& k, const char* rule) {
  for (size_t i = 0; i < k.inst.operands.size(); ++i) {
    k.expect(k.in(i) == k.in(0), rule, "wants operands of one type");
  }
}

void check_integer(InstCheck& k) {
  const bool logic = k.inst.op == Op::And || k.inst.op == Op::Or || k.inst.op == Op::Xor;
  check_same_types(k, "K9");
  k.expect(is_int(k.in(0).scalar), "K9", "wants integer operands");
  k.expect(logic || k.in(0).scalar != Scalar::i1, "K9", "does not compute with i1");
  k.expect(k.out() == k.in(0), "K9", "has the type of its operands");
}

void check_floating(InstCheck& k) {
  check_same_types(k, "K10");
  if (k.in(0).scalar == Scalar::f16) {
    return k.expect(false, "K11", "does not compute in f16; convert to f32 first");
  }
  k.expect(computes(k.in(0).scalar), "K10", "wants floating operands");
  k.expect(k.out() == k.in(0), "K10", "has the type of its operands");
  if (k.inst.op == Op::Fma) {
    k.expect(k.c.target.fused_fma, "K13", "is not rounded once on this target; use math::fma");
  }
}

void check_compare(InstCheck& k) {
  const bool floating = k.inst.op >= Op::FEq && k.inst.op <= Op::FLe;
  const Scalar s = k.in(0).scalar;
  if (floating && s == Scalar::f16) return k.expect(false, "K11", "does not compare f16");
  check_same_types(k, "K14");
  k.expect(floating ? computes(s) : is_int(s) && s != Scalar::i1, "K14",
           floating ? "wants floating operands" : "wants integers wider than i1");
  k.expect(k.out() == k.in(0).with_scalar(Scalar::i1), "K14", "gives an i1 for each lane");
}

void check_select(InstCheck& k) {
  const Type t = k.out();
  k.expect(k.in(0).scalar == Scalar::i1 && (k.in(0).lanes == 1 || k.in(0).lanes == t.lanes), "K15",
           "wants an i1 condition of one or as many lanes");
  k.expect(k.in(1) == t && k.in(2) == t, "K15", "chooses between values of its own type");
  k.expect(!t.is_pointer() || t == kGlobalPointer, "K15",
           "chooses no pointers but to global memory");
}

// --- conversions ---------------------------------------------------------------------------------

void check_convert(InstCheck& k) {
  const Scalar from = k.in(0).scalar, to = k.out().scalar;
  const int wf = width(from), wt = width(to);
  k.expect(k.in(0).lanes == k.out().lanes, "K16", "keeps the number of lanes");
  bool ok = false;
  switch (k.inst.op) {
    case Op::Trunc:
      ok = is_int(from) && is_int(to) && wt < wf;
      break;
    case Op::ZExt:
    case Op::SExt:
      ok = is_int(from) && is_int(to) && wt > wf;
      break;
    case Op::SIToFP:
    case Op::UIToFP:
      ok = is_int(from) && from != Scalar::i1 && is_float(to);
      break;
    case Op::FPToSI:
    case Op::FPToUI:
      ok = is_float(from) && is_int(to) && to != Scalar::i1;
      break;
    case Op::FPExt:
      ok = is_float(from) && is_float(to) && wt > wf;
      break;
    case Op::FPTrunc:
      ok = is_float(from) && is_float(to) && wt < wf;
      break;
    default:
      ok = wf == wt && is_storable(from) && is_storable(to);
  }
  k.expect(ok, "K16", "does not convert between these types");
  // Every other conversion of f16 would round twice on machines without f16 arithmetic, or be a
  // call into a runtime library.
  const bool f16 = (from == Scalar::f16 || to == Scalar::f16) && k.inst.op != Op::Bitcast;
  k.expect(!f16 || from == Scalar::f32 || to == Scalar::f32, "K11",
           "converts f16 to and from f32 only");
}

// --- vectors -------------------------------------------------------------------------------------

void check_shuffle(InstCheck& k) {
  const auto& lanes = k.inst.imm.lanes;
  const uint32_t sources = 2u * k.in(0).lanes;
  k.expect(k.in(0) == k.in(1) && k.in(0).lanes > 1, "K17", "wants two vectors of one type");
  k.expect(k.out() == Type{k.in(0).scalar, static_cast<uint16_t>(lanes.size())}, "K17",
           "has a lane for each number in its list");
  k.expect(std::all_of(lanes.begin(), lanes.end(), [&](uint16_t l) { return l < sources; }), "K17",
           "names a lane out of range");
}

void check_vector(InstCheck& k) {
  const Type v = k.in(0);
  switch (k.inst.op) {
    case Op::Splat:
      return k.expect(v.lanes == 1 && k.out().lanes > 1 && k.out().element() == v, "K17",
                      "makes a vector of its scalar operand");
    case Op::ActiveLaneMask:
      return k.expect(v.lanes == 1 && is_int(v.scalar) && v.scalar != Scalar::i1 &&
                          k.out().lanes > 1 && k.out().scalar == Scalar::i1,
                      "K17", "makes an i1 vector of an integer");
    case Op::Extract:
      k.expect(v.lanes > 1 && k.out() == v.element(), "K17", "takes an element out of a vector");
      return k.expect(k.inst.imm.index < v.lanes, "K17", "names a lane out of range");
    case Op::Insert:
      k.expect(v.lanes > 1 && k.in(1) == v.element() && k.out() == v, "K17",
               "puts an element into a vector");
      return k.expect(k.inst.imm.index < v.lanes, "K17", "names a lane out of range");
    case Op::Shuffle:
      return check_shuffle(k);
    default:
      k.expect(v.scalar == Scalar::i1 && v.lanes > 1 && k.out() == kI1, "K17",
               "makes an i1 of an i1 vector");
  }
}

// --- memory --------------------------------------------------------------------------------------

void check_param_use(InstCheck& k, Value pointer, bool reads, bool writes) {
  const Inst* root = k.maker(pointer);
  // A pointer chosen at run time, or read from memory, has no one parameter behind it.
  for (int depth = 0; root != nullptr && root->op == Op::PtrAdd && depth < 64; ++depth) {
    root = k.maker(root->operands[0]);
  }
  if (root == nullptr || root->op != Op::Param) return;
  if (root->imm.index >= k.c.kernel.params.size()) return;
  const Param& p = k.c.kernel.params[root->imm.index];
  k.expect(!reads || p.read, "K28", "reads a parameter that is not marked read");
  k.expect(!writes || p.written, "K28", "writes a parameter that is not marked written");
}

// p and index of an access of values of type t.
void check_access(InstCheck& k, Type t, bool indexed_lanes, bool reads, bool writes) {
  const Type pointer = k.in(0);
  k.expect(pointer.is_pointer(), "K18", "wants a pointer");
  k.expect(is_index(k.in(1).scalar) && k.in(1).lanes == (indexed_lanes ? t.lanes : 1), "K18",
           indexed_lanes ? "wants an i32 or i64 index for each lane" : "wants an i32 or i64 index");
  k.expect(is_storable(t.scalar), "K19", "accesses numbers of 8 bits or more");
  k.expect(std::has_single_bit(k.inst.imm.align), "K20",
           "wants an alignment that is a power of two");
  if (pointer == kGlobalPointer) return check_param_use(k, k.inst.operands[0], reads, writes);
  if (!pointer.is_pointer()) return;
  const Inst* alloc = k.maker(k.inst.operands[0]);
  const bool direct = alloc != nullptr && info(alloc->op).group == Group::Alloc;
  k.expect(direct && alloc->imm.elem == t.scalar, "K21",
           "accesses workgroup or private memory as another type than it was made with");
}

void check_mask(InstCheck& k, Type t, size_t mask) {
  k.expect(k.in(mask) == t.with_scalar(Scalar::i1), "K19",
           "wants a mask with a lane for each value");
}

void check_memory_op(InstCheck& k) {
  switch (k.inst.op) {
    case Op::Load:
      return check_access(k, k.out(), false, true, false);
    case Op::Store:
      return check_access(k, k.in(2), false, false, true);
    case Op::MaskedLoad:
    case Op::Gather:
      check_access(k, k.out(), k.inst.op == Op::Gather, true, false);
      check_mask(k, k.out(), 2);
      return k.expect(k.in(3) == k.out(), "K19", "wants a passthru of its own type");
    default:
      check_access(k, k.in(2), k.inst.op == Op::Scatter, false, true);
      check_mask(k, k.in(2), 3);
  }
}

void check_hint(InstCheck& k) {
  k.expect(k.in(0) == kGlobalPointer, "K18", "wants a pointer to global memory");
  k.expect(is_index(k.in(1).scalar) && k.in(1).lanes == 1, "K18", "wants an i32 or i64 index");
  k.expect(is_storable(k.inst.imm.elem), "K19", "fetches numbers of 8 bits or more");
}

void check_atomic(InstCheck& k) {
  const Type t = k.out();
  check_access(k, t, false, true, true);
  k.expect(k.in(2) == t && (k.inst.op == Op::AtomicRmw || k.in(3) == t), "K23",
           "wants values of its own type");
  const bool floating = k.inst.op == Op::AtomicRmw && is_float(k.inst.imm.rmw);
  const bool exchange = k.inst.op == Op::AtomicRmw && k.inst.imm.rmw == Rmw::exchange;
  const bool narrow =
      k.inst.op == Op::AtomicCas && (t.scalar == Scalar::i8 || t.scalar == Scalar::i16);
  const bool ok = t.lanes == 1 && ((is_index(t.scalar) && !floating) || narrow ||
                                   (computes(t.scalar) && (floating || exchange)));
  k.expect(ok, "K23",
           "works on i32 and i64, on i8 and i16 where it compares, or on f32 and f64 where it is "
           "floating");
  k.expect(!k.in(0).is_pointer_to(AddressSpace::priv), "K23", "does not work on private memory");
  k.expect(width(t.scalar) < 64 || k.c.target.atomic_i64, "K12",
           "needs 64-bit atomics, which the target lacks");
  k.expect(k.inst.imm.align >= static_cast<uint32_t>(bytes(t.scalar)), "K20",
           "wants an alignment of at least its element's size");
}

void check_pointer(InstCheck& k) {
  if (k.inst.op == Op::PtrToInt) {
    k.expect(k.in(0) == kGlobalPointer, "K18", "wants a pointer to global memory");
    return k.c.target.i64 ? k.expect(k.out() == kI64, "K18", "makes an i64 address")
                          : k.expect(k.out() == kI32, "K18", "makes an address's low word, an i32");
  }
  const bool add = k.inst.op == Op::PtrAdd;
  k.expect(k.out() == kGlobalPointer, "K18", "makes a pointer to global memory");
  if (add) k.expect(k.in(0) == kGlobalPointer, "K18", "moves a pointer to global memory");
  k.expect(k.in(add ? 1 : 0) == kI64, "K18", "counts in i64");
}

void check_alloc(InstCheck& k) {
  const Scalar s = k.inst.imm.elem;
  const bool group = k.inst.op == Op::GroupAlloc;
  k.expect(k.out() == Type::pointer(group ? AddressSpace::group : AddressSpace::priv), "K18",
           "makes a pointer to its own memory");
  k.expect(is_storable(s), "K19", "holds numbers of 8 bits or more");
  k.expect(k.inst.imm.count > 0, "K22", "holds at least one element");
}

// Is `p` workgroup memory, made as elements that `fits` says are right?
template <typename F>
bool is_group_memory_of(InstCheck& k, Value p, F fits) {
  const Inst* alloc = k.maker(p);
  return alloc != nullptr && alloc->op == Op::GroupAlloc && fits(alloc->imm.elem);
}

void check_copy(InstCheck& k) {
  k.expect(k.c.target.async_copy, "K29", "is none of the target's operations");
  if (k.inst.op != Op::CopyAsync) return;
  const Scalar elem = k.inst.imm.elem;
  k.expect(is_group_memory_of(k, k.inst.operands[0], [&](Scalar s) { return s == elem; }), "K29",
           "wants workgroup memory of its element");
  k.expect(k.in(2) == kGlobalPointer, "K29", "wants a pointer to global memory");
  for (const size_t i : {size_t{1}, size_t{3}})
    k.expect(is_index(k.in(i).scalar) && k.in(i).lanes == 1, "K18", "wants i32 or i64 indices");
  k.expect(k.in(4) == kI1, "K29", "wants an i1 that says whether to copy");
  const uint64_t size = static_cast<uint64_t>(bytes(elem)) * k.inst.imm.count;
  k.expect(size == 4 || size == 8 || size == 16, "K29", "copies 4, 8 or 16 bytes");
  check_param_use(k, k.inst.operands[2], true, false);
}

bool is_group_multiply(Op op) {
  return op == Op::GroupMultiplyF16 || op == Op::GroupMultiplyBf16;
}

void check_group_multiply(InstCheck& k) {
  k.expect(k.c.target.group_matrix, "K31", "is none of the target's operations");
  const Type sums = k.out();
  k.expect(sums.scalar == Scalar::f32 && sums.lanes >= 4, "K31", "gives 4 or more sums in f32");
  if (k.inst.op == Op::GroupMultiplyWait) {
    return k.expect(k.in(0) == sums, "K31", "gives what it waits for");
  }
  const auto short_element = [](Scalar s) { return width(s) == 16; };
  for (const size_t i : {size_t{0}, size_t{2}}) {
    k.expect(is_group_memory_of(k, k.inst.operands[i], short_element), "K31",
             "wants workgroup memory of 16-bit elements");
    k.expect(is_index(k.in(i + 1).scalar) && k.in(i + 1).lanes == 1, "K18",
             "wants i32 or i64 indices");
  }
  k.expect(k.in(4) == sums, "K31", "adds to sums of its own type");
  k.expect(k.inst.imm.index <= 3, "K31", "has operands by rows or by terms");
  const auto& size = k.c.kernel.group_size;
  k.expect(size[0] * size[1] * size[2] % 128 == 0, "K31", "is done by four whole subgroups");
}

// 16 bytes.
constexpr uint32_t kOperandLineVec4s = 2, kSumLineVec4s = 4;

void check_cooperative(InstCheck& k) {
  const TargetModel& t = k.c.target;
  k.expect(t.cooperative && t.min_subgroup == 32 && t.max_subgroup == 32, "K32",
           "is none of the target's operations");
  if (k.inst.op == Op::CooperativeMultiply) {
    const Scalar s = k.in(0).scalar;
    const bool fits = s == Scalar::f16 || (s == Scalar::bf16 && t.cooperative_bf16);
    k.expect(fits && k.in(0) == Type::matrix(s, MatrixUse::a) &&
                 k.in(1) == Type::matrix(s, MatrixUse::b),
             "K32", "wants a left and a right operand");
    return k.expect(k.in(2) == kAccumulator && k.out() == kAccumulator, "K32", "adds to sums");
  }
  if (k.inst.op == Op::CooperativeScale) {
    return k.expect(k.in(0) == kAccumulator && k.in(1) == kAccumulator && k.out() == kAccumulator,
                    "K32", "multiplies sums by as many factors");
  }
  const bool loads = k.inst.op == Op::CooperativeLoad;
  k.expect(is_group_memory_of(k, k.inst.operands[0], [](Scalar s) { return s == Scalar::i32; }),
           "K32", "wants workgroup memory of i32");
  k.expect(is_index(k.in(1).scalar) && k.in(1).lanes == 1, "K18", "wants an i32 or i64 index");
  const bool loads_sums = loads && k.out() == kAccumulator;
  const uint32_t distance = k.inst.imm.count;
  const uint32_t line = loads && !loads_sums ? kOperandLineVec4s : kSumLineVec4s;
  k.expect(distance >= line || (loads_sums && distance == 0), "K32",
           "has lines of 16 elements that do not overlap");
  if (loads) {
    k.expect(k.out().is_matrix() && k.out().lanes == 1, "K32", "gives a matrix");
    return k.expect(k.inst.imm.index <= 1, "K32", "has rows or columns as lines");
  }
  k.expect(k.in(2) == kAccumulator, "K32", "stores sums");
}

// K32: matrices are for the operations that know them.
void check_matrix_use(InstCheck& k) {
  const Group group = info(k.inst.op).group;
  if (is_cooperative(k.inst.op) || group == Group::Control || k.inst.op == Op::Const) return;
  const auto is_one = [&](Value v) { return k.c.type(v).is_matrix(); };
  k.expect(
      std::ranges::none_of(k.inst.operands, is_one) && std::ranges::none_of(k.inst.results, is_one),
      "K32", "has no matrices");
}

void check_matrix(InstCheck& k) {
  if (is_cooperative(k.inst.op)) return check_cooperative(k);
  constexpr Type kWords4{Scalar::i32, 4}, kWords2{Scalar::i32, 2}, kSums{Scalar::f32, 4};
  k.expect(k.c.target.matrix && k.c.target.min_subgroup == 32 && k.c.target.max_subgroup == 32,
           "K30", "is none of the target's operations");
  if (is_group_multiply(k.inst.op) || k.inst.op == Op::GroupMultiplyWait)
    return check_group_multiply(k);
  if (k.inst.op == Op::MatrixLoad) {
    const auto short_element = [](Scalar s) { return width(s) == 16; };
    k.expect(is_group_memory_of(k, k.inst.operands[0], short_element), "K30",
             "wants workgroup memory of 16-bit elements");
    k.expect(is_index(k.in(1).scalar) && k.in(1).lanes == 1, "K18", "wants an i32 or i64 index");
    k.expect(k.inst.imm.index <= 1, "K30", "is transposed or not");
    return k.expect(k.out() == kWords4, "K30", "gives vec<i32, 4>");
  }
  k.expect(k.in(0) == kWords4 && k.in(1) == kWords2 && k.in(2) == kSums && k.out() == kSums, "K30",
           "wants vec<i32, 4>, vec<i32, 2> and vec<f32, 4>");
}

void check_device_float(InstCheck& k) {
  const bool rounds = k.inst.op == Op::RoundBf16;
  k.expect(rounds ? k.c.target.rounds_bf16 : k.c.target.fast_exp2, "K24",
           "is none of the target's operations");
  k.expect(k.in(0).scalar == Scalar::f32, "K10", "works on f32");
  k.expect(k.out() == k.in(0).with_scalar(rounds ? Scalar::i16 : Scalar::f32), "K10",
           rounds ? "gives i16" : "gives f32");
}

void check_subgroup(InstCheck& k) {
  const TargetModel& target = k.c.target;
  k.expect(target.simt, "K24", "exists on SIMT targets only");
  const bool any_lane = k.inst.op == Op::SubgroupShuffle || k.inst.op == Op::SubgroupBallot;
  if (any_lane) k.expect(target.subgroup_ballot, "K24", "is none of the target's operations");
  if (k.inst.op == Op::SubgroupBallot) {
    k.expect(k.in(0) == kI1, "K24", "wants an i1 scalar");
    k.expect(k.inst.imm.index < std::max(1u, (target.max_subgroup + 31) / 32), "K24",
             "names a word that has lanes");
  }
  if (k.inst.op != Op::SubgroupShuffleXor && k.inst.op != Op::SubgroupShuffle) {
    return k.expect(k.out() == kI32, "K24", "has type i32");
  }
  const Type t = k.out();
  k.expect(t == k.in(0) && t.lanes == 1 && (is_index(t.scalar) || computes(t.scalar)), "K24",
           "moves an i32, i64, f32 or f64 scalar");
  if (k.inst.op == Op::SubgroupShuffle)
    return k.expect(k.in(1) == kI32, "K24", "wants an i32 lane");
  k.expect(k.inst.imm.index > 0 && k.inst.imm.index < std::max(k.c.target.max_subgroup, 1u), "K24",
           "has a mask that names another lane of the subgroup");
}

void check_control(InstCheck& k) {
  if (k.inst.op == Op::If) k.expect(k.in(0) == kI1, "K8", "wants an i1 scalar condition");
  if (k.inst.op != Op::For) return;
  const Type t = k.in(0);
  k.expect((t == kI32 || t == kI64) && k.in(1) == t && k.in(2) == t, "K8",
           "wants bounds and step of one type, i32 or i64");
}

// K12: every type of an instruction exists on the target.
void check_gates(InstCheck& k) {
  const TargetModel& target = k.c.target;
  const auto gate = [&](Scalar s) {
    k.expect(s != Scalar::f16 || target.f16, "K12", "uses f16, which the target lacks");
    k.expect(s != Scalar::f64 || target.f64, "K12", "uses f64, which the target lacks");
    k.expect(s != Scalar::i64 || target.i64, "K12", "uses i64, which the target lacks");
  };
  for (Value v : k.inst.results) {
    if (!k.c.type(v).is_matrix()) gate(k.c.type(v).scalar);
  }
  if (info(k.inst.op).group == Group::Alloc) gate(k.inst.imm.elem);
}

}  // namespace

void check_types(Checker& c, InstId id, BlockId block) {
  InstCheck k{c, id, block, c.kernel.insts[id]};
  check_gates(k);
  check_matrix_use(k);
  switch (info(k.inst.op).group) {
    case Group::Leaf:
      return check_leaf(k);
    case Group::IntBinary:
      return check_integer(k);
    case Group::IntUnary:
      return k.expect(k.in(0) == k.out() && k.out().scalar == Scalar::i32, "K9", "works on i32");
    case Group::FloatUnary:
    case Group::FloatBinary:
    case Group::FloatTernary:
      return check_floating(k);
    case Group::FloatDevice:
      return check_device_float(k);
    case Group::Compare:
      return check_compare(k);
    case Group::Choice:
      return check_select(k);
    case Group::Convert:
      return check_convert(k);
    case Group::Vector:
      return check_vector(k);
    case Group::Pointer:
      return check_pointer(k);
    case Group::Memory:
      return check_memory_op(k);
    case Group::Hint:
      return check_hint(k);
    case Group::Atomic:
      return check_atomic(k);
    case Group::Alloc:
      return check_alloc(k);
    case Group::Async:
      return check_copy(k);
    case Group::Matrix:
      return check_matrix(k);
    case Group::Sync:
      return k.expect(c.target.simt, "K24", "exists on SIMT targets only");
    case Group::Subgroup:
      return check_subgroup(k);
    case Group::Control:
      return check_control(k);
  }
}

}  // namespace primset::kir
