#include "sdk/runtime/call/actuals.h"

#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/tensor/scalar_memory.h"

namespace primset::runtime {
namespace {

using decomps::Actual;
using decomps::TensorMeta;
using prims::SymInts;
using specs::ArgKind;

template <typename T>
std::vector<T> list(const Arg& arg) {
  const T* p = static_cast<const T*>(arg.pointer);
  return std::vector<T>(p, p + arg.count);
}

std::vector<bool> bools(const Arg& arg) {
  if (arg.kind == Arg::Kind::packed_bools)
    return *static_cast<const std::vector<bool>*>(arg.pointer);
  const bool* p = static_cast<const bool*>(arg.pointer);
  return std::vector<bool>(p, p + arg.count);
}

std::span<const Tensor> tensors(const Arg& arg) {
  return {static_cast<const Tensor*>(arg.pointer), arg.count};
}

}  // namespace

Actual ActualMaker::argument(const ArgInfo& info, const Arg& arg) {
  if (arg.kind == Arg::Kind::none) {
    if (info.kind == ArgKind::generator) return {decomps::RngArg{}};
    return {};
  }
  switch (info.kind) {
    case ArgKind::tensor:
      return {tensor_or_number(arg)};
    case ArgKind::tensor_list:
      return {tensor_list(arg)};
    case ArgKind::optional_tensor_list:
      return {optional_list(arg)};
    case ArgKind::scalar:
      return {scalar_of(arg)};
    case ArgKind::scalar_list:
      return {list<Scalar>(arg)};
    case ArgKind::integer:
    case ArgKind::sym_int:
      return {integer(info, arg.integer)};
    case ArgKind::int_list:
    case ArgKind::sym_int_list:
      return {integers(info, arg)};
    case ArgKind::floating:
      return {arg.floating};
    case ArgKind::float_list:
      return {list<double>(arg)};
    case ArgKind::boolean:
      return {arg.integer != 0};
    case ArgKind::bool_list:
      return {bools(arg)};
    case ArgKind::string:
      return {std::string(static_cast<const char*>(arg.pointer), arg.count)};
    case ArgKind::scalar_type:
      return {static_cast<DType>(arg.integer)};
    case ArgKind::layout:
      return {static_cast<decomps::Layout>(arg.integer)};
    case ArgKind::memory_format:
      return {static_cast<decomps::MemoryFormat>(arg.integer)};
    case ArgKind::device:
      return {decomps::DeviceArg{arg.device.to_string()}};
    case ArgKind::generator:
      return {decomps::RngArg{}};
    case ArgKind::storage:
      return {decomps::StorageArg{}};
  }
  return {};
}

void require_numbers_fit(std::span<const Arg> args, std::span<const decomps::NumberFit> fits) {
  for (const decomps::NumberFit& f : fits) {
    const Arg& a = args[f.argument];
    const bool list = a.kind == Arg::Kind::scalar_list;
    require_fits(list ? static_cast<const Scalar*>(a.pointer)[f.element] : scalar_of(a), f.dtype);
  }
}

SymInts ActualMaker::integers(const ArgInfo& info, const Arg& arg) {
  SymInts out;
  for (int64_t v : list<int64_t>(arg)) out.push_back(integer(info, v));
  return out;
}

TensorMeta ActualMaker::number_meta(DType dtype, bool wrapped) {
  TensorMeta meta;
  meta.dtype = dtype;
  meta.wrapped_number = wrapped;
  meta.on_cpu_scalar = !wrapped;
  meta.identity = number_identity_++;
  return meta;
}

TensorMeta ActualMaker::tensor_or_number(const Arg& arg) {
  if (arg.kind == Arg::Kind::tensor) return tensor(*static_cast<const TensorImpl*>(arg.pointer));
  return number_meta(scalar_dtype(scalar_of(arg)), true);
}

std::vector<TensorMeta> ActualMaker::tensor_list(const Arg& arg) {
  std::vector<TensorMeta> out;
  for (const Tensor& t : tensors(arg)) out.push_back(tensor(*t.impl()));
  return out;
}

std::vector<std::optional<TensorMeta>> ActualMaker::optional_list(const Arg& arg) {
  std::vector<std::optional<TensorMeta>> out;
  for (const Tensor& t : tensors(arg))
    out.push_back(t.defined() ? std::optional(tensor(*t.impl())) : std::nullopt);
  return out;
}

}  // namespace primset::runtime
