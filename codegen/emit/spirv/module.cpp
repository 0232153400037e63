#include "codegen/emit/spirv/module.h"

#include <cstring>

namespace primset::emit::spirv {

namespace {

// The generator's magic number; 0 stands for a tool that is not registered.
constexpr uint32_t kGenerator = 0;

void append_words(Words& out, std::span<const uint32_t> words) {
  out.insert(out.end(), words.begin(), words.end());
}

}  // namespace

void append(Words& out, spv::Op op, std::span<const uint32_t> operands) {
  out.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | static_cast<uint32_t>(op));
  append_words(out, operands);
}

Words literal(std::string_view text) {
  Words words(text.size() / 4 + 1, 0);
  std::memcpy(words.data(), text.data(), text.size());
  return words;
}

Id Module::import(std::string_view instruction_set) {
  if (auto it = import_ids_.find(instruction_set); it != import_ids_.end()) return it->second;
  const Id id = new_id();
  Words operands{id};
  append_words(operands, literal(instruction_set));
  append(imports_, spv::Op::OpExtInstImport, operands);
  import_ids_.emplace(instruction_set, id);
  return id;
}

void Module::memory_model(spv::AddressingModel addressing, spv::MemoryModel model) {
  append(memory_model_, spv::Op::OpMemoryModel,
         {static_cast<uint32_t>(addressing), static_cast<uint32_t>(model)});
}

void Module::entry_point(spv::ExecutionModel model, Id function, std::string_view name) {
  entry_ = {static_cast<uint32_t>(model), function};
  append_words(entry_, literal(name));
}

void Module::execution_mode(Id function, spv::ExecutionMode mode,
                            std::initializer_list<uint32_t> operands) {
  Words all{function, static_cast<uint32_t>(mode)};
  append_words(all, operands);
  append(modes_, spv::Op::OpExecutionMode, all);
}

void Module::name(Id id, std::string_view text) {
  Words operands{id};
  append_words(operands, literal(text));
  append(names_, spv::Op::OpName, operands);
}

void Module::decorate(Id id, spv::Decoration d, std::initializer_list<uint32_t> operands) {
  Words all{id, static_cast<uint32_t>(d)};
  append_words(all, operands);
  append(decorations_, spv::Op::OpDecorate, all);
}

void Module::decorate_member(Id type, uint32_t member, spv::Decoration d,
                             std::initializer_list<uint32_t> operands) {
  Words all{type, member, static_cast<uint32_t>(d)};
  append_words(all, operands);
  append(decorations_, spv::Op::OpMemberDecorate, all);
}

Id Module::unique(spv::Op op, Id result_type, std::span<const uint32_t> operands) {
  Words key{static_cast<uint32_t>(op), result_type};
  append_words(key, operands);
  auto [it, fresh] = declared_.try_emplace(std::move(key), 0);
  if (!fresh) return it->second;
  it->second = new_id();
  Words all;
  if (result_type != 0) all.push_back(result_type);
  all.push_back(it->second);
  append_words(all, operands);
  append(declarations_, op, all);
  return it->second;
}

Id Module::type_function(Id result, std::span<const Id> params) {
  Words operands{result};
  append_words(operands, params);
  return unique(spv::Op::OpTypeFunction, 0, operands);
}

Id Module::new_struct(std::span<const Id> members) {
  const Id id = new_id();
  Words operands{id};
  append_words(operands, members);
  append(declarations_, spv::Op::OpTypeStruct, operands);
  return id;
}

Id Module::constant_bool(bool v) {
  return unique(v ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse, type_bool(), {});
}

Id Module::constant(Id type, uint32_t width, uint64_t bits) {
  const uint32_t words[2] = {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
  return unique(spv::Op::OpConstant, type, std::span(words, width > 32 ? 2 : 1));
}

Id Module::constant_composite(Id type, std::span<const Id> parts) {
  return unique(spv::Op::OpConstantComposite, type, parts);
}

Id Module::global_variable(Id pointer_type, spv::StorageClass storage) {
  const Id id = new_id();
  append(declarations_, spv::Op::OpVariable, {pointer_type, id, static_cast<uint32_t>(storage)});
  globals_.push_back({id, storage});
  return id;
}

Words Module::assemble() const {
  Words out{spv::MagicNumber, version_, kGenerator, next_id_, 0};
  for (uint32_t c : capabilities_) append(out, spv::Op::OpCapability, {c});
  for (const std::string& e : extensions_) append(out, spv::Op::OpExtension, literal(e));
  append_words(out, imports_);
  append_words(out, memory_model_);
  Words entry = entry_;
  // Before 1.4 only inputs and outputs may be listed; from there on every global must be.
  for (const Global& g : globals_) {
    if (version_ >= 0x00010400 || g.storage == spv::StorageClass::Input) entry.push_back(g.id);
  }
  append(out, spv::Op::OpEntryPoint, entry);
  for (const Words* section : {&modes_, &names_, &decorations_, &declarations_, &functions_}) {
    append_words(out, *section);
  }
  return out;
}

}  // namespace primset::emit::spirv
