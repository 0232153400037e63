#include "sdk/runtime/graph/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decomps/engine/bind.h"
#include "prims/graph/rewriter.h"
#include "sdk/runtime/call/actuals.h"
#include "sdk/runtime/call/aliasing.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/tensor/scalar_memory.h"

namespace primset::runtime {
namespace {

using decomps::InputSource;
using decomps::TensorMeta;
using decomps::TracedCall;
using decomps::TracedOutput;
using decomps::Val;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;

thread_local Capture* active_capture = nullptr;

[[noreturn]] void refuse(const Call& call, std::string_view why) {
  throw Error(ErrorCode::not_implemented, fmt::format("{} cannot be part of a captured graph: {}",
                                                      call.op.overload.qualified, why));
}

std::vector<int64_t> hints(const SymInts& values) {
  std::vector<int64_t> out;
  for (const SymInt& v : values) out.push_back(v.hint());
  return out;
}

// The bits of a tensor from outside, as steps from its memory to its values.
std::vector<decomps::View> bit_views(const TensorImpl& t) {
  std::vector<decomps::View> views;
  using Kind = decomps::ViewStep::Kind;
  if (t.conj) views.push_back({{decomps::ViewStep{Kind::conj}}});
  if (t.neg) views.push_back({{decomps::ViewStep{Kind::neg}}});
  return views;
}

}  // namespace

// Arguments as the tracer wants them: captured tensors by their records, numbers as they are.
class Capture::Actuals : public ActualMaker {
 public:
  explicit Actuals(Capture& capture) : capture_(capture) {}

 protected:
  TensorMeta tensor(const TensorImpl& t) override {
    if (t.wrapped_number) return number_meta(t.dtype, true);
    TensorMeta meta = capture_.record_of(t).meta;
    meta.identity = seen_.find_or_add(t);
    return meta;
  }
  SymInt integer(const ArgInfo&, int64_t value) override { return value; }

 private:
  Capture& capture_;
  DistinctViews seen_;
};

Capture* Capture::active() {
  return active_capture;
}

Capture::Capture(DeviceState& device, std::span<const Tensor> examples, TraceInputs inputs)
    : device_(device),
      outer_(active_capture),
      inputs_(std::move(inputs)),
      graph_(std::make_shared<prims::Graph>(inputs_.context)),
      bundle_(OperatorRegistry::instance().bundle()),
      tracer_(*graph_, bundle_, device_.traits()) {
  for (uint32_t i = 0; i < examples.size(); ++i) {
    if (const Base* same = base_with_memory_of(*examples[i].impl())) {
      arguments_.push_back(arguments_[static_cast<size_t>(same->argument)]);
      continue;
    }
    add_argument(examples[i], std::get<TensorMeta>(inputs_.actuals[i].value), i);
    arguments_.push_back(retained_.back());
  }
  active_capture = this;
}

Capture::~Capture() {
  active_capture = outer_;
  for (const Tensor& t : retained_) t.impl()->captured = false;
}

// --- tensors -------------------------------------------------------------------------------------

// A tensor without memory that answers questions about its shape.
Tensor Capture::handle(const TensorMeta& meta, StorageImpl* storage, int64_t offset) {
  TensorImpl* t = new_tensor(storage, meta.dtype, hints(meta.sizes), hints(meta.strides), offset);
  t->captured = true;
  return Tensor(t);
}

const Tensor& Capture::remember(Tensor t, Record record) {
  records_[t.impl()] = std::move(record);
  retained_.push_back(std::move(t));
  return retained_.back();
}

// Makes the base, its graph input and a tensor that stands for it inside of the region. The
// stand-in has a storage of its own without memory; its conjugate and negative bits are views of
// the base.
void Capture::add_argument(const Tensor& example, const TensorMeta& meta, uint32_t argument) {
  const bool scalar = meta.on_cpu_scalar || meta.wrapped_number;
  Base base;
  base.meta = meta;
  base.argument = argument;
  base.outside = example.impl();
  base.graph_input = static_cast<uint32_t>(graph_->inputs.size());
  const std::string name = fmt::format("arg{}", argument);
  prims::Builder& b = tracer_.builder();
  base.value = tracer_.wrap(scalar ? b.scalar_input(name, meta.dtype)
                                   : b.tensor_input(name, {meta.dtype, meta.sizes}));
  sources_.push_back({scalar ? InputSource::Kind::scalar : InputSource::Kind::tensor, argument, 0});
  auto* storage = new StorageImpl;
  storage->device = &example.impl()->device();
  storage->bytes = example.impl()->storage->bytes;
  Tensor t = handle(meta, storage, example.impl()->offset);
  t.impl()->conj = example.impl()->conj;
  t.impl()->neg = example.impl()->neg;
  for (decomps::View& view : bit_views(*example.impl()))
    base.bits.push_back(views_.add(seen_through_bits(base), std::move(view)));
  const auto number = static_cast<uint32_t>(bases_.size());
  Record record{number, seen_through_bits(base), meta};
  outside_.find_or_add(*example.impl());
  base_of_outside_.push_back(number);
  ++storages_[example.impl()->storage].tensors;
  bases_.push_back(std::move(base));
  remember(std::move(t), std::move(record));
}

// A tensor that was made outside of the region: another argument of the graph, always the same.
void Capture::take_constant(const TensorImpl& t) {
  refuse_shared_memory(t);
  TensorMeta meta;
  meta.dtype = t.dtype;
  for (int64_t s : t.sizes()) meta.sizes.emplace_back(s);
  for (int64_t s : t.strides()) meta.strides.emplace_back(s);
  meta.storage_offset = t.offset;
  meta.identity = static_cast<uint32_t>(inputs_.actuals.size());
  meta.on_cpu_scalar = is_scalar_tensor(t, device_);
  if (!meta.on_cpu_scalar && &t.device() != &device_)
    throw Error(ErrorCode::runtime,
                fmt::format("Expected all tensors to be on the same device, but found at least two "
                            "devices, {} and {}!",
                            device_.device().to_string(), t.device().device().to_string()));
  const auto argument = static_cast<uint32_t>(inputs_.actuals.size());
  constants_.push_back(handle_of(t));
  inputs_.actuals.push_back({meta});
  add_argument(constants_.back(), meta, argument);
  records_[&t] = records_.at(retained_.back().impl());
}

// Two arguments that share memory in part cannot be functionalized one by one. The tensor is not
// among the graph's arguments yet.
void Capture::refuse_shared_memory(const TensorImpl& t) const {
  const auto use = storages_.find(t.storage);
  if (use != storages_.end() && use->second.written)
    throw Error(ErrorCode::not_implemented,
                "a captured graph reads memory that it wrote through another tensor; make the "
                "view inside the graph");
}

const Capture::Base* Capture::base_with_memory_of(const TensorImpl& t) const {
  const uint32_t known = outside_.find(t);
  return known == DistinctViews::kNone ? nullptr : &bases_[base_of_outside_[known]];
}

Capture::Record& Capture::record_of(const TensorImpl& t) {
  auto it = records_.find(&t);
  if (it != records_.end()) return it->second;
  if (const Base* base = base_with_memory_of(t)) {
    const auto number = static_cast<uint32_t>(base - bases_.data());
    aliases_.push_back(handle_of(t));
    return records_.emplace(&t, Record{number, seen_through_bits(*base), base->meta}).first->second;
  }
  take_constant(t);
  return records_.at(&t);
}

// The value stays what it is now, or another trace is made.
void Capture::specialize(const SymInt& value) const {
  if (inputs_.depends_on_run(value))
    throw Error(ErrorCode::runtime,
                "a size of this tensor is only known when the graph runs; it cannot be looked at "
                "while the graph is captured");
  value.specialize();
}

void Capture::observe_geometry(const TensorImpl& t) {
  auto it = records_.find(&t);
  if (it == records_.end()) return;
  for (const SymInt& s : it->second.meta.sizes) specialize(s);
  for (const SymInt& s : it->second.meta.strides) specialize(s);
}

void Capture::observe_offset(const TensorImpl& t) {
  auto it = records_.find(&t);
  if (it != records_.end()) specialize(it->second.meta.storage_offset);
}

// --- values --------------------------------------------------------------------------------------

ViewTree::Id Capture::seen_through_bits(const Base& base) {
  return base.bits.empty() ? ViewTree::kWhole : base.bits.back();
}

Val Capture::read(const Record& r) {
  return views_.read(r.views, bases_[r.base].value);
}

void Capture::write(const Record& r, const Val& value) {
  Base& base = bases_[r.base];
  const Val now = views_.write(r.views, base.value, value);
  if (base.outside) {
    StorageUse& use = storages_[base.outside->storage];
    if (use.tensors > 1)
      throw Error(ErrorCode::not_implemented,
                  "a captured graph writes memory that two of its tensors share; make the view "
                  "inside the graph");
    use.written = true;
  }
  base.value = now;
  base.written = true;
}

// A query is answered from what the tensors are now, which stays so for all runs of the graph.
void Capture::answer(Call& call) {
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t, uint32_t) {
    observe_geometry(t);
    if (call.op.uses_offset) observe_offset(t);
  });
  call.op.intrinsic(call);
}

// --- recording -----------------------------------------------------------------------------------

std::vector<decomps::View> Capture::views_of(const Call& call,
                                             const std::vector<decomps::Actual>& actuals) {
  const specs::Overload& computed = bundle_.computed_by(call.op.overload);
  if (computed.implementation.kind != specs::ImplKind::view) return {};
  prims::Graph scratch(inputs_.context);
  decomps::Tracer tracer(scratch, bundle_);
  decomps::Binder binder(tracer, call.op.overload, actuals);
  const decomps::Arguments args =
      decomps::rearrange(tracer, call.op.overload, computed, binder.bind());
  const decomps::ViewFunction f = decomps::find_view(computed.implementation.function);
  return f(tracer, decomps::viewed_metas(actuals[0]), args);
}

// A number of the call, which is the same at every run.
ValueId Capture::constant_input(const Call& call, const InputSource& source, DType dtype) {
  const Arg& a = call.args[source.argument];
  Scalar v;
  switch (a.kind) {
    case Arg::Kind::tensor: {
      const auto& t = *static_cast<const TensorImpl*>(a.pointer);
      if (!t.wrapped_number) return read(record_of(t)).id();
      v = handle_of(t).item();
      break;
    }
    case Arg::Kind::scalar_list:
      v = static_cast<const Scalar*>(a.pointer)[source.element];
      break;
    case Arg::Kind::float_list:
      v = static_cast<const double*>(a.pointer)[source.element];
      break;
    case Arg::Kind::int_list:
      v = static_cast<const int64_t*>(a.pointer)[source.element];
      break;
    case Arg::Kind::tensor_list:
      return read(record_of(*static_cast<const Tensor*>(a.pointer)[source.element].impl())).id();
    default:
      v = scalar_of(a);
  }
  return tracer_.builder().constant(v, dtype);
}

ValueId Capture::random_input(InputSource::Kind kind) {
  const bool seed = kind == InputSource::Kind::rng_seed;
  ValueId& input = seed ? seed_ : offset_;
  if (input == prims::kNoValue) {
    input = tracer_.builder().scalar_input(seed ? "rng_seed" : "rng_offset", DType::i64);
    sources_.push_back({kind, 0, 0});
  }
  if (seed) return input;
  // Calls in the region draw one after another.
  prims::Builder& b = tracer_.builder();
  return b.binary(prims::Prim::add, input, b.constant(drawn_, DType::i64));
}

std::vector<ValueId> Capture::inputs_of(const Call& call, const TracedCall& traced) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < traced.inputs.size(); ++i) {
    const InputSource& s = traced.inputs[i];
    const DType dtype = traced.graph->type(traced.graph->inputs[i].value).dtype;
    switch (s.kind) {
      case InputSource::Kind::tensor:
        inputs.push_back(read(record_of(tensor_argument(call.args, s.argument, s.element))).id());
        break;
      case InputSource::Kind::scalar:
        inputs.push_back(constant_input(call, s, dtype));
        break;
      default:
        inputs.push_back(random_input(s.kind));
    }
  }
  return inputs;
}

namespace {

// Throws for what a graph of values cannot hold.
void require_recordable(const Call& call) {
  if (call.op.overload.status != specs::Status::implemented) refuse(call, "it is not implemented");
  if (!call.op.recordable) refuse(call, "it is about memory or reads a value");
  if (call.op.is_view && call.op.writes) refuse(call, "it changes a tensor's shape in place");
  for (const Arg& a : call.args) {
    if (a.kind == Arg::Kind::generator) refuse(call, "it draws from a generator of its own");
  }
}

}  // namespace

void Capture::record(Call& call) {
  if (call.op.query) return answer(call);
  require_recordable(call);
  if (call.op.writes) check_aliasing(call);
  Actuals maker(*this);
  std::vector<decomps::Actual> actuals;
  for (size_t i = 0; i < call.args.size(); ++i)
    actuals.push_back(maker.argument(call.op.args[i], call.args[i]));
  const TracedCall traced =
      decomps::trace(bundle_, call.op.overload, actuals, inputs_.context, device_.traits());
  require_numbers_fit(call.args, traced.fits);
  std::vector<ValueId> values;
  if (traced.graph)
    values = prims::Rewriter(*traced.graph, tracer_.builder())
                 .inlined(traced.graph->body, inputs_of(call, traced));
  drawn_ += traced.random_counters;
  add_results(call, traced, values, views_of(call, actuals));
}

void Capture::add_written(Call& call, uint32_t argument, uint32_t element, const Val* value) {
  const TensorImpl& t = tensor_argument(call.args, argument, element);
  if (value) write(Record(record_of(t)), *value);
  call.add_result(handle_of(t), {ResultOrigin::Kind::argument, argument});
}

// as_strided is about memory and not about values: it is a view of the base's memory, whatever
// views it was asked through.
void Capture::see_memory(const Call& call, Record& record, decomps::ViewStep step,
                         const SymInt& offset) {
  const Base& base = bases_[record.base];
  const TensorMeta& meta = base.meta;
  const auto changes_values = [&](ViewTree::Id id) {
    using Kind = decomps::ViewStep::Kind;
    return std::ranges::any_of(views_.view(id).steps, [](const decomps::ViewStep& s) {
      return s.kind == Kind::conj || s.kind == Kind::neg || s.kind == Kind::real ||
             s.kind == Kind::imag || s.kind == Kind::as_real || s.kind == Kind::as_complex ||
             s.kind == Kind::bits;
    });
  };
  const std::vector<ViewTree::Id> path = views_.path(record.views);
  if (std::ranges::any_of(std::span(path).subspan(base.bits.size()), changes_values))
    refuse(call, "it looks at memory through another dtype or with other signs");
  if (!decomps::is_contiguous(meta.sizes, meta.strides))
    refuse(call, "it looks at memory that is not in the order of the tensor's elements");
  step.start = offset - meta.storage_offset;
  SymInt reach = step.start;
  for (size_t d = 0; d < step.sizes.size(); ++d) {
    if (step.sizes[d] == SymInt(0)) reach = SymInt(-1);
  }
  for (size_t d = 0; d < step.sizes.size() && reach >= SymInt(0); ++d)
    reach += (step.sizes[d] - SymInt(1)) * step.strides[d];
  if (step.start < SymInt(0) || reach >= prims::product(meta.sizes))
    refuse(call, "it looks at memory outside of the tensor it was made from");
  record.views = views_.add(seen_through_bits(base), {{std::move(step)}});
}

void Capture::add_view(Call& call, const TracedOutput& o, TensorMeta meta,
                       const decomps::View& view) {
  const TensorImpl& base = tensor_argument(call.args, o.argument, o.element);
  Record record = record_of(base);
  const int64_t before = static_cast<int64_t>(byte_size(record.meta.dtype)),
                after = static_cast<int64_t>(byte_size(meta.dtype));
  meta.storage_offset =
      prims::floor_div(record.meta.storage_offset * SymInt(before), after) + o.offset;
  if (view.steps.size() == 1 && view.steps[0].kind == decomps::ViewStep::Kind::strided)
    see_memory(call, record, view.steps[0], meta.storage_offset);
  else
    record.views = views_.add(record.views, view);
  record.meta = meta;
  base.storage->retain();
  Tensor t = handle(meta, base.storage, base.offset + o.offset.hint());
  t.impl()->conj = base.conj != o.conj;
  t.impl()->neg = base.neg != o.neg;
  call.add_result(remember(std::move(t), std::move(record)),
                  {ResultOrigin::Kind::view, o.argument});
}

void Capture::add_fresh(Call& call, const TensorMeta& meta, const Val& value) {
  auto* storage = new StorageImpl;
  storage->device = &device_;
  const Record record{static_cast<uint32_t>(bases_.size()), ViewTree::kWhole, meta};
  Base base;
  base.value = value;
  base.meta = meta;
  bases_.push_back(std::move(base));
  call.add_result(remember(handle(meta, storage, 0), record), {});
}

namespace {

// Is result `k` a number? Numbers and lists are not returned together.
bool returns_number(const Call& call, size_t k) {
  const auto& returns = call.op.overload.returns;
  if (call.op.all_tensors || k >= returns.size()) return false;
  return returns[k].kind != specs::ArgKind::tensor &&
         returns[k].kind != specs::ArgKind::tensor_list;
}

}  // namespace

// A number among the results is known now if it is a constant or follows from sizes, as the number
// of queries that attention returns does.
void Capture::add_number(Call& call, const Val& value) {
  const prims::NodeId producer = graph_->producer(value.id());
  if (producer == prims::Graph::kNoNode || graph_->node(producer).prim != prims::Prim::constant)
    refuse(call, "its result is a value, which only a run knows");
  const prims::Attr& known = graph_->node(producer).find_attr("value");
  Scalar number;
  if (const auto* size = std::get_if<SymInt>(&known.value)) {
    specialize(*size);
    number = Scalar(size->hint());
  } else {
    number = std::get<Scalar>(known.value);
  }
  call.add_result(Tensor::wrapped_number(number), {});
}

void Capture::add_results(Call& call, const TracedCall& traced, std::span<const ValueId> values,
                          std::span<const decomps::View> views) {
  const bool outs = call.op.overload.kind == specs::OverloadKind::out;
  if (outs && call.op.outs.size() != traced.outputs.size())
    refuse(call, "its out tensors are lists");
  for (size_t k = 0; k < traced.outputs.size(); ++k) {
    const TracedOutput& o = traced.outputs[k];
    std::optional<Val> value;
    if (o.graph_output) value = tracer_.wrap(values[*o.graph_output]);
    TensorMeta meta;
    meta.dtype = o.view_dtype.value_or(o.dtype);
    meta.sizes = o.sizes;
    meta.strides = o.strides;
    if (returns_number(call, k)) {
      add_number(call, *value);
    } else if (outs) {
      const TensorImpl& out = tensor_argument(call.args, call.op.outs[k], 0);
      const bool dynamic =
          std::ranges::any_of(o.sizes, [&](const SymInt& s) { return inputs_.depends_on_run(s); });
      if (dynamic || !std::ranges::equal(hints(o.sizes), out.sizes()))
        refuse(call, "it resizes its out tensor");
      add_written(call, call.op.outs[k], 0, value ? &*value : nullptr);
    } else if (o.kind == TracedOutput::Kind::argument) {
      add_written(call, o.argument, o.element, value ? &*value : nullptr);
    } else if (o.kind == TracedOutput::Kind::view) {
      add_view(call, o, std::move(meta), views[k]);
    } else {
      if (!value) refuse(call, "its result has no value");
      add_fresh(call, meta, *value);
    }
  }
}

// --- the end -------------------------------------------------------------------------------------

// Fills in a result that is an argument or a view of one; false when it is neither.
bool Capture::describe_view(const Record& r, TracedOutput& o) const {
  const Base& base = bases_[r.base];
  if (base.argument < 0 || base.meta.on_cpu_scalar) return false;
  o.argument = static_cast<uint32_t>(base.argument);
  o.kind =
      r.views == seen_through_bits(base) ? TracedOutput::Kind::argument : TracedOutput::Kind::view;
  decomps::ViewGeometry at = decomps::geometry_of(base.meta);
  const std::vector<ViewTree::Id> path = views_.path(r.views);
  for (const ViewTree::Id id : std::span(path).subspan(base.bits.size())) {
    if (!decomps::advance(at, views_.view(id)))
      throw Error(ErrorCode::internal, "a view was recorded that its strides do not allow");
  }
  o.offset = at.offset;
  o.conj = at.conj;
  o.neg = at.neg;
  if (at.dtype != base.meta.dtype) o.view_dtype = at.dtype;
  return true;
}

void Capture::add_result_of(const Tensor& t, Traced& out) {
  const Record r = record_of(*t.impl());
  TracedOutput o;
  o.dtype = r.meta.dtype;
  o.sizes = r.meta.sizes;
  o.strides = r.meta.strides;
  if (!describe_view(r, o)) {
    // New memory, dense: strides of a view of memory that only the graph has mean nothing outside.
    if (r.views != ViewTree::kWhole) o.strides = decomps::contiguous_strides(o.sizes);
    o.graph_output =
        tracer_.builder().output(fmt::format("result{}", out.call.outputs.size()), read(r).id());
  }
  out.call.outputs.push_back(std::move(o));
}

// Outputs are the results, then the arguments that the region wrote, with their values at its end.
Traced Capture::finish(std::span<const Tensor> results) {
  Traced out;
  for (const Tensor& t : results) {
    if (!t.defined()) throw Error(ErrorCode::value, "a captured function returned no tensor");
    add_result_of(t, out);
  }
  for (const Base& b : bases_) {
    if (!b.written || b.argument < 0) continue;
    TracedOutput o;
    o.kind = TracedOutput::Kind::argument;
    o.dtype = b.meta.dtype;
    o.sizes = b.meta.sizes;
    o.strides = b.meta.strides;
    o.argument = static_cast<uint32_t>(b.argument);
    o.graph_output =
        tracer_.builder().output(fmt::format("written{}", b.argument), b.value.id(), b.graph_input);
    out.call.outputs.push_back(std::move(o));
  }
  out.call.graph = graph_;
  out.call.inputs = sources_;
  decomps::drop_unused_inputs(*graph_, out.call.inputs);
  out.call.random_counters = drawn_;
  out.call.draws_random = seed_ != prims::kNoValue || offset_ != prims::kNoValue;
  out.inputs = inputs_;
  return out;
}

}  // namespace primset::runtime
