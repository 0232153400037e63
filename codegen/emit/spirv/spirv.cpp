#include "codegen/emit/spirv/spirv.h"

#include <spirv-tools/libspirv.hpp>

#include "codegen/emit/spirv/lowering.h"
#include "primset/error.h"

namespace primset::emit {
namespace {

constexpr size_t kHeaderWords = 5;

// A line an instruction, in numbers: `4459: 12 70 68 69 66`. Empty where it is no module.
std::string in_numbers(std::span<const uint32_t> words) {
  if (words.size() < kHeaderWords || words[0] != spv::MagicNumber) return {};
  std::string text;
  for (size_t at = kHeaderWords; at < words.size();) {
    const size_t length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) return {};
    text += std::to_string(words[at] & 0xffff) + ":";
    for (size_t i = 1; i < length; ++i) text += " " + std::to_string(words[at + i]);
    text += "\n";
    at += length;
  }
  return text;
}

}  // namespace

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
    const std::string numbers = in_numbers(words);
    if (numbers.empty()) throw Error(ErrorCode::corrupt, "not a SPIR-V module: " + problem);
    return "; This SPIRV-Tools does not know all of it: " + problem +
           "; so in numbers, the operation first:\n" + numbers;
  }
  return text;
}

}  // namespace primset::emit
