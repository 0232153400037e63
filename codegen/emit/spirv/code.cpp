#include "codegen/emit/spirv/code.h"

namespace primset::emit::spirv {

Id Code::op(spv::Op op, Id type, std::span<const uint32_t> operands) {
  const Id id = m_.new_id();
  out_->push_back(static_cast<uint32_t>(operands.size() + 3) << 16 | static_cast<uint32_t>(op));
  out_->push_back(type);
  out_->push_back(id);
  out_->insert(out_->end(), operands.begin(), operands.end());
  return id;
}

Id Code::parameter(Id type) {
  const Id id = m_.new_id();
  append(params_, spv::Op::OpFunctionParameter, {type, id});
  return id;
}

Id Code::variable(Id pointer_type) {
  const Id id = m_.new_id();
  append(variables_, spv::Op::OpVariable,
         {pointer_type, id, static_cast<uint32_t>(spv::StorageClass::Function)});
  return id;
}

void Code::begin(Id label) {
  stmt(spv::Op::OpLabel, {label});
  block_ = label;
}

Code::LoopPhi Code::loop_phi(Id type, Incoming first, Id next_block) {
  const Id id = op(spv::Op::OpPhi, type, {first.value, first.block, 0, next_block});
  return {id, body_.size() - 2};
}

void Code::finish(Id function, Id void_type, Id function_type) {
  Words& out = m_.functions();
  append(out, spv::Op::OpFunction, {void_type, function, 0, function_type});
  out.insert(out.end(), params_.begin(), params_.end());
  append(out, spv::Op::OpLabel, {entry_label_});
  for (const Words* part : {&variables_, &entry_, &body_}) {
    out.insert(out.end(), part->begin(), part->end());
  }
  append(out, spv::Op::OpReturn, {});
  append(out, spv::Op::OpFunctionEnd, {});
}

}  // namespace primset::emit::spirv
