#include "sdk/runtime/symbols.h"

#include <fmt/format.h>

#include <map>

#include "sdk/runtime/layout_class.h"

namespace primset::runtime {
namespace {

using decomps::Actual;
using decomps::TensorMeta;
using prims::SymInt;
using prims::SymInts;
using specs::ArgKind;

class Maker {
 public:
  Maker(const OperatorInfo& op, const DeviceState& device, const CallKey& key,
        const Replacements& replacements, TraceInputs& out)
      : op_(op), device_(device), key_(key), replacements_(replacements), out_(out) {}

  Actual argument(const ArgInfo& info, const Arg& arg) {
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
        return {scalars(arg)};
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

  size_t used() const { return next_; }

 private:
  // The next raw number as a symbol (or the one that stands for it).
  SymInt number(const char* prefix, int64_t value, int64_t lower) {
    const uint32_t raw = next_++;
    if (raw >= key_.raw.size() || key_.raw[raw] != value)
      throw Error(ErrorCode::internal, "symbols.cpp and key.cpp disagree on the order of numbers");
    if (auto known = replacements_.find(raw); known != replacements_.end()) {
      const SymInt stands_for = translate(known->second, known->second.value);
      out_.equalities.emplace_back(raw, stands_for);
      return symbols_.emplace(raw, stands_for).first->second;
    }
    SymInt s = out_.context->symbol(fmt::format("{}{}", prefix, raw), value, lower);
    out_.raw_of_symbol.push_back(raw);
    return symbols_.emplace(raw, s).first->second;
  }

  // An expression over another context's symbols, over this one's.
  SymInt translate(const Replacement& from, const SymInt& value) const {
    return value.is_constant() ? value : translate(from, from.context->poly_of(value));
  }
  SymInt translate(const Replacement& from, const prims::SymContext::Poly& poly) const {
    SymInt sum = 0;
    for (const auto& term : poly) {
      SymInt product = term.coefficient;
      for (uint32_t atom : term.atoms) product *= translate_atom(from, from.context->atom(atom));
      sum += product;
    }
    return sum;
  }
  SymInt translate_atom(const Replacement& from, const prims::SymContext::Atom& atom) const {
    using Kind = prims::SymContext::AtomKind;
    if (atom.kind == Kind::symbol) return symbols_.at(from.raw_of_symbol[atom.symbol]);
    const SymInt lhs = translate(from, atom.lhs), rhs = translate(from, atom.rhs);
    switch (atom.kind) {
      case Kind::floor_div:
        return prims::floor_div(lhs, rhs);
      case Kind::mod:
        return prims::mod(lhs, rhs);
      case Kind::min:
        return prims::min(lhs, rhs);
      default:
        return prims::max(lhs, rhs);
    }
  }

  SymInt integer(const ArgInfo& info, int64_t value) {
    return info.runtime ? number("i", value, INT64_MIN) : SymInt(value);
  }
  SymInts integers(const ArgInfo& info, const Arg& arg) {
    SymInts out;
    for (int64_t v : list<int64_t>(arg)) out.push_back(integer(info, v));
    return out;
  }
  template <typename T>
  std::vector<T> list(const Arg& arg) const {
    const T* p = static_cast<const T*>(arg.pointer);
    return std::vector<T>(p, p + arg.count);
  }
  std::vector<Scalar> scalars(const Arg& arg) const { return list<Scalar>(arg); }
  std::vector<bool> bools(const Arg& arg) const {
    if (arg.kind == Arg::Kind::packed_bools)
      return *static_cast<const std::vector<bool>*>(arg.pointer);
    const bool* p = static_cast<const bool*>(arg.pointer);
    return std::vector<bool>(p, p + arg.count);
  }

  TensorMeta tensor_or_number(const Arg& arg) {
    if (arg.kind == Arg::Kind::tensor) return tensor(*static_cast<const TensorImpl*>(arg.pointer));
    const Scalar value = scalar_of(arg);
    TensorMeta meta;
    const DType kinds[] = {DType::boolean, DType::i64, DType::f64, DType::c128};
    meta.dtype = kinds[static_cast<int>(value.kind())];
    meta.wrapped_number = true;
    meta.identity = number_identity_++;
    return meta;
  }
  std::vector<TensorMeta> tensor_list(const Arg& arg) {
    std::vector<TensorMeta> out;
    for (const Tensor& t : std::span(static_cast<const Tensor*>(arg.pointer), arg.count))
      out.push_back(tensor(*t.impl()));
    return out;
  }
  std::vector<std::optional<TensorMeta>> optional_list(const Arg& arg) {
    std::vector<std::optional<TensorMeta>> out;
    for (const Tensor& t : std::span(static_cast<const Tensor*>(arg.pointer), arg.count)) {
      if (t.defined())
        out.emplace_back(tensor(*t.impl()));
      else
        out.emplace_back();
    }
    return out;
  }

  TensorMeta tensor(const TensorImpl& t) {
    if (is_scalar_tensor(t, device_)) {
      TensorMeta meta;
      meta.dtype = t.dtype;
      meta.wrapped_number = t.wrapped_number;
      meta.on_cpu_scalar = !t.wrapped_number;
      meta.identity = number_identity_++;
      return meta;
    }
    uint32_t identity = 0;
    while (!same_view(*key_.tensors[identity], t)) ++identity;
    if (auto known = metas_.find(identity); known != metas_.end()) return known->second;
    TensorMeta meta;
    meta.dtype = t.dtype;
    meta.identity = identity;
    geometry(t, meta);
    return metas_.emplace(identity, std::move(meta)).first->second;
  }

  void geometry(const TensorImpl& t, TensorMeta& meta) {
    DimClass classes[kMaxRank];
    uint8_t order[kMaxRank];
    classify(t.sizes(), t.strides(), std::span(classes, t.rank), std::span(order, t.rank));
    for (size_t d = 0; d < t.rank; ++d) {
      const bool symbol = classes[d].size == DimClass::Size::symbol;
      meta.sizes.push_back(symbol ? number("s", t.sizes()[d], 2) : SymInt(t.sizes()[d]));
    }
    meta.strides.resize(t.rank);
    for (size_t d = 0; d < t.rank; ++d) {
      if (classes[d].stride == DimClass::Stride::symbol)
        meta.strides[d] = number("t", t.strides()[d], 2);
    }
    if (op_.uses_offset) meta.storage_offset = number("o", t.offset, 0);
    SymInt step = 1;
    for (size_t p = t.rank; p-- > 0;) {
      const size_t d = order[p];
      switch (classes[d].stride) {
        case DimClass::Stride::zero:
          meta.strides[d] = 0;
          break;
        case DimClass::Stride::one:
          meta.strides[d] = 1;
          break;
        case DimClass::Stride::merged:
          meta.strides[d] = step;
          break;
        case DimClass::Stride::symbol:
          break;
      }
      if (classes[d].stride != DimClass::Stride::zero && classes[d].size == DimClass::Size::symbol)
        step = meta.strides[d] * meta.sizes[d];
    }
  }

  const OperatorInfo& op_;
  const DeviceState& device_;
  const CallKey& key_;
  const Replacements& replacements_;
  TraceInputs& out_;
  uint32_t next_ = 0;
  uint32_t number_identity_ = 1u << 31;  // numbers are never the same memory
  std::map<uint32_t, SymInt> symbols_;   // by raw number
  std::map<uint32_t, TensorMeta> metas_;
};

}  // namespace

TraceInputs make_trace_inputs(const OperatorInfo& op, std::span<const Arg> args,
                              const DeviceState& device, const CallKey& key,
                              const Replacements& replacements) {
  TraceInputs out;
  out.context = std::make_shared<prims::SymContext>();
  Maker maker(op, device, key, replacements, out);
  for (size_t i = 0; i < args.size(); ++i)
    out.actuals.push_back(maker.argument(op.args[i], args[i]));
  if (maker.used() != key.raw.size())
    throw Error(ErrorCode::internal, "symbols.cpp and key.cpp disagree on the count of numbers");
  return out;
}

}  // namespace primset::runtime
