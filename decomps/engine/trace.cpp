#include "decomps/engine/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "decomps/engine/argument_checks.h"
#include "decomps/engine/argument_errors.h"
#include "decomps/engine/bind.h"
#include "decomps/engine/engine.h"
#include "decomps/engine/functionalization/view_functions.h"
#include "decomps/engine/output_strides.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using specs::ImplKind;
using specs::Overload;
using specs::OverloadKind;

// A tensor that the call writes, in the order in which results arrive.
struct Target {
  const TensorMeta* meta;
  uint32_t argument, element;
};

void add_targets(const Actual& a, uint32_t argument, std::vector<Target>& out) {
  if (auto* t = std::get_if<TensorMeta>(&a.value)) out.push_back({t, argument, 0});
  if (auto* l = std::get_if<std::vector<TensorMeta>>(&a.value)) {
    for (uint32_t i = 0; i < l->size(); ++i) out.push_back({&(*l)[i], argument, i});
  }
}

// Does the first result share memory with an argument, as the schema says? An out= argument is
// filled, whatever the functional overload does.
bool returns_alias(const Overload& o) {
  if (o.kind == OverloadKind::inplace) return true;
  if (o.kind == OverloadKind::out) return false;
  return !o.returns.empty() && o.returns[0].alias.letter != 0;
}

class CallTracer {
 public:
  CallTracer(const specs::Bundle& bundle, const Overload& overload, const std::vector<Actual>& args,
             std::shared_ptr<prims::SymContext> symbols, DeviceTraits device)
      : overload_(overload),
        computed_(bundle.computed_by(overload)),
        laid_out_(*laid_out_as(bundle, &overload)),
        args_(args),
        graph_(std::make_shared<prims::Graph>(std::move(symbols))),
        tracer_(*graph_, bundle, device),
        binder_(tracer_, overload, args) {
    tracer_.set_default_generator([this] { return binder_.default_generator(); });
  }

  TracedCall run() {
    require_implemented();
    arguments_ = binder_.bind();
    if (computed_.implementation.kind == ImplKind::view) {
      views();
    } else {
      compute();
    }
    finish();
    return std::move(call_);
  }

 private:
  void require_implemented() const {
    if (computed_.status == specs::Status::implemented) return;
    const std::string& reason =
        overload_.status_reason.empty() ? computed_.status_reason : overload_.status_reason;
    fail(ErrorCode::not_implemented,
         fmt::format("'{}' is declared but not implemented{}{}", overload_.qualified,
                     reason.empty() ? "" : ": ", reason));
  }

  // Which arguments the numbers are that must fit. A graph's inputs are in the order of sources.
  void note_fits() {
    const std::vector<InputSource>& sources = binder_.sources();
    for (const auto& [value, dtype] : tracer_.fits()) {
      for (size_t i = 0; i < graph_->inputs.size(); ++i) {
        if (graph_->inputs[i].value == value && sources[i].kind == InputSource::Kind::scalar)
          call_.fits.push_back({sources[i].argument, sources[i].element, dtype});
      }
    }
  }

  void finish() {
    note_fits();
    if (graph_->outputs.empty() && graph_->body.nodes.empty()) return;
    drop_unused_inputs(*graph_, binder_.sources());
    call_.graph = graph_;
    call_.inputs = std::move(binder_.sources());
    call_.random_counters = tracer_.drawn();
    call_.draws_random = !(known_equal(call_.random_counters, 0) == true);
  }

  // --- views ---

  // Each view shares the tensor's memory where the schema says so and its strides allow it; else it
  // is computed as a copy, into out= tensors where there are some.
  void views() {
    const ViewFunction f = find_view(computed_.implementation.function);
    require(f != nullptr, ErrorCode::internal,
            fmt::format("no view function '{}'", computed_.implementation.function));
    const std::vector<TensorMeta> metas = viewed_metas(args_[0]);
    const Arguments args = rearrange(tracer_, overload_, computed_, arguments_);
    const bool aliases = returns_alias(overload_);
    const bool outs = overload_.kind == OverloadKind::out;
    const std::vector<Val> viewed = viewed_values(args[0]);
    const std::vector<View> made = f(tracer_, metas, args);
    const std::vector<Target> targets = outs ? written() : std::vector<Target>();
    if (outs) require_targets(made.size(), targets.size());
    for (size_t i = 0; i < made.size(); ++i) {
      const View& view = made[i];
      const TensorMeta& self = metas[view.element];
      const bool shares = aliases || view.unannotated;
      if (!shares) require_viewable(self, view);
      if (shares && !outs && add_view(self, view)) continue;
      const Val copied = view_of(viewed[view.element], view);
      if (outs)
        add_out(copied, targets[i], i);
      else
        add_copy(self, view, copied);
    }
    for (const TracedOutput& o : call_.outputs)
      require(overload_.kind != OverloadKind::inplace || o.kind != TracedOutput::Kind::fresh,
              ErrorCode::internal, "an in-place view that copies");
  }

  // A copy of a view refuses what the view itself refuses; strides alone it does not mind.
  static void require_viewable(const TensorMeta& self, const View& view) {
    ViewGeometry at = geometry_of(self);
    advance(at, view);
  }

  static bool has_format(const View& view, const ViewGeometry& at) {
    if (!view.format || *view.format == MemoryFormat::preserve) return true;
    const bool last = is_channels_last(at.sizes, at.strides);
    if (*view.format != MemoryFormat::contiguous) return last;
    return is_contiguous(at.sizes, at.strides) || (view.any_strides && !last);
  }

  // False when the view has to be a copy.
  bool add_view(const TensorMeta& self, const View& view) {
    ViewGeometry at = geometry_of(self);
    const bool fits = advance(at, view);
    const bool other_dtype = view.convert && *view.convert != self.dtype;
    if (!fits || view.must_copy || other_dtype || !has_format(view, at)) {
      require(view.may_copy || view.must_copy, ErrorCode::runtime,
              fmt::format("view size is not compatible with input tensor's size and stride (at "
                          "least one dimension spans across two contiguous subspaces). Use "
                          ".reshape(...) instead. self has shape {} and strides {}",
                          shape_text(self.sizes), shape_text(self.strides)));
      return false;
    }
    TracedOutput out;
    const bool itself = view.returns_self && view.steps.empty();
    out.kind = itself ? TracedOutput::Kind::argument : TracedOutput::Kind::view;
    out.dtype = at.dtype;
    out.sizes = at.sizes;
    out.strides = at.strides;
    out.offset = at.offset;
    out.conj = at.conj;
    out.neg = at.neg;
    out.element = view.element;
    if (at.dtype != self.dtype) out.view_dtype = at.dtype;
    call_.outputs.push_back(std::move(out));
    return true;
  }

  void add_copy(const TensorMeta& self, const View& view, const Val& v) {
    const SymInts sizes = v.shape();
    SymInts strides = contiguous_strides(sizes);
    const MemoryFormat format = view.format.value_or(MemoryFormat::contiguous);
    if (format == MemoryFormat::channels_last || format == MemoryFormat::channels_last_3d)
      strides = strides_of_format(format, sizes);
    if (format == MemoryFormat::preserve) strides = preserved_strides(sizes, self.strides);
    add_fresh(v, std::move(strides));
  }

  void add_fresh(const Val& v, SymInts strides) {
    TracedOutput out;
    out.dtype = v.dtype();
    out.sizes = v.shape();
    out.strides = std::move(strides);
    out.graph_output = tracer_.builder().output(output_name(), v.id());
    call_.outputs.push_back(std::move(out));
  }

  std::string output_name() const {
    const size_t i = call_.outputs.size();
    if (i < overload_.returns.size() && !overload_.returns[i].name.empty())
      return overload_.returns[i].name;
    return fmt::format("out{}", i);
  }

  // --- computations ---

  // An alias lays its results out as what it stands for does.
  static const Overload* laid_out_as(const specs::Bundle& bundle, const Overload* overload) {
    const bool derived = overload->implementation.kind == ImplKind::none;
    const Overload& own =
        derived && overload->base != specs::kNoIndex ? bundle.overloads[overload->base] : *overload;
    bool free = overload->strides.kind == specs::StrideKind::contiguous;
    if (overload->kind == OverloadKind::out)
      free = overload->outs.strides.kind != specs::StrideKind::contiguous;
    return free && own.implementation.kind == ImplKind::alias ? &bundle.computed_by(own) : overload;
  }

  SymInts strides_of(size_t result, const SymInts& shape) const {
    return output_strides(laid_out_, args_, result, shape);
  }

  void compute() {
    Arguments args = rearrange(tracer_, overload_, computed_, arguments_);
    take_dtype_of_out(args);
    compute_in_dtype_of_out(args);
    const std::vector<Val> results = apply(tracer_, computed_, std::move(args));
    const std::vector<Target> targets = written();
    const bool outs = overload_.kind == OverloadKind::out;
    if (outs) require_targets(results.size(), targets.size());
    require(results.size() >= targets.size(), ErrorCode::internal,
            fmt::format("'{}' computes {} results for {} tensors", overload_.qualified,
                        results.size(), targets.size()));
    const size_t fresh = results.size() - targets.size();
    for (size_t i = 0; i < results.size(); ++i) {
      if (i < fresh && overload_.unchanged_is_itself && add_itself(results[i])) continue;
      if (i < fresh) {
        add_fresh(results[i], strides_of(i, results[i].shape()));
      } else if (outs && overload_.args[targets[i].argument].is_out) {
        add_out(results[i], targets[i], i);
      } else {
        add_written(results[i], targets[i - fresh]);
      }
    }
    returned_first();
  }

  // False when the result is no argument's own value.
  bool add_itself(const Val& v) {
    for (uint32_t i = 0; i < args_.size(); ++i) {
      const bool tensors = std::holds_alternative<Val>(arguments_[i].value) ||
                           std::holds_alternative<std::vector<Val>>(arguments_[i].value);
      const std::vector<Val> own = tensors ? viewed_values(arguments_[i]) : std::vector<Val>();
      for (uint32_t j = 0; j < own.size(); ++j) {
        if (own[j].id() != v.id()) continue;
        const TensorMeta meta = viewed_metas(args_[i])[j];
        TracedOutput out;
        out.kind = TracedOutput::Kind::argument;
        out.dtype = meta.dtype;
        out.sizes = meta.sizes;
        out.strides = meta.strides;
        out.argument = i;
        out.element = j;
        call_.outputs.push_back(std::move(out));
        return true;
      }
    }
    return false;
  }

  // zeros.out has no dtype argument: the given tensor's decides.
  void take_dtype_of_out(Arguments& args) const {
    const int at = computed_.find_arg("dtype");
    if (overload_.kind != OverloadKind::out || at < 0 || overload_.find_arg("dtype") >= 0) return;
    const std::vector<Target> targets = written();
    if (!targets.empty()) args[static_cast<size_t>(at)] = targets[0].meta->dtype;
  }

  // Some operators compute in the dtype of what they write: as if the call named it, or the first
  // argument had it.
  void compute_in_dtype_of_out(Arguments& args) const {
    const std::vector<Target> targets = written();
    if (overload_.kind != OverloadKind::out || targets.empty()) return;
    const DType wanted = targets[0].meta->dtype;
    auto* first = std::get_if<Val>(&args[0].value);
    if (first == nullptr) return;
    // Float8 that is not computed with is converted before it would be.
    if (!computed_.dtypes.contains(first->dtype()) && !is_float8(first->dtype())) return;
    const int dtype = computed_.find_arg("dtype");
    const bool exact = is_integral(first->dtype()) || is_bool(first->dtype());
    const bool computed = overload_.outs.dtype == specs::OutDType::computed;
    if (dtype >= 0 && (overload_.outs.dtype == specs::OutDType::named || (computed && exact))) {
      Tracer::Argument& named = args[static_cast<size_t>(dtype)];
      if (named.is_none()) named = wanted;
    }
    if (computed && is_floating(wanted)) {
      const bool has_complex = wanted == DType::f32 || wanted == DType::f64;
      if (is_floating(first->dtype())) *first = convert(*first, wanted);
      if (is_complex(first->dtype()) && has_complex) *first = convert(*first, complex_type(wanted));
    }
  }

  // How many tensors an out= list has is the caller's to get right.
  void require_targets(size_t results, size_t targets) const {
    require(results == targets, ErrorCode::runtime,
            fmt::format("{}_out() expected an out= argument of size {}, got size {}", overload_.op,
                        results, targets));
  }

  // What the call writes, in the order of the results: out= arguments first.
  std::vector<Target> written() const {
    std::vector<uint32_t> indices;
    for (uint32_t i = 0; i < overload_.args.size(); ++i) {
      if (overload_.args[i].alias.writes) indices.push_back(i);
    }
    auto place = [&](uint32_t i) {
      const specs::Argument& a = overload_.args[i];
      return std::tuple(!a.is_out, a.alias.letter, i);
    };
    std::sort(indices.begin(), indices.end(),
              [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
    std::vector<Target> targets;
    for (uint32_t i : indices) add_targets(args_[i], i, targets);
    return targets;
  }

  bool exact_dtype() const {
    using enum specs::OutDType;
    if (overload_.outs.dtype != named) return overload_.outs.dtype == exact;
    const int dtype = overload_.find_arg("dtype");
    return dtype >= 0 && !args_.at(static_cast<size_t>(dtype)).is_none();
  }

  // A real result of complex values may go to complex tensors, whatever is so of others.
  bool is_real_part() const {
    const auto* first = std::get_if<TensorMeta>(&args_[0].value);
    return computed_.promote.kind == specs::PromoteKind::complex_to_float && first != nullptr &&
           is_complex(first->dtype);
  }

  void require_out_dtype(DType result, DType wanted) const {
    using enum specs::OutDType;
    require(wanted == result || !exact_dtype() || is_real_part(), ErrorCode::runtime,
            fmt::format("Expected out tensor to have dtype {}, but got {} instead",
                        cpp_name(result), cpp_name(wanted)));
    require(overload_.outs.dtype != truth || wanted == DType::boolean || wanted == DType::u8,
            ErrorCode::runtime,
            fmt::format("{} only supports bool tensor for result, got: {}", overload_.op,
                        aten_name(wanted)));
    require(overload_.outs.dtype != floating || !is_complex(wanted), ErrorCode::runtime,
            fmt::format("{} expects a floating point output tensor, but got {}", overload_.op,
                        aten_name(wanted)));
  }

  void add_out(const Val& v, const Target& target, size_t index) {
    const DType wanted = target.meta->dtype;
    require_out_dtype(v.dtype(), wanted);
    const bool truth = overload_.outs.dtype == specs::OutDType::truth;
    add_fresh(truth ? convert(v, wanted) : taken_as(v, wanted), strides_of(index, v.shape()));
  }

  void add_written(const Val& v, const Target& target) {
    const TensorMeta& meta = *target.meta;
    const SymInts shape = v.shape();
    const bool fits = shape.size() == meta.sizes.size() &&
                      std::equal(shape.begin(), shape.end(), meta.sizes.begin());
    require(fits || overload_.broadcast.empty(), ErrorCode::runtime,
            fmt::format("output with shape {} doesn't match the broadcast shape {}",
                        shape_text(meta.sizes), shape_text(shape)));
    require(fits, ErrorCode::runtime,
            fmt::format("Bad in-place call: input tensor size {} and output tensor size {} should "
                        "match",
                        shape_text(meta.sizes), shape_text(shape)));
    require(
        meta.dtype == v.dtype() || overload_.outs.dtype != specs::OutDType::named || !exact_dtype(),
        ErrorCode::runtime,
        fmt::format(
            "Bad in-place call: input tensor dtype {} and output tensor dtype {} should match",
            cpp_name(meta.dtype), cpp_name(v.dtype())));
    check_written(overload_, meta.dtype, v.dtype());
    TracedOutput out;
    out.kind = TracedOutput::Kind::argument;
    out.dtype = meta.dtype;
    out.sizes = meta.sizes;
    out.strides = meta.strides;
    out.argument = target.argument;
    out.element = target.element;
    const Val result = taken_as(v, meta.dtype);
    const uint32_t input = binder_.input_of(meta, target.argument, target.element);
    // What is written is the memory itself, so nothing is left to do when it is its own value.
    if (result.id() != graph_->inputs[input].value)
      out.graph_output = tracer_.builder().output(output_name(), result.id(), input);
    call_.outputs.push_back(std::move(out));
  }

  // Outputs follow the schema's returns; written arguments that are not returned come last.
  void returned_first() {
    if (overload_.kind != OverloadKind::mutable_op) return;
    std::vector<TracedOutput> ordered, rest;
    for (TracedOutput& o : call_.outputs) {
      (is_returned(o) ? ordered : rest).push_back(std::move(o));
    }
    ordered.insert(ordered.end(), rest.begin(), rest.end());
    call_.outputs = std::move(ordered);
  }

  bool is_returned(const TracedOutput& o) const {
    if (o.kind == TracedOutput::Kind::fresh) return true;
    const char letter = overload_.args[o.argument].alias.letter;
    return std::any_of(overload_.returns.begin(), overload_.returns.end(),
                       [&](const specs::Return& r) { return r.alias.letter == letter; });
  }

  const Overload& overload_;
  const Overload& computed_;
  const Overload& laid_out_;
  const std::vector<Actual>& args_;
  std::shared_ptr<prims::Graph> graph_;
  Tracer tracer_;
  Binder binder_;
  Arguments arguments_;
  TracedCall call_;
};

}  // namespace

TracedCall trace(const specs::Bundle& bundle, const Overload& overload,
                 const std::vector<Actual>& args, std::shared_ptr<prims::SymContext> symbols,
                 DeviceTraits device) {
  try {
    return CallTracer(bundle, overload, args, std::move(symbols), device).run();
  } catch (const DimensionError& e) {
    throw in_arguments(e, overload, args);
  } catch (const BroadcastError& e) {
    throw in_arguments(e, overload, args);
  } catch (const DTypeError& e) {
    throw in_arguments(e, bundle.dtypes_of(overload));
  }
}

bool is_view(const specs::Bundle& bundle, const Overload& overload) {
  if (bundle.computed_by(overload).implementation.kind != ImplKind::view) return false;
  return returns_alias(overload);
}

std::vector<Unification> unifications(const prims::SymContext& context) {
  using prims::SymContext;
  auto symbol_of = [&](const SymContext::Term& term) -> std::optional<uint32_t> {
    if (term.atoms.size() != 1) return std::nullopt;
    const SymContext::Atom& atom = context.atom(term.atoms[0]);
    if (atom.kind != SymContext::AtomKind::symbol) return std::nullopt;
    return atom.symbol;
  };
  std::vector<Unification> found;
  for (const prims::Guard& g : context.guards()) {
    const SymContext::Poly& poly = context.poly(g.poly);
    if (g.relation != prims::Guard::Relation::eq || poly.empty() || poly.size() > 2) continue;
    const auto last = symbol_of(poly.back());
    if (!last) continue;
    const int64_t c = poly.back().coefficient;
    if (poly.size() == 1) {
      found.push_back({*last, std::nullopt, 0});
    } else if (poly[0].atoms.empty() && poly[0].coefficient % c == 0) {
      found.push_back({*last, std::nullopt, -poly[0].coefficient / c});
    } else if (const auto first = symbol_of(poly[0]); first && poly[0].coefficient == -c) {
      found.push_back({std::max(*first, *last), std::min(*first, *last), 0});
    }
  }
  return found;
}

}  // namespace primset::decomps
