// The body of the module's one function: a stream of blocks, with the entry block's variables and
// loads kept apart so that they can be added at any time.
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_CODE_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_CODE_H_

#include <cstddef>
#include <initializer_list>
#include <span>

#include "codegen/emit/spirv/module.h"

namespace primset::emit::spirv {

class Code {
 public:
  explicit Code(Module& module) : m_(module), entry_label_(module.new_id()), block_(entry_label_) {}

  // An instruction with a result.
  Id op(spv::Op op, Id type, std::span<const uint32_t> operands);
  Id op(spv::Op o, Id type, std::initializer_list<uint32_t> operands) {
    return op(o, type, std::span(operands.begin(), operands.size()));
  }
  // One without.
  void stmt(spv::Op op, std::initializer_list<uint32_t> operands) { append(*out_, op, operands); }
  void stmt(spv::Op op, std::span<const uint32_t> operands) { append(*out_, op, operands); }
  // A function parameter; in order, before anything else.
  Id parameter(Id type);
  // A variable of Function storage.
  Id variable(Id pointer_type);

  // While it lives, instructions go into the entry block, where they dominate everything.
  class AtEntry {
   public:
    explicit AtEntry(Code& code) : code_(code), before_(code.out_) { code.out_ = &code.entry_; }
    ~AtEntry() { code_.out_ = before_; }
    AtEntry(const AtEntry&) = delete;
    AtEntry& operator=(const AtEntry&) = delete;

   private:
    Code& code_;
    Words* before_;
  };

  // Blocks. block() is the label that a phi of a successor names.
  Id new_label() { return m_.new_id(); }
  Id block() const { return block_; }
  void begin(Id label);
  void branch(Id target) { stmt(spv::Op::OpBranch, {target}); }
  void branch_if(Id condition, Id then_label, Id else_label) {
    stmt(spv::Op::OpBranchConditional, {condition, then_label, else_label});
  }
  void selection_merge(Id merge) { stmt(spv::Op::OpSelectionMerge, {merge, 0}); }
  void loop_merge(Id merge, Id next,
                  spv::LoopControlMask control = spv::LoopControlMask::MaskNone) {
    stmt(spv::Op::OpLoopMerge, {merge, next, static_cast<uint32_t>(control)});
  }

  struct Incoming {
    Id value, block;
  };
  Id phi(Id type, Incoming a, Incoming b) {
    return op(spv::Op::OpPhi, type, {a.value, a.block, b.value, b.block});
  }
  // A loop header's phi: the value that comes round the loop is told later.
  struct LoopPhi {
    Id id;
    size_t hole;
  };
  LoopPhi loop_phi(Id type, Incoming first, Id next_block);
  void close(const LoopPhi& phi, Id value) { body_[phi.hole] = value; }

  // Writes the function. The body ends in OpReturn.
  void finish(Id function, Id void_type, Id function_type);

 private:
  Module& m_;
  Words params_, variables_, entry_, body_;
  Words* out_ = &body_;
  Id entry_label_;
  Id block_;
};

}  // namespace primset::emit::spirv

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_CODE_H_
