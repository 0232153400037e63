#include "sdk/runtime/call/call_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "sdk/base/printable.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/plan/check_table.h"
#include "sdk/runtime/tensor/sparse_tensor.h"

namespace primset::runtime {
namespace {

constexpr uint32_t kMostElements = 8;
constexpr size_t kMostBytes = 80;

std::string tensor_text(const TensorImpl& t, bool with_device) {
  std::string text = fmt::format("{}[{}]", name(t.dtype), fmt::join(t.sizes(), ", "));
  if (t.sparse) text = fmt::format("{} {}", layout_name(t.layout()), text);
  if (with_device) text += " on " + t.device().device().to_string();
  return text;
}

// "[1, 2, 3]", of a long list its beginning; `element` makes the text of the i-th.
template <typename F>
std::string list_text(uint32_t count, F element) {
  std::string text;
  for (uint32_t i = 0; i < std::min(count, kMostElements); ++i)
    text += (i ? ", " : "") + element(i);
  if (count > kMostElements) text += fmt::format(", ... {} in all", count);
  return "[" + text + "]";
}

template <typename T>
const T& element(const Arg& a, uint32_t i) {
  return static_cast<const T*>(a.pointer)[i];
}

std::string text_of(const Arg& a, bool with_device) {
  const auto number = [](auto v) { return fmt::format("{}", v); };
  switch (a.kind) {
    case Arg::Kind::absent:
    case Arg::Kind::none:
      return "None";
    case Arg::Kind::tensor:
      return tensor_text(*static_cast<const TensorImpl*>(a.pointer), with_device);
    case Arg::Kind::tensor_list:
      return list_text(a.count, [&](uint32_t i) {
        const Tensor& t = element<Tensor>(a, i);
        return t.defined() ? tensor_text(*t.impl(), with_device) : "None";
      });
    case Arg::Kind::scalar:
      return to_string(element<Scalar>(a, 0));
    case Arg::Kind::scalar_list:
      return list_text(a.count, [&](uint32_t i) { return to_string(element<Scalar>(a, i)); });
    case Arg::Kind::integer:
      return number(a.integer);
    case Arg::Kind::int_list:
      return list_text(a.count, [&](uint32_t i) { return number(element<int64_t>(a, i)); });
    case Arg::Kind::floating:
      return number(a.floating);
    case Arg::Kind::float_list:
      return list_text(a.count, [&](uint32_t i) { return number(element<double>(a, i)); });
    case Arg::Kind::boolean:
      return number(a.integer != 0);
    case Arg::Kind::bool_list:
      return list_text(a.count, [&](uint32_t i) { return number(element<bool>(a, i)); });
    case Arg::Kind::packed_bools: {
      const auto& list = element<std::vector<bool>>(a, 0);
      return list_text(a.count, [&](uint32_t i) { return number(bool{list[i]}); });
    }
    case Arg::Kind::string:
      return "'" + printable({static_cast<const char*>(a.pointer), a.count}, kMostBytes) + "'";
    case Arg::Kind::dtype:
      return std::string(name(static_cast<DType>(a.integer)));
    case Arg::Kind::device:
      return a.device.to_string();
    case Arg::Kind::layout:
      return std::string(layout_name(static_cast<Layout>(a.integer)));
    case Arg::Kind::memory_format:
      return fmt::format("memory format {}", a.integer);
    case Arg::Kind::generator:
      return "a generator";
    case Arg::Kind::storage:
      return "a storage";
  }
  return "?";
}

// As the schema's default: the very same bits.
bool is_default(const Arg& a, const Arg& fallback) {
  return a.kind == fallback.kind && a.count == fallback.count &&
         std::memcmp(&a.integer, &fallback.integer, sizeof a.integer) == 0;
}

// Devices are worth their place where one is not the CPU.
bool names_devices(const Call& call) {
  bool any = false;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t, uint32_t) {
    any |= !t.device().device().is_cpu();
  });
  return any;
}

// What follows `name` and a mark behind it ("()", ":"), or nothing where the text begins otherwise.
std::string_view behind_name(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return {};
  text.remove_prefix(name.size());
  for (const std::string_view mark : {"(): ", "() ", ": ", " : "}) {
    if (text.starts_with(mark)) return text.substr(mark.size());
  }
  // "stack expects a non-empty TensorList": the verb stays.
  for (const std::string_view verb : {" expect", " cannot ", " only support", " does not "}) {
    if (text.starts_with(verb)) return text.substr(1);
  }
  return {};
}

// ATen's sentences often begin with a name of the operator, each in its own way.
std::string_view without_operator(std::string_view text, const specs::Overload& o) {
  const std::string_view base = o.op;
  const std::string_view plain = base.ends_with('_') ? base.substr(0, base.size() - 1) : base;
  const std::string in_place = fmt::format("{}_", plain);
  for (const std::string_view prefix : {"", "torch."}) {
    if (!text.starts_with(prefix)) continue;
    for (const std::string_view name :
         {std::string_view(o.qualified), base, plain, std::string_view(in_place)}) {
      const std::string_view rest = behind_name(text.substr(prefix.size()), name);
      if (!rest.empty()) return rest;
    }
  }
  return text;
}

}  // namespace

std::string text_of(const Call& call) {
  const bool with_device = names_devices(call);
  std::string text;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const ArgInfo& info = call.op.args[i];
    const Arg& a = call.args[i];
    if (a.kind == Arg::Kind::absent || is_default(a, info.fallback)) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}={}", info.spec->name, text_of(a, with_device));
  }
  return fmt::format("{}({})", call.op.overload.qualified, text);
}

CallError in_call(const Call& call, const Error& error) {
  const specs::Overload& o = call.op.overload;
  // A device that does not report at once may mean an earlier call, whose name the text has.
  const auto* found = dynamic_cast<const CheckError*>(&error);
  const bool at_once = call.device && call.device->runs_inline();
  if (found && (!at_once || found->op() != o.op)) return {error.code(), error.what()};
  // Of "bernoulli: bernoulli_ expects p" one name is enough.
  std::string_view what = error.what();
  what.remove_prefix(std::min(what.find_first_not_of(' '), what.size()));
  what = without_operator(what, o);
  what = without_operator(what, o);
  return {error.code(), fmt::format("{}: {}\n  in {}", o.qualified, what, text_of(call))};
}

}  // namespace primset::runtime
