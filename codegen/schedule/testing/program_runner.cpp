#include "codegen/schedule/testing/program_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/kernel/interpreter/interpreter.h"
#include "codegen/kernel/transform/pointer_table.h"
#include "codegen/kernel/verifier/verifier.h"
#include "codegen/schedule/element/element_value.h"
#include "sdk/base/float_bits.h"

namespace primset::schedule {
namespace {

class Runner {
 public:
  Runner(const Program& p, const kir::TargetModel& target, std::span<const RunnerTensor> inputs,
         std::vector<int64_t> symbols, const RunOptions& options)
      : p_(p), target_(target), inputs_(inputs), symbols_(std::move(symbols)), options_(options) {
    symbols_.resize(p.graph->context().symbol_count());
    memory_.resize(p.buffers.size());
    written_.resize(p.buffers.size());
  }

  RunnerResult run() {
    RunnerResult r;
    result_ = &r;
    steps(p_.steps);
    for (size_t j = 0; j < p_.graph->outputs.size(); ++j) {
      for (BufferId b = 0; b < p_.buffers.size(); ++b) {
        if (p_.buffers[b].kind != Buffer::Kind::output || p_.buffers[b].index != j) continue;
        std::byte* data = memory(b);
        r.outputs.push_back({{data, data + bytes(b)}});
      }
    }
    r.inputs.resize(inputs_.size());
    for (BufferId b = 0; b < p_.buffers.size(); ++b) {
      if (p_.buffers[b].kind == Buffer::Kind::errors)
        std::memcpy(&r.error, memory(b), sizeof(ErrorSlot));
      if (p_.buffers[b].kind == Buffer::Kind::input)
        r.inputs[p_.buffers[b].index] = {{memory(b), memory(b) + bytes(b)}};
    }
    r.symbols = symbols_;
    return r;
  }

 private:
  int64_t value(const prims::SymInt& s) const {
    return s.is_constant() ? s.constant() : p_.graph->context().evaluate(s.poly(), symbols_);
  }
  size_t bytes(BufferId b) const {
    return static_cast<size_t>(value(p_.buffers[b].elements)) * byte_size(p_.buffers[b].dtype);
  }
  static constexpr size_t kBoundary = 64;
  struct Free {
    void operator()(std::byte* p) const { operator delete[](p, std::align_val_t{kBoundary}); }
  };
  // Bytes in front of a buffer's first element.
  size_t before(BufferId b) const {
    const Buffer& buffer = p_.buffers[b];
    const auto shift = static_cast<size_t>(options_.shift);
    return buffer.kind == Buffer::Kind::errors ? 0 : shift * byte_size(buffer.dtype);
  }
  // Outputs that take over an input share its memory.
  BufferId owner(BufferId b) const {
    const Buffer& buffer = p_.buffers[b];
    if (buffer.kind != Buffer::Kind::output || !p_.graph->outputs[buffer.index].writes_input)
      return b;
    const uint32_t input = *p_.graph->outputs[buffer.index].writes_input;
    for (BufferId i = 0; i < p_.buffers.size(); ++i) {
      if (p_.buffers[i].kind == Buffer::Kind::input && p_.buffers[i].index == input) return i;
    }
    return b;
  }
  // Fresh memory is poisoned.
  std::byte* memory(BufferId user) {
    const BufferId b = owner(user);
    const Buffer& buffer = p_.buffers[b];
    if (!memory_[b]) {
      const size_t n = std::max<size_t>(bytes(b), 16);
      memory_[b].reset(new (std::align_val_t{kBoundary}) std::byte[n + before(b)]);
      const bool known = buffer.kind != Buffer::Kind::temp && buffer.kind != Buffer::Kind::output;
      const int poison = std::to_integer<int>(options_.poison);
      std::memset(memory_[b].get(), buffer.kind == Buffer::Kind::errors ? 0 : poison,
                  n + before(b));
      if (options_.interpret) written_[b].assign(n, known);
      if (buffer.data) std::copy_n(buffer.data->data(), bytes(b), memory_[b].get() + before(b));
      if (buffer.kind == Buffer::Kind::input) {
        const auto& in = inputs_[buffer.index].bytes;
        std::copy_n(in.data(), std::min(n, in.size()), memory_[b].get() + before(b));
      }
    }
    return memory_[b].get() + before(b);
  }

  void steps(const std::vector<Step>& list) {
    for (const Step& s : list) std::visit([&](const auto& x) { step(x); }, s.step);
  }
  void step(const LaunchStep& s);
  void step(const CopyStep& s) {
    std::memcpy(memory(s.target), memory(s.source), bytes(s.source));
    if (options_.interpret) written_[owner(s.target)] = written_[owner(s.source)];
  }
  void step(const StridedCopyStep&) { throw std::runtime_error("every device here takes kernels"); }
  void step(const NativeStep&) { throw std::runtime_error("no native primitives here"); }
  void step(const ReadCountStep& s) {
    int32_t narrow = 0;
    std::memcpy(&narrow, memory(s.buffer), 4);
    if (bytes(s.buffer) == 4)
      symbols_[s.symbol] = narrow;
    else
      std::memcpy(&symbols_[s.symbol], memory(s.buffer), 8);
  }
  void step(const LoopStep& s) {
    const int64_t n = value(s.count);
    for (int64_t i = 0; i < n; ++i) {
      symbols_[s.symbol] = i;
      steps(s.body);
    }
  }
  void step(const WhileStep& s) {
    for (steps(s.test); *memory(s.condition) != std::byte{0}; steps(s.test)) steps(s.body);
  }
  void step(const BranchStep& s) {
    steps(*memory(s.condition) != std::byte{0} ? s.then_steps : s.else_steps);
  }
  uint64_t scalar(const ScalarParam& s) const;
  std::span<std::byte> extent(BufferId b) {
    return {memory(b), p_.buffers[b].kind == Buffer::Kind::errors ? 16 : bytes(b)};
  }
  void run_in_table(uint32_t id, const kir::Kernel& table,
                    const std::vector<std::span<std::byte>>& buffers,
                    const std::vector<uint64_t>& scalars, uint32_t groups);
  // memory: the kernel's pointers first, then what it reaches through addresses.
  void run(uint32_t id, const kir::Kernel& kernel, const std::vector<std::span<std::byte>>& memory,
           const std::vector<uint64_t>& scalars, uint32_t groups);
  void interpret(const kir::Kernel& kernel, std::vector<kir::InterpreterBuffer>& buffers,
                 const std::vector<uint64_t>& scalars, uint32_t groups) const;
  // What the launch reads has been written, and what it writes is noted.
  void interpret_watched(const LaunchStep& s, const kir::Kernel& kernel,
                         const std::vector<uint64_t>& scalars, uint32_t groups);

  const Program& p_;
  const kir::TargetModel& target_;
  std::span<const RunnerTensor> inputs_;
  std::vector<int64_t> symbols_;
  std::vector<std::unique_ptr<std::byte[], Free>> memory_;
  std::vector<std::vector<bool>> written_;  // by buffer that owns memory: its bytes
  std::map<uint32_t, std::unique_ptr<emit::NativeRunner>> compiled_;
  RunnerResult* result_ = nullptr;
  const RunOptions options_;
};

uint64_t Runner::scalar(const ScalarParam& s) const {
  switch (s.source) {
    case ScalarParam::Source::integer:
      return static_cast<uint64_t>(value(s.value));
    case ScalarParam::Source::error_base:
      return 0;
    case ScalarParam::Source::input:
      break;
  }
  const DType dtype = real_type(p_.graph->type(p_.graph->inputs[s.index].value).dtype);
  const size_t part = byte_size(dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, inputs_[s.index].bytes.data() + s.part * part, part);
  if (is_half(dtype) && s.type.scalar == kir::Scalar::f32)
    return std::bit_cast<uint32_t>(static_cast<float>(float_from_bits(bits, float_format(dtype))));
  if (is_signed_integer(dtype) && part < 8)
    return static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - 8 * part)) >> (64 - 8 * part));
  return bits;
}

void Runner::step(const LaunchStep& s) {
  const kir::Kernel& kernel = p_.kernels[s.kernel];
  kir::verify_or_throw(kernel, target_);
  const auto groups = static_cast<uint32_t>(value(s.groups[0]));
  std::vector<uint64_t> scalars;
  for (const ScalarParam& x : s.scalars) scalars.push_back(scalar(x));
  ++result_->launches;
  if (groups == 0) return;
  std::vector<std::span<std::byte>> buffers;
  for (const BufferUse& u : s.buffers) buffers.push_back(extent(u.buffer));
  if (options_.interpret) return interpret_watched(s, kernel, scalars, groups);
  if (!options_.in_tables) return run(s.kernel, kernel, buffers, scalars, groups);
  const kir::Kernel table = kir::table_form(kernel, target_);
  kir::verify_or_throw(table, target_);
  run_in_table(s.kernel, table, buffers, scalars, groups);
}

// Between two launches of the same kernel over copies of the memory.
void Runner::run_in_table(uint32_t id, const kir::Kernel& table,
                          const std::vector<std::span<std::byte>>& buffers,
                          const std::vector<uint64_t>& scalars, uint32_t groups) {
  const kir::Kernel& kernel = p_.kernels[id];
  const kir::ParamLayout layout = kir::param_layout(kernel.params);
  const uint32_t entry_bytes = kir::table_entry_bytes(kernel);
  std::vector<std::byte> entries(3 * entry_bytes);
  std::vector<std::vector<std::byte>> copies;
  std::vector<std::span<std::byte>> all{entries};
  for (uint32_t e = 0; e < 3; ++e) {
    std::byte* at = entries.data() + e * entry_bytes;
    const int64_t header[] = {int64_t{e} * groups, groups};
    std::memcpy(at, header, sizeof header);
    at += kir::kTableEntryHeader;
    for (size_t i = 0; i < buffers.size(); ++i) {
      std::span<std::byte> memory = buffers[i];
      if (e != 1) {
        copies.emplace_back(memory.begin(), memory.end());
        memory = copies.back();
      }
      all.push_back(memory);
      std::byte* address = memory.data();
      std::memcpy(at + layout.offsets[i], &address, sizeof address);
    }
    for (size_t i = 0; i < scalars.size(); ++i) {
      const size_t n = buffers.size() + i;
      std::memcpy(at + layout.offsets[n], &scalars[i], kir::bytes(kernel.params[n].type.scalar));
    }
  }
  run(id, table, all, {3}, 3 * groups);
}

void Runner::run(uint32_t id, const kir::Kernel& kernel,
                 const std::vector<std::span<std::byte>>& memory,
                 const std::vector<uint64_t>& scalars, uint32_t groups) {
  if (target_.simt) {
    std::vector<kir::InterpreterBuffer> buffers;
    for (std::span<std::byte> m : memory) buffers.push_back({m, {}});
    return interpret(kernel, buffers, scalars, groups);
  }
  auto& native = compiled_[id];
  if (!native) native = std::make_unique<emit::NativeRunner>(kernel, target_);
  std::vector<const void*> pointers;
  for (size_t i = 0; i < kir::param_layout(kernel.params).pointers; ++i)
    pointers.push_back(memory[i].data());
  native->run(pointers, scalars, 0, groups, groups);
}

void Runner::interpret(const kir::Kernel& kernel, std::vector<kir::InterpreterBuffer>& buffers,
                       const std::vector<uint64_t>& scalars, uint32_t groups) const {
  kir::InterpreterOptions options;
  options.groups = {groups, 1, 1};
  options.fused_fma = target_.fused_fma;
  if (target_.min_subgroup > 1) options.subgroup_size = target_.min_subgroup;
  kir::interpret(kernel, buffers, scalars, options);
}

void Runner::interpret_watched(const LaunchStep& s, const kir::Kernel& kernel,
                               const std::vector<uint64_t>& scalars, uint32_t groups) {
  std::vector<kir::InterpreterBuffer> buffers;
  for (const BufferUse& u : s.buffers) {
    const std::span<std::byte> data = extent(u.buffer);
    std::vector<bool> written = written_[owner(u.buffer)];
    written.resize(data.size());
    buffers.push_back({data, std::move(written)});
  }
  interpret(kernel, buffers, scalars, groups);
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::vector<bool>& written = written_[owner(s.buffers[i].buffer)];
    std::copy(buffers[i].initialized.begin(), buffers[i].initialized.end(), written.begin());
  }
}

}  // namespace

RunnerResult run_program(const Program& program, const kir::TargetModel& target,
                         std::span<const RunnerTensor> inputs, std::vector<int64_t> symbols,
                         const RunOptions& options) {
  return Runner(program, target, inputs, std::move(symbols), options).run();
}

kir::TargetModel simt_model() {
  kir::TargetModel m;
  m.format = kir::Format::spirv_vulkan;
  m.simt = true;
  m.group_threads = 64;
  m.fused_fma = false;
  m.max_groups_x = 5;  // small, so that grids wrap
  return m;
}

kir::TargetModel matrix_model() {
  kir::TargetModel m = simt_model();
  m.format = kir::Format::ptx;
  m.fused_fma = true;
  m.min_subgroup = m.max_subgroup = 32;
  m.group_memory = 49152;
  m.async_copy = m.matrix = true;
  return m;
}

kir::TargetModel group_matrix_model() {
  kir::TargetModel m = matrix_model();
  m.cpu = "sm_90";
  m.group_matrix = true;
  m.large_group_memory = 232448;
  return m;
}

kir::TargetModel cooperative_model() {
  kir::TargetModel m = simt_model();
  m.min_subgroup = m.max_subgroup = 32;
  m.group_memory = 49152;
  m.cooperative = m.cooperative_bf16 = true;
  return m;
}

kir::TargetModel ballot_model(uint32_t subgroup) {
  kir::TargetModel m = simt_model();
  m.min_subgroup = m.max_subgroup = subgroup;
  m.subgroup_ballot = true;
  return m;
}

}  // namespace primset::schedule
