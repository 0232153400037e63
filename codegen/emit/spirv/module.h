// A SPIR-V module under construction: ids, sections in the order the format wants them, and one
// declaration each of every capability, type and constant. Knows nothing of kernel IR.
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_MODULE_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_MODULE_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

namespace primset::emit::spirv {

using Id = uint32_t;
using Ids = std::vector<Id>;
using Words = std::vector<uint32_t>;

// What the headers of SPIR-V 1.6.1 do not name yet.
namespace khr {

inline constexpr spv::Op kTypeCooperativeMatrix{4456}, kCooperativeMatrixLoad{4457},
    kCooperativeMatrixStore{4458}, kCooperativeMatrixMulAdd{4459};
inline constexpr spv::Capability kBFloat16Type{5116}, kBFloat16CooperativeMatrix{5118},
    kCooperativeMatrix{6022};
inline constexpr uint32_t kBFloat16Encoding = 0;
inline constexpr uint32_t kRowMajor = 0, kColumnMajor = 1;
inline constexpr uint32_t kUseLeft = 0, kUseRight = 1, kUseSums = 2;

}  // namespace khr

// Appends one instruction: the word with its length and opcode, then the operands.
void append(Words& out, spv::Op op, std::span<const uint32_t> operands);
inline void append(Words& out, spv::Op op, std::initializer_list<uint32_t> operands) {
  append(out, op, std::span(operands.begin(), operands.size()));
}
// A literal string as operand words, with its terminating zero.
Words literal(std::string_view text);

class Module {
 public:
  Id new_id() { return next_id_++; }

  void capability(spv::Capability c) { capabilities_.insert(static_cast<uint32_t>(c)); }
  void extension(std::string_view name) { extensions_.insert(std::string(name)); }
  Id import(std::string_view instruction_set);
  void memory_model(spv::AddressingModel addressing, spv::MemoryModel model);
  void entry_point(spv::ExecutionModel model, Id function, std::string_view name);
  void execution_mode(Id function, spv::ExecutionMode mode,
                      std::initializer_list<uint32_t> operands = {});
  void name(Id id, std::string_view text);
  void decorate(Id id, spv::Decoration d, std::initializer_list<uint32_t> operands = {});
  void decorate_member(Id type, uint32_t member, spv::Decoration d,
                       std::initializer_list<uint32_t> operands = {});

  Id type_void() { return unique(spv::Op::OpTypeVoid, {}); }
  Id type_bool() { return unique(spv::Op::OpTypeBool, {}); }
  // Integers are declared without a sign throughout: OpenCL allows no other.
  Id type_int(uint32_t width) { return unique(spv::Op::OpTypeInt, {width, 0}); }
  Id type_float(uint32_t width) { return unique(spv::Op::OpTypeFloat, {width}); }
  Id type_float(uint32_t width, uint32_t encoding) {
    return unique(spv::Op::OpTypeFloat, {width, encoding});
  }
  // Component, scope, rows, columns and use.
  Id type_cooperative_matrix(std::initializer_list<Id> parts) {
    return unique(khr::kTypeCooperativeMatrix, parts);
  }
  Id type_vector(Id element, uint32_t n) {
    return n == 1 ? element : unique(spv::Op::OpTypeVector, {element, n});
  }
  Id type_array(Id element, uint32_t n) {
    return unique(spv::Op::OpTypeArray, {element, constant32(n)});
  }
  Id type_pointer(spv::StorageClass storage, Id pointee) {
    return unique(spv::Op::OpTypePointer, {static_cast<uint32_t>(storage), pointee});
  }
  Id type_function(Id result, std::span<const Id> params);
  // Not shared: structs are told apart by their decorations.
  Id new_struct(std::span<const Id> members);

  Id constant_bool(bool v);
  // `bits` beyond the type's width must be zero.
  Id constant(Id type, uint32_t width, uint64_t bits);
  Id constant32(uint32_t v) { return constant(type_int(32), 32, v); }
  Id constant64(uint64_t v) { return constant(type_int(64), 64, v); }
  Id constant_null(Id type) { return unique(spv::Op::OpConstantNull, type, {}); }
  Id constant_composite(Id type, std::span<const Id> parts);
  // A module-scope variable; the entry point's interface lists it where the version asks for that.
  Id global_variable(Id pointer_type, spv::StorageClass storage);

  Words& functions() { return functions_; }
  // The least version of the format, as in its header: 0x00010500 is 1.5. Calls raise it.
  void version(uint32_t v) { version_ = std::max(version_, v); }
  Words assemble() const;

 private:
  // The id of a declaration without result type, made on its first use.
  Id unique(spv::Op op, std::initializer_list<uint32_t> operands) {
    return unique(op, 0, std::span(operands.begin(), operands.size()));
  }
  Id unique(spv::Op op, Id result_type, std::span<const uint32_t> operands);

  uint32_t version_ = 0;
  Id next_id_ = 1;
  std::set<uint32_t> capabilities_;
  std::set<std::string> extensions_;
  std::map<std::string, Id, std::less<>> import_ids_;
  std::map<Words, Id> declared_;
  struct Global {
    Id id;
    spv::StorageClass storage;
  };
  std::vector<Global> globals_;
  Words entry_;  // OpEntryPoint, but for the interface
  Words imports_, memory_model_, modes_, names_, decorations_, declarations_, functions_;
};

}  // namespace primset::emit::spirv

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_MODULE_H_
