#include "codegen/schedule/families/segments/segment_kernel.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/families/segments/segment_tile.h"
#include "codegen/schedule/loops/group_memory.h"
#include "codegen/schedule/loops/loops.h"
#include "codegen/schedule/loops/subgroup_exchange.h"

namespace primset::schedule {

using kir::Value;
using prims::Prim;

namespace {

struct Kind {
  std::string_view reduce;
  Prim prim;
};
constexpr Kind kKinds[] = {{"sum", Prim::reduce_sum},
                           {"prod", Prim::reduce_prod},
                           {"max", Prim::reduce_max},
                           {"min", Prim::reduce_min}};

Prim combiner_of(const prims::Node& n) {
  return std::ranges::find(kKinds, n.attr<std::string>("reduce"), &Kind::reduce)->prim;
}

class SegmentKernel {
 public:
  SegmentKernel(const BuildContext& c, prims::NodeId node, const Placement& out)
      : g_(c.values.graph),
        n_(g_.node(node)),
        out_(out),
        domain_(g_.type(n_.operands[0]).shape),
        segments_(g_.type(n_.results[0]).shape[0]),
        dtype_(g_.type(n_.results[0]).dtype),
        wide_(is_floating(dtype_) && bits(dtype_) < 32 ? DType::f32 : dtype_),
        prim_(combiner_of(n_)),
        f_(c.name, c.machine, c.index32, domain_),
        b_(f_.builder()),
        e_(f_, c.values) {
    f_.set_error_buffer(c.errors);
    std::vector<size_t> behind;
    for (size_t d = 1; d < domain_.size(); ++d) behind.push_back(d);
    columns_ = separate_loops(domain_, behind);
    tile_ = segment_tile(c.machine, domain_[0], segments_, extent(columns_, 0, columns_.size()));
  }

  BuiltKernel build();

 private:
  struct Run {
    Value first, count;  // the first of a thread's elements, and how many it has
  };

  void tile_at(Value item);
  Run run_of(Value segment, Value part, Value active);
  Value pointer(Value at);
  Value reduced(const Run& run);
  Value step(const Run& run, Value k, uint32_t together, Value before);
  Value over_parts(Value own, Value part);
  Value over_lanes(Value own);
  Value over_memory(Value own, Value part);

  Value identity() { return literal(b_, combine_identity(prim_, wide_), wide_).re; }
  Value combined(Value x, Value y) { return lower_combine(b_, prim_, wide_, {x, {}}, {y, {}}).re; }
  static Affine place(Value at) {
    Affine a;
    a.opaque = at;
    return a;
  }
  Value constant(int64_t v) { return f_.index_constant(v); }

  const prims::Graph& g_;
  const prims::Node& n_;
  const Placement& out_;
  const SymInts domain_;  // of the operand: its elements, and the columns behind
  const SymInt segments_;
  const DType dtype_, wide_;  // of the result, and what is added up
  const Prim prim_;
  Frame f_;
  kir::Builder& b_;
  ElementEmitter e_;
  std::vector<LoopDim> columns_;
  SegmentTile tile_;
  std::optional<GroupMemory> memory_;
};

BuiltKernel SegmentKernel::build() {
  b_.set_group_size(tile_.threads());
  const bool by_lanes = tile_.parts * tile_.width <= f_.target().max_subgroup &&
                        exchanges(b_, tile_.threads(), std::array{identity()});
  if (tile_.parts > 1 && !by_lanes) memory_.emplace(b_, std::array{identity()}, tile_.threads());
  const SymInt blocks = prims::ceil_div(segments_, SymInt(tile_.segments)),
               columns = prims::ceil_div(extent(columns_, 0, columns_.size()), SymInt(tile_.width));
  for_each_by_groups(f_, blocks * columns, [&](Value item) { tile_at(item); });
  return built(std::move(f_));
}

// The columns of some segments are neighbouring workgroups: they read the same pointers.
void SegmentKernel::tile_at(Value item) {
  const SymInt all_columns = extent(columns_, 0, columns_.size());
  const Value blocks = f_.param(prims::ceil_div(all_columns, SymInt(tile_.width)));
  const Value block = b_.udiv(item, blocks), t = f_.index(b_.local_id(0));
  const auto coordinate = [&](Value of_tile, uint32_t size, Value within) {
    return b_.add(b_.mul(of_tile, constant(size)), within);
  };
  const Value part = b_.and_(b_.udiv(t, constant(tile_.width)), constant(tile_.parts - 1));
  const Value segment =
      coordinate(block, tile_.segments, b_.udiv(t, constant(int64_t{tile_.parts} * tile_.width)));
  const Value column = coordinate(b_.sub(item, b_.mul(block, blocks)), tile_.width,
                                  b_.and_(t, constant(tile_.width - 1)));
  const Value active =
      b_.and_(b_.slt(segment, f_.param(segments_)), b_.slt(column, f_.param(all_columns)));
  delinearize(f_, b_.select(active, column, constant(0)), columns_, 0, columns_.size());
  const Value here = b_.select(active, segment, constant(0));
  const Value sum = over_parts(reduced(run_of(here, part, active)), part);
  b_.if_then(b_.and_(active, b_.ieq(part, constant(0))), [&] {
    f_.set_loops(columns_);
    Indices at = identity_indices(domain_);
    at[0] = affine_index(place(here));
    f_.store(out_.buffer, dtype_, element_address(f_, out_, at), {round_to(b_, sum, dtype_), {}});
  });
}

// Whatever pointers say, no element is read that is not there.
Value SegmentKernel::pointer(Value at) {
  ElementEmitter::Scope scope(e_);
  const Value p = f_.index(e_.emit(n_.operands[1], {affine_index(place(at))}).re);
  const Value least = b_.select(b_.slt(p, constant(0)), constant(0), p), end = f_.param(domain_[0]);
  return b_.select(b_.slt(end, least), end, least);
}

SegmentKernel::Run SegmentKernel::run_of(Value segment, Value part, Value active) {
  const Value begin = pointer(segment), end = pointer(b_.add(segment, constant(1)));
  const Value first = b_.add(begin, part), left = b_.sub(end, first);
  const Value some = b_.and_(active, b_.slt(constant(0), left));
  const Value count = b_.udiv(b_.add(left, constant(tile_.parts - 1)), constant(tile_.parts));
  return {first, b_.select(some, count, constant(0))};
}

// Some elements are read side by side; behind the last one the first one is read again.
Value SegmentKernel::reduced(const Run& run) {
  const auto together = static_cast<uint32_t>(f_.tuning().segments.loads);
  return b_.for_loop(constant(0), run.count, constant(together), {identity()},
                     [&](Value k, std::span<const Value> before) {
                       return kir::Builder::Values{step(run, k, together, before[0])};
                     })[0];
}

Value SegmentKernel::step(const Run& run, Value k, uint32_t together, Value before) {
  const DType from = g_.type(n_.operands[0]).dtype;
  std::vector<Value> inside, elements;
  for (uint32_t i = 0; i < together; ++i) {
    const Value number = b_.add(k, constant(i));
    inside.push_back(b_.slt(number, run.count));
    const Value steps = b_.mul(b_.select(inside[i], number, constant(0)), constant(tile_.parts));
    std::vector<LoopDim> loops = columns_;
    loops.push_back({{0}, domain_[0], b_.add(run.first, steps), false});
    f_.set_loops(std::move(loops));
    ElementEmitter::Scope scope(e_);
    const ElementValue x = e_.emit(n_.operands[0], identity_indices(domain_));
    elements.push_back(lower_convert(b_, x, from, wide_).re);
  }
  Value sum = before;
  for (uint32_t i = 0; i < together; ++i)
    sum = b_.select(inside[i], combined(sum, elements[i]), sum);
  return sum;
}

Value SegmentKernel::over_parts(Value own, Value part) {
  if (tile_.parts == 1) return own;
  return memory_ ? over_memory(own, part) : over_lanes(own);
}

Value SegmentKernel::over_lanes(Value own) {
  for (uint32_t apart = tile_.parts / 2; apart > 0; apart /= 2)
    own = combined(own, of_lane_xor(b_, own, apart * tile_.width));
  return own;
}

// The first half of the parts takes what the second one has, and so on; the first one has it all.
Value SegmentKernel::over_memory(Value own, Value part) {
  const Value t = b_.local_id(0);
  memory_->put(t, std::array{own});
  for (uint32_t apart = tile_.parts / 2; apart > 0; apart /= 2) {
    const Value takes = b_.slt(part, constant(apart));
    b_.barrier();
    const Value from = b_.select(takes, b_.add(t, b_.i32(apart * tile_.width)), t);
    own = b_.select(takes, combined(own, memory_->get(from)[0]), own);
    b_.barrier();
    if (apart > 1) memory_->put(t, std::array{own});
  }
  return own;
}

}  // namespace

BuiltKernel segment_kernel(const BuildContext& c, prims::NodeId node, const Placement& out) {
  return SegmentKernel(c, node, out).build();
}

}  // namespace primset::schedule
