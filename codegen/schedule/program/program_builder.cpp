#include "codegen/schedule/program/program_builder.h"

#include <algorithm>

#include "codegen/schedule/element/scalar_lowering.h"
#include "prims/graph/traits.h"
#include "primset/error.h"

namespace primset::schedule {

using prims::Prim;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;

namespace {

SymInts dense_strides(const SymInts& shape) {
  SymInts out(shape.size());
  SymInt stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    out[d] = stride;
    stride *= shape[d];
  }
  return out;
}

// One past the largest offset reached.
SymInt extent_of(const SymInts& shape, const SymInts& strides) {
  SymInt last = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].same(SymInt(0))) return 0;
    last += (shape[d] - 1) * strides[d];
  }
  return last;
}

bool has_elements(const SymInts& shape) {
  return std::none_of(shape.begin(), shape.end(),
                      [](const SymInt& s) { return s.same(SymInt(0)); });
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::shared_ptr<const prims::Graph> graph, const Normalized& notes,
                               const kir::TargetModel& target, const Options& options,
                               bool readers_first, const std::vector<bool>& detached)
    : graph_(std::move(graph)),
      g_(*graph_),
      target_(target),
      options_(options),
      readers_first_(readers_first),
      detached_(detached),
      reread_(notes.reread),
      values_{g_,
              [this](ValueId v) {
                auto it = places_.find(v);
                return it == places_.end() ? nullptr : &it->second;
              },
              [this](ValueId v) -> std::optional<uint32_t> {
                auto it = scalar_inputs_.find(v);
                if (it == scalar_inputs_.end()) return std::nullopt;
                return it->second;
              },
              [this](ValueId v) -> std::optional<SymInt> {
                auto it = symbols_.find(v);
                if (it == symbols_.end()) return std::nullopt;
                return it->second;
              },
              [this](const std::string& code, const std::string& message) {
                return check_site(code, message);
              },
              [&unrounded = notes.unrounded](ValueId v) { return unrounded.contains(v); }} {
  program_.graph = graph_;
  steps_ = &program_.steps;
  if (!options_.fuse) keep_apart();
  for (NodeId id = 0; id < g_.node_count(); ++id) {
    const auto& operands = g_.node(id).operands;
    for (ValueId v : operands) users_[v].push_back(id);
  }
}

// --- buffers
// -----------------------------------------------------------------------------------------

BufferId ProgramBuilder::new_buffer(Buffer b) {
  program_.buffers.push_back(std::move(b));
  return static_cast<BufferId>(program_.buffers.size() - 1);
}

Placement ProgramBuilder::dense(BufferId buffer, const SymInts& shape) const {
  return {buffer, dense_strides(shape)};
}

Placement ProgramBuilder::temp(ValueId v) {
  const auto& t = g_.type(v);
  return dense(new_buffer({Buffer::Kind::temp, 0, t.dtype, prims::product(t.shape),
                           "%" + std::to_string(v)}),
               t.shape);
}

uint32_t ProgramBuilder::check_site(const std::string& code, const std::string& message) {
  for (uint32_t i = 0; i < program_.checks.size(); ++i) {
    if (program_.checks[i].code == code && program_.checks[i].message == message) return i;
  }
  program_.checks.push_back({code, message});
  return static_cast<uint32_t>(program_.checks.size() - 1);
}

// --- what depends on what
// ----------------------------------------------------------------------------

bool ProgramBuilder::is_native(NodeId id) const {
  return options_.native && options_.native(g_, id);
}

bool ProgramBuilder::is_reduce(ValueId v) const {
  const NodeId p = g_.producer(v);
  if (p == prims::Graph::kNoNode || is_native(p)) return false;
  const Prim prim = g_.node(p).prim;
  return is_reduction(prim) && has_combiner(prim);
}

bool ProgramBuilder::inlinable(ValueId v) const {
  const NodeId p = g_.producer(v);
  if (p == prims::Graph::kNoNode)
    return true;  // inputs and region parameters: placed, or an error later
  if (is_native(p)) return false;
  return is_indexable(g_.node(p).prim);
}

void ProgramBuilder::frontier(ValueId v, std::set<ValueId>& out, std::set<ValueId>& seen) const {
  if (v == prims::kNoValue || !seen.insert(v).second || places_.count(v) != 0 ||
      scalar_inputs_.count(v) != 0)
    return;
  if (!inlinable(v) || reread_.count(v) != 0) {
    out.insert(v);
    return;
  }
  const NodeId p = g_.producer(v);
  if (p == prims::Graph::kNoNode || symbols_.count(v) != 0) return;
  for (ValueId operand : g_.node(p).operands) frontier(operand, out, seen);
}

ProgramBuilder::Signature ProgramBuilder::signature(ValueId v) const {
  const Node& n = g_.node(g_.producer(v));
  return {g_.type(n.operands[0]).shape,
          static_cast<size_t>(n.attr<std::vector<int64_t>>("dims")[0])};
}

bool ProgramBuilder::same_shape(const SymInts& a, const SymInts& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const SymInt& x, const SymInt& y) { return x.same(y); });
}

bool ProgramBuilder::same_signature(const Signature& a, const Signature& b) {
  return a.dim == b.dim && same_shape(a.domain, b.domain);
}

// --- kernels
// -------------------------------------------------------------------------------------------

BuildContext ProgramBuilder::context(const char* name) const {
  return {values_, target_, options_.index32, errors_, name};
}

void ProgramBuilder::launch(BuiltKernel k, NodeId node) {
  k.step.kernel = static_cast<uint32_t>(program_.kernels.size());
  k.step.graph_node = node;
  touch(std::move(k.analysis));
  program_.kernels.push_back(std::move(k.kernel));
  steps_->push_back({std::move(k.step)});
}

// Each elementwise value is stored before it is used, but for single numbers.
void ProgramBuilder::keep_apart() {
  for (NodeId id : g_.body.nodes) {
    if (!is_core_elementwise(g_.node(id).prim)) continue;
    for (ValueId v : g_.node(id).results) {
      if (!g_.type(v).shape.empty()) reread_.insert(v);
    }
  }
}

BuiltKernel ProgramBuilder::fused(const std::function<BuiltKernel()>& make) {
  while (true) {
    try {
      return make();
    } catch (const NotFusible& e) {
      make_readable(e.value());
    }
  }
}

// What a kernel could not make where it is asked for.
void ProgramBuilder::make_readable(ValueId v) {
  if (places_.count(v) != 0) {
    throw Error(ErrorCode::internal,
                "value %" + std::to_string(v) + " is placed and yet cannot be read");
  }
  materialize(v);
}

void ProgramBuilder::materialize(ValueId v) {
  if (places_.count(v) != 0) return;
  const Placement place = temp(v);
  std::vector<Root> roots{{v, place}};
  // The other results of a reduction come with it: making them later would reduce again.
  if (is_reduce(v)) {
    for (ValueId other : g_.node(g_.producer(v)).results) {
      if (other != v && users_.count(other) != 0 && places_.count(other) == 0)
        roots.push_back({other, temp(other)});
    }
  }
  compute(std::move(roots));
  // A view may have been computed as what it views, in the same memory.
  places_.emplace(v, place);
}

// Is `p` the output memory that takes over where `v` lies?
bool ProgramBuilder::taken_over(ValueId v, const Placement& p) const {
  auto place = places_.find(v);
  const Buffer& out = program_.buffers[p.buffer];
  if (place == places_.end() || out.kind != Buffer::Kind::output) return false;
  const std::optional<uint32_t> input = g_.outputs[out.index].writes_input;
  const Placement& x = place->second;
  return input && input_buffers_[*input] == x.buffer && x.offset.same(p.offset) &&
         same_shape(x.strides, p.strides);
}

void ProgramBuilder::copy_into(ValueId v, const Placement& p) {
  if (taken_over(v, p)) return;
  std::set<ValueId> needed, seen;
  frontier(v, needed, seen);
  for (ValueId u : needed) materialize(u);
  if (!has_elements(g_.type(v).shape)) return;
  launch(
      fused([&] { return pointwise_kernel(context("pointwise"), g_.type(v).shape, {{v, p}}, {}); }),
      0);
}

// A root that only views a computed value densely is that value, written through the view.
Root ProgramBuilder::sink_views(Root root) const {
  while (places_.count(root.value) == 0) {
    const NodeId p = g_.producer(root.value);
    if (p == prims::Graph::kNoNode || is_native(p)) break;
    const Node& n = g_.node(p);
    const ValueId source = n.operands.empty() ? prims::kNoValue : n.operands[0];
    if (n.prim == Prim::reshape &&
        same_shape(root.out.strides, dense_strides(g_.type(root.value).shape))) {
      root = {source, {root.out.buffer, dense_strides(g_.type(source).shape), root.out.offset}};
    } else if (n.prim == Prim::transpose) {
      const auto& permutation = n.attr<std::vector<int64_t>>("permutation");
      SymInts strides(permutation.size());
      for (size_t d = 0; d < permutation.size(); ++d)
        strides[static_cast<size_t>(permutation[d])] = root.out.strides[d];
      root = {source, {root.out.buffer, std::move(strides), root.out.offset}};
    } else {
      break;
    }
  }
  return root;
}

void ProgramBuilder::compute(std::vector<Root> roots) {
  for (Root& r : roots) {
    r = sink_views(std::move(r));
    reread_.erase(r.value);
  }
  std::erase_if(roots, [&](const Root& r) {
    const bool empty = !has_elements(g_.type(r.value).shape);
    if (empty) places_.emplace(r.value, r.out);
    return empty;
  });
  if (roots.empty()) return;
  const bool placed = places_.count(roots[0].value) != 0;
  if (!placed && !inlinable(roots[0].value) && !is_reduce(roots[0].value)) {
    compute_node(g_.producer(roots[0].value), roots);
  } else if (!compute_rows(roots)) {
    compute_pointwise(roots);
  }
  // The first placement stays: another one of the same value is a copy.
  for (const Root& r : roots) places_.emplace(r.value, r.out);
}

void ProgramBuilder::compute_pointwise(const std::vector<Root>& roots) {
  if (const auto finished = options_.fuse ? finished_by(roots) : std::nullopt) {
    std::set<ValueId> others, visited;
    for (const Root& r : roots) frontier(r.value, others, visited);
    for (ValueId result : g_.node(*finished).results) others.erase(result);
    for (ValueId u : others) materialize(u);
    return compute_node(*finished, roots);
  }
  std::set<ValueId> needed, seen;
  for (const Root& r : roots) frontier(r.value, needed, seen);
  const std::vector<NodeId> checks = take_checks(g_.type(roots[0].value).shape);
  for (NodeId id : checks) {
    for (ValueId operand : g_.node(id).operands) frontier(operand, needed, seen);
  }
  for (ValueId u : needed) materialize(u);
  launch(fused([&] {
           return pointwise_kernel(context("pointwise"), g_.type(roots[0].value).shape, roots,
                                   checks);
         }),
         g_.producer(roots[0].value));
}

// The contraction or scan whose results become the roots, and nothing else, elementwise at their
// own positions; then its kernel can make them.
std::optional<prims::NodeId> ProgramBuilder::finished_by(const std::vector<Root>& roots) const {
  std::set<ValueId> found, inlined;
  for (const Root& r : roots) frontier(r.value, found, inlined);
  const std::function<bool(ValueId)> becomes_roots = [&](ValueId v) {
    if (std::ranges::find(roots, v, &Root::value) != roots.end()) return true;
    const auto users = users_.find(v);
    if (is_output(v)) return false;
    return users == users_.end() || std::ranges::all_of(users->second, [&](NodeId user) {
             const Node& n = g_.node(user);
             const ValueId made = n.results[0];
             return is_core_elementwise(n.prim) && inlined.count(made) != 0 && becomes_roots(made);
           });
  };
  for (ValueId v : found) {
    const NodeId p = g_.producer(v);
    const Node& n = g_.node(p);
    if ((n.prim != Prim::dot_general && !is_scan(n.prim)) || is_native(p)) continue;
    if (same_shape(g_.type(v).shape, g_.type(roots[0].value).shape) &&
        std::ranges::all_of(n.results, becomes_roots))
      return p;
  }
  return std::nullopt;
}

// The checks that can ride in a kernel over `shape`; none in what may not be run at all.
std::vector<prims::NodeId> ProgramBuilder::take_checks(const SymInts& shape) {
  std::vector<NodeId> out;
  if (regions_ > 0) return out;
  std::erase_if(checks_, [&](NodeId id) {
    if (!same_shape(g_.type(g_.node(id).operands[0]).shape, shape)) return false;
    out.push_back(id);
    return true;
  });
  return out;
}

// A row cluster: the roots and every reduction over the same rows that they reach. False when the
// roots reach no reduction that fits.
bool ProgramBuilder::compute_rows(const std::vector<Root>& roots) {
  std::set<ValueId> direct, seen;
  for (const Root& r : roots) frontier(r.value, direct, seen);
  std::optional<Signature> sig;
  for (ValueId u : direct) {
    if (!is_reduce(u)) continue;
    Signature s = signature(u);
    SymInts kept = s.domain;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(s.dim));
    const bool fits = std::all_of(roots.begin(), roots.end(), [&](const Root& r) {
      const SymInts& shape = g_.type(r.value).shape;
      return same_shape(shape, s.domain) || same_shape(shape, kept);
    });
    if (fits && (!sig || options_.fuse || g_.producer(roots[0].value) == g_.producer(u))) sig = s;
    if (sig) break;
  }
  if (!sig) return false;

  // Everything else is made first; what it needed may have been made on the way.
  ReduceRequest request{sig->domain, sig->dim, {}, {}, {}};
  std::set<NodeId> cluster;
  std::function<void(ValueId)> collect = [&](ValueId v) {
    std::set<ValueId> found, visited;
    frontier(v, found, visited);
    for (ValueId u : found) {
      if (places_.count(u) != 0) continue;
      if (!is_reduce(u) || !same_signature(signature(u), *sig)) {
        materialize(u);
        continue;
      }
      if (!cluster.insert(g_.producer(u)).second) continue;
      for (ValueId operand : g_.node(g_.producer(u)).operands) collect(operand);
    }
  };
  for (const Root& r : roots) collect(r.value);
  // Materialising may have placed members of the cluster meanwhile.
  for (NodeId id : cluster) {
    const auto& results = g_.node(id).results;
    const bool placed =
        std::ranges::all_of(results, [&](ValueId v) { return places_.count(v) != 0; });
    if (!placed) request.reduces.push_back(id);
  }
  if (request.reduces.empty()) return false;
  for (const Root& r : roots) {
    (same_shape(g_.type(r.value).shape, sig->domain) ? request.wide : request.rows).push_back(r);
  }
  try {
    launch(reduce_kernel(context("reduce"), request), request.reduces.back());
  } catch (const NotFusible& e) {
    // A reduction of the cluster may be asked for at another row, and is then made on its own.
    make_readable(e.value());
    for (const auto& group : {request.wide, request.rows}) {
      if (!group.empty()) compute(group);
    }
  }
  return true;
}

void ProgramBuilder::compute_node(NodeId id, const std::vector<Root>& roots) {
  const Node& n = g_.node(id);
  if (is_native(id)) return native(id, roots);
  switch (n.prim) {
    case Prim::scan_sum:
    case Prim::scan_prod:
    case Prim::scan: {
      std::set<ValueId> needed, seen;
      for (ValueId operand : n.operands) frontier(operand, needed, seen);
      for (ValueId u : needed) materialize(u);
      launch(fused([&] { return scan_kernel(context("scan"), id, roots); }), id);
      return;
    }
    case Prim::scatter:
    case Prim::scatter_add:
    case Prim::scatter_mul:
    case Prim::scatter_min:
    case Prim::scatter_max:
      return scatter(id, roots[0]);
    case Prim::sort:
      return sort(id, roots);
    case Prim::dot_general:
      return contraction(id, roots);
    case Prim::attention:
      return attention(id, roots);
    case Prim::for_loop:
    case Prim::while_loop:
    case Prim::cond:
      return control(id, roots);
    default:
      throw Error(ErrorCode::not_implemented, "primitive " + std::string(info(n.prim).name) +
                                                  " has no schedule on this device");
  }
}

bool ProgramBuilder::is_output(ValueId v) const {
  return std::ranges::any_of(g_.outputs, [&](const auto& o) { return o.value == v; });
}

void ProgramBuilder::scatter(NodeId id, const Root& root) {
  const Node& n = g_.node(id);
  std::set<ValueId> needed, seen;
  for (ValueId operand : n.operands) frontier(operand, needed, seen);
  for (ValueId u : needed) materialize(u);
  copy_into(n.operands[0], root.out);
  launch(fused([&] { return scatter_kernel(context("scatter"), id, root.out); }), id);
}

// --- the whole program
// -----------------------------------------------------------------------------------

void ProgramBuilder::place_inputs() {
  errors_ = new_buffer({Buffer::Kind::errors, 0, DType::i64, 2, "errors"});
  for (uint32_t i = 0; i < g_.inputs.size(); ++i) {
    const prims::Input& in = g_.inputs[i];
    const auto& t = g_.type(in.value);
    if (in.kind == prims::Input::Kind::scalar) {
      scalar_inputs_.emplace(in.value, i);
      input_buffers_.push_back(UINT32_MAX);
      continue;
    }
    const SymInts& strides = options_.inputs[i].strides;
    input_buffers_.push_back(
        new_buffer({Buffer::Kind::input, i, t.dtype, extent_of(t.shape, strides), in.name}));
    places_.emplace(in.value, Placement{input_buffers_.back(), strides, 0});
  }
}

void ProgramBuilder::place_outputs() {
  for (uint32_t j = 0; j < g_.outputs.size(); ++j) {
    const prims::Output& out = g_.outputs[j];
    const auto& t = g_.type(out.value);
    const SymInts& strides = options_.outputs[j].strides;
    BufferId b =
        new_buffer({Buffer::Kind::output, j, t.dtype, extent_of(t.shape, strides), out.name});
    output_places_.push_back({b, strides, 0});
  }
}

// Sizes that only the device knows are read before anything of such a size is touched.
void ProgramBuilder::read_counts() {
  for (NodeId id : g_.body.nodes) {
    const Node& n = g_.node(id);
    if (n.prim == Prim::check) checks_.push_back(id);
    if (n.prim != Prim::set_dim) continue;
    const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    auto symbol = g_.context().as_symbol(g_.type(n.results[0]).shape[dim]);
    if (!symbol) continue;
    Placement count = temp(n.operands[1]);
    copy_into(n.operands[1], count);
    steps_->push_back({ReadCountStep{count.buffer, *symbol}});
  }
}

void ProgramBuilder::compute_outputs() {
  std::vector<Root> roots, detached;
  for (size_t j = 0; j < g_.outputs.size(); ++j) {
    const ValueId v = g_.outputs[j].value;
    if (detached_[j]) detached.push_back({v, output_places_[j]});
    if (detached_[j] && places_.count(v) != 0) continue;
    roots.push_back({v, detached_[j] ? temp(v) : output_places_[j]});
  }
  compute_all(readers_first_ ? readers_first(roots) : roots);
  for (const Root& r : detached) copy_into(r.value, r.out);
}

// Roots of one shape that depend on one another's inputs only are made by one kernel. Those that
// have a place already, or are asked for twice, are copied.
void ProgramBuilder::compute_all(const std::vector<Root>& roots) {
  std::vector<Root> pending, copies;
  std::set<ValueId> asked;
  for (const Root& r : roots) {
    if (places_.count(r.value) != 0 || !asked.insert(r.value).second)
      copies.push_back(r);
    else
      pending.push_back(sink_views(r));
  }
  compute_once(pending);
  while (!pending.empty()) {
    std::vector<Root> group{pending.front()};
    pending.erase(pending.begin());
    if (options_.fuse) join(group, pending);
    compute(group);
    // A node with several results may have placed others; those asked for elsewhere are copied.
    std::erase_if(pending, [&](const Root& r) {
      auto it = places_.find(r.value);
      if (it == places_.end()) return false;
      if (it->second.buffer != r.out.buffer) copies.push_back(r);
      return true;
    });
  }
  for (const Root& r : copies) copy_into(r.value, r.out);
}

// The buffers of graph inputs that `v` is made from.
std::set<BufferId> ProgramBuilder::inputs_of(ValueId v) const {
  std::set<BufferId> found;
  std::set<ValueId> seen;
  std::function<void(ValueId)> visit;
  std::function<void(const prims::Region&)> inside = [&](const prims::Region& r) {
    for (ValueId x : r.results) visit(x);
  };
  visit = [&](ValueId x) {
    if (x == prims::kNoValue || !seen.insert(x).second) return;
    if (auto place = places_.find(x); place != places_.end()) found.insert(place->second.buffer);
    const NodeId p = g_.producer(x);
    if (p == prims::Graph::kNoNode) return;
    for (ValueId operand : g_.node(p).operands) visit(operand);
    for (const prims::Region& r : g_.node(p).regions) inside(r);
  };
  visit(v);
  return found;
}

std::vector<Root> ProgramBuilder::readers_first(const std::vector<Root>& roots) const {
  struct Pending {
    Root root;
    std::set<BufferId> reads;
    std::optional<BufferId> takes;  // the input whose memory it is to have
  };
  std::vector<Pending> pending;
  std::map<BufferId, size_t> readers;
  for (const Root& r : roots) {
    Pending p{r, inputs_of(r.value), {}};
    const Buffer& out = program_.buffers[r.out.buffer];
    if (out.kind == Buffer::Kind::output && g_.outputs[out.index].writes_input)
      p.takes = input_buffers_[*g_.outputs[out.index].writes_input];
    for (BufferId b : p.reads) ++readers[b];
    pending.push_back(std::move(p));
  }
  std::vector<Root> out;
  while (!pending.empty()) {
    auto next = std::ranges::find_if(pending, [&](const Pending& p) {
      return !p.takes || readers[*p.takes] == p.reads.count(*p.takes);
    });
    if (next == pending.end()) next = pending.begin();
    for (BufferId b : next->reads) --readers[b];
    out.push_back(std::move(next->root));
    pending.erase(next);
  }
  return out;
}

// What the roots read that is to be computed once is made first: it would keep them apart.
void ProgramBuilder::compute_once(const std::vector<Root>& roots) {
  std::set<ValueId> needed, seen;
  for (const Root& r : roots) {
    reread_.erase(r.value);
    frontier(r.value, needed, seen);
  }
  for (ValueId u : needed) {
    if (reread_.count(u) != 0) materialize(u);
  }
}

// Moves into `group` what belongs into its kernel: results of the same node; values of the same
// shape that end at the same places; values of the same rows.
void ProgramBuilder::join(std::vector<Root>& group, std::vector<Root>& pending) {
  const Root first = group[0];
  std::set<ValueId> mine, seen;
  frontier(first.value, mine, seen);
  std::erase_if(pending, [&](const Root& r) {
    const NodeId p = g_.producer(r.value);
    bool fits = p != prims::Graph::kNoNode && p == g_.producer(first.value);
    const bool same = same_shape(g_.type(first.value).shape, g_.type(r.value).shape);
    if (!fits && mine.empty() && !same) return false;
    if (!fits && (inlinable(first.value) || is_reduce(first.value)) &&
        (inlinable(r.value) || is_reduce(r.value))) {
      std::set<ValueId> theirs, visited;
      frontier(r.value, theirs, visited);
      const bool pointwise = mine.empty() && theirs.empty() && same;
      fits = pointwise || same_rows(mine, first.value, theirs, r.value);
    }
    if (fits) group.push_back(r);
    return fits;
  });
}

// Do both reach reductions of one signature, and only such, with shapes of its rows?
bool ProgramBuilder::same_rows(const std::set<ValueId>& a, ValueId va, const std::set<ValueId>& b,
                               ValueId vb) const {
  std::optional<Signature> sig;
  for (const auto* set : {&a, &b}) {
    if (set->empty()) return false;
    for (ValueId u : *set) {
      if (!is_reduce(u)) return false;
      if (!sig)
        sig = signature(u);
      else if (!same_signature(*sig, signature(u)))
        return false;
    }
  }
  SymInts kept = sig->domain;
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(sig->dim));
  auto fits = [&](ValueId v) {
    const SymInts& shape = g_.type(v).shape;
    return same_shape(shape, sig->domain) || same_shape(shape, kept);
  };
  return fits(va) && fits(vb);
}

Program ProgramBuilder::build() {
  place_inputs();
  place_outputs();
  read_counts();
  compute_outputs();
  while (!checks_.empty()) {
    const SymInts shape = g_.type(g_.node(checks_[0]).operands[0]).shape;
    const std::vector<NodeId> checks = take_checks(shape);
    if (!has_elements(shape)) continue;
    for (NodeId id : checks) {
      std::set<ValueId> needed, seen;
      for (ValueId operand : g_.node(id).operands) frontier(operand, needed, seen);
      for (ValueId u : needed) materialize(u);
    }
    launch(fused([&] { return pointwise_kernel(context("pointwise"), shape, {}, checks); }),
           checks[0]);
  }
  return std::move(program_);
}

void ProgramBuilder::touch(Analysis analysis) {
  if (loops_ == 0) ++clock_;
  touches_.push_back({clock_, branches_, std::move(analysis)});
}

// Never both in one run.
bool ProgramBuilder::exclude(const Touch& a, const Touch& b) {
  return std::ranges::any_of(a.branches, [&](const Branch& x) {
    return std::ranges::any_of(
        b.branches, [&](const Branch& y) { return x.node == y.node && x.taken != y.taken; });
  });
}

std::vector<bool> ProgramBuilder::unsafe_outputs() const {
  std::vector<bool> unsafe(g_.outputs.size());
  for (size_t j = 0; j < g_.outputs.size(); ++j) {
    if (!g_.outputs[j].writes_input || detached_[j]) continue;
    const BufferId input = input_buffers_[*g_.outputs[j].writes_input],
                   output = output_places_[j].buffer;
    auto touches = [&](const Touch& t, BufferId b, bool store) {
      return std::any_of(t.analysis.accesses.begin(), t.analysis.accesses.end(),
                         [&](const AccessRecord& r) { return r.buffer == b && r.store == store; });
    };
    for (const Touch& w : touches_) {
      if (!touches(w, output, true)) continue;
      for (const Touch& r : touches_) {
        if (r.time < w.time || exclude(w, r) || !touches(r, input, false)) continue;
        if (&r != &w || !writes_in_place(w.analysis, input, output)) unsafe[j] = true;
      }
    }
  }
  return unsafe;
}

}  // namespace primset::schedule
