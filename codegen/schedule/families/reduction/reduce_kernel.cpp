// Reductions along one dimension, with everything that needs their results in the same row: softmax
// and layer_norm are one kernel each.
//
// The domain is [outer ..., R, inner ...]. There are two shapes of schedule, chosen by the logical
// shape alone, so that the order of additions never depends on layouts or on fusion:
//
//   row     inner is empty. Adjacent lanes (or threads) take adjacent elements of the row, and a
//           tree combines their partial results. A thread takes several adjacent elements, in one
//           vector load where they are aligned; it takes all of a short row. Of longer ones some
//           lanes of a subgroup do, and of long ones a workgroup.
//   column  else. Every lane (or thread) has a row of its own and adds it up in blocks of 64. Where
//           a SIMT device would have too few threads so, several share a long row: each takes every
//           parts-th element, and a tree combines what they have.
//
// A CPU reads a chunk of a long row (kReductionChunk) as several streams.
#include <algorithm>

#include "codegen/schedule/families/reduction/reduce_builder.h"
#include "codegen/schedule/loops/subgroup_exchange.h"
#include "prims/graph/run_sizes.h"

namespace primset::schedule {

using kir::Value;
using prims::NodeId;
using prims::SymInt;
using prims::ValueId;

Indices ReduceBuilder::row_indices() const {
  Indices out = domain_indices();
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(r_.dim));
  return out;
}

void ReduceBuilder::set_loops() {
  std::vector<LoopDim> all = parallel_;
  all.insert(all.end(), reduced_.begin(), reduced_.end());
  frame_.set_loops(std::move(all));
}

// Reductions that need another one's result belong to a later stage: another pass over the row.
std::vector<std::vector<NodeId>> ReduceBuilder::stages() const {
  const prims::Graph& g = c_.values.graph;
  std::vector<std::vector<NodeId>> out;
  std::vector<size_t> level(r_.reduces.size(), 0);
  std::function<bool(ValueId, NodeId, std::vector<bool>&)> depends = [&](ValueId v, NodeId on,
                                                                         std::vector<bool>& seen) {
    if (seen[v]) return false;
    seen[v] = true;
    const NodeId p = g.producer(v);
    if (p == prims::Graph::kNoNode || c_.values.placement(v) != nullptr) return false;
    if (p == on) return true;
    const auto& operands = g.node(p).operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](ValueId o) { return depends(o, on, seen); });
  };
  for (size_t i = 0; i < r_.reduces.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      std::vector<bool> seen(g.value_count());
      const auto& operands = g.node(r_.reduces[i]).operands;
      if (std::any_of(operands.begin(), operands.end(),
                      [&](ValueId o) { return depends(o, r_.reduces[j], seen); })) {
        level[i] = std::max(level[i], level[j] + 1);
      }
    }
    if (out.size() <= level[i]) out.resize(level[i] + 1);
    out[level[i]].push_back(r_.reduces[i]);
  }
  return out;
}

// One pass over the row for reductions that do not depend on each other. Accumulates them in lanes,
// combines lanes, then threads, and binds the results for the next stages. In the last stage the
// cached element is stored as it is computed.
void ReduceBuilder::stage(const std::vector<NodeId>& nodes, bool last) {
  std::vector<Combiner> combiners;
  for (NodeId n : nodes) combiners.emplace_back(emitter_, n);
  if (resident_) {
    hoist_row_loads(nodes);
    for (NodeId n : nodes) hoist_invariants(c_.values.graph.node(n).operands);
  }
  const Indices at = domain_indices();
  std::vector<Value> acc;
  if (shape_ == ReduceShape::cpu_across) {
    acc = walk_partial_results(combiners, at);
  } else if (!in_lanes()) {
    acc = walk_blocks(combiners, at);
  } else {
    const auto body = [&](std::span<const Value> a) {
      std::vector<Value> next = accumulate(combiners, at, a);
      if (last && cached_element_)
        store(emitter_.emit(cached_element_->value, at), cached_element_->root, at);
      return next;
    };
    acc =
        streams(combiners) ? walk_streams(combiners, body) : walk_row(identities(combiners), body);
  }
  std::vector<std::vector<ElementValue>> all;
  size_t used = 0;
  bool exchange = shape_ == ReduceShape::simt_group;
  for (Combiner& c : combiners) {
    all.push_back(c.unflatten(std::span<const Value>(acc).subspan(used, c.registers())));
    used += c.registers();
    if (in_lanes()) combine_lanes(c, all.back());
    if (resident_) all.back() = c.combine(c.identity(), all.back());
    exchange = exchange && exchanges(b(), threads_, c.flatten(all.back(), 1));
  }
  if (shape_ == ReduceShape::cpu_row) frame_.set_lanes(row_partials());
  if (exchange) combine_subgroups(combiners, all);
  for (size_t n = 0; n < all.size(); ++n) {
    Combiner& c = combiners[n];
    const bool shared = shape_ == ReduceShape::simt_group || shape_ == ReduceShape::simt_column;
    if (shape_ == ReduceShape::simt_subgroup) combine_shuffled(c, all[n], row_threads());
    if (shared && !exchange) combine_threads(c, all[n]);
    for (size_t k = 0; k < c.arity(); ++k) emitter_.bind(c.result(k), row_indices(), all[n][k]);
  }
}

void ReduceBuilder::store(const ElementValue& e, const Root& root, const Indices& at) {
  frame_.store(root.out.buffer, c_.values.graph.type(root.value).dtype,
               element_address(frame_, root.out, at), e);
}

// All loads come before all stores: an output may be an input's memory.
void ReduceBuilder::store_all(const std::vector<Root>& roots, const Indices& at) {
  std::vector<ElementValue> results;
  for (const Root& root : roots) results.push_back(emitter_.emit(root.value, at));
  for (size_t i = 0; i < roots.size(); ++i) store(results[i], roots[i], at);
}

void ReduceBuilder::load_cached_element() {
  const Root& root = cached_element_->root;
  const DType dtype = c_.values.graph.type(root.value).dtype;
  const Indices at = domain_indices();
  emitter_.bind(cached_element_->value, at,
                frame_.load(root.out.buffer, dtype, element_address(frame_, root.out, at)));
}

void ReduceBuilder::one_row() {
  ElementEmitter::Scope scope(emitter_);
  set_loops();
  const auto all_stages = stages();
  one_stage_ = all_stages.size() == 1;
  if (shape_ == ReduceShape::cpu_row)
    cached_element_ = cached_element(c_.values, r_, all_stages.back());
  for (size_t i = 0; i < all_stages.size(); ++i) stage(all_stages[i], i + 1 == all_stages.size());

  // Roots with one element a row are stored by one lane of one thread.
  const uint16_t lanes = frame_.lanes();
  if (in_lanes()) frame_.set_lanes(1);
  set_loops();
  wait_for_repeated_rows();
  auto store_rows = [&] { store_all(r_.row_roots, row_indices()); };
  if (const Value chosen = stores_row(); chosen.valid() && !r_.row_roots.empty()) {
    b().if_then(chosen, [&] {
      ElementEmitter::Scope inner(emitter_);
      store_rows();
    });
  } else {
    store_rows();
  }
  frame_.set_lanes(lanes);
  if (r_.domain_roots.empty()) return;
  const auto store_domain = [&] {
    if (resident_) {
      std::vector<ValueId> values;
      for (const Root& root : r_.domain_roots) values.push_back(root.value);
      hoist_invariants(values);
      return store_resident();
    }
    if (c_.target.simt && !in_lanes()) return store_column();
    if (shape_ == ReduceShape::cpu_across && block_) return store_across();
    walk_row({}, [&](std::span<const Value>) {
      if (cached_element_) load_cached_element();
      store_all(r_.domain_roots, domain_indices());
      return std::vector<Value>{};
    });
  };
  if (is_row_.valid())
    b().if_then(is_row_, [&] {
      ElementEmitter::Scope inner(emitter_);
      store_domain();
    });
  else
    store_domain();
}

// The thread that stores what there is once a row; invalid: every thread has a row of its own.
Value ReduceBuilder::stores_row() {
  if (shape_ == ReduceShape::simt_group) return b().ieq(b().local_id(0), b().i32(0));
  if (is_row_.valid()) return b().and_(is_row_, b().ieq(part_, constant(0)));
  return {};
}

void ReduceBuilder::rows_on_simt() {
  const uint32_t threads = threads_;
  b().set_group_size(threads);
  if (shape_ == ReduceShape::simt_subgroup) {
    const Value thread = index(b().local_id(0));
    part_ = b().and_(thread, constant(parts_ - 1));
    slot_ = b().udiv(thread, constant(parts_));
  }
  if (rows_in_lanes_.valid()) return blocks_of_rows();
  if (shape_ == ReduceShape::simt_subgroup) return rows_of_subgroups();
  const SymInt rows = extent(parallel_, 0, parallel_.size());
  const bool group = shape_ == ReduceShape::simt_group;
  const SymInt wanted = group ? rows : prims::ceil_div(rows, threads);
  frame_.step().groups = {prims::min(wanted, SymInt(c_.target.max_groups_x)), 1, 1};
  Value first = index(b().group_id(0)), step = index(b().group_count(0));
  if (!group) {
    first = b().add(b().mul(first, constant(threads)), index(b().local_id(0)));
    step = b().mul(step, constant(threads));
  }
  b().for_loop(first, frame_.param(rows), step, {}, [&](Value row, auto) {
    delinearize(frame_, row, parallel_, 0, parallel_.size());
    row_of_group();
    return std::vector<Value>{};
  });
}

void ReduceBuilder::rows_of_subgroups() {
  const SymInt blocks = prims::ceil_div(extent(parallel_, 0, parallel_.size()), SymInt(slots()));
  frame_.step().groups = {prims::min(blocks, SymInt(c_.target.max_groups_x)), 1, 1};
  b().for_loop(index(b().group_id(0)), frame_.param(blocks), index(b().group_count(0)), {},
               [&](Value block, auto) {
                 const Value row = slot_row(b().mul(block, constant(slots())), 1);
                 delinearize(frame_, row, parallel_, 0, parallel_.size());
                 row_of_group();
                 return std::vector<Value>{};
               });
}

// The first of the thread's `rows` neighbours where those of the workgroup begin with `first`.
// Lanes without a row repeat the last one, since the others of their subgroup wait for them.
Value ReduceBuilder::slot_row(Value first, int64_t rows) {
  const Value all = frame_.param(extent(parallel_, 0, parallel_.size()));
  repeats_ = b().slt(all, b().add(first, constant(slots() * rows)));
  const Value row = b().add(first, b().mul(slot_, constant(rows)));
  is_row_ = b().slt(row, all);
  return b().select(is_row_, row, b().sub(all, constant(rows)));
}

// A result may be in the memory of an operand, which those that repeat its row read.
void ReduceBuilder::wait_for_repeated_rows() {
  if (repeats_.valid()) b().if_then(repeats_, [&] { b().barrier(); });
}

void ReduceBuilder::row_of_group() {
  if (full_vectors_.valid())
    row_versions();
  else
    one_row();
}

void ReduceBuilder::columns_on_simt() {
  const SharedColumns columns{threads_ / parts_, parts_};
  for_each_shared_column(frame_, columns, parallel_, [&](const ColumnThread& t) {
    part_ = t.part;
    is_row_ = t.is_column;
    one_row();
  });
}

// A CPU's partial results of a row. Extrema wait for each other longer than sums do.
uint16_t ReduceBuilder::row_partials() const {
  const bool extrema = std::ranges::all_of(r_.reduces, [&](NodeId n) {
    const prims::Prim p = c_.values.graph.node(n).prim;
    return p == prims::Prim::reduce_max || p == prims::Prim::reduce_min;
  });
  if (!extrema || prims::depends_on_run(c_.values.graph, length_)) return kRowLanes;
  return SymInt(int64_t{8} * kExtremumLanes) < length_ ? kExtremumLanes : kRowLanes;
}

// Rows or columns side by side that a CPU takes at a time. Of long ones several vectors are read
// from each of many pages together; of shorter ones prefetchers follow every row of memory, unless
// that is a page or two itself: then what they fetch ahead of a row is another one.
uint16_t ReduceBuilder::column_lanes() const {
  if (one_lane_) return 1;
  if (!transposed_.empty()) return kBlockSide;
  uint16_t lanes = cpu_lanes(c_.target);
  const bool near = shape_ == ReduceShape::cpu_column && length_.hint() >= kManyRows &&
                    parallel_.back().size.hint() <= kNearRow;
  const bool wide = near || length_.hint() >= kManyPages;
  if (!wide || !(shape_ == ReduceShape::cpu_across || short_body_)) return lanes;
  const size_t bytes = shape_ == ReduceShape::cpu_across ? partial_bytes_of_row(c_, r_) : 0;
  while (lanes < kMostCpuRows && lanes < parallel_.back().size.hint() &&
         2 * lanes * bytes <= kMostPartialBytes)
    lanes *= 2;
  return lanes;
}

// Down columns that are pages apart every step is a page that the core has to look up first, and no
// hardware prefetcher crosses pages: so the step asks for its part of a row further down. Without
// it a softmax of the columns of 4096 x 4096 took 1.7 times as long, in bf16 2.5 times.
void ReduceBuilder::prefetch_rows_ahead() {
  if (length_.hint() < kManyPages) return;
  frame_.set_on_load([this](const AccessRecord& a, const std::vector<Value>&) {
    if (!a.address.is_affine()) return;
    const SymInt& row = a.address.coefficient(r_.dim);
    const auto bytes = static_cast<int64_t>(byte_size(a.dtype));
    if (row.hint() * bytes < kFarRowBytes) return;
    frame_.prefetch(a.buffer, a.dtype, a.address + row * SymInt(kRowsAhead));
  });
}

// A work item is a row, or for columns a vector of adjacent ones. A group takes as many items as
// make it worth a task (tuning loops.group_elements).
void ReduceBuilder::rows_on_cpu() {
  const bool column = rows_are_lanes();
  frame_.set_lanes(column ? column_lanes() : row_partials());
  if (!transposed_.empty()) block_.emplace(frame_, transposed_);
  // Where there is little to compute the hardware's prefetchers are quick enough, and more requests
  // are in their way: a sum of rows out of memory took a half longer.
  if (short_body_ && shape_ != ReduceShape::cpu_column) frame_.set_prefetches(false);
  if (column && transposed_.empty()) prefetch_rows_ahead();
  const size_t outer = column ? parallel_.size() - 1 : parallel_.size();
  SymInt items = extent(parallel_, 0, outer);
  SymInt blocks = 1;
  if (column) {
    parallel_.back().lanes = true;
    blocks = prims::ceil_div(parallel_.back().size, SymInt(frame_.lanes()));
    items *= blocks;
  } else if (!reduced_.empty()) {
    reduced_[0].lanes = true;
  }
  const SymInt work = column ? length_ * SymInt(frame_.lanes()) : length_;
  const SymInt per_group = prims::max(
      SymInt(1),
      prims::floor_div(SymInt(frame_.tuning().loops.group_elements), prims::max(work, SymInt(1))));
  frame_.step().groups = {prims::ceil_div(items, per_group), 1, 1};
  Value first = b().mul(index(b().group_id(0)), frame_.param(per_group));
  Value last = b().add(first, frame_.param(per_group)), all = frame_.param(items);
  last = b().select(b().slt(last, all), last, all);
  b().for_loop(first, last, constant(1), {}, [&](Value item, auto) {
    if (column) {
      Value row = b().udiv(item, frame_.param(blocks));
      Value block = b().sub(item, b().mul(row, frame_.param(blocks)));
      delinearize(frame_, row, parallel_, 0, outer);
      Value base = b().mul(block, constant(frame_.lanes()));
      parallel_.back().base = base;
      Value left = b().sub(frame_.param(parallel_.back().size), base);
      frame_.set_mask(frame_.lanes() > 1 ? b().active_lane_mask(left, frame_.lanes()) : Value{});
    } else {
      delinearize(frame_, item, parallel_, 0, outer);
    }
    one_row();
    frame_.set_mask({});
    return std::vector<Value>{};
  });
}

// A guard says that the iterations cover a thread's row; a workgroup's rows that they cover exactly
// need no test for their end either.
void ReduceBuilder::set_vectors(const Analysis* seen) {
  const SymInt covered(int64_t{iterations_} * row_threads() * lanes_);
  frame_.set_lanes(lanes_);
  reduced_[0].lanes = true;
  if (shape_ == ReduceShape::simt_lanes) length_ = covered;
  std::vector<LoopDim> loops = parallel_;
  loops.insert(loops.end(), reduced_.begin(), reduced_.end());
  aligned_ = seen ? vectors_align(frame_, *seen, loops, lanes_) : b().i1(true);
  if (seen && shares_neighbours()) choose_row_lanes(*seen);
  if (!seen || !can_be_resident(*seen)) return;
  evict_last_ = c_.target.cache_policies &&
                prims::product(r_.domain) > SymInt(frame_.tuning().reduction.cached_elements);
  exact_ = !prims::depends_on_run(c_.values.graph, length_) && length_ == covered;
  const Value rest = b().urem(frame_.param(length_), constant(lanes_));
  full_vectors_ = exact_ ? aligned_ : b().and_(aligned_, b().ieq(rest, constant(0)));
  if (shape_ == ReduceShape::simt_lanes) return;
  const auto resident = static_cast<uint32_t>(frame_.tuning().reduction.resident_threads);
  b().set_min_groups_per_multiprocessor(std::max(1u, resident / threads_));
}

BuiltKernel ReduceBuilder::build(std::vector<LoopDim> parallel, std::vector<LoopDim> reduced,
                                 const Analysis* seen) {
  parallel_ = std::move(parallel);
  reduced_ = std::move(reduced);
  length_ = r_.domain[r_.dim];
  if (seen && frame_.narrow_vectors()) padding_ = seen->padding;
  if (along_memory()) set_vectors(seen);
  if (rows_are_lanes() && parallel_.empty()) parallel_.push_back({{}, 1, {}, false});
  if (shape_ == ReduceShape::simt_column)
    columns_on_simt();
  else if (c_.target.simt)
    rows_on_simt();
  else
    rows_on_cpu();
  return built(std::move(frame_));
}

namespace {

// Instructions of a kernel whose elements may be read side by side: its body is there as often.
constexpr size_t kShortBody = 512;

// The row of one thread. Where it fills vectors it is read in them, and held in registers; a guard
// says its length, so these are few.
RowSchedule short_row(const BuildContext& c, const SymInt& length) {
  const uint32_t threads = c.target.group_threads;
  const RowSchedule walked{ReduceShape::simt_thread, threads};
  if (prims::depends_on_run(c.values.graph, length)) return walked;
  for (int64_t elements = 4; elements <= c.machine.tuning.reduction.thread_row; elements *= 2) {
    if (!(length == SymInt(elements))) continue;
    const int64_t lanes = std::min(elements, int64_t{kGroupLanes});
    return {ReduceShape::simt_lanes, threads, static_cast<uint32_t>(elements / lanes), 1,
            static_cast<uint16_t>(lanes)};
  }
  return walked;
}

// Can a row's partial results, whatever their tuples hold, be shuffled?
bool can_shuffle(const BuildContext& c, const ReduceRequest& r) {
  const auto is_half = [&](prims::ValueId v) {
    const DType d = c.values.graph.type(v).dtype;
    return d == DType::f16 || d == DType::c32;
  };
  return has_known_subgroups(c.target) && std::ranges::none_of(r.reduces, [&](NodeId n) {
           return std::ranges::any_of(c.values.graph.node(n).results, is_half);
         });
}

// A row that some lanes of a subgroup take; nullopt: it is too long for them.
std::optional<RowSchedule> subgroup_row(const BuildContext& c, const ReduceRequest& r,
                                        uint32_t threads) {
  const SymInt& length = r.domain[r.dim];
  const uint32_t most = std::min(c.target.max_subgroup, threads);
  if (!can_shuffle(c, r) || threads % c.target.max_subgroup != 0) return std::nullopt;
  if (length > SymInt(c.machine.tuning.reduction.subgroup_row)) return std::nullopt;
  RowSchedule s{ReduceShape::simt_subgroup, threads, 1, 1};
  while (s.parts < most && length > SymInt(int64_t{s.parts} * kGroupLanes)) s.parts *= 2;
  while (length > SymInt(int64_t{s.iterations} * s.parts * kGroupLanes)) s.iterations *= 2;
  if (s.iterations > c.machine.tuning.reduction.register_iterations) return std::nullopt;
  return s;
}

RowSchedule schedule_of(const BuildContext& c, const ReduceRequest& r) {
  bool inner = false;
  for (size_t d = r.dim + 1; d < r.domain.size(); ++d) inner |= !r.domain[d].same(SymInt(1));
  if (!c.target.simt) return {inner ? ReduceShape::cpu_column : ReduceShape::cpu_row};
  const auto& tuning = c.machine.tuning.reduction;
  uint32_t bytes = 0;
  for (prims::NodeId n : r.reduces)
    bytes += state_bytes(c.values.graph, c.values.graph.node(n).results);
  uint32_t threads = c.target.group_threads;  // whose states meet in the workgroup's memory
  while (threads > 1 && threads * bytes > c.target.group_memory) threads /= 2;
  const int64_t resident = c.machine.tuning.columns.resident_threads;
  if (const auto columns = shared_columns(c.machine, r.domain, r.dim, resident, bytes))
    return {ReduceShape::simt_column, columns->threads(), 0, columns->parts};
  // Recorded as guards where the length is not known.
  const SymInt& length = r.domain[r.dim];
  if (inner) return {ReduceShape::simt_thread, threads};
  if (!(length > SymInt(tuning.thread_row))) return short_row(c, length);
  if (const auto row = subgroup_row(c, r, threads)) return *row;
  if (length > SymInt(tuning.short_row)) {
    uint32_t iterations = 1;
    while (iterations <= tuning.register_iterations &&
           length > SymInt(int64_t{iterations} * threads * kGroupLanes))
      iterations *= 2;
    return {ReduceShape::simt_group, threads,
            iterations > tuning.register_iterations ? 0 : iterations};
  }
  return {ReduceShape::simt_group, std::min(static_cast<uint32_t>(tuning.small_group), threads)};
}

// Columns' loads, or stores of rows side by side, that lie along memory in a CPU's kernel.
std::vector<AccessRecord> accesses_along(const BuildContext& c, const ReduceRequest& r,
                                         ReduceShape shape, const std::vector<LoopDim>& parallel,
                                         const std::vector<LoopDim>& reduced,
                                         const Analysis& seen) {
  const bool stores = shape == ReduceShape::cpu_across;
  const bool along = std::ranges::any_of(seen.accesses, [&](const AccessRecord& a) {
    return a.store == stores && a.address.coefficient(r.dim).same(SymInt(1));
  });
  if (!along || reduced.empty() || parallel.empty()) return {};
  const RowSchedule one_lane{.shape = shape, .one_lane = true};
  const BuiltKernel probe = ReduceBuilder(c, r, one_lane).build(parallel, reduced);
  auto out = transposed_accesses(probe.analysis, r.dim, parallel.back().dims.back());
  std::erase_if(out, [&](const AccessRecord& a) { return a.store != stores; });
  return out;
}

BuiltKernel cpu_kernel(const BuildContext& c, const ReduceRequest& r, RowSchedule schedule,
                       std::vector<LoopDim> parallel, const std::vector<LoopDim>& reduced) {
  constexpr size_t kFewInstructions = 256;
  BuiltKernel first = ReduceBuilder(c, r, schedule).build(parallel, reduced);
  const bool fits = kBlockSide * partial_bytes_of_row(c, r) <= kMostPartialBytes;
  const auto across = schedule.shape == ReduceShape::cpu_row && fits
                          ? loop_across(parallel, r.dim, first.analysis)
                          : std::nullopt;
  if (across) {
    const auto loop = parallel.begin() + static_cast<std::ptrdiff_t>(*across);
    std::rotate(loop, loop + 1, parallel.end());
    schedule.shape = ReduceShape::cpu_across;
  }
  schedule.short_body = first.kernel.insts.size() <= kFewInstructions;
  const std::vector<LoopDim> merged = merge_loops(r.domain, parallel, first.analysis);
  std::vector<AccessRecord> transposed;
  if (schedule.shape != ReduceShape::cpu_row)
    transposed = accesses_along(c, r, schedule.shape, parallel, reduced, first.analysis);
  const bool again = across || schedule.short_body || !first.analysis.padding.empty();
  if (merged.size() == parallel.size() && !again && transposed.empty()) return first;
  ReduceBuilder builder(c, r, schedule);
  builder.set_transposed(std::move(transposed));
  return builder.build(merged, reduced, &first.analysis);
}

}  // namespace

BuiltKernel reduce_kernel(const BuildContext& c, const ReduceRequest& r) {
  RowSchedule schedule = schedule_of(c, r);
  std::vector<size_t> outer, inner;
  for (size_t d = 0; d < r.domain.size(); ++d) {
    if (d < r.dim) outer.push_back(d);
    if (d > r.dim) inner.push_back(d);
  }
  auto parallel_order = outer;
  parallel_order.insert(parallel_order.end(), inner.begin(), inner.end());
  std::vector<LoopDim> parallel = separate_loops(r.domain, parallel_order);
  std::vector<LoopDim> reduced = separate_loops(r.domain, {r.dim});
  if (!c.target.simt) return cpu_kernel(c, r, schedule, std::move(parallel), reduced);
  BuiltKernel first = ReduceBuilder(c, r, schedule).build(parallel, reduced);
  std::vector<LoopDim> merged = merge_loops(r.domain, parallel, first.analysis);
  const bool along_memory = takes_neighbours(schedule.shape);
  schedule.side_by_side = !along_memory && first.kernel.insts.size() <= kShortBody;
  const bool again = along_memory || schedule.side_by_side || !first.analysis.padding.empty();
  if (merged.size() == parallel.size() && !again) return first;
  return ReduceBuilder(c, r, schedule).build(merged, reduced, &first.analysis);
}

}  // namespace primset::schedule
