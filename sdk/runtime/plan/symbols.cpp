#include "sdk/runtime/plan/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sdk/runtime/call/actuals.h"
#include "sdk/runtime/plan/layout_class.h"

namespace primset::runtime {
namespace {

using decomps::TensorMeta;
using prims::SymInt;
using prims::SymInts;

class Maker : public ActualMaker {
 public:
  Maker(bool uses_offset, const DeviceState& device, const CallKey& key,
        const Replacements& replacements, TraceInputs& out)
      : uses_offset_(uses_offset),
        device_(device),
        key_(key),
        replacements_(replacements),
        out_(out) {}

  void finish() const {
    if (next_ != key_.symbol_values.size())
      throw Error(ErrorCode::internal, "symbols.cpp and key.cpp disagree on the count of numbers");
  }
  TensorMeta describe(const TensorImpl& t) { return tensor(t); }

 private:
  SymInt integer(const ArgInfo& info, int64_t value) override {
    return info.runtime ? number("i", value, INT64_MIN) : SymInt(value);
  }

  // The next symbol value as a symbol (or the one that stands for it).
  SymInt number(const char* prefix, int64_t value, int64_t lower) {
    const uint32_t index = next_++;
    if (index >= key_.symbol_values.size() || key_.symbol_values[index] != value)
      throw Error(ErrorCode::internal, "symbols.cpp and key.cpp disagree on the order of numbers");
    if (auto known = replacements_.find(index); known != replacements_.end()) {
      const Replacement& by = known->second;
      const SymInt stands_for = by.index ? symbols_.at(*by.index) : SymInt(by.constant);
      out_.equalities.emplace_back(index, stands_for);
      return symbols_.emplace(index, stands_for).first->second;
    }
    SymInt s = out_.context->symbol(fmt::format("{}{}", prefix, index), value, lower);
    out_.value_of_symbol.push_back(index);
    return symbols_.emplace(index, s).first->second;
  }

  TensorMeta tensor(const TensorImpl& t) override {
    if (is_scalar_tensor(t, device_)) return number_meta(t.dtype, t.wrapped_number);
    const uint32_t identity = key_.tensors.find(t);
    if (auto known = metas_.find(identity); known != metas_.end()) return known->second;
    TensorMeta meta;
    meta.dtype = t.dtype;
    meta.identity = identity;
    geometry(t, meta);
    return metas_.emplace(identity, std::move(meta)).first->second;
  }

  // Sizes, strides and offset as symbols where the layout class leaves them open. The other strides
  // follow from the innermost dim outwards: a merged one continues the dim inside of it.
  void geometry(const TensorImpl& t, TensorMeta& meta) {
    DimClass classes[kMaxRank];
    uint8_t order[kMaxRank];
    classify(t.sizes(), t.strides(), std::span(classes, t.rank), std::span(order, t.rank));
    meta.sizes = SymInts(t.sizes().begin(), t.sizes().end());
    meta.strides.resize(t.rank);
    for_each_number(
        t, uses_offset_, [&](size_t d) { return classes[d].packed(); },
        [&](NumberKind kind, size_t d, int64_t value) {
          if (kind == NumberKind::size) meta.sizes[d] = number("s", value, 2);
          if (kind == NumberKind::stride) meta.strides[d] = number("t", value, 2);
          if (kind == NumberKind::offset) meta.storage_offset = number("o", value, 0);
        });
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

  bool uses_offset_;
  const DeviceState& device_;
  const CallKey& key_;
  const Replacements& replacements_;
  TraceInputs& out_;
  uint32_t next_ = 0;
  std::map<uint32_t, SymInt> symbols_;  // by index of the symbol value
  std::map<uint32_t, TensorMeta> metas_;
};

}  // namespace

bool TraceInputs::learn(Replacements& replacements) const {
  const size_t known = replacements.size();
  for (const decomps::Unification& u : decomps::unifications(*context)) {
    // Symbols that the trace made itself are the run's business.
    if (u.symbol >= value_of_symbol.size()) continue;
    Replacement by{std::nullopt, u.constant};
    if (u.other) by.index = value_of_symbol[*u.other];
    replacements.emplace(value_of_symbol[u.symbol], by);
  }
  return replacements.size() != known;
}

bool TraceInputs::depends_on_run(const SymInt& value) const {
  return !value.is_constant() && depends_on_run(context->poly_of(value));
}

bool TraceInputs::depends_on_run(const prims::SymContext::Poly& poly) const {
  using Kind = prims::SymContext::AtomKind;
  const auto any_atom = [](const prims::SymContext::Poly& p, auto depends) {
    return std::ranges::any_of(
        p, [&](const auto& term) { return std::ranges::any_of(term.atoms, depends); });
  };
  const auto known = [&](uint32_t id) { return static_cast<bool>(atom_depends_on_run[id]); };
  // An atom's operands are made of earlier atoms.
  const auto extend_to = [&](uint32_t id) {
    while (atom_depends_on_run.size() <= id) {
      const auto& atom = context->atom(static_cast<uint32_t>(atom_depends_on_run.size()));
      atom_depends_on_run.push_back(atom.kind == Kind::symbol
                                        ? atom.symbol >= value_of_symbol.size()
                                        : any_atom(atom.lhs, known) || any_atom(atom.rhs, known));
    }
  };
  return any_atom(poly, [&](uint32_t id) {
    extend_to(id);
    return known(id);
  });
}

TraceInputs make_trace_inputs(const OperatorInfo& op, std::span<const Arg> args,
                              const DeviceState& device, const CallKey& key,
                              const Replacements& replacements) {
  TraceInputs out;
  out.context = std::make_shared<prims::SymContext>();
  Maker maker(op.uses_offset, device, key, replacements, out);
  for (size_t i = 0; i < args.size(); ++i)
    out.actuals.push_back(maker.argument(op.args[i], args[i]));
  maker.finish();
  return out;
}

TraceInputs make_graph_inputs(std::span<const Tensor> tensors, const DeviceState& device,
                              const CallKey& key, const Replacements& replacements) {
  TraceInputs out;
  out.context = std::make_shared<prims::SymContext>();
  Maker maker(true, device, key, replacements, out);
  for (const Tensor& t : tensors) out.actuals.push_back({maker.describe(*t.impl())});
  maker.finish();
  return out;
}

}  // namespace primset::runtime
