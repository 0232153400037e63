#include "conformance/mutation/mutants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include "conformance/mutation/equivalence.h"
#include "conformance/mutation/graph_analysis.h"
#include "prims/graph/builder.h"
#include "prims/graph/traits.h"
#include "prims/graph/verifier.h"
#include "prims/inference/inference.h"
#include "prims/reference/float_format.h"
#include "primset/error.h"
#include "specs/bundle/reader.h"

namespace primset::conformance {
namespace {

using prims::Attr;
using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Prim;
using prims::Region;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;

constexpr std::array<std::string_view, 11> kKinds = {
    "swap_operands",  "replace",   "drop_node",  "drop_operand", "wrong_dim",    "off_by_one",
    "wrong_constant", "flip_flag", "drop_check", "lost_tail",    "low_precision"};

// A way to make a mistake at a node: changes the copy, false when there is no such choice.
using Change = bool (*)(Graph& graph, NodeId node, uint32_t choice);

bool same_type(const Graph& g, ValueId a, ValueId b) {
  const prims::ValueType &x = g.type(a), &y = g.type(b);
  return x.dtype == y.dtype &&
         std::equal(x.shape.begin(), x.shape.end(), y.shape.begin(), y.shape.end(),
                    [](const SymInt& s, const SymInt& t) { return s.same(t); });
}

void replace_in(std::span<ValueId> values, ValueId from, ValueId to) {
  std::replace(values.begin(), values.end(), from, to);
}

void replace_in(Region& region, ValueId from, ValueId to) {
  replace_in(std::span(region.results), from, to);
}

// Every use of a value, outputs included, becomes a use of another.
void replace_uses(Graph& g, ValueId from, ValueId to) {
  for (NodeId n = 0; n < g.node_count(); ++n) {
    Node& node = g.mutable_node(n);
    replace_in(node.operands.span(), from, to);
    for (Region& r : node.regions) replace_in(r, from, to);
  }
  replace_in(std::span(g.body.results), from, to);
  for (prims::Output& o : g.outputs) {
    if (o.value == from) o.value = to;
  }
}

bool swap_operands(Graph& g, NodeId n, uint32_t choice) {
  Node& node = g.mutable_node(n);
  // A dot_general of swapped operands is one of other dims.
  if (node.prim == Prim::dot_general) return false;
  // Of clamp the bounds: clamp(low, x, high) is the same number.
  size_t first = node.prim == Prim::select || node.prim == Prim::clamp ? 1 : 0;
  if (choice > 0 || node.operands.size() < first + 2 || commutes(g, node, first)) return false;
  ValueId &a = node.operands[first], &b = node.operands[first + 1];
  if (a == b || a == prims::kNoValue || b == prims::kNoValue || !same_type(g, a, b)) return false;
  std::swap(a, b);
  return true;
}

bool replace(Graph& g, NodeId n, uint32_t choice) {
  Node& node = g.mutable_node(n);
  const std::span<const Prim> others = prims::siblings(node.prim);
  if (choice >= others.size()) return false;
  if (means_the_same(g, node, others[choice])) return false;
  node.prim = others[choice];
  // Attributes carry the names of the other primitive's table, which are the same words.
  std::vector<prims::ValueType> types =
      prims::infer(g, node.prim, node.operands, node.attrs, node.regions);
  if (types.size() != node.results.size()) return false;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].dtype != g.type(node.results[i]).dtype) return false;
  }
  return true;
}

// Primitives that always do something to their operand. A slice of everything or a reduction over
// no dims does not, and leaving it out is no mistake.
bool does_something(const Node& node) {
  const Prim p = node.prim;
  return prims::is_elementwise(p) || prims::is_scan(p) || prims::is_scatter(p) ||
         p == Prim::reverse || p == Prim::dynamic_update_slice;
}

bool drop_node(Graph& g, NodeId n, uint32_t choice) {
  const Node& node = g.node(n);
  if (choice > 0 || node.operands.size() != 1 || node.results.size() != 1) return false;
  ValueId x = node.operands[0], y = node.results[0];
  if (!does_something(node)) return false;
  if (same_type(g, x, y)) {
    bool keeps = node.prim == Prim::convert || node.prim == Prim::bitcast ||
                 (node.prim == Prim::abs && is_unsigned_integer(g.type(x).dtype));
    if (keeps || are_one_number(known_number(g, x), known_number(g, y))) return false;
    replace_uses(g, y, x);
    return true;
  }
  // A convert there and back: T -> U -> T.
  NodeId before = g.producer(x);
  if (node.prim != Prim::convert || before == Graph::kNoNode) return false;
  const Node& first = g.node(before);
  if (first.prim != Prim::convert) return false;
  ValueId original = first.operands[0];
  if (!same_type(g, original, y) || fits(g, original, g.type(x).dtype)) return false;
  replace_uses(g, y, original);
  return true;
}

bool drop_operand(Graph& g, NodeId n, uint32_t choice) {
  const Node& node = g.node(n);
  if (node.operands.size() < 2 || node.results.size() != 1 || choice >= node.operands.size() ||
      !does_something(node)) {
    return false;
  }
  ValueId kept = node.operands[choice], result = node.results[0];
  if (kept == prims::kNoValue || !same_type(g, kept, result)) return false;
  if (leaves_alone(g, node, choice)) return false;
  if (are_one_number(known_number(g, kept), known_number(g, result))) return false;
  replace_uses(g, result, kept);
  return true;
}

// The dims of a set in their order; of a reduction they may stand in any order.
bool change_dims(Attr::Ints& dims, bool ordered, int64_t rank, uint32_t choice) {
  if (ordered && dims.size() > 1) {
    if (choice + 1 >= dims.size()) return false;
    std::swap(dims[choice], dims[choice + 1]);
    return true;
  }
  // The choice-th dim that is not in the set takes the place of the first one.
  for (int64_t d = 0; d < rank && !dims.empty(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
    if (choice-- > 0) continue;
    dims[0] = d;
    return true;
  }
  return false;
}

bool wrong_dim(Graph& g, NodeId n, uint32_t choice) {
  Node& node = g.mutable_node(n);
  if (node.operands.empty()) return false;
  bool single_part = node.prim == Prim::concatenate && node.operands.size() == 1;
  if (single_part) return false;
  auto rank = static_cast<int64_t>(g.type(node.operands[0]).rank());
  bool is_set =
      prims::is_reduction(node.prim) || node.prim == Prim::reverse || node.prim == Prim::fft_c2c;
  for (Attr& a : node.attrs) {
    if (auto* dim = std::get_if<int64_t>(&a.value); dim && a.name == "dim") {
      if (static_cast<int64_t>(choice) + 1 >= rank) return false;
      *dim = (*dim + 1 + choice) % rank;
      return true;
    }
    bool is_dims = a.name == "dims" || a.name == "permutation" || a.name.ends_with("contract");
    if (auto* dims = std::get_if<Attr::Ints>(&a.value); dims && is_dims) {
      if (order_decides_nothing(node, choice, dims->size())) return false;
      return change_dims(*dims, !is_set, rank, choice);
    }
  }
  return false;
}

SymInts* sizes_attr(Node& node, std::string_view name) {
  for (Attr& a : node.attrs) {
    if (a.name == name) return std::get_if<SymInts>(&a.value);
  }
  return nullptr;
}

// Moves both ends by one, so that the result's shape stays.
bool off_by_one(Graph& g, NodeId n, uint32_t choice) {
  Node& node = g.mutable_node(n);
  if (node.prim == Prim::slice) {
    SymInts *start = sizes_attr(node, "start"), *limit = sizes_attr(node, "limit");
    const SymInts& shape = g.type(node.operands[0]).shape;
    if (choice >= start->size()) return false;
    bool room_above = prims::known_less((*limit)[choice], shape[choice]).value_or(false);
    bool room_below = prims::known_less(0, (*start)[choice]).value_or(false);
    if (!room_above && !room_below) return false;
    int64_t by = room_above ? 1 : -1;
    (*start)[choice] += by;
    (*limit)[choice] += by;
    return true;
  }
  if (node.prim == Prim::pad) {
    SymInts *low = sizes_attr(node, "low"), *high = sizes_attr(node, "high");
    if (choice >= low->size()) return false;
    (*low)[choice] += 1;
    (*high)[choice] -= 1;
    return true;
  }
  return false;
}

// One more; the negative where one more is rounded away, as it is from an infinity.
Scalar other_number(const Scalar& s, DType t) {
  if (s.is_bool() || is_bool(t)) return Scalar(!s.to_bool());
  if (s.is_integer()) {
    bool greatest = s.to_int() == std::numeric_limits<int64_t>::max();
    return Scalar(greatest ? s.to_int() - 1 : s.to_int() + 1);
  }
  const double v = s.to_double();
  if (std::isnan(v)) return Scalar(0.0);
  const bool rounded =
      is_floating(t) && prims::reference::round_to(v + 1, t) == prims::reference::round_to(v, t);
  return Scalar(rounded ? -v : v + 1);
}

bool wrong_constant(Graph& g, NodeId n, uint32_t choice) {
  Node& node = g.mutable_node(n);
  constexpr std::string_view kNumbers[] = {"value", "eps", "scale", "correction", "p"};
  for (Attr& a : node.attrs) {
    bool number = std::find(std::begin(kNumbers), std::end(kNumbers), a.name) != std::end(kNumbers);
    auto* s = std::get_if<Scalar>(&a.value);
    if (!number || !s || choice > 0 || s->is_complex()) continue;
    *s = other_number(*s, g.type(node.results[0]).dtype);
    return true;
  }
  return false;
}

bool flip_flag(Graph& g, NodeId n, uint32_t choice) {
  Node& node = g.mutable_node(n);
  uint32_t at = 0;
  for (Attr& a : node.attrs) {
    auto* flag = std::get_if<bool>(&a.value);
    if (!flag || at++ != choice) continue;
    if (decides_nothing(g, node, a.name)) return false;
    *flag = !*flag;
    return true;
  }
  return false;
}

bool drop_check(Graph& g, NodeId n, uint32_t choice) {
  const Node& node = g.node(n);
  if (choice > 0 || node.prim != Prim::check) return false;
  if (is_empty(g, node.operands[0]) || known_number(g, node.operands[0]) == Scalar(true)) {
    return false;
  }
  std::function<bool(Region&)> erase = [&](Region& region) {
    auto it = std::find(region.nodes.begin(), region.nodes.end(), n);
    if (it != region.nodes.end()) {
      region.nodes.erase(it);
      return true;
    }
    for (NodeId inner : region.nodes) {
      for (Region& r : g.mutable_node(inner).regions) {
        if (erase(r)) return true;
      }
    }
    return false;
  };
  return erase(g.body);
}

void set_output(Graph& g, size_t index, ValueId v) {
  g.outputs[index].value = v;
  g.body.results[index] = v;
}

// The node that makes an output stands for the output.
std::optional<size_t> output_of(const Graph& g, NodeId n) {
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    if (g.producer(g.outputs[i].value) == n) return i;
  }
  return std::nullopt;
}

// What is zero everywhere has zeros in its tail, too.
bool lost_tail(Graph& g, NodeId n, uint32_t choice) {
  std::optional<size_t> output = output_of(g, n);
  if (!output || choice > 0) return false;
  ValueId v = g.outputs[*output].value;
  if (are_one_number(known_number(g, v), Scalar(0))) return false;
  SymInts shape = g.type(v).shape, start(shape.size(), 0), step(shape.size(), 1), high = start;
  if (shape.empty() || !prims::known_less(1, shape.back()).value_or(false)) return false;
  SymInts limit = shape;
  limit.back() -= 1;
  high.back() = 1;
  DType t = g.type(v).dtype;
  prims::Builder b(g);
  ValueId zero = b.constant(is_bool(t) ? Scalar(false) : Scalar(0), t);
  set_output(g, *output, b.pad(b.slice(v, start, limit, step), zero, start, high, start));
  return true;
}

// Does it round? What only chooses or moves gives numbers that often are as good in less precision.
bool rounds(Prim prim, DType t) {
  const specs::Primitive* spec = specs::embedded_bundle().find_primitive(prims::info(prim).name);
  return spec && specs::tolerance_for(spec->tolerance, t).kind != specs::ToleranceKind::exact;
}

bool low_precision(Graph& g, NodeId n, uint32_t choice) {
  std::optional<size_t> output = output_of(g, n);
  if (!output || choice > 0) return false;
  ValueId v = g.outputs[*output].value;
  DType t = g.type(v).dtype;
  if (!rounds(g.node(n).prim, t)) return false;
  std::optional<DType> narrow = t == DType::f32   ? std::optional(DType::f16)
                                : t == DType::f64 ? std::optional(DType::f32)
                                                  : std::nullopt;
  if (!narrow || fits(g, v, *narrow)) return false;
  prims::Builder b(g);
  set_output(g, *output, b.convert(b.convert(v, *narrow), t));
  return true;
}

constexpr std::array<Change, 11> kChanges = {
    swap_operands,  replace,   drop_node,  drop_operand, wrong_dim,    off_by_one,
    wrong_constant, flip_flag, drop_check, lost_tail,    low_precision};
// No place has more choices than this that matter.
constexpr uint32_t kMaxChoices = 6;

// Nodes in the order in which they run, regions before the nodes that hold them. What a while_loop
// holds is left alone: a mutant of it may never end.
void collect(const Graph& g, const Region& region, std::vector<NodeId>& out) {
  for (NodeId n : region.nodes) {
    bool may_hang = g.node(n).prim == Prim::while_loop;
    for (const Region& r : g.node(n).regions) {
      if (!may_hang) collect(g, r, out);
    }
    out.push_back(n);
  }
}

// What no output needs, or has no elements, may be wrong.
bool matters(const Graph& graph, const std::vector<bool>& live, NodeId n) {
  const std::span<const ValueId> results = graph.node(n).results;
  return live[n] && (results.empty() ||
                     !std::ranges::all_of(results, [&](ValueId v) { return is_empty(graph, v); }));
}

// Does the node still give the one number that it gave before?
bool gives_the_same(const Graph& before, const Graph& after, NodeId n) {
  return before.node(n).results.size() == 1 &&
         are_one_number(known_number(before, before.node(n).results[0]),
                        known_number(after, before.node(n).results[0]));
}

std::optional<Graph> try_change(const Graph& graph, MutationKind kind, NodeId n, uint32_t choice) {
  Graph copy = graph;
  const bool in_place = kind == MutationKind::replace || kind == MutationKind::swap_operands;
  try {
    if (!kChanges[static_cast<size_t>(kind)](copy, n, choice)) return std::nullopt;
    if (in_place && gives_the_same(graph, copy, n)) return std::nullopt;
    if (!prims::verify(copy).empty()) return std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;  // inference refuses it, or the sibling's attributes and regions differ
  }
  return copy;
}

}  // namespace

std::string_view name(MutationKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

std::string Mutation::to_string() const {
  return std::string(name(kind)) + " " + primitive + "#" + std::to_string(ordinal) + "." +
         std::to_string(choice);
}

void count_places(const Graph& graph, Places& places) {
  std::vector<NodeId> nodes;
  collect(graph, graph.body, nodes);
  Places here;
  for (NodeId n : nodes) ++here[std::string(prims::info(graph.node(n).prim).name)];
  for (const auto& [primitive, count] : here) {
    uint32_t& most = places[primitive];
    most = std::max(most, count);
  }
}

std::vector<Mutation> candidate_mutations(const Places& places) {
  std::vector<Mutation> out;
  for (const auto& [primitive, count] : places) {
    for (uint32_t ordinal = 0; ordinal < count; ++ordinal) {
      for (size_t kind = 0; kind < kChanges.size(); ++kind) {
        for (uint32_t choice = 0; choice < kMaxChoices; ++choice) {
          out.push_back({static_cast<MutationKind>(kind), primitive, ordinal, choice});
        }
      }
    }
  }
  return out;
}

std::vector<Mutation> find_mutations(const Graph& graph) {
  Places places;
  count_places(graph, places);
  std::vector<Mutation> out = candidate_mutations(places);
  std::erase_if(out, [&](const Mutation& m) { return !apply(graph, m); });
  return out;
}

std::optional<Graph> apply(const Graph& graph, const Mutation& mutation) {
  std::vector<NodeId> nodes;
  collect(graph, graph.body, nodes);
  uint32_t ordinal = 0;
  for (NodeId n : nodes) {
    if (prims::info(graph.node(n).prim).name != mutation.primitive) continue;
    if (ordinal++ != mutation.ordinal) continue;
    if (!matters(graph, live_nodes(graph), n)) return std::nullopt;
    return try_change(graph, mutation.kind, n, mutation.choice);
  }
  return std::nullopt;
}

}  // namespace primset::conformance
