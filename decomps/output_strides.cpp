#include "decomps/output_strides.h"

#include <fmt/format.h>

#include <algorithm>

namespace primset::decomps {
namespace {

using specs::Overload;

// The tensor of an argument that result `result` is made of: list arguments go element by element.
const TensorMeta* tensor_of(const Actual& a, size_t result) {
  if (auto* t = std::get_if<TensorMeta>(&a.value)) return t;
  if (auto* l = std::get_if<std::vector<TensorMeta>>(&a.value))
    return result < l->size() ? &(*l)[result] : nullptr;
  return nullptr;
}

SymInts elementwise(const Overload& o, const std::vector<Actual>& args, size_t result,
                    const SymInts& sizes) {
  std::vector<TensorMeta> operands;
  for (uint32_t i : o.broadcast) {
    if (const TensorMeta* t = tensor_of(args[i], result)) operands.push_back(*t);
  }
  for (uint32_t i : o.promote.args) {
    if (std::holds_alternative<Scalar>(args[i].value)) operands.push_back({});
  }
  return elementwise_strides(sizes, std::span<const TensorMeta>(operands));
}

std::optional<MemoryFormat> format_argument(const std::vector<Actual>& args) {
  for (const Actual& a : args) {
    if (auto* f = std::get_if<MemoryFormat>(&a.value)) return *f;
  }
  return std::nullopt;
}

const TensorMeta* first_tensor(const std::vector<Actual>& args, size_t result) {
  for (const Actual& a : args) {
    if (const TensorMeta* t = tensor_of(a, result)) return t;
  }
  return nullptr;
}

SymInts of_format(MemoryFormat format, const SymInts& sizes) {
  if (format == MemoryFormat::contiguous) return contiguous_strides(sizes);
  const size_t rank = format == MemoryFormat::channels_last ? 4 : 5;
  require(sizes.size() == rank, ErrorCode::runtime,
          fmt::format("required rank {} tensor to use channels_last{} format", rank,
                      rank == 4 ? "" : "_3d"));
  return channels_last_strides(sizes);
}

// As empty_like: the memory_format argument, by default the first tensor's own layout.
SymInts preserve(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  const MemoryFormat format = format_argument(args).value_or(MemoryFormat::preserve);
  if (format != MemoryFormat::preserve) return of_format(format, sizes);
  const TensorMeta* t = first_tensor(args, result);
  return t && t->sizes.size() == sizes.size() ? preserved_strides(sizes, t->strides)
                                              : contiguous_strides(sizes);
}

// Channels-last when all tensors are and not contiguous as well, else contiguous.
SymInts suggested(const std::vector<Actual>& args, const SymInts& sizes) {
  bool channels_last = false;
  auto look = [&](const TensorMeta& t) {
    if (t.sizes.size() < 4) return true;
    channels_last = is_channels_last(t.sizes, t.strides) && !is_contiguous(t.sizes, t.strides);
    return channels_last;
  };
  for (const Actual& a : args) {
    if (auto* t = std::get_if<TensorMeta>(&a.value); t && !look(*t)) break;
    if (auto* l = std::get_if<std::vector<TensorMeta>>(&a.value))
      if (!std::all_of(l->begin(), l->end(), look)) break;
  }
  const bool fits = sizes.size() == 4 || sizes.size() == 5;
  return channels_last && fits ? channels_last_strides(sizes) : contiguous_strides(sizes);
}

SymInts first_argument(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  const TensorMeta* t = first_tensor(args, result);
  if (!t) return contiguous_strides(sizes);
  return elementwise_strides(sizes, std::span<const TensorMeta>(t, 1));
}

// empty_strided: the stride argument itself.
SymInts given(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes) {
  const int at = o.find_arg("stride");
  const auto* list = at < 0 ? nullptr : std::get_if<SymInts>(&args[static_cast<size_t>(at)].value);
  return list ? *list : contiguous_strides(sizes);
}

SymInts by_layout(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes) {
  const int at = o.find_arg("physical_layout");
  const auto* list = at < 0 ? nullptr : std::get_if<SymInts>(&args[static_cast<size_t>(at)].value);
  if (!list) return contiguous_strides(sizes);
  SymInts strides(sizes.size());
  SymInt next = 1;
  for (size_t i = list->size(); i-- > 0;) {
    const auto d = static_cast<size_t>((*list)[i].specialize());
    strides[d] = next;
    next *= sizes[d];
  }
  return strides;
}

}  // namespace

SymInts output_strides(const Overload& o, const std::vector<Actual>& args, size_t result,
                       const SymInts& sizes) {
  switch (o.strides.kind) {
    case specs::StrideKind::elementwise: return elementwise(o, args, result, sizes);
    case specs::StrideKind::contiguous: return contiguous_strides(sizes);
    case specs::StrideKind::function: break;
  }
  const std::string& rule = o.strides.function;
  if (rule == "preserve") return preserve(args, result, sizes);
  if (rule == "suggested") return suggested(args, sizes);
  if (rule == "first_argument") return first_argument(args, result, sizes);
  if (rule == "given") return given(o, args, sizes);
  if (rule == "physical_layout") return by_layout(o, args, sizes);
  if (rule == "memory_format") {
    const auto format = format_argument(args).value_or(MemoryFormat::contiguous);
    return of_format(format, sizes);
  }
  fail(ErrorCode::internal, fmt::format("'{}' names the unknown stride rule '{}'", o.qualified, rule));
}

}  // namespace primset::decomps
