// Addresses, loads and stores: whole, masked, indexed; workgroup and private arrays.
//
// In Vulkan a pointer to global memory is a number until the access itself: base + index * size is
// integer arithmetic, OpConvertUToPtr makes a typed pointer of it. In the Kernel flavour it stays a
// pointer throughout, so that drivers see which argument an access belongs to.
#include "codegen/emit/spirv/lowering.h"

#include <algorithm>
#include <bit>

namespace primset::emit::spirv {

using kir::AddressSpace;
using kir::Inst;
using kir::Op;
using kir::Scalar;
using kir::Type;

namespace {

// Integers of a float's width.
Scalar word_of(Scalar s) {
  switch (kir::width(s)) {
    case 64:
      return Scalar::i64;
    default:
      return Scalar::i32;
  }
}

spv::StorageClass local_storage(AddressSpace space) {
  return space == AddressSpace::group ? spv::StorageClass::Workgroup : spv::StorageClass::Function;
}

}  // namespace

// --- pointers ------------------------------------------------------------------------------------

void Lowering::lower_pointer(const Inst& inst) {
  const Id type = types_.piece(result_type(inst));
  const Ids operands = [&] {
    Ids ids;
    for (kir::Value v : inst.operands) ids.push_back(get_scalar(v));
    return ids;
  }();
  if (inst.op != Op::PtrAdd) {
    const auto op = inst.op == Op::IntToPtr ? spv::Op::OpConvertUToPtr : spv::Op::OpConvertPtrToU;
    return set(inst, vulkan() ? operands : Ids{code_.op(op, type, operands)});
  }
  set(inst,
      {code_.op(vulkan() ? spv::Op::OpIAdd : spv::Op::OpInBoundsPtrAccessChain, type, operands)});
}

Id Lowering::byte_address(kir::Value pointer, kir::Value index, uint32_t index_lane,
                          uint32_t size) {
  const Id base = get_scalar(pointer);
  const Scalar index_type = k_.type(index).scalar;
  const Id u64 = types_.scalar(Scalar::i64);
  if (auto bits = known(index)) {
    const int64_t elements = index_type == Scalar::i32
                                 ? static_cast<int32_t>(static_cast<uint32_t>(*bits))
                                 : static_cast<int64_t>(*bits);
    if (elements == 0) return base;
    const Id bytes = m_.constant64(static_cast<uint64_t>(elements) * size);
    return code_.op(spv::Op::OpIAdd, u64, {base, bytes});
  }
  return code_.op(spv::Op::OpIAdd, u64, {base, byte_offset(index, index_lane, size)});
}

// Operands and results of one kernel are mostly at the same index: shared within a block.
Id Lowering::byte_offset(kir::Value index, uint32_t index_lane, uint32_t size) {
  if (offsets_block_ != code_.block()) offsets_.clear();
  offsets_block_ = code_.block();
  Id& offset = offsets_[{index.id, index_lane, size}];
  if (offset != 0) return offset;
  const Id u64 = types_.scalar(Scalar::i64);
  offset = lane(index, index_lane);
  if (k_.type(index).scalar == Scalar::i32) offset = code_.op(spv::Op::OpSConvert, u64, {offset});
  if (size > 1) offset = code_.op(spv::Op::OpIMul, u64, {offset, m_.constant64(size)});
  return offset;
}

// Where an access begins. Global memory: an address, which Vulkan computes as an integer and OpenCL
// as a typed pointer. Workgroup and private memory: a variable of array type and a 32-bit index,
// since Vulkan has no pointers to cast there.
Lowering::Access Lowering::access(const Inst& inst, Scalar elem, uint32_t index_lane) {
  const kir::Value pointer = inst.operands[0], index = inst.operands[1];
  const AddressSpace space = k_.type(pointer).space;
  const auto size = static_cast<uint32_t>(kir::bytes(elem));
  if (space == AddressSpace::global) {
    if (inst.imm.align < size) fail(inst, "an alignment below the element's size has no form");
    Access a{space, elem, elem, 0, 0, inst.imm.align};
    if (vulkan()) {
      a.base = byte_address(pointer, index, index_lane, size);
      a.invariant = invariant_.contains(pointer.id);
    } else {
      const Id type = m_.type_pointer(spv::StorageClass::CrossWorkgroup, types_.scalar(elem));
      const Id typed = elem == Scalar::i8
                           ? get_scalar(pointer)
                           : code_.op(spv::Op::OpBitcast, type, {get_scalar(pointer)});
      a.base = code_.op(spv::Op::OpInBoundsPtrAccessChain, type, {typed, lane(index, index_lane)});
    }
    return a;
  }
  const auto found = allocations_.find(pointer.id);
  if (found == allocations_.end()) {
    fail(inst, "the pointer is not the result of group_alloc or private_alloc itself");
  }
  const Allocation& array = found->second;
  if (kir::width(array.elem) != kir::width(elem)) {
    fail(inst, "accesses " + std::string(kir::name(elem)) + " in an array of " +
                   std::string(kir::name(array.elem)));
  }
  Id at = lane(index, index_lane);
  if (k_.type(index).scalar == Scalar::i64) {
    const auto bits = known(index);
    at = bits ? u32(static_cast<uint32_t>(*bits))
              : code_.op(spv::Op::OpUConvert, types_.scalar(Scalar::i32), {at});
  }
  const uint32_t align = array.vec4_elements ? inst.imm.align : size;
  return {space, elem, array.stored, array.variable, at, align, array.vec4_elements};
}

// A pointer to `lanes` elements, from element number `first` of the access on.
Id Lowering::pointer(const Access& a, Scalar stored, uint32_t first, uint32_t lanes) {
  const Id pointee = types_.vector(stored, lanes);
  if (a.space != AddressSpace::global) {
    const Id u32_type = types_.scalar(Scalar::i32);
    const Id at = first == 0 ? a.index : code_.op(spv::Op::OpIAdd, u32_type, {a.index, u32(first)});
    if (a.vec4_elements) return vec4_element(a, at, lanes);
    return code_.op(spv::Op::OpAccessChain, m_.type_pointer(local_storage(a.space), pointee),
                    {a.base, at});
  }
  if (vulkan()) {
    if (kir::width(stored) == 8) m_.capability(spv::Capability::StorageBuffer8BitAccess);
    if (kir::width(stored) == 16) m_.capability(spv::Capability::StorageBuffer16BitAccess);
    const uint64_t bytes = uint64_t{first} * static_cast<uint32_t>(kir::bytes(a.elem));
    const Id address = bytes == 0 ? a.base
                                  : code_.op(spv::Op::OpIAdd, types_.scalar(Scalar::i64),
                                             {a.base, m_.constant64(bytes)});
    if (a.invariant && lanes == kVec4) return invariant_pointer(pointee, address);
    return code_.op(spv::Op::OpConvertUToPtr,
                    m_.type_pointer(spv::StorageClass::PhysicalStorageBuffer, pointee), {address});
  }
  constexpr auto kGlobal = spv::StorageClass::CrossWorkgroup;
  const Id element_type = m_.type_pointer(kGlobal, types_.scalar(a.elem));
  const Id at =
      first == 0 ? a.base
                 : code_.op(spv::Op::OpInBoundsPtrAccessChain, element_type, {a.base, u32(first)});
  const Id type = m_.type_pointer(kGlobal, pointee);
  return type == element_type ? at : code_.op(spv::Op::OpBitcast, type, {at});
}

void Lowering::find_invariant_parameters() {
  if (!cooperative_) return;  // GLSL's memory model takes what is not Coherent for private
  for (const Inst& inst : k_.insts) {
    if (inst.op == Op::Param && k_.params[inst.imm.index].invariant)
      invariant_.insert(inst.results[0].id);
  }
}

// In Vulkan's memory model NVIDIA's driver takes what might be written for what other threads of
// the processor may see (LDG.STRONG), unless a block's member says that it is not: products by
// tiles of 128 x 128, which are read by four words, then take 0.92 of the time.
Id Lowering::invariant_pointer(Id pointee, Id address) {
  constexpr auto kStorage = spv::StorageClass::PhysicalStorageBuffer;
  Id& type = invariant_type_[pointee];
  if (type == 0) {
    const Id block = m_.new_struct({&pointee, 1});
    m_.decorate(block, spv::Decoration::Block);
    m_.decorate_member(block, 0, spv::Decoration::Offset, {0});
    m_.decorate_member(block, 0, spv::Decoration::NonWritable, {});
    type = m_.type_pointer(kStorage, block);
  }
  const Id block = code_.op(spv::Op::OpConvertUToPtr, type, {address});
  return code_.op(spv::Op::OpInBoundsAccessChain, m_.type_pointer(kStorage, pointee),
                  {block, u32(0)});
}

uint32_t Lowering::alignment(const Access& a, uint32_t first) const {
  const uint32_t offset = first * static_cast<uint32_t>(kir::bytes(a.elem));
  return offset == 0 ? a.align : std::min(a.align, offset & -offset);
}

// --- pieces --------------------------------------------------------------------------------------

Id Lowering::from_stored(const Access& a, Id value) {
  if (a.stored == a.elem) return value;
  if (kir::width(a.stored) == kir::width(a.elem)) return bitcast(a.stored, a.elem, 1, value);
  // A narrow element that has a word of its own.
  const Id narrow = code_.op(spv::Op::OpUConvert,
                             m_.type_int(static_cast<uint32_t>(kir::width(a.elem))), {value});
  return a.elem == Scalar::f16 ? bitcast(Scalar::i16, Scalar::f16, 1, narrow) : narrow;
}

Id Lowering::to_stored(const Access& a, Id value) {
  if (a.stored == a.elem) return value;
  if (kir::width(a.stored) == kir::width(a.elem)) return bitcast(a.elem, a.stored, 1, value);
  if (a.elem == Scalar::f16) value = bitcast(Scalar::f16, Scalar::i16, 1, value);
  return code_.op(spv::Op::OpUConvert, types_.scalar(a.stored), {value});
}

Id Lowering::load_native(const Access& a, uint32_t first, uint32_t lanes) {
  const Id from = pointer(a, a.stored, first, lanes);
  const Id type = types_.vector(a.stored, lanes);
  if (a.space != AddressSpace::global) {
    Ids operands = seen_by_others(a.space);
    operands.insert(operands.begin(), from);
    const Id loaded = code_.op(spv::Op::OpLoad, type, operands);
    return lanes == 1 ? from_stored(a, loaded) : loaded;
  }
  return code_.op(
      spv::Op::OpLoad, type,
      {from, static_cast<uint32_t>(spv::MemoryAccessMask::Aligned), alignment(a, first)});
}

void Lowering::store_native(const Access& a, uint32_t first, uint32_t lanes, Id value) {
  if (a.space != AddressSpace::global && lanes == 1) value = to_stored(a, value);
  const Id to = pointer(a, a.stored, first, lanes);
  if (a.space != AddressSpace::global) {
    Ids operands = seen_by_others(a.space);
    operands.insert(operands.begin(), {to, value});
    return code_.stmt(spv::Op::OpStore, operands);
  }
  code_.stmt(spv::Op::OpStore, {to, value, static_cast<uint32_t>(spv::MemoryAccessMask::Aligned),
                                alignment(a, first)});
}

// A vector access wants the vector's own alignment: with less, drivers split it or fault.
bool Lowering::moves_whole(const Access& a, uint32_t first, uint32_t lanes) const {
  if (lanes == 1) return true;
  if (a.vec4_elements ? lanes != kVec4 : a.space != AddressSpace::global) return false;
  return alignment(a, first) % (lanes * static_cast<uint32_t>(kir::bytes(a.elem))) == 0;
}

Id Lowering::load_piece(const Access& a, uint32_t first, uint32_t lanes) {
  if (moves_whole(a, first, lanes)) return load_native(a, first, lanes);
  Ids parts;
  for (uint32_t i = 0; i < lanes; ++i) parts.push_back(load_native(a, first + i, 1));
  return code_.op(spv::Op::OpCompositeConstruct, types_.vector(a.elem, lanes), parts);
}

void Lowering::store_piece(const Access& a, uint32_t first, uint32_t lanes, Id value) {
  if (moves_whole(a, first, lanes)) return store_native(a, first, lanes, value);
  for (uint32_t i = 0; i < lanes; ++i) {
    store_native(a, first + i, 1,
                 code_.op(spv::Op::OpCompositeExtract, types_.scalar(a.elem), {value, i}));
  }
}

bool Lowering::in_words(const Access& a, Type t) const {
  const uint32_t bytes = t.lanes * static_cast<uint32_t>(kir::bytes(t.scalar));
  return vulkan() && a.space == AddressSpace::global && kir::width(t.scalar) < 32 &&
         t.lanes >= kMaxPieceLanes && a.align >= std::min(bytes, 4 * kMaxPieceLanes);
}

Ids Lowering::load_words(const Access& a, Type t) {
  Access words = a;
  words.elem = words.stored = Scalar::i32;
  const Id word = types_.scalar(Scalar::i32);
  const uint32_t count = static_cast<uint32_t>(kir::bytes(t.scalar)) * piece_count(t);
  const uint32_t at_once = std::min(count, kMaxPieceLanes);
  Ids each;
  for (uint32_t first = 0; first < count; first += at_once) {
    const Id loaded = load_native(words, first, at_once);
    for (uint32_t i = 0; i < at_once; ++i)
      each.push_back(at_once == 1 ? loaded
                                  : code_.op(spv::Op::OpCompositeExtract, word, {loaded, i}));
  }
  return each;
}

Ids Lowering::pieces_of(Type t, const Ids& words) {
  const auto of_a_piece = static_cast<uint32_t>(kir::bytes(t.scalar));
  const Id joined = types_.vector(Scalar::i32, of_a_piece);
  Ids pieces;
  for (size_t i = 0; i < words.size(); i += of_a_piece) {
    const Id bits = of_a_piece == 1
                        ? words[i]
                        : code_.op(spv::Op::OpCompositeConstruct, joined, {words[i], words[i + 1]});
    pieces.push_back(code_.op(spv::Op::OpBitcast, types_.piece(t), {bits}));
  }
  return pieces;
}

Ids Lowering::words_of(Type t, const Ids& pieces) {
  const Id word = types_.scalar(Scalar::i32);
  const auto of_a_piece = static_cast<uint32_t>(kir::bytes(t.scalar));
  const Id joined = types_.vector(Scalar::i32, of_a_piece);
  Ids each;
  for (const Id piece : pieces) {
    const Id bits = code_.op(spv::Op::OpBitcast, joined, {piece});
    for (uint32_t i = 0; i < of_a_piece; ++i)
      each.push_back(of_a_piece == 1 ? bits
                                     : code_.op(spv::Op::OpCompositeExtract, word, {bits, i}));
  }
  return each;
}

void Lowering::store_words(const Access& a, const Ids& each) {
  Access words = a;
  words.elem = words.stored = Scalar::i32;
  const auto at_once = std::min(static_cast<uint32_t>(each.size()), kMaxPieceLanes);
  for (uint32_t first = 0; first < each.size(); first += at_once) {
    const Ids some(each.begin() + first, each.begin() + first + at_once);
    const Id vector = at_once == 1 ? some[0]
                                   : code_.op(spv::Op::OpCompositeConstruct,
                                              types_.vector(Scalar::i32, at_once), some);
    store_native(words, first, at_once, vector);
  }
}

// --- instructions --------------------------------------------------------------------------------

void Lowering::lower_memory(const Inst& inst) {
  switch (inst.op) {
    case Op::Load:
      return lower_load(inst);
    case Op::Store:
      return lower_store(inst);
    case Op::MaskedLoad:
      return lower_masked_load(inst, false);
    case Op::MaskedStore:
      return lower_masked_store(inst, false);
    case Op::Gather:
      return lower_masked_load(inst, true);
    case Op::Scatter:
      return lower_masked_store(inst, true);
    default:
      fail(inst, "no such memory operation");
  }
}

void Lowering::lower_load(const Inst& inst) {
  const Type t = result_type(inst);
  const Access a = access(inst, t.scalar, 0);
  if (in_words(a, t)) {
    Ids words = load_words(a, t);
    set(inst, pieces_of(t, words));
    if (kir::width(t.scalar) == 16) words_[inst.results[0].id] = std::move(words);
    return;
  }
  Ids pieces;
  for (uint32_t first = 0; first < t.lanes; first += piece_lanes(t)) {
    pieces.push_back(load_piece(a, first, piece_lanes(t)));
  }
  set(inst, std::move(pieces));
}

void Lowering::lower_store(const Inst& inst) {
  const kir::Value value = inst.operands[2];
  const Type t = k_.type(value);
  const Access a = access(inst, t.scalar, 0);
  if (in_words(a, t)) {
    const Ids words = words_of_upper_halves(value);
    return store_words(a, words.empty() ? words_of(t, get(value)) : words);
  }
  for (uint32_t i = 0; i < piece_count(t); ++i) {
    store_piece(a, i * piece_lanes(t), piece_lanes(t), get(value)[i]);
  }
}

// Lane by lane: a masked lane must touch nothing, and only a branch sees to that.
void Lowering::lower_masked_load(const Inst& inst, bool indexed) {
  const Type t = result_type(inst);
  const kir::Value mask = inst.operands[2], passthru = inst.operands[3];
  const bool all = known(mask).value_or(0) != 0;
  const Access contiguous = indexed ? Access{} : access(inst, t.scalar, 0);
  Ids lanes;
  for (uint32_t i = 0; i < t.lanes; ++i) {
    const auto load = [&] {
      return indexed ? load_native(access(inst, t.scalar, i), 0, 1) : load_native(contiguous, i, 1);
    };
    lanes.push_back(all ? load()
                        : guarded(lane(mask, i), types_.scalar(t.scalar), lane(passthru, i), load));
  }
  set(inst, assemble(t, lanes));
}

void Lowering::lower_masked_store(const Inst& inst, bool indexed) {
  const kir::Value value = inst.operands[2], mask = inst.operands[3];
  const Type t = k_.type(value);
  const bool all = known(mask).value_or(0) != 0;
  const Access contiguous = indexed ? Access{} : access(inst, t.scalar, 0);
  for (uint32_t i = 0; i < t.lanes; ++i) {
    const Id element = lane(value, i);
    const auto store = [&] {
      if (indexed) return store_native(access(inst, t.scalar, i), 0, 1, element);
      store_native(contiguous, i, 1, element);
    };
    if (all) {
      store();
    } else {
      guarded(lane(mask, i), store);
    }
  }
}

Id Lowering::guarded(Id condition, Id type, Id otherwise, const std::function<Id()>& body) {
  const Id then = code_.new_label(), merge = code_.new_label();
  const Id before = code_.block();
  code_.selection_merge(merge);
  code_.branch_if(condition, then, merge);
  code_.begin(then);
  const Id value = body();
  const Id end = code_.block();
  code_.branch(merge);
  code_.begin(merge);
  return type == 0 ? 0 : code_.phi(type, {value, end}, {otherwise, before});
}

void Lowering::guarded(Id condition, const std::function<void()>& body) {
  guarded(condition, 0, 0, [&] {
    body();
    return Id{0};
  });
}

// --- allocations ---------------------------------------------------------------------------------

void Lowering::find_atomic_allocations() {
  for (const Inst& inst : k_.insts) {
    if (kir::info(inst.op).group == kir::Group::Atomic) {
      atomic_allocation_[inst.operands[0].id] = true;
    }
  }
}

void Lowering::lower_alloc(const Inst& inst) {
  const AddressSpace space = result_type(inst).space;
  const Scalar elem = inst.imm.elem;
  // Atomics work on words: narrow elements get one each, floats are kept as their bits.
  const Scalar stored = atomic_allocation_[inst.results[0].id] ? word_of(elem) : elem;
  const bool vec4_elements = cooperative_allocation_[inst.results[0].id];
  const Id array = vec4_elements
                       ? m_.type_array(types_.vector(stored, kVec4), (inst.imm.count + 3) / kVec4)
                       : m_.type_array(types_.scalar(stored), inst.imm.count);
  const Id type = m_.type_pointer(local_storage(space), array);
  const Id variable = space == AddressSpace::group
                          ? m_.global_variable(type, spv::StorageClass::Workgroup)
                          : code_.variable(type);
  allocations_[inst.results[0].id] = {space, elem, stored, variable, vec4_elements};
}

}  // namespace primset::emit::spirv
