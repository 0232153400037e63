// The module's outside: capabilities, entry point, parameters and built-in inputs.
#include "codegen/emit/spirv/lowering.h"
#include "codegen/emit/spirv/spirv.h"

namespace primset::emit::spirv {

using kir::Scalar;

void Lowering::declare_module() {
  if (vulkan()) {
    m_.capability(spv::Capability::Shader);
    m_.capability(spv::Capability::PhysicalStorageBufferAddresses);
    m_.capability(spv::Capability::Int64);  // addresses
    // Cooperative matrices want Vulkan's own memory model.
    if (cooperative_) m_.capability(spv::Capability::VulkanMemoryModel);
    m_.memory_model(spv::AddressingModel::PhysicalStorageBuffer64,
                    cooperative_ ? spv::MemoryModel::Vulkan : spv::MemoryModel::GLSL450);
    m_.version(0x00010500);
  } else {
    m_.capability(spv::Capability::Kernel);
    m_.capability(spv::Capability::Addresses);
    m_.memory_model(spv::AddressingModel::Physical64, spv::MemoryModel::OpenCL);
    m_.version(0x00010200);
  }
}

void Lowering::declare_execution_modes(Id function) {
  const auto [x, y, z] = k_.group_size;
  m_.execution_mode(function, spv::ExecutionMode::LocalSize, {x, y, z});
  // A device that offers several sizes has its compiler choose, if nobody says which is meant.
  const bool one_size = target_.min_subgroup == target_.max_subgroup && target_.max_subgroup > 1;
  if (!vulkan() && has_subgroups_ && one_size) {
    m_.capability(spv::Capability::SubgroupDispatch);
    m_.execution_mode(function, spv::ExecutionMode::SubgroupSize, {target_.max_subgroup});
  }
  // In Vulkan each instruction says so itself (NoContraction).
  if (!vulkan()) m_.execution_mode(function, spv::ExecutionMode::ContractionOff);
  const auto control = [&](uint32_t widths, spv::Capability capability, spv::ExecutionMode mode) {
    for (uint32_t width : {16u, 32u, 64u}) {
      if ((widths & types_.float_widths() & width) == 0) continue;
      m_.capability(capability);
      if (!vulkan()) m_.extension("SPV_KHR_float_controls");
      m_.execution_mode(function, mode, {width});
    }
  };
  control(target_.float_controls_nan, spv::Capability::SignedZeroInfNanPreserve,
          spv::ExecutionMode::SignedZeroInfNanPreserve);
  control(target_.float_controls_rte, spv::Capability::RoundingModeRTE,
          spv::ExecutionMode::RoundingModeRTE);
  control(target_.float_controls_denorm, spv::Capability::DenormPreserve,
          spv::ExecutionMode::DenormPreserve);
}

// OpenCL kernels have parameters. Vulkan shaders have one block: in push constants where it fits,
// else in memory whose address is the only push constant.
void Lowering::declare_arguments() {
  if (!vulkan()) {
    for (uint32_t i = 0; i < k_.params.size(); ++i) {
      params_[i] = code_.parameter(types_.piece(k_.params[i].type));
    }
    return;
  }
  if (k_.params.empty()) return;
  Code::AtEntry at_entry(code_);
  if (params_in_push_constants(layout_)) {
    block_storage_ = spv::StorageClass::PushConstant;
    const Id block = declare_block(block_storage_);
    block_pointer_ = m_.global_variable(block, block_storage_);
    return;
  }
  block_storage_ = spv::StorageClass::PhysicalStorageBuffer;
  const Id u64 = types_.scalar(Scalar::i64);
  const Id pushed = m_.new_struct({&u64, 1});
  m_.decorate(pushed, spv::Decoration::Block);
  m_.decorate_member(pushed, 0, spv::Decoration::Offset, {0});
  constexpr auto kPush = spv::StorageClass::PushConstant;
  const Id variable = m_.global_variable(m_.type_pointer(kPush, pushed), kPush);
  const Id member =
      code_.op(spv::Op::OpAccessChain, m_.type_pointer(kPush, u64), {variable, u32(0)});
  const Id address = code_.op(spv::Op::OpLoad, u64, {member});
  block_pointer_ = code_.op(spv::Op::OpConvertUToPtr, declare_block(block_storage_), {address});
}

// Returns the type of a pointer to the block.
Id Lowering::declare_block(spv::StorageClass storage) {
  for (const kir::Param& p : k_.params) block_members_.push_back(types_.piece(p.type));
  const Id block = m_.new_struct(block_members_);
  m_.decorate(block, spv::Decoration::Block);
  for (uint32_t i = 0; i < k_.params.size(); ++i) {
    m_.decorate_member(block, i, spv::Decoration::Offset, {layout_.offsets[i]});
  }
  return m_.type_pointer(storage, block);
}

Id Lowering::param(uint32_t index) {
  if (params_[index] == 0) params_[index] = load_param(index);
  return params_[index];
}

Id Lowering::load_param(uint32_t index) {
  // At the entry, whatever region asks first: the value must dominate all its uses.
  Code::AtEntry at_entry(code_);
  const Id type = block_members_[index];
  const Id member = code_.op(spv::Op::OpAccessChain, m_.type_pointer(block_storage_, type),
                             {block_pointer_, u32(index)});
  if (block_storage_ == spv::StorageClass::PushConstant) {
    return code_.op(spv::Op::OpLoad, type, {member});
  }
  return code_.op(spv::Op::OpLoad, type,
                  {member, static_cast<uint32_t>(spv::MemoryAccessMask::Aligned),
                   static_cast<uint32_t>(kir::bytes(k_.params[index].type))});
}

Id Lowering::builtin_variable(Builtin b, uint32_t components) {
  Id& variable = builtin_variables_[b];
  if (variable != 0) return variable;
  constexpr auto kInput = spv::StorageClass::Input;
  // OpenCL has ids and counts of groups and threads as size_t.
  const Scalar element = vulkan() || components == 1 ? Scalar::i32 : Scalar::i64;
  variable =
      m_.global_variable(m_.type_pointer(kInput, types_.vector(element, components)), kInput);
  const auto which = [&] {
    switch (b) {
      case Builtin::group_id:
        return spv::BuiltIn::WorkgroupId;
      case Builtin::group_count:
        return spv::BuiltIn::NumWorkgroups;
      case Builtin::local_id:
        return spv::BuiltIn::LocalInvocationId;
      case Builtin::subgroup_size:
        return spv::BuiltIn::SubgroupSize;
      case Builtin::subgroup_lane:
        break;
    }
    return spv::BuiltIn::SubgroupLocalInvocationId;
  }();
  m_.decorate(variable, spv::Decoration::BuiltIn, {static_cast<uint32_t>(which)});
  return variable;
}

Id Lowering::builtin(Builtin b, uint32_t dim) {
  Id& value = builtins_[{b, dim}];
  if (value != 0) return value;
  Code::AtEntry at_entry(code_);
  const bool scalar = b == Builtin::subgroup_size || b == Builtin::subgroup_lane;
  const Id variable = builtin_variable(b, scalar ? 1 : 3);
  const Id u32_type = types_.scalar(Scalar::i32);
  if (scalar) return value = code_.op(spv::Op::OpLoad, u32_type, {variable});
  const Scalar element = vulkan() ? Scalar::i32 : Scalar::i64;
  const Id all = code_.op(spv::Op::OpLoad, types_.vector(element, 3), {variable});
  value = code_.op(spv::Op::OpCompositeExtract, types_.scalar(element), {all, dim});
  if (!vulkan()) value = code_.op(spv::Op::OpUConvert, u32_type, {value});
  return value;
}

}  // namespace primset::emit::spirv
