#include "backends/common/testing/kernels.h"

#include <elf.h>
#include <spirv-tools/libspirv.h>

#include <cstring>
#include <stdexcept>

namespace primset_backend_test {
namespace {

void set_bytes(TestKernel& kernel, const void* bytes, size_t size) {
  kernel.words.assign((size + 7) / 8, 0);
  kernel.size = size;
  std::memcpy(kernel.words.data(), bytes, size);
}

#if defined(__x86_64__)
// System V: rdi = params, rsi = first group, rdx = end group.
const std::vector<uint8_t> kAddBiasCode = {
    0x48, 0x39, 0xd6,        //     cmp  rsi, rdx
    0x73, 0x1e,              //     jae  2f
    0x48, 0x8b, 0x07,        //     mov  rax, [rdi]          in
    0x48, 0x8b, 0x4f, 0x08,  //     mov  rcx, [rdi + 8]      out
    0x8b, 0x7f, 0x10,        //     mov  edi, [rdi + 16]     bias
    0x90,                    //     nop
    0x44, 0x8b, 0x04, 0xb0,  // 1:  mov  r8d, [rax + 4 rsi]
    0x41, 0x01, 0xf8,        //     add  r8d, edi
    0x44, 0x89, 0x04, 0xb1,  //     mov  [rcx + 4 rsi], r8d
    0x48, 0xff, 0xc6,        //     inc  rsi
    0x48, 0x39, 0xf2,        //     cmp  rdx, rsi
    0x75, 0xed,              //     jne  1b
    0xc3,                    // 2:  ret
};
#endif

// The parameter block is the push constants, or behind their address when it has over 128 bytes.
constexpr const char* kAddBiasSpirv = R"(
        OpCapability Shader
        OpCapability Int64
        OpCapability PhysicalStorageBufferAddresses
        OpMemoryModel PhysicalStorageBuffer64 GLSL450
        OpEntryPoint GLCompute %main "add_bias" %group %push
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %group BuiltIn WorkgroupId
        OpDecorate %params_t Block
        OpMemberDecorate %params_t 0 Offset 0
        OpMemberDecorate %params_t 1 Offset 8
        OpMemberDecorate %params_t 2 Offset 16
        OpDecorate %indirect_t Block
        OpMemberDecorate %indirect_t 0 Offset 0
%void = OpTypeVoid
%main_t = OpTypeFunction %void
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%uint3 = OpTypeVector %uint 3
%params_t = OpTypeStruct %ulong %ulong %uint
%indirect_t = OpTypeStruct %ulong
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%four = OpConstant %ulong 4
%in_uint3 = OpTypePointer Input %uint3
%at_uint = OpTypePointer PhysicalStorageBuffer %uint
%at_params = OpTypePointer PhysicalStorageBuffer %params_t
%at_ulong = OpTypePointer PhysicalStorageBuffer %ulong
%push_ulong = OpTypePointer PushConstant %ulong
%push_uint = OpTypePointer PushConstant %uint
%push_params = OpTypePointer PushConstant %params_t
%push_indirect = OpTypePointer PushConstant %indirect_t
%group = OpVariable %in_uint3 Input
)";
constexpr const char* kDirectParams = R"(
%push = OpVariable %push_params PushConstant
%main = OpFunction %void None %main_t
%entry = OpLabel
%in_at = OpAccessChain %push_ulong %push %zero
%in = OpLoad %ulong %in_at
%out_at = OpAccessChain %push_ulong %push %one
%out = OpLoad %ulong %out_at
%bias_at = OpAccessChain %push_uint %push %two
%bias = OpLoad %uint %bias_at
)";
constexpr const char* kIndirectParams = R"(
%push = OpVariable %push_indirect PushConstant
%main = OpFunction %void None %main_t
%entry = OpLabel
%block_at = OpAccessChain %push_ulong %push %zero
%block_address = OpLoad %ulong %block_at
%block = OpConvertUToPtr %at_params %block_address
%in_at = OpAccessChain %at_ulong %block %zero
%in = OpLoad %ulong %in_at Aligned 8
%out_at = OpAccessChain %at_ulong %block %one
%out = OpLoad %ulong %out_at Aligned 8
%bias_at = OpAccessChain %at_uint %block %two
%bias = OpLoad %uint %bias_at Aligned 8
)";
constexpr const char* kAddBiasBody = R"(
%ids = OpLoad %uint3 %group
%id = OpCompositeExtract %uint %ids 0
%wide = OpUConvert %ulong %id
%offset = OpIMul %ulong %wide %four
%from_address = OpIAdd %ulong %in %offset
%to_address = OpIAdd %ulong %out %offset
%from = OpConvertUToPtr %at_uint %from_address
%to = OpConvertUToPtr %at_uint %to_address
%value = OpLoad %uint %from Aligned 4
%sum = OpIAdd %uint %value %bias
OpStore %to %sum Aligned 4
OpReturn
OpFunctionEnd
)";

// The parameter block behind the pointers is one array.
constexpr const char* kAddBiasPtxHead = R"(.version 6.3
.target sm_70
.address_size 64
.visible .entry add_bias(
  .param .u64 add_bias_in,
  .param .u64 add_bias_out,
  .param .align 8 .b8 add_bias_scalars[)";
constexpr const char* kAddBiasPtxBody = R"(]
)
.reqntid 1, 1, 1
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [add_bias_in];
  ld.param.u64 %rd2, [add_bias_out];
  ld.param.u32 %r1, [add_bias_scalars];
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r3, [%rd4];
  add.s32 %r3, %r3, %r1;
  st.global.u32 [%rd5], %r3;
  ret;
}
)";

// The pointers, then the bias, and behind it as many scalars as the parameter block has room for.
std::string add_bias_of_opencl(uint32_t scalars) {
  std::string types, parameters;
  for (uint32_t i = 1; i < scalars; ++i) {
    types += " %ulong";
    parameters += "%more" + std::to_string(i) + " = OpFunctionParameter %ulong\n";
  }
  return R"(
        OpCapability Kernel
        OpCapability Addresses
        OpCapability Int64
        OpMemoryModel Physical64 OpenCL
        OpEntryPoint Kernel %main "add_bias" %group
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %group BuiltIn WorkgroupId
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%ulong3 = OpTypeVector %ulong 3
%at_uint = OpTypePointer CrossWorkgroup %uint
%in_ulong3 = OpTypePointer Input %ulong3
%main_t = OpTypeFunction %void %at_uint %at_uint %ulong)" +
         types + R"(
%group = OpVariable %in_ulong3 Input
%main = OpFunction %void None %main_t
%in = OpFunctionParameter %at_uint
%out = OpFunctionParameter %at_uint
%wide_bias = OpFunctionParameter %ulong
)" + parameters +
         R"(%entry = OpLabel
%ids = OpLoad %ulong3 %group
%id = OpCompositeExtract %ulong %ids 0
%bias = OpUConvert %uint %wide_bias
%from = OpInBoundsPtrAccessChain %at_uint %in %id
%to = OpInBoundsPtrAccessChain %at_uint %out %id
%value = OpLoad %uint %from Aligned 4
%sum = OpIAdd %uint %value %bias
OpStore %to %sum Aligned 4
OpReturn
OpFunctionEnd
)";
}

void assemble(TestKernel& kernel, const std::string& text, spv_target_env environment) {
  spv_context context = spvContextCreate(environment);
  spv_binary binary = nullptr;
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result =
      spvTextToBinary(context, text.c_str(), text.size(), &binary, &diagnostic);
  const std::string error = diagnostic ? diagnostic->error : "";
  spvDiagnosticDestroy(diagnostic);
  if (result == SPV_SUCCESS) set_bytes(kernel, binary->code, 4 * binary->wordCount);
  spvBinaryDestroy(binary);
  spvContextDestroy(context);
  if (result != SPV_SUCCESS) throw std::runtime_error("the test's SPIR-V: " + error);
}

}  // namespace

primset_module_desc TestKernel::desc(uint32_t format) const {
  primset_module_desc desc{};
  desc.struct_size = sizeof(desc);
  desc.format = format;
  desc.data = words.data();
  desc.size = size;
  desc.entry = entry.c_str();
  desc.group_size[0] = desc.group_size[1] = desc.group_size[2] = 1;
  desc.pointer_count = pointer_count;
  desc.param_bytes = param_bytes;
  desc.scalar_count = static_cast<uint32_t>(scalar_sizes.size());
  desc.scalar_sizes = scalar_sizes.data();
  return desc;
}

TestKernel native_image(const std::vector<uint8_t>& code) {
  primset_native_image header{};
  std::memcpy(header.magic, "PSIMAGE1", 8);
  header.header_size = sizeof(header);
#if defined(__aarch64__)
  header.machine = EM_AARCH64;
#else
  header.machine = EM_X86_64;
#endif
  header.image_size = sizeof(header) + code.size();
  header.entry_offset = sizeof(header);
  std::vector<uint8_t> bytes(header.image_size);
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), code.data(), code.size());
  TestKernel kernel;
  set_bytes(kernel, bytes.data(), bytes.size());
  kernel.entry = "add_bias";
  return kernel;
}

TestKernel add_bias(uint32_t format, uint32_t param_bytes) {
  TestKernel kernel;
#if defined(__x86_64__)
  if (format == PRIMSET_FORMAT_NATIVE_IMAGE) kernel = native_image(kAddBiasCode);
#endif
  if (format == PRIMSET_FORMAT_SPIRV_VULKAN)
    assemble(kernel,
             std::string(kAddBiasSpirv) + (param_bytes > 128 ? kIndirectParams : kDirectParams) +
                 kAddBiasBody,
             SPV_ENV_VULKAN_1_2);
  if (format == PRIMSET_FORMAT_SPIRV_KERNEL) {
    kernel.scalar_sizes.assign((param_bytes - 16) / 8, 8);
    assemble(kernel, add_bias_of_opencl((param_bytes - 16) / 8), SPV_ENV_UNIVERSAL_1_2);
  }
  if (format == PRIMSET_FORMAT_PTX) {
    const std::string text = kAddBiasPtxHead + std::to_string(param_bytes - 16) + kAddBiasPtxBody;
    set_bytes(kernel, text.c_str(), text.size() + 1);
  }
  kernel.entry = "add_bias";
  kernel.pointer_count = 2;
  kernel.param_bytes = param_bytes;
  return kernel;
}

}  // namespace primset_backend_test
