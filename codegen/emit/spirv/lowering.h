// Lowers one kernel, instruction by instruction. The methods are in one file a concept:
//
//   lowering.cpp    the order of things; leaves; dispatch by group
//   interface.cpp   entry point, parameters, built-in inputs
//   arithmetic.cpp  integer and floating-point operations, comparisons, select
//   conversion.cpp  conversions
//   vectors.cpp     splat, extract, insert, shuffle, any, all
//   memory.cpp      addresses, loads and stores, masked and indexed ones, allocations
//   atomics.cpp     atomic operations
//   workgroup.cpp   barrier and subgroup operations
//   cooperative.cpp matrices that a subgroup holds
//   control.cpp     if, for, while
//   packed_halves.cpp words of two 16-bit elements
//   opaque_constants.cpp  a workaround
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_LOWERING_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_LOWERING_H_

#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/OpenCL.std.h>

#include "codegen/emit/spirv/code.h"
#include "codegen/emit/spirv/module.h"
#include "codegen/emit/spirv/types.h"
#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::emit::spirv {

class Lowering {
 public:
  Lowering(const kir::Kernel& kernel, const kir::TargetModel& target);
  Words run() &&;

 private:
  // Workgroup or private memory. What is `stored` differs from the kernel's element where atomics
  // want words: SPIR-V has no view of a workgroup variable as another type.
  static constexpr uint32_t kVec4 = 4;
  struct Allocation {
    kir::AddressSpace space;
    kir::Scalar elem, stored;
    Id variable;
    bool vec4_elements;  // an array of vectors of four, which cooperative matrices come from
  };
  // A place in memory: element 0 of a load or store of elements `elem`.
  struct Access {
    kir::AddressSpace space;
    kir::Scalar elem;    // what the instruction reads or writes
    kir::Scalar stored;  // what memory holds
    Id base;   // global, Vulkan: u64 address; global, Kernel: pointer to elem; else variable
    Id index;  // group, priv: u32 index of element 0
    uint32_t align;
    bool vec4_elements = false;
    bool invariant = false;
  };
  enum class Builtin : uint8_t { group_id, group_count, local_id, subgroup_size, subgroup_lane };
  struct Extended {  // one operation in both extended instruction sets
    GLSLstd450 glsl;
    OpenCLLIB::Entrypoints opencl;
  };

  // --- lowering.cpp
  void lower_block(kir::BlockId block);
  void lower(const kir::Inst& inst);
  void lower_leaf(const kir::Inst& inst);
  void lower_iota(const kir::Inst& inst);
  void set(kir::Value v, Ids pieces) { values_[v.id] = std::move(pieces); }
  void set(const kir::Inst& inst, Ids pieces) { set(inst.results[0], std::move(pieces)); }
  const Ids& get(kir::Value v) const { return values_[v.id]; }
  Id get_scalar(kir::Value v) const { return values_[v.id][0]; }
  std::optional<uint64_t> known(kir::Value v) const { return known_[v.id]; }
  kir::Type result_type(const kir::Inst& inst) const { return k_.type(inst.results[0]); }
  bool vulkan() const { return flavour_ == Flavour::vulkan; }
  Id u32(uint32_t v) { return types_.constant(kir::Scalar::i32, v); }
  // One lane of a value, as a scalar.
  Id lane(kir::Value v, uint32_t lane);
  // A value of `type` from its lanes.
  Ids assemble(kir::Type type, std::span<const Id> lanes);
  [[noreturn]] void fail(const kir::Inst& inst, const std::string& why) const;

  // --- interface.cpp
  void declare_module();
  void declare_execution_modes(Id function);
  void declare_arguments();
  Id declare_block(spv::StorageClass storage);
  Id param(uint32_t index);
  Id load_param(uint32_t index);
  Id builtin_variable(Builtin b, uint32_t components);
  Id builtin(Builtin b, uint32_t dim);

  // --- arithmetic.cpp
  void lower_int_binary(const kir::Inst& inst);
  void lower_remainder(const kir::Inst& inst);
  void lower_bools(const kir::Inst& inst);
  void lower_float(const kir::Inst& inst);
  void lower_compare(const kir::Inst& inst);
  void lower_select(const kir::Inst& inst);
  void each_piece(const kir::Inst& inst, spv::Op op);
  Id mul_high(const kir::Inst& inst, Id x, Id y);
  Id mul_high_wide(const kir::Inst& inst, Id x, Id y, kir::Scalar wide);
  Id mul_high_64(Id type, uint32_t lanes, Id x, Id y, bool sign);
  Id float_op(kir::Op op, kir::Scalar s, uint32_t lanes, std::span<const Id> operands);
  Id extended(Extended which, Id type, std::span<const Id> operands);
  // Widens a condition of one lane to n.
  Id condition(Id bool_id, uint32_t from_lanes, uint32_t to_lanes);
  void no_contraction(Id id);

  // --- opaque_constants.cpp
  Id opaque_zero(kir::Scalar s);
  bool is_float_zero(kir::Value v) const;
  bool takes_constants_only(const kir::Inst& inst) const;
  Id operand(kir::Value v, uint32_t piece);
  Id opaque(kir::Value v, uint32_t piece);
  Id opaque_f16(Id x, uint32_t lanes);
  bool makes_floats(kir::BlockId block) const;

  // --- rounding.cpp
  bool rounds_by_adding(kir::Op op, kir::Scalar s) const;
  Id rounded_by_adding(kir::Op op, uint32_t lanes, Id x);

  // --- denormals.cpp
  bool by_bits(const kir::Inst& inst) const;
  void lower_sign_by_bits(const kir::Inst& inst);
  void lower_compare_by_bits(const kir::Inst& inst);
  Id order_of(Id bits, uint32_t lanes);

  // --- packed_halves.cpp
  void note_halves(const kir::Inst& inst);
  bool lower_moved_up(const kir::Inst& inst);
  Ids words_of_upper_halves(kir::Value v);

  // --- conversion.cpp
  void lower_convert(const kir::Inst& inst);
  Id convert(const kir::Inst& inst, kir::Scalar from, kir::Scalar to, uint32_t lanes, Id x);
  Id from_bool(kir::Scalar to, uint32_t lanes, uint64_t one, Id x);
  Id bitcast(kir::Scalar from, kir::Scalar to, uint32_t lanes, Id x);

  // --- vectors.cpp
  void lower_vector(const kir::Inst& inst);
  void lower_shuffle(const kir::Inst& inst);
  void lower_active_lane_mask(const kir::Inst& inst);
  void lower_any_all(const kir::Inst& inst);

  // --- memory.cpp
  void lower_pointer(const kir::Inst& inst);
  void lower_memory(const kir::Inst& inst);
  void lower_alloc(const kir::Inst& inst);
  void lower_load(const kir::Inst& inst);
  void lower_store(const kir::Inst& inst);
  void lower_masked_load(const kir::Inst& inst, bool indexed);
  void lower_masked_store(const kir::Inst& inst, bool indexed);
  Access access(const kir::Inst& inst, kir::Scalar elem, uint32_t index_lane);
  Id byte_address(kir::Value pointer, kir::Value index, uint32_t index_lane, uint32_t size);
  Id byte_offset(kir::Value index, uint32_t index_lane, uint32_t size);
  // A pointer to `lanes` neighbours as a `stored` vector, `first` elements behind the access.
  Id pointer(const Access& a, kir::Scalar stored, uint32_t first, uint32_t lanes);
  uint32_t alignment(const Access& a, uint32_t first) const;
  bool moves_whole(const Access& a, uint32_t first, uint32_t lanes) const;
  // Elements [first, first + lanes) as one piece.
  Id load_piece(const Access& a, uint32_t first, uint32_t lanes);
  void store_piece(const Access& a, uint32_t first, uint32_t lanes, Id value);
  // Narrow elements that lie on the boundaries of words are moved as vectors of words.
  bool in_words(const Access& a, kir::Type t) const;
  Ids load_words(const Access& a, kir::Type t);
  void store_words(const Access& a, const Ids& words);
  // A value of type `t` from such words, and the words of one.
  Ids pieces_of(kir::Type t, const Ids& words);
  Ids words_of(kir::Type t, const Ids& pieces);
  void find_invariant_parameters();
  Id invariant_pointer(Id pointee, Id address);
  Id load_native(const Access& a, uint32_t first, uint32_t lanes);
  void store_native(const Access& a, uint32_t first, uint32_t lanes, Id value);
  Id from_stored(const Access& a, Id value);
  Id to_stored(const Access& a, Id value);
  // Runs `body` under a condition; `otherwise` is the result when it does not hold.
  Id guarded(Id condition, Id type, Id otherwise, const std::function<Id()>& body);
  void guarded(Id condition, const std::function<void()>& body);
  void find_atomic_allocations();

  // --- atomics.cpp
  void lower_atomic(const kir::Inst& inst);
  Id atomic_word(const kir::Inst& inst, const Access& a);
  Id atomic_narrow(const kir::Inst& inst, const Access& a);
  // Replaces the word at a pointer by update(old word); returns the old word.
  Id cas_loop(Id pointer, kir::Scalar word, const std::function<Id(Id)>& update);
  Id updated(const kir::Inst& inst, kir::Scalar elem, Id old);
  Id rmw_float(kir::Rmw rmw, kir::Scalar elem, Id old, Id value);
  Id compare_exchange(Id pointer, kir::Scalar word, Id desired, Id expected);

  // --- workgroup.cpp
  void lower_barrier();
  void lower_subgroup(const kir::Inst& inst);
  Id ballot(const kir::Inst& inst);
  Id shuffle(spv::Op how, kir::Scalar s, Id value, Id lane);

  // --- cooperative.cpp
  void lower_cooperative(const kir::Inst& inst);
  // What an access to workgroup memory says besides: nothing, or that others see it.
  Ids seen_by_others(kir::AddressSpace space) const;
  void find_cooperative_allocations();
  // A pointer to element `at` of an array of vectors, or to four that begin there.
  Id vec4_element(const Access& a, Id at, uint32_t lanes);

  // --- control.cpp
  void lower_control(const kir::Inst& inst);
  void lower_if(const kir::Inst& inst);
  void lower_for(const kir::Inst& inst);
  void lower_while(const kir::Inst& inst);
  std::vector<Ids> lower_region(kir::BlockId block);
  spv::LoopControlMask loop_control(const kir::Inst& inst) const;
  // Header phis for loop-carried values, bound to a region's parameters.
  struct Carried {
    std::vector<std::vector<Code::LoopPhi>> phis;
    std::vector<Ids> values;
  };
  Carried open_carried(std::span<const kir::Value> like, std::span<const Ids> first, Id before,
                       Id next);
  std::vector<Ids> initial(std::span<const kir::Value> values);
  void close_carried(const Carried& carried, std::span<const Ids> next);

  struct ForState {
    Id iv;
    std::vector<Ids> carried;
  };
  ForState for_pass(const kir::Inst& inst, const ForState& first, Id last, uint32_t copies);
  uint32_t unrolling(const kir::Inst& inst) const;

  const kir::Kernel& k_;
  const kir::TargetModel& target_;
  Flavour flavour_;
  Module m_;
  Types types_;
  Code code_;
  bool has_subgroups_ = false;  // an instruction of the kernel works on subgroups
  Id extended_set_ = 0;         // GLSL.std.450 or OpenCL.std, on first use

  std::vector<Ids> values_;                     // by Value::id
  std::vector<std::optional<uint64_t>> known_;  // bits of constants, by Value::id
  std::map<uint32_t, Allocation> allocations_;  // by Value::id of the pointer
  std::vector<bool> atomic_allocation_;         // by Value::id: an atomic works on it
  std::vector<bool> cooperative_allocation_;    // ... or cooperative matrices are there
  const bool cooperative_;
  std::set<uint32_t> invariant_;     // Value::id of parameters that are read as such
  std::map<Id, Id> invariant_type_;  // by pointee: pointers to a block of it that is not written
  std::map<std::array<uint32_t, 3>, Id> offsets_;  // index, lane, size; of the block below
  Id offsets_block_ = 0;
  kir::ParamLayout layout_;
  Ids params_;                              // by index; 0 until used
  std::map<kir::Scalar, Id> opaque_zeros_;  // by their type, an integer
  std::set<uint32_t> rounded_;              // Value::id of what was rounded to f16
  // Of vectors of 16-bit elements, by Value::id: the words they were read as, and of what else is
  // made of them (packed_halves.cpp).
  std::map<uint32_t, Ids> words_, widened_;
  std::map<uint32_t, kir::Value> moved_down_, upper_halves_;
  std::map<uint32_t, Id> opaque_operands_;  // by Value::id of the constant
  Id block_pointer_ = 0;                    // Vulkan: the parameter block
  Ids block_members_;                       // its members' types
  spv::StorageClass block_storage_ = spv::StorageClass::PushConstant;
  std::map<Builtin, Id> builtin_variables_;
  std::map<std::pair<Builtin, uint32_t>, Id> builtins_;
};

}  // namespace primset::emit::spirv

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_LOWERING_H_
