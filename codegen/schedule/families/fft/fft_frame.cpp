#include "codegen/schedule/families/fft/fft_frame.h"

#include <algorithm>

namespace primset::schedule {

using kir::Value;

FftFrame::FftFrame(const BuildContext& c, const FftPlan& plan, prims::NodeId node,
                   const std::vector<Root>& roots, std::optional<size_t> lane_dim)
    : graph_(c.values.graph),
      node_(graph_.node(node)),
      roots_(roots),
      domain_(graph_.type(node_.results[0]).shape),
      dtype_(complex_type(real_type(graph_.type(node_.results[0]).dtype))),
      dim_(plan.dim),
      lane_dim_(lane_dim.value_or(plan.dim)),
      at_(identity_indices(domain_)),
      frame_(c.name, c.machine, c.index32, domain_),
      emitter_(frame_, c.values),
      vector_{register_scalar(dtype_), plan.lanes} {
  frame_.set_error_buffer(c.errors);
  frame_.set_lanes(plan.lanes);
  std::vector<size_t> order;
  for (size_t d = 0; d < domain_.size(); ++d) {
    if (d != dim_ && d != lane_dim_) order.push_back(d);
  }
  outer_ = separate_loops(domain_, order);
}

void FftFrame::move_to_line(Value line, Value lane) {
  delinearize(frame_, line, outer_, 0, outer_.size());
  line_ = outer_;
  if (lane.valid()) line_.push_back({{lane_dim_}, domain_[lane_dim_], lane, true});
}

void FftFrame::move_to(Value position) {
  std::vector<LoopDim> loops = line_;
  loops.push_back({{dim_}, domain_[dim_], position, lane_dim_ == dim_});
  frame_.set_loops(std::move(loops));
}

Value FftFrame::all_lanes(Value v) {
  return v.valid() && b().type(v).lanes == 1 ? b().splat(v, frame_.lanes()) : v;
}

ElementValue FftFrame::operand(Value position) {
  ElementEmitter::Scope scope(emitter_);
  move_to(position);
  const ElementValue x = emitter_.emit(node_.operands[0], at_);
  return {all_lanes(x.re), all_lanes(x.im)};
}

// All loads come before all stores: an output may be an input's memory.
void FftFrame::store(Value position, const ElementValue& x) {
  ElementEmitter::Scope scope(emitter_);
  move_to(position);
  emitter_.bind(node_.results[0], at_, x);
  std::vector<ElementValue> made;
  for (const Root& root : roots_) made.push_back(emitter_.emit(root.value, at_));
  for (size_t i = 0; i < roots_.size(); ++i)
    frame_.store(roots_[i].out.buffer, graph_.type(roots_[i].value).dtype,
                 element_address(frame_, roots_[i].out, at_), made[i]);
}

template <typename Body>
auto FftFrame::in_pairs(Body body) {
  const Value mask = frame_.mask();
  frame_.set_lanes(static_cast<uint16_t>(2 * vector_.lanes));
  if (mask.valid()) {
    std::vector<uint16_t> twice;
    for (uint16_t l = 0; l < vector_.lanes; ++l) twice.push_back(l), twice.push_back(l);
    frame_.set_mask(b().shuffle(mask, mask, twice));
  }
  const auto result = body();
  frame_.set_lanes(vector_.lanes);
  frame_.set_mask(mask);
  return result;
}

ElementValue FftFrame::operand_pairs(Value position) {
  return in_pairs([&] {
    const Value pairs = operand(b().mul(position, frame_.index_constant(2))).re;
    std::vector<uint16_t> even, odd;
    for (uint16_t l = 0; l < 2 * vector_.lanes; l += 2) even.push_back(l), odd.push_back(l + 1);
    return ElementValue{b().shuffle(pairs, pairs, even), b().shuffle(pairs, pairs, odd)};
  });
}

void FftFrame::store_pairs(Value position, const ElementValue& x) {
  in_pairs([&] {
    std::vector<uint16_t> alternate;
    for (uint16_t l = 0; l < vector_.lanes; ++l)
      alternate.push_back(l), alternate.push_back(static_cast<uint16_t>(vector_.lanes + l));
    store(b().mul(position, frame_.index_constant(2)), {b().shuffle(x.re, x.im, alternate), {}});
    return 0;
  });
}

void for_each_fft_item(Frame& f, const SymInt& items, int64_t elements,
                       const std::function<void(Value)>& body) {
  kir::Builder& b = f.builder();
  const int64_t per_group = std::max<int64_t>(1, f.tuning().fft.group_elements / elements);
  f.step().groups = {prims::ceil_div(items, per_group), 1, 1};
  const Value first = b.mul(f.index(b.group_id(0)), f.index_constant(per_group));
  const Value end = b.add(first, f.index_constant(per_group)), all = f.param(items);
  b.for_loop(first, b.select(b.slt(end, all), end, all), f.index_constant(1), {},
             [&](Value item, auto) {
               body(item);
               return kir::Builder::Values{};
             });
}

}  // namespace primset::schedule
