#include "prims/reference/interpreter.h"

#include <algorithm>

#include "prims/graph/verifier.h"
#include "primset/error.h"

namespace primset::prims::reference {
namespace {

[[noreturn]] void no_meaning(Prim p) {
  throw Error(ErrorCode::internal, "the reference has no meaning for '" +
                                       std::string(info(p).name) +
                                       "': derived primitives are decomposed before they are run");
}

std::string with_value(std::string message, DType t, const Element& value) {
  bool integer = is_integral(t) || is_bool(t);
  std::string text =
      integer ? std::to_string(value.integer) : std::to_string(static_cast<double>(value.re));
  for (size_t at = message.find("{value}"); at != std::string::npos; at = message.find("{value}"))
    message.replace(at, 7, text);
  return message;
}

void forget_errors(Array& a) {
  for (Element& e : a.data) e.error = 0;
}

std::vector<Array> run_check(NodeRun& run) {
  const Array &p = run.x(0), &value = run.x(1);
  for (size_t i = 0; i < p.data.size(); ++i) {
    if (p.data[i].undecided || p.data[i].integer) continue;
    std::string message = with_value(run.text("message"), value.dtype, value.data[i]);
    run.fail(run.text("code"), message, value.data[i]);
    break;
  }
  return {};
}

}  // namespace

Interpreter::Interpreter(const Graph& graph, std::span<const int64_t> symbols,
                         PermittedDeviations deviations)
    : graph_(graph),
      deviations_(deviations),
      symbols_(symbols.begin(), symbols.end()),
      arrays_(graph.value_count()),
      elements_(graph.value_count()),
      ops_(graph.node_count()) {
  // Sizes that a run makes need no value from outside.
  for (size_t i = symbols_.size(); i < graph.context().symbol_count(); ++i) {
    symbols_.push_back(graph.context().symbol_hint(i));
  }
}

int64_t Interpreter::value(const SymInt& s) const {
  return s.is_constant() ? s.constant() : s.context()->evaluate(s.poly(), symbols_);
}

Ints Interpreter::values(const SymInts& xs) const {
  Ints out;
  for (const SymInt& s : xs) out.push_back(value(s));
  return out;
}

void Interpreter::set_size(const SymInt& symbol, int64_t value) {
  if (auto index = graph_.context().as_symbol(symbol)) symbols_[*index] = value;
}

void Interpreter::fail(NodeId node, CheckFailure failure) {
  if (failed_.insert(node).second) failures_.push_back(std::move(failure));
}

std::vector<Array> Interpreter::run(const Region& region, std::vector<Array> params) {
  for (size_t i = 0; i < params.size(); ++i) arrays_[region.params[i]] = std::move(params[i]);
  for (NodeId n : region.nodes) run_node(n);
  std::vector<Array> results;
  for (ValueId v : region.results) results.push_back(arrays_[v]);
  return results;
}

void Interpreter::run_node(NodeId id) {
  const Node& node = graph_.node(id);
  Operation operation = find_operation(node.prim);
  if (!operation) {
    ElementFunction f = find_elementwise(node.prim);
    if (!f) no_meaning(node.prim);
    return run_elementwise(id, f);
  }
  NodeRun run{*this, id, node, {}};
  for (ValueId v : node.operands) run.operands.push_back(&arrays_[v]);
  std::vector<Array> results = operation(run);
  for (size_t i = 0; i < results.size(); ++i) {
    if (deviations_.without_bounds) forget_errors(results[i]);
    arrays_[node.results[i]] = std::move(results[i]);
  }
}

void Interpreter::run_elementwise(NodeId id, ElementFunction f) {
  const Node& node = graph_.node(id);
  const ElementOp& op = cached_op(id);
  Array result = make_array(op.to, arrays_[node.operands[0]].shape);
  std::vector<Element> operands(node.operands.size());
  for (size_t i = 0; i < result.data.size(); ++i) {
    for (size_t k = 0; k < operands.size(); ++k)
      operands[k] = as_operand(op, arrays_[node.operands[k]].data[i]);
    result.data[i] = f(op, operands);
  }
  if (deviations_.without_bounds) forget_errors(result);
  arrays_[node.results[0]] = std::move(result);
}

const ElementOp& Interpreter::cached_op(NodeId id) {
  ElementOp& op = ops_[id];
  if (!op.node) {
    const Node& node = graph_.node(id);
    // A select's first operand is the predicate; what matters are the arms.
    op = make_op(node, graph_.type(node.operands.back()).dtype, graph_.type(node.results[0]).dtype,
                 deviations_);
  }
  op.order_free = order_free_;
  return op;
}

std::vector<Element> Interpreter::elements(std::span<const ValueId> values) const {
  std::vector<Element> out;
  out.reserve(values.size());
  for (ValueId v : values) out.push_back(elements_[v]);
  return out;
}

void Interpreter::assign(std::span<const ValueId> values, std::span<const Element> elements) {
  for (size_t i = 0; i < values.size(); ++i) elements_[values[i]] = elements[i];
}

std::vector<Element> Interpreter::run(const Region& region, std::span<const Element> params) {
  assign(region.params, params);
  for (NodeId n : region.nodes) run_scalar_node(n);
  return elements(region.results);
}

std::vector<Element> Interpreter::combine(const Region& region, std::span<const Element> params) {
  bool saved = order_free_;
  order_free_ = true;
  std::vector<Element> results = run(region, params);
  order_free_ = saved;
  return results;
}

void Interpreter::run_scalar_node(NodeId id) {
  const Node& node = graph_.node(id);
  if (ElementFunction f = find_elementwise(node.prim)) {
    const ElementOp& op = cached_op(id);
    std::vector<Element> operands = elements(node.operands);
    for (Element& x : operands) x = as_operand(op, x);
    elements_[node.results[0]] = f(op, operands);
  } else if (node.prim == Prim::constant) {
    elements_[node.results[0]] = constant_element(*this, node);
  } else if (node.prim == Prim::check) {
    NodeRun run{*this, id, node, {}};
    Array p{DType::boolean, {}, {elements_[node.operands[0]]}};
    Array value{graph_.type(node.operands[1]).dtype, {}, {elements_[node.operands[1]]}};
    run.operands = {&p, &value};
    run_check(run);
  } else if (!run_scalar_control(node)) {
    no_meaning(node.prim);
  }
}

// Loops and branches on single elements; false: another primitive.
bool Interpreter::run_scalar_control(const Node& node) {
  std::vector<Element> values = elements(node.operands);
  if (node.prim == Prim::for_loop) {
    int64_t count = value(node.attr<SymInt>("count"));
    for (int64_t i = 0; i < count; ++i) {
      values.insert(values.begin(), integer_element(i));
      values = run(node.regions[0], values);
    }
  } else if (node.prim == Prim::while_loop) {
    Element go = run(node.regions[0], values)[0];
    for (; !go.undecided && go.integer; go = run(node.regions[0], values)[0]) {
      values = run(node.regions[1], values);
    }
    // Whether there was another round nobody knows.
    if (go.undecided) values.assign(values.size(), undecided_element());
  } else if (node.prim == Prim::cond) {
    Element p = values[0];
    values.erase(values.begin());
    std::vector<Element> chosen = run(node.regions[p.undecided || p.integer ? 0 : 1], values);
    if (p.undecided) {
      std::vector<Element> other = run(node.regions[1], values);
      for (size_t i = 0; i < chosen.size(); ++i) {
        ElementOp op;
        op.prim = Prim::select;
        op.to = graph_.type(node.results[i]).dtype;
        Element choice[] = {p, chosen[i], other[i]};
        chosen[i] = find_elementwise(Prim::select)(op, choice);
      }
    }
    values = std::move(chosen);
  } else {
    return false;
  }
  assign(node.results, values);
  return true;
}

Ints NodeRun::sizes(std::string_view name) const {
  return interpreter.values(node.attr<SymInts>(name));
}

int64_t NodeRun::size(std::string_view name) const {
  return interpreter.value(node.attr<SymInt>(name));
}

Array NodeRun::result(size_t i) const {
  const ValueType& t = interpreter.graph().type(node.results[i]);
  return make_array(t.dtype, interpreter.values(t.shape));
}

ElementOp NodeRun::op(DType to) const {
  return make_op(node, count() ? x(0).dtype : to, to, interpreter.deviations());
}

void NodeRun::fail(const std::string& code, const std::string& message,
                   const Element& value) const {
  interpreter.fail(id, {code, message, value});
}

void add_control_operations(OperationTable& t) {
  t.set(Prim::check, run_check);
}

void forget(Array& a) {
  std::ranges::fill(a.data, undecided_element());
}

Operation find_operation(Prim p) {
  static const OperationTable* table = [] {
    auto* t = new OperationTable;
    add_conversion_operations(*t);
    add_shape_operations(*t);
    add_slice_operations(*t);
    add_window_operations(*t);
    add_indexing_operations(*t);
    add_reduction_operations(*t);
    add_scan_operations(*t);
    add_sort_operations(*t);
    add_unique_operations(*t);
    add_contraction_operations(*t);
    add_sparse_operations(*t);
    add_fft_operations(*t);
    add_sparse_softmax_operations(*t);
    add_control_operations(*t);
    add_region_operations(*t);
    add_householder_operations(*t);
    add_jacobi_operations(*t);
    add_general_eigen_operations(*t);
    return t;
  }();
  return table->find(p);
}

bool has_meaning(Prim p) {
  return find_operation(p) || find_elementwise(p);
}

Result run(const Graph& graph, std::span<const Array> inputs, std::span<const int64_t> symbols,
           PermittedDeviations deviations) {
  verify_or_throw(graph);
  if (inputs.size() != graph.inputs.size()) {
    throw Error(ErrorCode::internal, "the graph has " + std::to_string(graph.inputs.size()) +
                                         " inputs, given " + std::to_string(inputs.size()));
  }
  Interpreter interpreter(graph, symbols, deviations);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueType& t = graph.type(graph.inputs[i].value);
    if (inputs[i].dtype != t.dtype || inputs[i].shape != interpreter.values(t.shape)) {
      throw Error(ErrorCode::internal,
                  "input '" + graph.inputs[i].name + "' is not of the type that the graph states");
    }
  }
  Result result;
  result.outputs = interpreter.run(graph.body, std::vector<Array>(inputs.begin(), inputs.end()));
  result.failures = interpreter.take_failures();
  return result;
}

}  // namespace primset::prims::reference
