#include "codegen/schedule/families/gather_scatter/count_kernel.h"

#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::kI32;
using kir::Value;
using prims::Prim;
using prims::ValueId;

namespace {

constexpr uint32_t kMostPlaces = 4096;
constexpr int64_t kOnesAPlace = 16;  // at least: clearing and adding up are not to outweigh them
constexpr uint32_t kThreadOnes = 8;  // that a thread looks at side by side

bool is_one(const prims::Graph& g, ValueId v) {
  const prims::NodeId producer = g.producer(v);
  if (producer == prims::Graph::kNoNode) return false;
  const prims::Node& n = g.node(producer);
  if (n.prim == Prim::broadcast_in_dim) return is_one(g, n.operands[0]);
  if (n.prim != Prim::constant) return false;
  const auto* s = std::get_if<primset::Scalar>(&n.find_attr("value").value);
  return s != nullptr && s->is_integral() && s->to_int() == 1;
}

class Counter {
 public:
  Counter(const BuildContext& c, prims::NodeId node, const Placement& target)
      : g_(c.values.graph),
        n_(g_.node(node)),
        target_(target),
        domain_(g_.type(n_.operands.back()).shape),
        f_(c.name, c.machine, c.index32, domain_),
        b_(f_.builder()),
        e_(f_, c.values),
        threads_(f_.target().group_threads),
        counters_(b_.group_alloc(kir::Scalar::i32, kMostPlaces)),
        places_(narrow(f_.param(g_.type(n_.operands[0]).shape[0]))) {
    f_.set_error_buffer(c.errors);
    b_.set_group_size(threads_);
  }

  BuiltKernel build() {
    for_each_place([&](Value i) { b_.store(counters_, i, b_.i32(0), 4); });
    b_.barrier();
    count();
    b_.barrier();
    for_each_place([&](Value i) { add_up(i); });
    return built(std::move(f_));
  }

 private:
  void for_each_place(const std::function<void(Value)>& body);
  void count();
  void count_block(std::vector<LoopDim>& loops, Value first, Value end);
  void add_up(Value place);
  Value narrow(Value index) { return b_.int_resize(index, kir::Scalar::i32, true); }

  const prims::Graph& g_;
  const prims::Node& n_;
  const Placement& target_;
  const SymInts domain_;
  Frame f_;
  kir::Builder& b_;
  ElementEmitter e_;
  const uint32_t threads_;
  const Value counters_, places_;
};

void Counter::for_each_place(const std::function<void(Value)>& body) {
  b_.for_loop(b_.local_id(0), places_, b_.i32(threads_), {}, [&](Value i, auto) {
    body(i);
    return kir::Builder::Values{};
  });
}

// No more groups than are resident, so that few add up what they have counted.
void Counter::count() {
  std::vector<size_t> order;
  for (size_t d = 0; d < domain_.size(); ++d) order.push_back(d);
  std::vector<LoopDim> loops = separate_loops(domain_, order);
  const SymInt ones = extent(loops, 0, loops.size());
  const SymInt block(int64_t{threads_} * kThreadOnes), blocks = prims::ceil_div(ones, block);
  const auto resident = static_cast<uint32_t>(f_.tuning().loops.resident_threads) / threads_;
  f_.step().groups = {prims::min(blocks, SymInt(resident * f_.target().multiprocessors)), 1, 1};
  b_.for_loop(f_.index(b_.group_id(0)), f_.param(blocks), f_.index(b_.group_count(0)), {},
              [&](Value number, auto) {
                count_block(loops, b_.mul(number, f_.param(block)), f_.param(ones));
                return kir::Builder::Values{};
              });
}

void Counter::count_block(std::vector<LoopDim>& loops, Value first, Value end) {
  std::vector<Value> places, inside;
  for (uint32_t k = 0; k < kThreadOnes; ++k) {
    const Value one = b_.add(first, f_.index(b_.add(b_.local_id(0), b_.i32(k * threads_))));
    inside.push_back(b_.slt(one, end));
    delinearize(f_, b_.select(inside[k], one, f_.index_constant(0)), loops, 0, loops.size());
    f_.set_loops(loops);
    ElementEmitter::Scope scope(e_);
    places.push_back(narrow(e_.emit(n_.operands[1], identity_indices(domain_)).re));
  }
  for (uint32_t k = 0; k < kThreadOnes; ++k)
    b_.if_then(inside[k],
               [&] { b_.atomic_rmw(kir::Rmw::add, counters_, places[k], b_.i32(1), 4); });
}

void Counter::add_up(Value place) {
  const Value count = b_.load(kI32, counters_, place, 4);
  b_.if_then(b_.ine(count, b_.i32(0)), [&] {
    const kir::Scalar type = memory_scalar(g_.type(n_.operands[0]).dtype);
    Affine at;
    at.opaque = f_.index(place);
    const Affine address = element_address(f_, target_, {affine_index(at)});
    b_.atomic_rmw(kir::Rmw::add, f_.buffer(target_.buffer, true, true), f_.materialize(address),
                  b_.int_resize(count, type, false), static_cast<uint32_t>(kir::bytes(type)));
  });
}

}  // namespace

bool counts_in_groups(const Machine& machine, const prims::Graph& g, const prims::Node& n) {
  const kir::TargetModel& target = machine.target;
  const auto& type = g.type(n.operands[0]);
  const bool counts = n.prim == Prim::scatter_add && n.operands.size() == 3 &&
                      type.shape.size() == 1 && n.attr<bool>("in_bounds") &&
                      is_one(g, n.operands[2]);
  const bool atomic = type.dtype == DType::i32 || (type.dtype == DType::i64 && target.atomic_i64);
  if (!target.simt || !counts || !atomic || target.group_memory < 2 * 4 * kMostPlaces) return false;
  if (type.shape[0] > SymInt(kMostPlaces)) return false;
  return prims::product(g.type(n.operands[2]).shape) > type.shape[0] * SymInt(kOnesAPlace);
}

BuiltKernel count_kernel(const BuildContext& c, prims::NodeId node, const Placement& target) {
  return Counter(c, node, target).build();
}

}  // namespace primset::schedule
