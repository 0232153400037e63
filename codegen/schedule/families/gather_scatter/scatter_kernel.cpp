#include "codegen/schedule/families/gather_scatter/scatter_kernel.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/families/gather_scatter/atomic_update.h"
#include "codegen/schedule/families/gather_scatter/indexed_address.h"
#include "codegen/schedule/loops/loops.h"
#include "primset/error.h"

namespace primset::schedule {

using kir::Value;
using prims::Prim;
using prims::ValueId;

namespace {

// Runs body for every point, in row-major order, by one thread alone.
void for_each_in_order(Frame& f, std::vector<LoopDim> loops, const std::function<void()>& body) {
  kir::Builder& b = f.builder();
  f.set_lanes(1);
  f.step().groups = {1, 1, 1};
  b.for_loop(f.index_constant(0), f.param(extent(loops, 0, loops.size())), f.index_constant(1), {},
             [&](Value i, auto) {
               delinearize(f, i, loops, 0, loops.size());
               f.set_loops(loops);
               body();
               return kir::Builder::Values{};
             });
}

// How a CPU goes through the updates. Each thread has places of its own, and writes to them in
// row-major order, so that results do not depend on the number of threads.
struct OrderedWalk {
  std::vector<size_t> apart;     // updates that differ in these dims go to different places
  std::vector<size_t> in_order;  // the other dims that say where an update goes
  std::optional<size_t> inner;   // the innermost dim, where it is not indexed
  std::optional<size_t> beside;  // the innermost dim, where its index counts
};

// The dim along which an index counts, so that updates which differ in it do not meet.
std::optional<size_t> counted_dim(const prims::Graph& g, ValueId index) {
  const prims::NodeId producer = g.producer(index);
  if (producer == prims::Graph::kNoNode) return std::nullopt;
  const prims::Node& n = g.node(producer);
  if (n.prim == Prim::iota) return static_cast<size_t>(n.attr<int64_t>("dim"));
  if (n.prim != Prim::broadcast_in_dim) return std::nullopt;
  const auto below = counted_dim(g, n.operands[0]);
  if (!below) return std::nullopt;
  const auto dim = static_cast<size_t>(n.attr<std::vector<int64_t>>("dims")[*below]);
  // A single number is no count.
  if (!g.type(index).shape[dim].same(g.type(n.operands[0]).shape[*below])) return std::nullopt;
  return dim;
}

OrderedWalk ordered_walk(const prims::Graph& g, const prims::Node& n, const SymInts& strides) {
  const auto& dims = n.attr<std::vector<int64_t>>("dims");
  const size_t batch = g.type(n.operands[1]).rank();
  std::vector<bool> counted(batch);
  OrderedWalk walk;
  const auto is_innermost = [&](int64_t dim) {
    return std::ranges::none_of(strides, [&](const SymInt& s) {
      return s.hint() < strides[static_cast<size_t>(dim)].hint();
    });
  };
  for (size_t k = 0; k < dims.size(); ++k) {
    const auto d = counted_dim(g, n.operands[1 + k]);
    if (!d) continue;
    counted[*d] = true;
    if (is_innermost(dims[k])) walk.beside = d;
  }
  for (size_t d = 0; d < batch; ++d) {
    if (walk.beside != d) (counted[d] ? walk.apart : walk.in_order).push_back(d);
  }
  SymInts rest;  // strides of the dims that are not indexed
  for (size_t d = 0; d < strides.size(); ++d) {
    if (std::ranges::find(dims, static_cast<int64_t>(d)) == dims.end()) rest.push_back(strides[d]);
  }
  for (size_t d : memory_order(rest, rest)) walk.apart.push_back(batch + d);
  const auto is_indexed_within = [&](int64_t d) {
    return strides[static_cast<size_t>(d)].hint() < rest.back().hint();
  };
  // Along an indexed dim that is the innermost one the updates of a row are neighbours.
  std::ranges::sort(rest, std::greater(), [](const SymInt& s) { return s.hint(); });
  if (rest.empty() || std::ranges::any_of(dims, is_indexed_within)) return walk;
  walk.inner = walk.apart.back();
  walk.apart.pop_back();
  if (walk.beside) walk.apart.push_back(*std::exchange(walk.beside, std::nullopt));
  return walk;
}

class ScatterBuilder {
 public:
  ScatterBuilder(const BuildContext& c, prims::NodeId node, const Placement& target,
                 const LastWriters* last)
      : c_(c),
        last_(last),
        n_(c.values.graph.node(node)),
        target_(target),
        g_(c.values.graph),
        domain_(g_.type(n_.operands.back()).shape),
        f_(c.name, c.machine, c.index32, domain_),
        e_(f_, c.values) {
    f_.set_error_buffer(c.errors);
  }

  BuiltKernel build() {
    const DType dtype = g_.type(n_.operands[0]).dtype;
    // Without an order to keep, threads may race: last writer wins, or an atomic combines. Sums on
    // a CPU stay in order, so that results do not depend on the number of threads.
    const bool atomic =
        c_.target.simt && n_.prim != Prim::scatter && has_atomic_update(c_.target, n_.prim, dtype);
    const bool plain = n_.prim == Prim::scatter && !n_.attr<bool>("ordered");
    const OrderedWalk walk = ordered_walk(g_, n_, target_.strides);
    const bool apart = walk.inner || walk.beside || !walk.apart.empty();
    const bool parallel = c_.target.simt ? plain || atomic || last_ : plain && !apart;
    auto body = [&] {
      ElementEmitter::Scope scope(e_);
      write(dtype, parallel && atomic);
    };
    if (parallel)
      for_each_point(f_, separate_loops(domain_, order_of_places()), body);
    else if (apart && !c_.target.simt)
      for_each_place(walk, dtype);
    else
      for_each_in_order(f_, separate_loops(domain_, row_major()), body);
    return built(std::move(f_));
  }

 private:
  std::vector<size_t> row_major() const {
    std::vector<size_t> order(domain_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
  }

  // Where one dim is indexed, the order in which the places lie in memory, as far as it is known:
  // updates along a dim behind the others are neighbours there.
  std::vector<size_t> order_of_places() const {
    const auto& dims = n_.attr<std::vector<int64_t>>("dims");
    if (dims.size() != 1) return row_major();
    const auto indexed = static_cast<size_t>(dims[0]);
    SymInts strides(g_.type(n_.operands[1]).rank(), target_.strides[indexed]);
    for (size_t d = 0; d < target_.strides.size(); ++d) {
      if (d != indexed) strides.push_back(target_.strides[d]);
    }
    return memory_order(domain_, strides);
  }

  void write(DType dtype, bool atomic) {
    Value fits;
    const Affine address = address_of(identity_indices(domain_), fits);
    if (last_) {
      return under(fits, [&] {
        const Value is_last = last_->is_own(f_, e_, n_, c_.values);
        f_.builder().if_then(is_last, [&] { combine(dtype, address); });
      });
    }
    if (!atomic) return under(fits, [&] { combine(dtype, address); });
    const ElementValue update = e_.emit(n_.operands.back(), identity_indices(domain_));
    under(fits, [&] { atomic_update(f_, n_.prim, dtype, target_.buffer, address, update); });
  }

  void under(Value fits, const std::function<void()>& body) {
    if (fits.valid())
      f_.builder().if_then(fits, body);
    else
      body();
  }

  // Puts the update at the current position into its place.
  void combine(DType dtype, const Affine& address) {
    kir::Builder& b = f_.builder();
    ElementEmitter::Scope scope(e_);
    ElementValue v = e_.emit(n_.operands.back(), identity_indices(domain_));
    if (n_.prim != Prim::scatter) {
      // What stands beside the last elements of a row may be another thread's.
      v = lower_combine(b, n_.prim, dtype, f_.load(target_.buffer, dtype, address, true), v);
    }
    f_.store(target_.buffer, dtype, address, v);
  }

  // A work item is a block of the inner dim at one position of the dims apart. Within it come the
  // updates in order, whose indices are found once for all of the block.
  void for_each_place(const OrderedWalk& w, DType dtype) {
    kir::Builder& b = f_.builder();
    std::vector<size_t> order = w.apart;
    order.insert(order.end(), w.in_order.begin(), w.in_order.end());
    const size_t apart = separate_loops(domain_, w.apart).size();
    std::vector<LoopDim> loops = separate_loops(domain_, order);
    const size_t outer = loops.size();
    const std::optional<size_t> along = w.inner ? w.inner : w.beside;
    const SymInt columns = along ? domain_[*along] : SymInt(1);
    const SymInt block = block_of(columns), blocks = prims::ceil_div(columns, block);
    const SymInt updates = extent(loops, apart, outer), items = extent(loops, 0, apart) * blocks;
    const SymInt work = prims::max(updates * block, SymInt(1));
    const SymInt per_group =
        prims::max(SymInt(1), prims::floor_div(SymInt(f_.tuning().loops.group_elements), work));
    f_.step().groups = {prims::ceil_div(items, per_group), 1, 1};
    uint16_t lanes = 1;
    if (along) {
      const bool dense = w.inner && target_stride(*w.inner).same(SymInt(1));
      if (dense) lanes = point_lanes(c_.target);
      loops.push_back({{*along}, columns, {}, dense});
    }
    const Value one = f_.index_constant(1);
    const Value first = b.mul(f_.index(b.group_id(0)), f_.param(per_group));
    const Value last = smaller(b.add(first, f_.param(per_group)), f_.param(items));
    loop(first, last, one, [&](Value item) {
      const Value place = b.udiv(item, f_.param(blocks));
      const Value begin = b.mul(b.sub(item, b.mul(place, f_.param(blocks))), f_.param(block));
      const Value end = smaller(b.add(begin, f_.param(block)), f_.param(columns));
      delinearize(f_, place, loops, 0, apart);
      if (!along && outer - apart == 1 && may_check_ahead()) return in_blocks(loops, dtype);
      loop(f_.index_constant(0), f_.param(updates), one, [&](Value update) {
        delinearize(f_, update, loops, apart, outer);
        if (w.inner) return one_row(loops, begin, end, lanes, dtype);
        f_.set_loops(loops);
        if (!along) return one_update(dtype, true);
        loop(begin, end, one, [&](Value i) {
          loops.back().base = i;
          f_.set_loops(loops);
          one_update(dtype, true);
        });
      });
    });
  }

  void one_update(DType dtype, bool checked) {
    ElementEmitter::Scope scope(e_);
    Value fits;
    const Affine address = address_of(identity_indices(domain_), fits, checked);
    under(fits, [&] { combine(dtype, address); });
  }

  // Updates along the last loop, of which all have one index: their place is found once.
  void one_row(std::vector<LoopDim>& loops, Value begin, Value end, uint16_t lanes, DType dtype) {
    loops.back().base = begin;
    f_.set_loops(loops);
    ElementEmitter::Scope scope(e_);
    Value fits;
    const Affine address = address_of(identity_indices(domain_), fits);
    under(fits, [&] {
      f_.set_lanes(lanes);  // of the elements alone: an index is one number for all of them
      cpu_vectors(f_, begin, end, [&](Value i) {
        loops.back().base = i;
        f_.set_loops(loops);
        combine(dtype, address);
      });
      f_.set_lanes(1);
    });
  }

  // Whether indices may be checked some time before they are used.
  bool may_check_ahead() const {
    const auto is_overwritten = [&](ValueId v) { return c_.values.overwritten(v); };
    const size_t indexed = n_.attr<std::vector<int64_t>>("dims").size();
    return !n_.attr<bool>("in_bounds") &&
           std::ranges::none_of(std::span(n_.operands).subspan(1, indexed), is_overwritten);
  }

  // The updates along the last loop. Those of a block are checked in vectors, and then come one by
  // one without a branch, if all of them fit.
  void in_blocks(std::vector<LoopDim>& loops, DType dtype) {
    constexpr int64_t kBlock = 512;
    kir::Builder& b = f_.builder();
    const Value updates = f_.param(loops.back().size), block = f_.index_constant(kBlock);
    const auto one_by_one = [&](Value from, Value to, bool checked) {
      loop(from, to, f_.index_constant(1), [&](Value i) {
        loops.back().base = i;
        f_.set_loops(loops);
        one_update(dtype, checked);
      });
      return kir::Builder::Values{};
    };
    loop(f_.index_constant(0), updates, block, [&](Value first) {
      const Value end = smaller(b.add(first, block), updates);
      b.if_else(
          all_fit(loops, first, end), [&] { return one_by_one(first, end, false); },
          [&] { return one_by_one(first, end, true); });
    });
  }

  // i1: are the indices of all updates along the last loop from `first` to `end` in range?
  Value all_fit(std::vector<LoopDim>& loops, Value first, Value end) {
    kir::Builder& b = f_.builder();
    f_.set_lanes(point_lanes(c_.target));
    loops.back().lanes = true;
    const auto all =
        b.for_loop(first, end, f_.index_constant(f_.lanes()), {b.i1(true)}, [&](Value i, auto fit) {
          f_.set_loop_rest(b.sub(end, i));
          loops.back().base = i;
          f_.set_loops(loops);
          ElementEmitter::Scope scope(e_);
          Value fits;
          address_of(identity_indices(domain_), fits);
          return kir::Builder::Values{b.and_(fit[0], b.not_(f_.any(b.not_(fits))))};
        });
    f_.set_mask({});
    f_.set_lanes(1);
    loops.back().lanes = false;
    return all[0];
  }

  // An eighth of the columns in whole vectors, but not so few that indices outweigh them.
  static SymInt block_of(const SymInt& columns) {
    constexpr int64_t kShares = 8, kLine = 16, kLeast = 32;
    return prims::max(prims::ceil_div(columns, kShares * kLine) * kLine, SymInt(kLeast));
  }

  Value smaller(Value x, Value y) {
    kir::Builder& b = f_.builder();
    return b.select(b.slt(x, y), x, y);
  }

  void loop(Value from, Value to, Value step, const std::function<void(Value)>& body) {
    f_.builder().for_loop(from, to, step, {}, [&](Value i, auto) {
      body(i);
      return kir::Builder::Values{};
    });
  }

  // Of a dim of the domain that is not indexed.
  const SymInt& target_stride(size_t dim) const {
    const auto& dims = n_.attr<std::vector<int64_t>>("dims");
    size_t rest = g_.type(n_.operands[1]).rank();
    for (size_t d = 0;; ++d) {
      const bool indexed = std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end();
      if (!indexed && rest++ == dim) return target_.strides[d];
    }
  }

  // The update's place; `fits` says whether every index is in range, if any may not be.
  Affine address_of(const Indices& at, Value& fits, bool checked = true) {
    const auto& dims = n_.attr<std::vector<int64_t>>("dims");
    const size_t rank = g_.type(n_.operands[0]).rank(), batch = g_.type(n_.operands[1]).rank();
    std::vector<bool> indexed(rank);
    SymInts strides;
    for (int64_t d : dims) {
      indexed[static_cast<size_t>(d)] = true;
      strides.push_back(target_.strides[static_cast<size_t>(d)]);
    }
    Affine address = indexed_address(f_, e_, c_.values, n_, strides, fits, checked);
    address.constant = address.constant + target_.offset;
    size_t rest = batch;
    for (size_t d = 0; d < rank; ++d) {
      if (!indexed[d]) address = f_.add(address, f_.scale(at[rest++].affine, target_.strides[d]));
    }
    return address;
  }

  const BuildContext& c_;
  const LastWriters* const last_;  // null: every update is written
  const prims::Node& n_;
  const Placement& target_;
  const prims::Graph& g_;
  SymInts domain_;
  Frame f_;
  ElementEmitter e_;
};

}  // namespace

bool writes_vectors(const prims::Graph& g, const prims::Node& n) {
  const int64_t last = static_cast<int64_t>(g.type(n.operands[0]).rank()) - 1;
  const auto& dims = n.attr<std::vector<int64_t>>("dims");
  return std::ranges::find(dims, last) == dims.end();
}

BuiltKernel scatter_kernel(const BuildContext& c, prims::NodeId node, const Placement& target,
                           const LastWriters* last) {
  return ScatterBuilder(c, node, target, last).build();
}

}  // namespace primset::schedule
