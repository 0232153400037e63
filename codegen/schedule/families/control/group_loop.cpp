#include "codegen/schedule/families/control/group_loop.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/loops/group_memory.h"
#include "codegen/schedule/loops/loops.h"
#include "prims/graph/run_sizes.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

using kir::Value;
using prims::NodeId;
using prims::ValueId;

// What a loop carries: its memory before and behind the loop, and the body's result that is the
// next one.
struct Carried {
  BufferId buffer;
  DType dtype;
  size_t next;  // among the body's roots
};

struct GroupLoop {
  const FusionGroup& body;
  std::vector<Carried> carried;
  SymInt count;
  uint32_t counter = 0;   // its symbol
  uint32_t threads = 0;   // of the workgroup
  uint32_t elements = 0;  // at most
};

// A thread has the same elements in every iteration, at most one for each of the workgroup's passes
// over them: what it needs of them that no iteration changes is computed once.
class GroupLoopBuilder {
 public:
  GroupLoopBuilder(const BuildContext& c, const GroupLoop& loop, const prims::Region& region)
      : c_(c),
        loop_(loop),
        frame_(c.name, c.machine, c.index32, loop.body.domain),
        at_(identity_indices(loop.body.domain)) {
    frame_.set_error_buffer(c.errors);
    changing_.insert(region.params.begin(), region.params.end());
    for (NodeId id : region.nodes) {
      const prims::Node& n = graph().node(id);
      const auto changes = [&](ValueId v) { return changing_.contains(v); };
      if (std::ranges::any_of(n.operands, changes) || !n.regions.empty())
        changing_.insert(n.results.begin(), n.results.end());
    }
  }

  std::optional<BuiltKernel> build() {
    b().set_group_size(loop_.threads);
    frame_.step().groups = {1, 1, 1};
    for (const Carried& c : loop_.carried) {
      const Value like[] = {b().constant(kir::Type{memory_scalar(c.dtype)}, 0)};
      memory_.emplace_back(b(), like, 2 * loop_.elements);
    }
    const Value count = frame_.param(loop_.count);
    for (uint32_t pass = 0; pass < loop_.elements / loop_.threads; ++pass) add_element(pass);
    for (Element& e : elements_) begin(e);
    b().barrier();
    b().for_loop(constant(0), count, constant(1), {}, [&](Value i, auto) {
      frame_.set_counter(loop_.counter, i);
      iterate(i);
      b().barrier();
      return kir::Builder::Values{};
    });
    for (Element& e : elements_) end(b().add(half(count), e.position), e);
    if (!frame_.counter_is_linear()) return std::nullopt;
    return built(std::move(frame_));
  }

 private:
  // One of a thread's elements; behind the last one it is that again.
  struct Element {
    Value position, is_own;
    std::vector<LoopDim> loops;
    std::unique_ptr<ElementEmitter> emitter;
  };

  void add_element(uint32_t pass) {
    std::vector<size_t> order(loop_.body.domain.size());
    std::iota(order.begin(), order.end(), 0);
    Element e;
    e.loops = separate_loops(loop_.body.domain, order);
    const Value count = frame_.param(extent(e.loops, 0, e.loops.size()));
    const Value own =
        b().add(frame_.index(b().local_id(0)), constant(int64_t{pass} * loop_.threads));
    e.is_own = b().slt(own, count);
    e.position = b().select(e.is_own, own, b().sub(count, constant(1)));
    delinearize(frame_, e.position, e.loops, 0, e.loops.size());
    e.emitter = std::make_unique<ElementEmitter>(frame_, c_.values);
    frame_.set_loops(e.loops);
    std::set<ValueId> seen;
    for (const Root& root : loop_.body.roots) hoist(*e.emitter, root.value, seen);
    elements_.push_back(std::move(e));
  }

  // Loop-invariant code motion of what `v` is computed from elementwise.
  void hoist(ElementEmitter& emitter, ValueId v, std::set<ValueId>& seen) {
    if (v == prims::kNoValue || !seen.insert(v).second) return;
    const NodeId p = graph().producer(v);
    if (!changing_.contains(v)) {
      if (p != prims::Graph::kNoNode) emitter.emit(v, at_);
    } else if (p != prims::Graph::kNoNode && is_core_elementwise(graph().node(p).prim)) {
      for (ValueId operand : graph().node(p).operands) hoist(emitter, operand, seen);
    }
  }

  // The half of the memory that iteration i reads; it writes the other one.
  Value half(Value i) { return b().mul(b().and_(i, constant(1)), constant(loop_.elements)); }

  void begin(const Element& e) {
    for (size_t k = 0; k < memory_.size(); ++k) {
      const kir::Scalar type = memory_scalar(loop_.carried[k].dtype);
      const Value from = b().load(kir::Type{type}, buffer(k), e.position, alignment(type));
      b().if_then(e.is_own, [&] { memory_[k].put(slot(e.position), std::array{from}); });
    }
  }

  void end(Value at, const Element& e) {
    b().if_then(e.is_own, [&] {
      for (size_t k = 0; k < memory_.size(); ++k)
        b().store(buffer(k), e.position, memory_[k].get(slot(at))[0],
                  alignment(memory_scalar(loop_.carried[k].dtype)));
    });
  }

  // All loads come before all stores: an output may be an input's memory.
  void iterate(Value i) {
    const Value from = half(i), to = b().sub(constant(loop_.elements), from);
    frame_.set_forward_load([&](const AccessRecord& a) { return carried(a, from); });
    for (Element& e : elements_) {
      // Subgroups that have no element go on.
      b().if_then(e.is_own, [&] {
        ElementEmitter::Scope scope(*e.emitter);
        frame_.set_loops(e.loops);
        std::vector<ElementValue> results;
        for (const Root& root : loop_.body.roots)
          results.push_back(e.emitter->emit(root.value, at_));
        store(results, to);
      });
    }
    frame_.set_forward_load({});
  }

  // The next values' places are those that a launch would write them to, from `to` on.
  void store(std::span<const ElementValue> results, Value to) {
    const std::vector<Root>& roots = loop_.body.roots;
    for (size_t i = 0; i < roots.size(); ++i) {
      const DType dtype = graph().type(roots[i].value).dtype;
      const Affine address = element_address(frame_, roots[i].out, at_);
      const auto k = std::ranges::find(loop_.carried, i, &Carried::next) - loop_.carried.begin();
      if (k == std::ssize(loop_.carried)) {
        frame_.store(roots[i].out.buffer, dtype, address, results[i]);
      } else {
        const Value v = to_memory(b(), results[i].re, dtype);
        const Value next = b().add(to, frame_.materialize(address));
        memory_[static_cast<size_t>(k)].put(slot(next), std::array{v});
      }
    }
  }

  std::vector<Value> carried(const AccessRecord& a, Value from) {
    const auto k =
        std::ranges::find(loop_.carried, a.buffer, &Carried::buffer) - loop_.carried.begin();
    if (k == std::ssize(loop_.carried)) return {};
    Value at = frame_.materialize(a.address);
    // A masked-off access may point anywhere.
    if (frame_.mask().valid()) at = b().select(frame_.mask(), at, constant(0));
    return memory_[static_cast<size_t>(k)].get(slot(b().add(from, at)));
  }

  const prims::Graph& graph() const { return c_.values.graph; }
  Value buffer(size_t k) { return frame_.buffer(loop_.carried[k].buffer, true, true); }
  Value slot(Value at) { return b().int_resize(at, kir::Scalar::i32, true); }
  Value constant(int64_t v) { return frame_.index_constant(v); }
  static uint32_t alignment(kir::Scalar s) { return static_cast<uint32_t>(kir::bytes(s)); }
  kir::Builder& b() { return frame_.builder(); }

  const BuildContext& c_;
  const GroupLoop& loop_;
  Frame frame_;
  const Indices at_;
  std::set<ValueId> changing_;  // the body's parameters and what is made of them
  std::vector<Element> elements_;
  std::vector<GroupMemory> memory_;  // of each carried value, twice: the present and the next one
};

// Is each carried value one that the body's kernel makes, of its own elements?
bool find_carried(const ProgramBuilder& b, const FusionGroup& loop, GroupLoop& out) {
  const prims::Graph& g = b.graph();
  const auto& results = g.node(loop.anchor).results;
  for (size_t k = 0; k < loop.carried.size(); ++k) {
    const prims::ValueType& type = g.type(results[k]);
    const auto root = std::ranges::find_if(
        out.body.roots, [&](const Root& r) { return r.out.buffer == loop.next[k].buffer; });
    if (root == out.body.roots.end() || !same_shape(type.shape, out.body.domain)) return false;
    if (is_complex(type.dtype) || byte_size(type.dtype) < 4) return false;
    out.carried.push_back(
        {loop.carried[k].buffer, type.dtype, static_cast<size_t>(root - out.body.roots.begin())});
  }
  return true;
}

// Threads of a workgroup are a multiple of it, as of most devices' subgroups.
constexpr uint32_t kGranule = 32;

// Has a workgroup threads and memory for them?
bool fits_group(const Machine& machine, GroupLoop& loop) {
  const kir::TargetModel& target = machine.target;
  const SymInt elements = prims::product(loop.body.domain);
  const int64_t most = machine.tuning.control.group_elements;
  if (elements > SymInt(most)) return false;
  // As few passes over the elements as there can be, of threads that all have one.
  const auto usual = static_cast<uint32_t>(elements.hint());
  const uint32_t most_threads = target.max_group_threads - target.max_group_threads % kGranule;
  if (most_threads == 0) return false;
  const uint32_t passes = (usual + most_threads - 1) / most_threads;
  loop.threads = ((usual + passes - 1) / passes + kGranule - 1) / kGranule * kGranule;
  loop.elements = passes * loop.threads;
  if (elements > SymInt(loop.elements)) return false;
  size_t bytes = 0;
  for (const Carried& c : loop.carried) bytes += 2 * loop.elements * byte_size(c.dtype);
  if (bytes > target.group_memory / 2) return false;
  return target.loop_limit == 0 || SymInt(target.loop_limit / 2) > loop.count;
}

}  // namespace

std::optional<BuiltKernel> group_loop(ProgramBuilder& b, const FusionGroup& loop) {
  const RegionPlan& region = loop.regions[0];
  if (!b.machine().target.simt || loop.carried.empty() || region.order.size() != 1)
    return std::nullopt;
  const FusionGroup& body = b.group(region.order[0]);
  const bool pointwise = body.family == &pointwise_family && body.anchor == prims::Graph::kNoNode;
  if (!pointwise || !body.checks.empty() || body.source || !has_elements(body.domain))
    return std::nullopt;
  const prims::Node& n = b.graph().node(loop.anchor);
  const SymInt& counter = b.counter(n.regions[0].params[0]);
  GroupLoop out{body, {}, n.attr<SymInt>("count"), *b.graph().context().as_symbol(counter)};
  if (prims::depends_on_run(b.graph(), prims::product(body.domain))) return std::nullopt;
  if (!find_carried(b, loop, out) || !fits_group(b.machine(), out)) return std::nullopt;
  const BuildContext context = b.context("loop");
  return GroupLoopBuilder(context, out, n.regions[0]).build();
}

}  // namespace primset::schedule
