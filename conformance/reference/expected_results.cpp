#include "conformance/reference/expected_results.h"

#include <algorithm>

#include "conformance/cases/inputs/make_operator.h"
#include "conformance/cases/inputs/sparse_text.h"
#include "conformance/cases/inputs/sparse_values.h"
#include "conformance/reference/call_arguments.h"
#include "conformance/reference/host_results.h"
#include "conformance/reference/sparse_results.h"
#include "decomps/engine/narrow_floats.h"
#include "prims/graph/verifier.h"
#include "prims/reference/array.h"

namespace primset::conformance {
namespace {

using decomps::TracedCall;
using decomps::TracedOutput;
using prims::SymInt;
using prims::SymInts;
namespace ref = prims::reference;

const specs::Overload& overload_of(const specs::Bundle& bundle, const TestCase& test) {
  const specs::Overload* o = bundle.find_overload(test.id.subject);
  if (!o) throw Error(ErrorCode::value, "there is no operator " + test.id.subject);
  return *o;
}

std::vector<int64_t> hints(const prims::SymContext& context) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < context.symbol_count(); ++i) out.push_back(context.symbol_hint(i));
  return out;
}

ErrorCode code_from(const std::string& text) {
  for (int c = 0; c <= static_cast<int>(ErrorCode::internal); ++c) {
    if (text == name(static_cast<ErrorCode>(c))) return static_cast<ErrorCode>(c);
  }
  return ErrorCode::internal;
}

std::optional<std::vector<int64_t>> constants(const SymInts& xs) {
  std::vector<int64_t> out;
  for (const SymInt& x : xs) {
    if (!x.is_constant()) return std::nullopt;
    out.push_back(x.constant());
  }
  return out;
}

// A tensor that an out= argument, or an element of it, is.
struct OutArgument {
  uint32_t argument;
  HostTensor tensor;
};

std::vector<OutArgument> out_arguments(const specs::Overload& overload, const TestCase& test) {
  std::vector<OutArgument> out;
  for (uint32_t i = 0; i < overload.args.size(); ++i) {
    if (!overload.args[i].is_out) continue;
    if (auto* t = std::get_if<HostTensor>(&test.args.at(i))) out.push_back({i, *t});
    if (auto* list = std::get_if<TensorList>(&test.args.at(i))) {
      for (const auto& t : *list) out.push_back({i, t.value()});
    }
  }
  return out;
}

// Runs the graph with derived primitives taken apart, but for those that the reference knows.
ref::Result run_graph(const specs::Bundle& bundle, const prims::Graph& graph,
                      const std::vector<Array>& inputs, decomps::DeviceTraits device) {
  prims::Graph expanded = graph;
  const auto is_known = [](const prims::Graph& g, prims::NodeId n) {
    return ref::has_meaning(g.node(n).prim);
  };
  decomps::expand_derived(expanded, bundle, is_known, device);
  if (!device.f64) decomps::narrow_floats(expanded, [](const prims::SymInt&) { return true; });
  return ref::run(expanded, inputs, hints(expanded.context()), {.flush_f32 = device.flush_f32});
}

class Evaluation {
 public:
  Evaluation(const specs::Bundle& bundle, const TestCase& test, decomps::DeviceTraits device)
      : bundle_(bundle), test_(test), device_(device) {}

  Expected run(const GraphHook& hook) {
    overload_ = &overload_of(bundle_, test_);
    try {
      call_ = trace_case(bundle_, test_, device_);
      for (const decomps::NumberFit& f : call_.fits)
        require_fits(scalar_of(test_.args.at(f.argument), f.element), f.dtype);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::internal) throw;
      expected_.error = CaughtError{e.code(), e.what()};
      return std::move(expected_);
    }
    bool has_work = call_.graph && (!call_.graph->body.nodes.empty() ||  // checks alone
                                    !call_.graph->outputs.empty());
    if (has_work) run_values(hook);
    if (expected_.error) {
      add_writable();
      return std::move(expected_);
    }
    add_results();
    add_written_inputs();
    return std::move(expected_);
  }

 private:
  void run_values(const GraphHook& hook) {
    auto graph = std::make_shared<prims::Graph>(*call_.graph);
    if (hook) hook(*graph);
    for (size_t i = 0; i < graph->inputs.size(); ++i) {
      expected_.graph_inputs.push_back(
          input_value(test_, call_.inputs.at(i), graph->type(graph->inputs[i].value)));
    }
    ref::Result result = run_graph(bundle_, *graph, expected_.graph_inputs, device_);
    expected_.graph = std::move(graph);
    if (!result.failures.empty()) {
      const ref::CheckFailure& f = result.failures.front();
      expected_.error = CaughtError{code_from(f.code), f.message};
      expected_.found_by_computing = true;
    }
    outputs_ = std::move(result.outputs);
  }

  const HostTensor& argument(const TracedOutput& out) const {
    return source_tensor(test_, {decomps::InputSource::Kind::tensor, out.argument, out.element});
  }

  void add_results() {
    std::vector<OutArgument> outs = out_arguments(*overload_, test_);
    for (size_t i = 0; i < call_.outputs.size(); ++i) {
      if (i < outs.size()) {
        add_out(call_.outputs[i], outs[i]);
      } else {
        add_result(call_.outputs[i]);
      }
    }
  }

  // An out= argument holds the result. One of other sizes takes the sizes and strides of the
  // result.
  void add_out(const TracedOutput& out, const OutArgument& to) {
    ExpectedTensor r;
    r.origin = Origin::argument;
    r.argument = to.argument;
    r.dtype = to.tensor.dtype;
    Array values = outputs_.at(out.graph_output.value());
    r.sizes = values.shape;
    if (!undefined_contents()) r.values = std::move(values);
    r.strides = constants(out.strides);
    if (to.tensor.sizes == r.sizes) r.strides = to.tensor.strides;
    r.offset = to.tensor.offset;
    r.conj = to.tensor.conj;
    r.neg = to.tensor.neg;
    if (r.strides) {
      HostTensor grown = to.tensor;
      grown.sizes = r.sizes;
      grown.strides = *r.strides;
      add_written(grown, r.values);
    }
    if (returns(to.argument)) expected_.results.push_back(std::move(r));
  }

  bool undefined_contents() const { return bundle_.computed_by(*overload_).undefined_contents; }

  bool is_alias(size_t i) const {
    return i < overload_->returns.size() && overload_->returns[i].alias.letter != 0 &&
           !overload_->returns[i].alias.writes &&
           bundle_.computed_by(*overload_).implementation.kind == specs::ImplKind::function;
  }

  void add_result(const TracedOutput& out) {
    ExpectedTensor r;
    // An in-place view operator gives its argument another geometry.
    bool in_place = overload_->kind == specs::OverloadKind::inplace;
    bool view = out.kind == TracedOutput::Kind::view;
    r.origin = view && in_place ? Origin::argument : static_cast<Origin>(out.kind);
    r.argument = out.argument;
    r.dtype = out.dtype;
    if (out.graph_output && !undefined_contents()) r.values = outputs_.at(*out.graph_output);
    if (out.kind == TracedOutput::Kind::argument) {
      describe_argument(out, r);
    } else if (out.kind == TracedOutput::Kind::view) {
      describe_view(out, r);
    } else {
      r.strides = constants(out.strides);
      std::optional<std::vector<int64_t>> sizes = constants(out.sizes);
      // Sizes that depend on values are what the reference made.
      r.sizes = r.values ? r.values->shape : sizes.value_or(std::vector<int64_t>{});
      if (!sizes) r.strides = std::nullopt;
      if (overload_->kind == specs::OverloadKind::functional && is_alias(0)) {
        r.anywhere = true;
        r.strides = std::nullopt;
      }
    }
    if (is_returned(out)) expected_.results.push_back(std::move(r));
  }

  // What a call writes without returning it follows the results.
  bool is_returned(const TracedOutput& out) const {
    return out.kind != TracedOutput::Kind::argument || returns(out.argument);
  }
  bool returns(uint32_t argument) const {
    const specs::AliasInfo& alias = overload_->args.at(argument).alias;
    return !alias.writes ||
           std::any_of(overload_->returns.begin(), overload_->returns.end(),
                       [&](const specs::Return& r) { return r.alias.letter == alias.letter; });
  }

  void describe_argument(const TracedOutput& out, ExpectedTensor& r) {
    const HostTensor& t = argument(out);
    r.dtype = t.dtype;
    r.sizes = t.sizes;
    r.strides = t.strides;
    r.offset = t.offset;
    r.conj = t.conj;
    r.neg = t.neg;
    if (r.values) {
      add_written(t, *r.values);
    } else {
      r.values = read(test_.storages, t);
    }
  }

  void describe_view(const TracedOutput& out, ExpectedTensor& r) {
    const HostTensor& base = argument(out);
    HostTensor t = base;
    r.sizes = constants(out.sizes).value();
    r.strides = constants(out.strides).value();
    t.dtype = r.dtype = out.view_dtype.value_or(base.dtype);
    t.sizes = r.sizes;
    t.strides = *r.strides;
    // The base's place, counted in elements of the view's dtype.
    t.offset = base.offset * static_cast<int64_t>(byte_size(base.dtype)) /
                   static_cast<int64_t>(byte_size(t.dtype)) +
               out.offset.hint();
    t.conj = base.conj != out.conj;
    t.neg = base.neg != out.neg;
    r.offset = t.offset;
    r.conj = t.conj;
    r.neg = t.neg;
    r.values = read(test_.storages, t);
  }

  void add_written(const HostTensor& t, const std::optional<Array>& values) {
    for (const WrittenTensor& w : expected_.written) {
      if (w.tensor == t) return;
    }
    expected_.written.push_back({t, values});
  }

  void add_writable() {
    for (size_t i = 0; i < overload_->args.size(); ++i) {
      if (!overload_->args[i].alias.writes) continue;
      if (auto* t = std::get_if<HostTensor>(&test_.args[i])) expected_.written.push_back({*t, {}});
      if (auto* list = std::get_if<TensorList>(&test_.args[i])) {
        for (const auto& t : *list) expected_.written.push_back({t.value(), {}});
      }
    }
  }

  // Arguments that are written without being results: running statistics and the like.
  void add_written_inputs() {
    if (!expected_.graph) return;
    const prims::Graph& graph = *expected_.graph;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      if (!graph.outputs[i].writes_input) continue;
      const decomps::InputSource& source = call_.inputs.at(*graph.outputs[i].writes_input);
      add_written(source_tensor(test_, source), outputs_.at(i));
    }
  }

  const specs::Bundle& bundle_;
  const TestCase& test_;
  const decomps::DeviceTraits device_;
  const specs::Overload* overload_ = nullptr;
  TracedCall call_;
  Expected expected_;
  std::vector<Array> outputs_;
};

Expected evaluate_graph(const specs::Bundle& bundle, const TestCase& test,
                        decomps::DeviceTraits device, const GraphHook& hook) {
  Expected out;
  out.graph = std::make_shared<prims::Graph>(*test.graph);
  if (hook) hook(*out.graph);
  for (const HostTensor& t : test.inputs) out.graph_inputs.push_back(read(test.storages, t));
  ref::Result result = run_graph(bundle, *out.graph, out.graph_inputs, device);
  if (!result.failures.empty()) {
    const ref::CheckFailure& f = result.failures.front();
    out.error = CaughtError{code_from(f.code), f.message};
    return out;
  }
  for (Array& values : result.outputs) {
    ExpectedTensor r;
    r.dtype = values.dtype;
    r.sizes = values.shape;
    r.values = std::move(values);
    out.results.push_back(std::move(r));
  }
  return out;
}

bool is_pending_out(const ArgValue& v) {
  return std::holds_alternative<OutTensor>(v);
}

// A sparse tensor without entries: it takes over the result, so that no gap in it can be written.
HostTensor make_sparse_out(TestCase& test, DType dtype, bool empty, const ExpectedTensor& like) {
  FilledTensor zeros{dtype, like.sizes, {}, LayoutKind::contiguous};
  SparseText text;
  text.layout = like.layout;
  text.entries = 0;
  text.dense = like.dense_dims.value_or(0);
  if (has_blocks(like.layout)) text.block = {1, 1};
  if (empty) std::ranges::fill(zeros.sizes, 0);
  Rng rng(0);
  return place_sparse(test.storages, rng, text, zeros);
}

HostTensor make_out(TestCase& test, const OutTensor& how, const ExpectedTensor& like) {
  DType dtype = how.dtype.value_or(like.dtype);
  if (like.layout != Layout::strided)
    return make_sparse_out(test, dtype, how.kind == OutTensor::Kind::empty, like);
  if (how.kind == OutTensor::Kind::empty) {
    // No guards: it will grow, and then everything in it belongs to the result.
    test.storages.emplace_back();
    return {dtype, {0}, {1}, 0, static_cast<uint32_t>(test.storages.size() - 1)};
  }
  Array zeros = ref::make_array(dtype, like.sizes);
  bool strided = how.kind == OutTensor::Kind::strided && !like.sizes.empty();
  return place(test.storages, zeros, strided ? LayoutKind::strided : LayoutKind::contiguous);
}

std::optional<DType> stated_dtype(const specs::Overload& overload, const TestCase& test) {
  for (size_t i = 0; i < test.args.size(); ++i) {
    if (!overload.args.at(i).is_out) continue;
    if (auto* out = std::get_if<OutTensor>(&test.args[i]); out && out->dtype) return out->dtype;
    if (auto* out = std::get_if<HostTensor>(&test.args[i])) return out->dtype;
  }
  return std::nullopt;
}

// Of the results, as far as they are known: a call may be refused for its values alone.
std::vector<DType> dtypes_of_refused(const specs::Bundle& bundle, const TestCase& test) {
  std::vector<DType> out;
  try {
    for (const decomps::TracedOutput& o : trace_case(bundle, test).outputs) out.push_back(o.dtype);
  } catch (const Error&) {
  }
  return out;
}

// Where the results end that go to a list given as out=: after as many as the list has whose new
// state they are, else where the arguments behind it begin.
size_t end_of_list(const specs::Bundle& bundle, const specs::Overload& overload,
                   const TestCase& test, size_t rest) {
  const specs::Overload& base = bundle.overloads[overload.base];
  const int updated = base.returns.empty() ? -1 : base.updated_arg(base.returns[0]);
  if (updated < 0) return rest;
  const int given = overload.find_arg(base.args[static_cast<size_t>(updated)].name);
  const auto* list =
      given < 0 ? nullptr : std::get_if<TensorList>(&test.args[static_cast<size_t>(given)]);
  return list ? std::min(list->size(), rest) : rest;
}

}  // namespace

bool computes_elements(const Expected& e) {
  if (e.error) return false;
  auto has_elements = [](const auto& sizes) { return ref::element_count(sizes) > 0; };
  return e.results.size() + e.written.size() == 0 ||
         std::ranges::any_of(e.results, has_elements, &ExpectedTensor::sizes) ||
         std::ranges::any_of(e.written,
                             [&](const WrittenTensor& w) { return has_elements(w.tensor.sizes); });
}

std::vector<HostTensor> tensors_with_sparse(const TestCase& test) {
  std::vector<HostTensor> out = test.inputs;
  for (const ArgValue& v : test.args) {
    if (auto* t = std::get_if<HostTensor>(&v)) out.push_back(*t);
    if (auto* list = std::get_if<TensorList>(&v)) {
      for (const auto& t : *list) {
        if (t) out.push_back(*t);
      }
    }
  }
  return out;
}

std::vector<HostTensor> tensors_of(const TestCase& test) {
  std::vector<HostTensor> out;
  for (const HostTensor& t : tensors_with_sparse(test)) {
    if (t.is_sparse())
      out.insert(out.end(), t.parts.begin(), t.parts.end());
    else
      out.push_back(t);
  }
  return out;
}

TestCase functional_case(const specs::Bundle& bundle, const specs::Overload& overload,
                         const TestCase& test) {
  const specs::Overload& base = bundle.overloads.at(overload.base);
  TestCase out;
  out.id = test.id;
  out.id.subject = base.qualified;
  out.storages = test.storages;
  out.result_layouts = test.result_layouts;
  for (size_t i = 0; i < base.args.size(); ++i) {
    int from = overload.find_arg(base.args[i].name);
    bool by_position = from < 0 && i < overload.args.size() && !overload.args[i].is_out &&
                       overload.args[i].kind == base.args[i].kind;
    if (by_position) from = static_cast<int>(i);
    ArgValue value =
        from >= 0 ? test.args.at(static_cast<size_t>(from)) : default_argument(base.args[i]);
    // zeros.out has no dtype: that of its tensor decides.
    if (from < 0 && base.args[i].name == "dtype") {
      if (std::optional<DType> stated = stated_dtype(overload, test)) value = *stated;
    }
    out.args.push_back(std::move(value));
  }
  return out;
}

TracedCall trace_case(const specs::Bundle& bundle, const TestCase& test,
                      decomps::DeviceTraits device) {
  const specs::Overload& overload = overload_of(bundle, test);
  return decomps::trace(bundle, overload, to_actuals(test, overload.args),
                        std::make_shared<prims::SymContext>(), device);
}

void make_out_tensors(const specs::Bundle& bundle, TestCase& test) {
  if (!std::any_of(test.args.begin(), test.args.end(), is_pending_out)) return;
  const specs::Overload& overload = overload_of(bundle, test);
  if (overload.base == specs::kNoIndex) {
    throw Error(ErrorCode::internal, overload.qualified + " has out= and no base overload");
  }
  const TestCase functional = functional_case(bundle, overload, test);
  Expected base = evaluate(bundle, functional);
  // A call that is refused needs tensors, too: of any size, without guards, since it may grow.
  std::vector<DType> dtypes;
  if (base.error) dtypes = dtypes_of_refused(bundle, functional);
  auto left =
      static_cast<size_t>(std::count_if(test.args.begin(), test.args.end(), is_pending_out));
  size_t result = 0;
  auto next = [&](const OutTensor& how) {
    bool known = !base.error && result < base.results.size();
    ExpectedTensor any;
    any.dtype = result < dtypes.size() ? dtypes[result] : test.id.dtype;
    OutTensor some{OutTensor::Kind::empty, how.dtype};
    HostTensor t = make_out(test, known ? how : some, known ? base.results[result] : any);
    ++result;
    return t;
  };
  for (size_t i = 0; i < test.args.size(); ++i) {
    if (!is_pending_out(test.args[i])) continue;
    OutTensor how = std::get<OutTensor>(test.args[i]);
    --left;
    if (overload.args[i].kind != specs::ArgKind::tensor_list) {
      test.args[i] = next(how);
      continue;
    }
    TensorList list;
    const size_t end = end_of_list(bundle, overload, test, base.results.size() - left);
    while (result < end) list.emplace_back(next(how));
    test.args[i] = std::move(list);
  }
}

Expected evaluate(const specs::Bundle& bundle, const TestCase& test, decomps::DeviceTraits device,
                  const GraphHook& hook) {
  if (test.graph) return evaluate_graph(bundle, test, device, hook);
  const specs::Overload& overload = overload_of(bundle, test);
  if (is_sparse_call(bundle, overload, test)) return sparse_results(bundle, overload, test, device);
  if (is_answered_on_host(bundle, overload)) return host_results(bundle, overload, test, device);
  return Evaluation(bundle, test, device).run(hook);
}

}  // namespace primset::conformance
