#include "codegen/emit/spirv/spirv.h"

#include <spirv-tools/libspirv.hpp>

#include "codegen/emit/spirv/lowering.h"
#include "primset/error.h"

namespace primset::emit {

bool params_in_push_constants(const kir::ParamLayout& layout) {
  return layout.size <= kMaxPushConstantBytes;
}

std::vector<uint32_t> emit_spirv(const kir::Kernel& kernel, const kir::TargetModel& target) {
  return spirv::Lowering(kernel, target).run();
}

std::string disassemble_spirv(std::span<const uint32_t> words) {
  std::string problem;
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
        problem += "word " + std::to_string(at.index) + ": " + message + "\n";
      });
  std::string text;
  if (!tools.Disassemble(words.data(), words.size(), &text,
                         SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_INDENT |
                             SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES)) {
    throw Error(ErrorCode::corrupt, "not a SPIR-V module: " + problem);
  }
  return text;
}

}  // namespace primset::emit
