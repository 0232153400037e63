#include "sdk/runtime/plan/key.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "sdk/runtime/plan/layout_class.h"
#include "sdk/runtime/support/options.h"

namespace primset::runtime {
namespace {

class Builder {
 public:
  Builder(const OperatorInfo* op, const DeviceState& device, CallKey& key)
      : op_(op), uses_offset_(!op || op->uses_offset), device_(device), key_(key) {}

  void word(uint64_t w) {
    key_.words.push_back(w);
    hash_ = (hash_ ^ w) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }
  void finish() { key_.hash = hash_ ^ hash_ >> 32; }

  void argument(const ArgInfo& info, const Arg& arg) {
    if (is_number(arg) && info.kind == specs::ArgKind::tensor)
      return scalar(true, scalar_of(arg));  // a wrapped number
    if (is_number(arg) && info.kind == specs::ArgKind::scalar)
      return scalar(info.runtime, scalar_of(arg));
    switch (arg.kind) {
      case Arg::Kind::tensor:
        return tensor(*static_cast<const TensorImpl*>(arg.pointer));
      case Arg::Kind::tensor_list:
        return tensor_list(arg);
      case Arg::Kind::integer:
        return integer(info.runtime, arg);
      case Arg::Kind::int_list:
        return int_list(info.runtime, arg);
      case Arg::Kind::scalar:
        return scalar(info.runtime, scalar_of(arg));
      case Arg::Kind::scalar_list:
        word(tag(arg) | uint64_t{arg.count} << 8);
        for (uint32_t i = 0; i < arg.count; ++i)
          scalar(info.runtime, static_cast<const Scalar*>(arg.pointer)[i]);
        return;
      case Arg::Kind::floating:
        word(tag(arg));
        if (!info.runtime) word(std::bit_cast<uint64_t>(arg.floating));
        return;
      case Arg::Kind::float_list:
        return bytes(arg, arg.count * sizeof(double));
      case Arg::Kind::bool_list:
      case Arg::Kind::string:
        return bytes(arg, arg.count);
      case Arg::Kind::packed_bools:
        word(tag(arg) | uint64_t{arg.count} << 8);
        for (bool b : *static_cast<const std::vector<bool>*>(arg.pointer)) word(b);
        return;
      case Arg::Kind::device:
        word(tag(arg) | uint64_t{arg.device.id()} << 8);
        return;
      case Arg::Kind::none:
      case Arg::Kind::storage:    // which one does not matter to the plan
      case Arg::Kind::generator:  // likewise
        word(tag(arg));
        return;
      case Arg::Kind::boolean:
      case Arg::Kind::dtype:
      case Arg::Kind::layout:
      case Arg::Kind::memory_format:
        word(tag(arg) | static_cast<uint64_t>(arg.integer) << 8);
        return;
      case Arg::Kind::absent:
        break;
    }
    throw Error(ErrorCode::type,
                fmt::format("{}(): argument '{}' is missing or of a kind that no plan takes",
                            op_->overload.op, info.spec->name));
  }

  void tensor(const TensorImpl& t) {
    const bool number = is_scalar_tensor(t, device_);
    const uint64_t head = tag(Arg::Kind::tensor) | static_cast<uint64_t>(t.dtype) << 8 |
                          uint64_t{t.rank} << 16 | uint64_t{number} << 24 |
                          uint64_t{t.wrapped_number} << 25 | uint64_t{t.conj} << 26 |
                          uint64_t{t.neg} << 27;
    if (number) return word(head);
    const size_t known = key_.tensors.size();
    word(head | uint64_t{key_.tensors.find_or_add(t)} << 32);
    if (key_.tensors.size() == known) return;  // everything about it was said before
    if (t.rank <= kInlineRank) {
      const uint64_t packed = packed_layout(t);
      word(packed);
      numbers(t, [&](size_t d) { return packed >> (7 * d); });
      return;
    }
    DimClass classes[kMaxRank];
    uint8_t order[kMaxRank];
    classify(t.sizes(), t.strides(), std::span(classes, t.rank), std::span(order, t.rank));
    for (size_t d = 0; d < t.rank; ++d) word(classes[d].packed());
    numbers(t, [&](size_t d) { return classes[d].packed(); });
  }

 private:
  static uint64_t tag(const Arg& arg) { return static_cast<uint64_t>(arg.kind); }
  static uint64_t tag(Arg::Kind kind) { return static_cast<uint64_t>(kind); }

  template <typename Packed>
  void numbers(const TensorImpl& t, Packed packed) {
    for_each_number(t, uses_offset_, packed, [&](NumberKind, size_t, int64_t value) {
      key_.symbol_values.push_back(value);
    });
  }

  void tensor_list(const Arg& arg) {
    word(tag(arg) | uint64_t{arg.count} << 8);
    for (uint32_t i = 0; i < arg.count; ++i) {
      const Tensor& t = static_cast<const Tensor*>(arg.pointer)[i];
      if (t.defined())
        tensor(*t.impl());
      else
        word(tag(Arg::Kind::none));
    }
  }

  void integer(bool runtime, const Arg& arg) {
    word(tag(arg));
    if (runtime)
      key_.symbol_values.push_back(arg.integer);
    else
      word(static_cast<uint64_t>(arg.integer));
  }

  void int_list(bool runtime, const Arg& arg) {
    word(tag(arg) | uint64_t{arg.count} << 8);
    for (uint32_t i = 0; i < arg.count; ++i) {
      const int64_t v = static_cast<const int64_t*>(arg.pointer)[i];
      if (runtime)
        key_.symbol_values.push_back(v);
      else
        word(static_cast<uint64_t>(v));
    }
  }

  void scalar(bool runtime, const Scalar& s) {
    word(tag(Arg::Kind::scalar) | static_cast<uint64_t>(s.kind()) << 8);
    if (runtime) return;
    word(s.is_integral() ? static_cast<uint64_t>(s.to_int())
                         : std::bit_cast<uint64_t>(s.to_double()));
    if (s.is_complex()) word(std::bit_cast<uint64_t>(s.imag()));
  }

  void bytes(const Arg& arg, size_t size) {
    word(tag(arg) | uint64_t{arg.count} << 8);
    const char* from = static_cast<const char*>(arg.pointer);
    for (size_t at = 0; at < size; at += 8) {
      uint64_t w = 0;
      std::memcpy(&w, from + at, std::min<size_t>(8, size - at));
      word(w);
    }
  }

  const OperatorInfo* op_;  // null for a captured graph
  bool uses_offset_;
  const DeviceState& device_;
  CallKey& key_;
  uint64_t hash_ = 0x243f6a8885a308d3u;
};

}  // namespace

bool is_scalar_tensor(const TensorImpl& t, const DeviceState& device) {
  return t.wrapped_number ||
         (t.rank == 0 && &t.device() != &device && t.device().device().is_cpu());
}

bool is_number(const Arg& arg) {
  return arg.kind == Arg::Kind::scalar || arg.kind == Arg::Kind::integer ||
         arg.kind == Arg::Kind::floating || arg.kind == Arg::Kind::boolean;
}

Scalar scalar_of(const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::integer:
      return arg.integer;
    case Arg::Kind::floating:
      return arg.floating;
    case Arg::Kind::boolean:
      return arg.integer != 0;
    default:
      return *static_cast<const Scalar*>(arg.pointer);
  }
}

bool CallKey::equal(std::span<const uint64_t> other) const {
  return words.size() == other.size() &&
         std::memcmp(words.data(), other.data(), other.size() * sizeof(uint64_t)) == 0;
}

void make_key(const OperatorInfo& op, std::span<const Arg> args, const DeviceState& device,
              CallKey& key) {
  Builder builder(&op, device, key);
  // The options take eight bits: five, and the three that the operator's alignment leaves. Which
  // device it is need not be said: each has its plans.
  static_assert(alignof(OperatorInfo) >= 8);
  builder.word(reinterpret_cast<uintptr_t>(&op) << 5 | plan_options());
  for (size_t i = 0; i < args.size(); ++i) builder.argument(op.args[i], args[i]);
  builder.finish();
}

void make_graph_key(std::span<const Tensor> tensors, const DeviceState& device, CallKey& key) {
  Builder builder(nullptr, device, key);
  builder.word(uint64_t{device.device().id()} << 8 | plan_options());
  for (const Tensor& t : tensors) builder.tensor(*t.impl());
  builder.finish();
}

}  // namespace primset::runtime
