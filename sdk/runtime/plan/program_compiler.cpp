#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>

#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/native_primitive.h"
#include "sdk/runtime/plan/plan_builder.h"
#include "sdk/runtime/tensor/host_copy.h"

namespace primset::runtime {
namespace {

using schedule::Buffer;
using schedule::Step;

// Calls f(buffer) for every buffer the step touches, nested steps included.
void for_each_buffer(const Step& step, const std::function<void(schedule::BufferId)>& f) {
  auto all = [&](const std::vector<Step>& list) {
    for (const Step& s : list) for_each_buffer(s, f);
  };
  if (auto* s = std::get_if<schedule::LaunchStep>(&step.step)) {
    for (const auto& use : s->buffers) f(use.buffer);
  } else if (auto* s = std::get_if<schedule::CopyStep>(&step.step)) {
    f(s->source), f(s->target);
  } else if (auto* s = std::get_if<schedule::StridedCopyStep>(&step.step)) {
    f(s->source.buffer), f(s->target.buffer);
  } else if (auto* s = std::get_if<schedule::NativeStep>(&step.step)) {
    for (const auto& t : s->operands) f(t.buffer);
    for (const auto& t : s->results) f(t.buffer);
  } else if (auto* s = std::get_if<schedule::ReadCountStep>(&step.step)) {
    f(s->buffer);
  } else if (auto* s = std::get_if<schedule::LoopStep>(&step.step)) {
    all(s->body);
  } else if (auto* s = std::get_if<schedule::WhileStep>(&step.step)) {
    f(s->condition), all(s->test), all(s->body);
  } else if (auto* s = std::get_if<schedule::BranchStep>(&step.step)) {
    f(s->condition), all(s->then_steps), all(s->else_steps);
  }
}

}  // namespace

void ProgramCompiler::bind_dynamic_symbols(const std::vector<Step>& list) {
  auto bind = [&](uint32_t symbol) {
    if (!dynamic_of_symbol_.contains(symbol))
      dynamic_of_symbol_.emplace(symbol, code_.bind_dynamic(symbol));
  };
  for (const Step& step : list) {
    if (auto* s = std::get_if<schedule::ReadCountStep>(&step.step)) bind(s->symbol);
    if (auto* s = std::get_if<schedule::LoopStep>(&step.step)) {
      bind(s->symbol);
      bind_dynamic_symbols(s->body);
    }
    if (auto* s = std::get_if<schedule::WhileStep>(&step.step)) {
      bind_dynamic_symbols(s->test);
      bind_dynamic_symbols(s->body);
    }
    if (auto* s = std::get_if<schedule::BranchStep>(&step.step)) {
      bind_dynamic_symbols(s->then_steps);
      bind_dynamic_symbols(s->else_steps);
    }
  }
}

void ProgramCompiler::compile(const schedule::Program& program,
                              std::span<const decomps::InputSource> sources,
                              std::span<const std::optional<Scalar>> numbers,
                              const std::string& op) {
  program_ = &program;
  scalar_sources(sources, numbers);
  buffers(sources);
  share_temporaries();
  kernels_ = device_.kernels().get_all(program.kernels);
  plan_.steps = steps(program.steps);
  if (!program.checks.empty())
    plan_.checks = std::make_shared<const CheckTable>(op, program.checks);
}

void ProgramCompiler::scalar_sources(std::span<const decomps::InputSource> sources,
                                     std::span<const std::optional<Scalar>> numbers) {
  scalar_of_input_.assign(sources.size(), UINT32_MAX);
  for (uint32_t i = 0; i < sources.size(); ++i) {
    if (sources[i].kind == decomps::InputSource::Kind::tensor) continue;
    scalar_of_input_[i] = static_cast<uint32_t>(plan_.scalars.size());
    const prims::ValueId value = program_->graph->inputs[i].value;
    plan_.scalars.push_back({sources[i].kind, sources[i].argument, sources[i].element,
                             program_->graph->type(value).dtype,
                             numbers.empty() ? std::nullopt : numbers[i]});
  }
}

HostScalarsPlan ProgramCompiler::host_scalars(HostScalars expressions) {
  HostScalarsPlan plan{std::move(expressions), {}, {}};
  for (const uint32_t i : plan.expressions.inputs) plan.scalars.push_back(scalar_of_input_[i]);
  for (const SymInt& s : plan.expressions.sizes) plan.sizes.push_back(code_.slot(s));
  return plan;
}

void ProgramCompiler::buffers(std::span<const decomps::InputSource> sources) {
  std::unordered_map<int32_t, uint32_t> result_of_output;
  for (uint32_t k = 0; k < plan_.outputs.size(); ++k)
    result_of_output.emplace(plan_.outputs[k].graph_output, k);
  for (const Buffer& from : program_->buffers) {
    BufferPlan& to = plan_.buffers.emplace_back();
    to.kind = from.kind;
    to.element_bytes = static_cast<uint32_t>(byte_size(from.dtype));
    to.elements = code_.slot(from.elements);
    to.dynamic = code_.is_dynamic(to.elements);
    if (from.kind == Buffer::Kind::input) {
      to.argument = sources[from.index].argument;
      to.element = sources[from.index].element;
      to.scalar = static_cast<int32_t>(scalar_of_input_[from.index]);
    } else if (from.kind == Buffer::Kind::output) {
      const auto it = result_of_output.find(static_cast<int32_t>(from.index));
      if (it == result_of_output.end())
        throw Error(ErrorCode::internal,
                    fmt::format("graph output {} belongs to no result", from.index));
      to.argument = it->second;
    } else if (from.kind == Buffer::Kind::table) {
      to.argument = static_cast<uint32_t>(plan_.tables.size());
      plan_.tables.push_back(table(from));
    }
  }
}

Tensor ProgramCompiler::table(const Buffer& from) const {
  const int64_t sizes[] = {from.elements.constant()}, strides[] = {1};
  Tensor t(new_tensor(new_storage(device_, from.data->size()), from.dtype, sizes, strides, 0));
  write_tensor(*t.impl(), from.data->data());
  return t;
}

namespace {

// Blocks of memory of one size: those that nothing uses any more are given out again, the earliest
// made first.
class BlockPool {
 public:
  // A free block at step `now`, or nothing.
  std::optional<uint32_t> take(size_t now) {
    for (; !busy_.empty() && busy_.top().first < now; busy_.pop()) free_.push(busy_.top().second);
    if (free_.empty()) return std::nullopt;
    const uint32_t block = free_.top();
    free_.pop();
    return block;
  }
  // The block is used up to and including step `last`.
  void use(uint32_t block, size_t last) { busy_.emplace(last, block); }

 private:
  template <typename T>
  using Smallest = std::priority_queue<T, std::vector<T>, std::greater<>>;
  Smallest<std::pair<size_t, uint32_t>> busy_;  // by the last step that uses it
  Smallest<uint32_t> free_;
};

// The first and last of the program's steps that touches each buffer; first > last: none does.
struct Lifetimes {
  std::vector<size_t> first, last;

  Lifetimes(const schedule::Program& program, size_t buffers)
      : first(buffers, SIZE_MAX), last(buffers, 0) {
    for (size_t s = 0; s < program.steps.size(); ++s) {
      for_each_buffer(program.steps[s], [&](schedule::BufferId b) {
        first[b] = std::min(first[b], s);
        last[b] = s;
      });
    }
  }
};

}  // namespace

// A temporary takes over the block of an equally large one that nothing uses any more.
void ProgramCompiler::share_temporaries() {
  const size_t count = plan_.buffers.size();
  const Lifetimes lifetimes(*program_, count);
  std::vector<size_t> order;
  for (size_t b = 0; b < count; ++b) {
    if (plan_.buffers[b].kind == Buffer::Kind::temp && lifetimes.first[b] != SIZE_MAX)
      order.push_back(b);
  }
  std::ranges::sort(order, {}, [&](size_t b) { return std::pair(lifetimes.first[b], b); });
  std::map<std::pair<Slot, uint32_t>, BlockPool> pools;  // by elements and their bytes
  for (size_t b : order) {
    BufferPlan& buffer = plan_.buffers[b];
    BlockPool& pool = pools[{buffer.elements, buffer.element_bytes}];
    // What a run finds out may change between its uses.
    const auto known = buffer.dynamic ? std::nullopt : pool.take(lifetimes.first[b]);
    buffer.block = known ? *known : plan_.blocks++;
    pool.use(buffer.block, lifetimes.last[b]);
  }
}

std::vector<StepPlan> ProgramCompiler::steps(const std::vector<Step>& list) {
  std::vector<StepPlan> out;
  for (const Step& s : list)
    out.push_back(std::visit([&](const auto& one) { return step(one); }, s.step));
  return out;
}

// Turns what the launch is given into slots of the plan's bytecode: the
// scalars at their offsets in the parameter block, and the grid.
StepPlan ProgramCompiler::step(const schedule::LaunchStep& s) {
  const kir::Kernel& kernel = program_->kernels[s.kernel];
  const kir::ParamLayout layout = kir::param_layout(kernel.params);
  LaunchPlan launch;
  launch.kernel = kernels_[s.kernel];
  for (const schedule::BufferUse& use : s.buffers)
    launch.bindings.push_back({use.buffer, (use.read ? PRIMSET_ACCESS_READ : 0u) |
                                               (use.written ? PRIMSET_ACCESS_WRITE : 0u)});
  if (launch.bindings.size() != layout.pointers ||
      s.scalars.size() + layout.pointers != kernel.params.size())
    throw Error(ErrorCode::internal,
                fmt::format("kernel {} has {} pointers and {} scalars; its launch {} and {}",
                            kernel.name, layout.pointers, kernel.params.size() - layout.pointers,
                            s.buffers.size(), s.scalars.size()));
  for (size_t i = 0; i < s.scalars.size(); ++i) {
    const schedule::ScalarParam& from = s.scalars[i];
    ScalarPlan& to = launch.scalars.emplace_back();
    to.source = from.source;
    to.type = kernel.params[layout.pointers + i].type.scalar;
    to.offset = layout.offsets[layout.pointers + i] - 8 * layout.pointers;
    to.part = from.part;
    if (from.source == schedule::ScalarParam::Source::integer) to.index = code_.slot(from.value);
    if (from.source == schedule::ScalarParam::Source::input)
      to.index = scalar_of_input_[from.index];
  }
  for (size_t d = 0; d < 3; ++d) launch.groups[d] = code_.slot(s.groups[d]);
  return {std::move(launch)};
}

StepPlan ProgramCompiler::step(const schedule::CopyStep& s) {
  return {CopyPlan{s.source, s.target, code_.slot(s.elements)}};
}

StridedPlan ProgramCompiler::operand(const schedule::StridedTensor& t) {
  StridedPlan out{t.buffer, t.dtype, {}, {}, code_.slot(t.offset)};
  for (const auto& v : t.sizes) out.sizes.push_back(code_.slot(v));
  for (const auto& v : t.strides) out.strides.push_back(code_.slot(v));
  return out;
}

StepPlan ProgramCompiler::step(const schedule::StridedCopyStep& s) {
  return {StridedCopyPlan{operand(s.source), operand(s.target)}};
}

StepPlan ProgramCompiler::step(const schedule::NativeStep& s) {
  const prims::Node& node = program_->graph->node(s.node);
  NativePlan native;
  native.name = std::string(prims::info(node.prim).name);
  for (const auto& t : s.operands) native.operands.push_back(operand(t));
  for (const auto& t : s.results) native.results.push_back(operand(t));
  native.attributes = native_attributes(node, code_);
  if (s.check_code)
    native.attributes.push_back({std::string(kSlotCode),
                                 PRIMSET_ATTR_INT,
                                 {code_.slot(prims::SymInt(*s.check_code))},
                                 0,
                                 {}});
  return {std::move(native)};
}

StepPlan ProgramCompiler::step(const schedule::ReadCountStep& s) {
  const bool narrow = program_->buffers[s.buffer].dtype == DType::i32;
  return {ReadCountPlan{s.buffer, dynamic_of(s.symbol), narrow}};
}

uint32_t ProgramCompiler::dynamic_of(uint32_t symbol) const {
  const auto it = dynamic_of_symbol_.find(symbol);
  if (it == dynamic_of_symbol_.end())
    throw Error(ErrorCode::internal,
                fmt::format("symbol {} of a step is not bound to the run", symbol));
  return it->second;
}

StepPlan ProgramCompiler::step(const schedule::LoopStep& s) {
  LoopPlan loop;
  loop.count = code_.slot(s.count);
  loop.dynamic = dynamic_of(s.symbol);
  loop.body = steps(s.body);
  return {std::move(loop)};
}

StepPlan ProgramCompiler::step(const schedule::WhileStep& s) {
  return {WhilePlan{s.condition, steps(s.test), steps(s.body)}};
}

StepPlan ProgramCompiler::step(const schedule::BranchStep& s) {
  return {BranchPlan{s.condition, steps(s.then_steps), steps(s.else_steps)}};
}

}  // namespace primset::runtime
