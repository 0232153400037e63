#include "decomps/engine/bind.h"

#include <fmt/format.h>

#include <set>

#include "decomps/engine/apply.h"

namespace primset::decomps {
namespace {

using specs::ArgKind;
using specs::Role;

// Everything that is passed on as it is.
Tracer::Argument passed(const Actual& a) {
  return std::visit(
      [](const auto& v) -> Tracer::Argument {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_constructible_v<Tracer::Argument::Value, T> &&
                      !std::is_same_v<T, Scalar> && !std::is_same_v<T, TensorMeta>) {
          Tracer::Argument out;
          out.value = v;
          return out;
        } else {
          fail(ErrorCode::internal, "an argument of this kind is not passed on");
        }
      },
      a.value);
}

void collect_used(const prims::Graph& graph, const prims::Region& region, std::set<ValueId>& used) {
  for (prims::NodeId n : region.nodes) {
    const prims::Node& node = graph.node(n);
    used.insert(node.operands.begin(), node.operands.end());
    for (const prims::Region& r : node.regions) collect_used(graph, r, used);
  }
  used.insert(region.results.begin(), region.results.end());
}

}  // namespace

std::string Binder::input_name(uint32_t index, uint32_t element, bool list) const {
  const std::string& name = overload_.args[index].name;
  return list ? fmt::format("{}_{}", name, element) : name;
}

Val Binder::scalar_input(std::string name, DType dtype, InputSource source) {
  sources_.push_back(source);
  return t_.wrap(t_.builder().scalar_input(std::move(name), dtype));
}

ScalarArg Binder::scalar(const Scalar& s, uint32_t index, uint32_t element) {
  const specs::Argument& a = overload_.args[index];
  if (a.role == Role::structural) return t_.literal(s);
  const bool list = specs::is_list_kind(a.kind);
  const Val v = scalar_input(input_name(index, element, list), kind_dtype(s.kind()),
                             {InputSource::Kind::scalar, index, element});
  return {Val(&t_, v.id(), true), s.kind(), std::nullopt};
}

RngArg Binder::generator(uint32_t index) {
  const Val seed = scalar_input("seed", DType::i64, {InputSource::Kind::rng_seed, index, 0});
  const Val offset = scalar_input("offset", DType::i64, {InputSource::Kind::rng_offset, index, 0});
  return {seed, offset};
}

RngArg Binder::default_generator() {
  return generator(InputSource::kDefaultGenerator);
}

uint32_t Binder::input_of(const TensorMeta& meta, uint32_t index, uint32_t element) {
  if (auto known = input_of_identity_.find(meta.identity); known != input_of_identity_.end())
    return known->second;
  const bool list = specs::is_list_kind(overload_.args[index].kind);
  std::string name = input_name(index, element, list);
  const auto at = static_cast<uint32_t>(sources_.size());
  if (meta.wrapped_number || meta.on_cpu_scalar) {
    scalar_input(std::move(name), meta.dtype, {InputSource::Kind::scalar, index, element});
    return at;
  }
  sources_.push_back({InputSource::Kind::tensor, index, element});
  t_.builder().tensor_input(std::move(name), {meta.dtype, meta.sizes});
  input_of_identity_.emplace(meta.identity, at);
  t_.set_place(t_.builder().graph().inputs[at].value, {meta.strides, meta.storage_offset});
  return at;
}

Val Binder::tensor(const TensorMeta& meta, uint32_t index, uint32_t element) {
  const uint32_t input = input_of(meta, index, element);
  return Val(&t_, t_.builder().graph().inputs[input].value, meta.wrapped_number);
}

Tracer::Argument Binder::bind_one(uint32_t index) {
  const Actual& a = args_[index];
  const specs::Argument& spec = overload_.args[index];
  if (spec.kind == ArgKind::generator) return generator(index);
  if (auto* m = std::get_if<TensorMeta>(&a.value)) return tensor(*m, index, 0);
  if (auto* list = std::get_if<std::vector<TensorMeta>>(&a.value)) {
    std::vector<Val> out;
    for (uint32_t i = 0; i < list->size(); ++i) out.push_back(tensor((*list)[i], index, i));
    return out;
  }
  if (auto* list = std::get_if<std::vector<std::optional<TensorMeta>>>(&a.value)) {
    std::vector<std::optional<Val>> out(list->size());
    for (uint32_t i = 0; i < list->size(); ++i) {
      if ((*list)[i]) out[i] = tensor(*(*list)[i], index, i);
    }
    return out;
  }
  if (auto* s = std::get_if<Scalar>(&a.value)) return scalar(*s, index, 0);
  if (auto* list = std::get_if<std::vector<Scalar>>(&a.value)) {
    std::vector<ScalarArg> out;
    for (uint32_t i = 0; i < list->size(); ++i) out.push_back(scalar((*list)[i], index, i));
    return out;
  }
  if (auto* list = std::get_if<std::vector<bool>>(&a.value); list && spec.fixed_size > 0)
    require(
        list->size() == static_cast<size_t>(spec.fixed_size), ErrorCode::runtime,
        fmt::format("std::array<bool, {}> expected for argument '{}' of {}(), but {} values were "
                    "given",
                    spec.fixed_size, spec.name, overload_.op, list->size()));
  if (auto* d = std::get_if<double>(&a.value); d && spec.role == Role::runtime)
    return scalar(*d, index, 0);
  return passed(a);
}

Arguments Binder::bind() {
  require(args_.size() == overload_.args.size(), ErrorCode::type,
          fmt::format("{}() takes {} arguments and was given {}", overload_.op,
                      overload_.args.size(), args_.size()));
  Arguments out;
  for (uint32_t i = 0; i < args_.size(); ++i) {
    if (overload_.args[i].is_out) {
      out.emplace_back();
    } else {
      out.push_back(bind_one(i));
    }
  }
  return out;
}

void drop_unused_inputs(prims::Graph& graph, std::vector<InputSource>& sources) {
  std::set<ValueId> used;
  collect_used(graph, graph.body, used);
  std::set<uint32_t> written;
  for (const prims::Output& o : graph.outputs) {
    if (o.writes_input) written.insert(*o.writes_input);
  }
  std::vector<prims::Input> inputs;
  std::vector<InputSource> kept;
  std::vector<uint32_t> moved(graph.inputs.size());
  graph.body.params.clear();
  for (uint32_t i = 0; i < graph.inputs.size(); ++i) {
    if (!used.contains(graph.inputs[i].value) && !written.contains(i)) continue;
    moved[i] = static_cast<uint32_t>(inputs.size());
    graph.body.params.push_back(graph.inputs[i].value);
    inputs.push_back(graph.inputs[i]);
    kept.push_back(sources[i]);
  }
  for (prims::Output& o : graph.outputs) {
    if (o.writes_input) o.writes_input = moved[*o.writes_input];
  }
  graph.inputs = std::move(inputs);
  sources = std::move(kept);
}

}  // namespace primset::decomps

template class primset::LargeVariant<primset::decomps::Actual::Value::Alternatives>;
