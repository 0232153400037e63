#include "sdk/runtime/call/bind.h"

#include <fmt/format.h>

#include <algorithm>

#include "primset/detail/mismatch.h"
#include "sdk/runtime/plan/key.h"

namespace primset::runtime {
namespace {

using specs::ArgKind;

bool is_empty_list(const Arg& a) {
  return a.count == 0 && (a.kind == Arg::Kind::int_list || a.kind == Arg::Kind::tensor_list ||
                          a.kind == Arg::Kind::float_list || a.kind == Arg::Kind::scalar_list ||
                          a.kind == Arg::Kind::packed_bools || a.kind == Arg::Kind::bool_list);
}

// What the kind of list is for an argument's elements.
std::optional<Arg::Kind> list_kind(ArgKind kind) {
  switch (kind) {
    case ArgKind::tensor_list:
    case ArgKind::optional_tensor_list:
      return Arg::Kind::tensor_list;
    case ArgKind::scalar_list:
      return Arg::Kind::scalar_list;
    case ArgKind::int_list:
    case ArgKind::sym_int_list:
      return Arg::Kind::int_list;
    case ArgKind::float_list:
      return Arg::Kind::float_list;
    case ArgKind::bool_list:
      return Arg::Kind::bool_list;
    default:
      return std::nullopt;
  }
}

std::optional<Arg> convert_list(const specs::Argument& spec, const Arg& a, Strictness strictness,
                                BindScratch& scratch) {
  const Arg::Kind wanted = *list_kind(spec.kind);
  if (a.kind == wanted) return a;
  if (a.kind == Arg::Kind::packed_bools && wanted == Arg::Kind::bool_list) return a;
  if (is_empty_list(a)) return Arg(wanted, nullptr, 0);
  if (wanted == Arg::Kind::float_list && a.kind == Arg::Kind::int_list) {
    const auto* p = static_cast<const int64_t*>(a.pointer);
    return Arg(std::span<const double>(scratch.doubles.emplace_front(p, p + a.count)));
  }
  if (wanted == Arg::Kind::scalar_list &&
      (a.kind == Arg::Kind::int_list || a.kind == Arg::Kind::float_list)) {
    auto& list = scratch.scalars.emplace_front();
    for (uint32_t i = 0; i < a.count; ++i)
      list.push_back(a.kind == Arg::Kind::int_list
                         ? Scalar(static_cast<const int64_t*>(a.pointer)[i])
                         : Scalar(static_cast<const double*>(a.pointer)[i]));
    return Arg(std::span<const Scalar>(list));
  }
  // dim=1 for int[1], kernel_size=3 for int[2]
  if (strictness == Strictness::converts && spec.fixed_size > 0 && wanted == Arg::Kind::int_list &&
      a.kind == Arg::Kind::integer)
    return Arg(
        IntList(scratch.ints.emplace_front(static_cast<size_t>(spec.fixed_size), a.integer)));
  return std::nullopt;
}

// An enumerator by its number, as ATen's schemas have defaults.
template <typename Enum>
std::optional<Arg> enumerator(const Arg& a, int64_t last) {
  if (a.integer < 0 || a.integer > last) return std::nullopt;
  return Arg(static_cast<Enum>(a.integer));
}

std::optional<Arg> dtype_of_code(const Arg& a) {
  if (a.integer < 0 || a.integer >= kDTypeCodes) return std::nullopt;
  const auto t = static_cast<DType>(a.integer);
  return primset::info(t).bits > 0 ? std::optional(Arg(t)) : std::nullopt;
}

// A number stands for a tensor of rank 0 where its value alone is read. It has no memory that could
// be written or viewed, and what is no graph of primitives asks for a tensor as it is.
bool takes_number(const OperatorInfo& op, const specs::Argument& spec) {
  return spec.alias.letter == 0 && !spec.alias.writes && !op.intrinsic;
}

// The argument as the schema's kind; empty when it does not fit.
std::optional<Arg> convert(const OperatorInfo& op, const specs::Argument& spec, const Arg& a,
                           Strictness strictness, BindScratch& scratch) {
  if (a.kind == Arg::Kind::none) return spec.optional ? std::optional(a) : std::nullopt;
  if (list_kind(spec.kind)) return convert_list(spec, a, strictness, scratch);
  auto accept = [&](bool fits) { return fits ? std::optional(a) : std::nullopt; };
  switch (spec.kind) {
    case ArgKind::tensor:
      return accept(a.kind == Arg::Kind::tensor ||
                    (strictness == Strictness::converts && is_number(a) && takes_number(op, spec)));
    case ArgKind::scalar:
      return accept(is_number(a));
    case ArgKind::integer:
    case ArgKind::sym_int:
      if (a.kind == Arg::Kind::scalar && scalar_of(a).is_integer())
        return Arg(scalar_of(a).to_int());
      return accept(a.kind == Arg::Kind::integer);
    case ArgKind::floating:
      if (a.kind == Arg::Kind::integer) return Arg(static_cast<double>(a.integer));
      if (a.kind == Arg::Kind::scalar && !scalar_of(a).is_complex())
        return Arg(scalar_of(a).to_double());
      return accept(a.kind == Arg::Kind::floating);
    case ArgKind::boolean:
      if (a.kind == Arg::Kind::scalar && scalar_of(a).is_bool()) return Arg(scalar_of(a).to_bool());
      return accept(a.kind == Arg::Kind::boolean);
    case ArgKind::string:
      return accept(a.kind == Arg::Kind::string);
    case ArgKind::scalar_type:
      if (a.kind == Arg::Kind::integer) return dtype_of_code(a);
      return accept(a.kind == Arg::Kind::dtype);
    case ArgKind::layout:
      if (a.kind == Arg::Kind::integer)
        return enumerator<Layout>(a, static_cast<int64_t>(Layout::sparse_bsc));
      return accept(a.kind == Arg::Kind::layout);
    case ArgKind::memory_format:
      if (a.kind == Arg::Kind::integer)
        return enumerator<MemoryFormat>(a, static_cast<int64_t>(MemoryFormat::channels_last_3d));
      return accept(a.kind == Arg::Kind::memory_format);
    case ArgKind::device:
      if (a.kind == Arg::Kind::string)
        return Arg(Device(std::string_view(static_cast<const char*>(a.pointer), a.count)));
      return accept(a.kind == Arg::Kind::device);
    case ArgKind::generator:
      return accept(a.kind == Arg::Kind::generator);
    case ArgKind::storage:
      return accept(a.kind == Arg::Kind::storage);
    default:
      return std::nullopt;
  }
}

// The first element of a list of tensors that is none, where each must be one; else the length.
uint32_t undefined_element(const specs::Argument& spec, const Arg& a) {
  if (spec.kind != ArgKind::tensor_list || a.kind != Arg::Kind::tensor_list) return a.count;
  const auto* list = static_cast<const Tensor*>(a.pointer);
  const auto* at = std::find_if(list, list + a.count, [](const Tensor& t) { return !t.defined(); });
  return static_cast<uint32_t>(at - list);
}

std::string undefined_text(const OperatorInfo& op, const specs::Argument& spec, uint32_t element) {
  return fmt::format(
      "{}() Expected a value of type 'Tensor' for element {} of argument '{}' but instead found an "
      "undefined tensor. Declaration: {}",
      op.overload.op, element, spec.name, op.overload.schema);
}

// out= overloads are meant only where their tensors are given.
bool gives_outs(const OperatorInfo& op, std::span<const NamedValue> kwargs) {
  return std::ranges::all_of(op.outs, [&](uint32_t i) {
    return std::ranges::any_of(
        kwargs, [&](const NamedValue& v) { return v.name == op.args[i].spec->name; });
  });
}

// The value as the argument's kind; empty when it does not fit.
std::optional<Arg> converted(const OperatorInfo& op, size_t i, const Value& value,
                             Strictness strictness, BindScratch& scratch) {
  const specs::Argument& spec = *op.args[i].spec;
  const std::optional<Arg> a = convert(op, spec, Arg::of(value), strictness, scratch);
  return a && undefined_element(spec, *a) < a->count ? std::nullopt : a;
}

std::string kind_text(const Value& value) {
  if (!value.is<std::vector<Tensor>>()) return std::string(value.kind());
  const auto& list = value.as<std::vector<Tensor>>();
  const auto undefined = std::ranges::find_if(list, [](const Tensor& t) { return !t.defined(); });
  if (undefined == list.end()) return std::string(value.kind());
  return fmt::format("{} with an undefined tensor for element {}", value.kind(),
                     undefined - list.begin());
}

[[noreturn]] void throw_mismatch(std::string_view name, std::span<const OperatorInfo* const> infos,
                                 std::span<const Value> args, std::span<const NamedValue> kwargs) {
  detail::GivenArguments given;
  given.positional = args.size();
  for (const Value& v : args) given.kinds.push_back(kind_text(v));
  for (const NamedValue& v : kwargs) {
    given.keywords.emplace_back(v.name);
    given.kinds.push_back(kind_text(v.value));
  }
  given.fits = [&](size_t overload, size_t parameter, size_t value) {
    BindScratch scratch;
    const Value& v = value < args.size() ? args[value] : kwargs[value - args.size()].value;
    return converted(*infos[overload], parameter, v, Strictness::converts, scratch).has_value();
  };
  std::vector<Operator> overloads;
  for (const OperatorInfo* info : infos) overloads.emplace_back(*info);
  throw detail::mismatch(name, overloads, given);
}

}  // namespace

bool bind(Call& call, std::span<const Value> args, std::span<const NamedValue> kwargs,
          Strictness strictness, BindScratch& scratch) {
  const OperatorInfo& op = call.op;
  call.args.clear();
  call.args.resize(op.args.size());
  size_t positional = 0;
  while (positional < op.args.size() && !op.args[positional].spec->keyword_only) ++positional;
  if (args.size() > positional) return false;
  auto put = [&](size_t i, const Value& value) {
    const auto a = converted(op, i, value, strictness, scratch);
    if (a) call.args[i] = *a;
    return a.has_value();
  };
  for (size_t i = 0; i < args.size(); ++i) {
    if (!put(i, args[i])) return false;
  }
  for (const NamedValue& named : kwargs) {
    const int i = op.overload.find_arg(named.name);
    if (i < 0 || call.args[static_cast<size_t>(i)].kind != Arg::Kind::absent) return false;
    if (!put(static_cast<size_t>(i), named.value)) return false;
  }
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (call.args[i].kind != Arg::Kind::absent) continue;
    if (op.args[i].fallback.kind == Arg::Kind::absent) return false;
    call.args[i] = op.args[i].fallback;
  }
  return true;
}

void bind_or_throw(Call& call, std::span<const Value> args, std::span<const NamedValue> kwargs,
                   BindScratch& scratch) {
  if (bind(call, args, kwargs, Strictness::converts, scratch)) return;
  const OperatorInfo* const infos[] = {&call.op};
  throw_mismatch(call.op.overload.qualified, infos, args, kwargs);
}

void bind_unboxed(Call& call, std::span<const Arg> args) {
  const OperatorInfo& op = call.op;
  if (args.size() > op.args.size())
    throw Error(ErrorCode::type, fmt::format("{}() takes {} arguments but {} were given",
                                             op.overload.qualified, op.args.size(), args.size()));
  call.args.append(args);
  for (size_t i = 0; i < args.size(); ++i) {
    const specs::Argument& spec = *op.args[i].spec;
    const uint32_t element = undefined_element(spec, args[i]);
    if (args[i].kind == Arg::Kind::tensor_list && element < args[i].count)
      throw Error(ErrorCode::type, undefined_text(op, spec, element));
  }
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (i < args.size() && args[i].kind != Arg::Kind::absent) continue;
    if (op.args[i].fallback.kind == Arg::Kind::absent)
      throw Error(ErrorCode::type,
                  fmt::format("{}() is missing value for argument '{}'. Declaration: {}",
                              op.overload.op, op.args[i].spec->name, op.overload.schema));
    if (i < args.size())
      call.args[i] = op.args[i].fallback;
    else
      call.args.push_back(op.args[i].fallback);
  }
}

const OperatorInfo& resolve(std::string_view base, std::span<const Value> args,
                            std::span<const NamedValue> kwargs) {
  OperatorRegistry& registry = OperatorRegistry::instance();
  if (base.find('.') != std::string_view::npos) return registry.at(base);
  const std::vector<const OperatorInfo*> candidates = registry.overloads(base);
  if (candidates.empty()) return registry.at(base);  // its error says it best
  if (candidates.size() == 1) return *candidates[0];
  for (Strictness strictness : {Strictness::exact, Strictness::converts}) {
    for (const OperatorInfo* op : candidates) {
      if (!gives_outs(*op, kwargs)) continue;
      Call call(*op);
      BindScratch scratch;
      if (bind(call, args, kwargs, strictness, scratch)) return *op;
    }
  }
  throw_mismatch(base, candidates, args, kwargs);
}

}  // namespace primset::runtime
