#include "codegen/kernel/interpreter/interpreter.h"

#include "codegen/kernel/interpreter/group.h"
#include "codegen/kernel/interpreter/memory.h"
#include "codegen/kernel/interpreter/program.h"
#include "primset/error.h"

namespace primset::kir {
namespace {

void check_arguments(const Kernel& kernel, std::span<InterpreterBuffer> buffers,
                     std::span<const uint64_t> scalars, const InterpreterOptions& options) {
  const size_t pointers = param_layout(kernel.params).pointers;
  auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::runtime, "kernel '" + kernel.name + "': " + what);
  };
  if (buffers.size() < pointers) {
    refuse(std::to_string(buffers.size()) + " buffers given; expected at least " +
           std::to_string(pointers));
  }
  if (scalars.size() != kernel.params.size() - pointers) {
    refuse(std::to_string(scalars.size()) + " scalars given; expected " +
           std::to_string(kernel.params.size() - pointers));
  }
  if (options.subgroup_size < 1 || options.subgroup_size > 64) {
    refuse("subgroup size " + std::to_string(options.subgroup_size) + "; expected 1 to 64");
  }
  for (const InterpreterBuffer& b : buffers) {
    if (!b.initialized.empty() && b.initialized.size() != b.data.size()) {
      refuse(std::to_string(b.initialized.size()) + " flags for a buffer of " +
             std::to_string(b.data.size()) + " bytes");
    }
  }
}

}  // namespace

void interpret(const Kernel& kernel, std::span<InterpreterBuffer> buffers,
               std::span<const uint64_t> scalars, const InterpreterOptions& options) {
  check_arguments(kernel, buffers, scalars, options);
  std::vector<std::string> names;
  for (const Param& p : kernel.params) {
    if (p.type.is_pointer()) names.push_back(p.name);
  }
  interp::Program program = interp::decode(kernel, scalars, options);
  interp::Memory memory(buffers, names, options.check_races);
  interp::GroupRunner runner(kernel, program, memory, options);
  for (uint32_t z = 0; z < options.groups[2]; ++z) {
    for (uint32_t y = 0; y < options.groups[1]; ++y) {
      for (uint32_t x = 0; x < options.groups[0]; ++x) runner.run({x, y, z});
    }
  }
  memory.write_back_flags();
}

}  // namespace primset::kir
