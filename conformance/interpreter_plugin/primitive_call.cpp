#include "conformance/interpreter_plugin/primitive_call.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "conformance/interpreter_plugin/host_buffer.h"
#include "prims/graph/builder.h"
#include "prims/graph/signature.h"
#include "prims/reference/reference.h"

namespace primset::interpreter_plugin {
namespace {

using prims::Attr;
using prims::AttributeType;
using prims::Prim;
using prims::SymInt;
using prims::SymInts;

std::vector<int64_t> sizes_of(const primset_tensor& t) {
  return {t.sizes, t.sizes + t.rank};
}

size_t bytes_of(const primset_tensor& t) {
  size_t n = byte_size(static_cast<DType>(t.dtype));
  for (int64_t size : sizes_of(t)) n *= static_cast<size_t>(size);
  return n;
}

std::span<std::byte> memory(const primset_tensor& t) {
  if (!t.buffer) return {};
  return std::span(t.buffer->bytes).subspan(t.offset, bytes_of(t));
}

prims::reference::Array array_of(const primset_tensor& t) {
  return prims::reference::from_bytes(static_cast<DType>(t.dtype), sizes_of(t), memory(t));
}

// What an attribute that is absent has: the default is 0, false or empty for all that may be.
Attr::Value value_of(const primset_attr* a, AttributeType type) {
  const std::span<const int64_t> ints = a && a->kind == PRIMSET_ATTR_INTS
                                            ? std::span(a->value.ints, a->count)
                                            : std::span<const int64_t>();
  const int64_t integer = a && a->kind == PRIMSET_ATTR_INT ? a->value.i : 0;
  switch (type) {
    case AttributeType::dtype:
      return static_cast<DType>(integer);
    case AttributeType::integer:
      return integer;
    case AttributeType::size:
      return SymInt(integer);
    case AttributeType::boolean:
      return integer != 0;
    case AttributeType::ints:
      return Attr::Ints(ints.begin(), ints.end());
    case AttributeType::sizes:
      return SymInts(ints.begin(), ints.end());
    case AttributeType::string:
      return std::string(a ? a->value.string : "");
    case AttributeType::scalar:
      return a && a->kind == PRIMSET_ATTR_FLOAT ? Scalar(a->value.f) : Scalar(integer);
  }
  return integer;
}

std::vector<Attr> attributes(Prim prim, const primset_primitive_call& call) {
  std::vector<Attr> out;
  const std::span<const primset_attr> given(call.attrs, call.attr_count);
  for (const prims::AttributeInfo& info : prims::signature(prim).attributes) {
    const auto at = std::ranges::find_if(given, [&](const auto& a) { return info.name == a.name; });
    out.push_back({info.name, value_of(at == given.end() ? nullptr : &*at, info.type)});
  }
  return out;
}

// A graph of this one node, with the call's sizes as constants.
prims::Graph graph_of(Prim prim, const primset_primitive_call& call) {
  prims::Graph graph;
  prims::Builder b(graph);
  prims::Builder::Values operands;
  for (uint32_t i = 0; i < call.operand_count; ++i) {
    const std::vector<int64_t> sizes = sizes_of(call.operands[i]);
    operands.push_back(b.tensor_input(
        "x" + std::to_string(i),
        {static_cast<DType>(call.operands[i].dtype), SymInts(sizes.begin(), sizes.end())}));
  }
  for (prims::ValueId v : b.add(prim, operands, attributes(prim, call))) b.output("y", v);
  return graph;
}

// What the device's error slot holds; zeros until a check has failed.
struct ErrorSlot {
  int64_t code, value;
};

// The first element that fails is told, unless an earlier check of the stream has failed.
void check(const primset_primitive_call& call) {
  const std::span<const primset_attr> attrs(call.attrs, call.attr_count);
  const auto code = std::ranges::find_if(
      attrs, [](const auto& a) { return std::string_view(a.name) == "slot_code"; });
  const prims::reference::Array p = array_of(call.operands[0]), value = array_of(call.operands[1]);
  const auto failed = std::ranges::find(p.data, 0, &prims::reference::Element::integer);
  ErrorSlot slot{};
  const std::span<std::byte> memory_of_slot = memory(call.results[0]);
  std::memcpy(&slot, memory_of_slot.data(), sizeof(slot));
  if (slot.code != 0 || failed == p.data.end()) return;
  slot = {code->value.i, value.data[static_cast<size_t>(failed - p.data.begin())].integer};
  std::memcpy(memory_of_slot.data(), &slot, sizeof(slot));
}

}  // namespace

bool is_offered(Prim prim) {
  return prims::info(prim).tier == prims::Tier::core;
}

void run(Prim prim, const primset_primitive_call& call) {
  if (prim == Prim::check) return check(call);
  std::vector<prims::reference::Array> inputs;
  for (uint32_t i = 0; i < call.operand_count; ++i) inputs.push_back(array_of(call.operands[i]));
  prims::reference::PermittedDeviations deviations;
  deviations.without_bounds = true;
  const prims::reference::Result result =
      prims::reference::run(graph_of(prim, call), inputs, {}, deviations);
  for (uint32_t i = 0; i < call.result_count; ++i) {
    const std::vector<std::byte> bytes = prims::reference::to_bytes(result.outputs.at(i));
    const std::span<std::byte> to = memory(call.results[i]);
    std::memcpy(to.data(), bytes.data(), std::min(bytes.size(), to.size()));
  }
}

}  // namespace primset::interpreter_plugin
