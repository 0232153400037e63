// Inclusive scans. One lane or thread walks one row in order; but where neighbouring threads would
// walk rows that lie far apart, a workgroup takes a row and goes through it in tiles: each thread
// scans a few neighbouring elements, the group their totals, and the tile's total goes on to the
// next one. Columns go the same way where they are few: the tile is that of each of a workgroup's
// columns, and several threads share it.
#include <algorithm>

#include "codegen/schedule/element/combine.h"
#include "codegen/schedule/families/scan/group_scan.h"
#include "codegen/schedule/families/scan/scan_kernel.h"
#include "codegen/schedule/loops/loops.h"
#include "codegen/schedule/loops/shared_columns.h"
#include "codegen/schedule/loops/transposed_blocks.h"

namespace primset::schedule {

using kir::Value;

namespace {

class ScanBuilder {
 public:
  ScanBuilder(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots)
      : c_(c),
        graph_(c.values.graph),
        node_(graph_.node(node)),
        roots_(roots),
        domain_(graph_.type(node_.operands[0]).shape),
        dim_(static_cast<size_t>(node_.attr<int64_t>("dim"))),
        at_(identity_indices(domain_)),
        frame_(c.name, c.machine, c.index32, domain_),
        emitter_(frame_, c.values),
        combiner_(emitter_, node) {
    frame_.set_error_buffer(c.errors);
  }

  // A CPU's kernel with so many lanes.
  BuiltKernel build_with_lanes(const std::vector<LoopDim>& parallel, uint16_t lanes) {
    frame_.set_lanes(lanes);
    by_threads(parallel);
    return built(std::move(frame_));
  }
  // One whose rows lie along memory while its lanes are different rows.
  BuiltKernel build_in_blocks(const std::vector<LoopDim>& parallel,
                              std::vector<AccessRecord> transposed) {
    by_blocks(parallel, std::move(transposed));
    return built(std::move(frame_));
  }

  // A single row has no use for lanes, which would hold rows side by side.
  uint16_t lanes() const {
    for (size_t d = 0; d < domain_.size(); ++d)
      if (d != dim_ && !domain_[d].same(SymInt(1))) return cpu_lanes(c_.target);
    return 1;
  }

  // A SIMT device's kernel.
  BuiltKernel build(const std::vector<LoopDim>& parallel) {
    const bool in_any_order = node_.regions.empty() || !node_.attr<bool>("ordered");
    const int64_t resident = c_.machine.tuning.scan.resident_threads;
    const auto columns = in_any_order ? shared_columns(c_.machine, domain_, dim_, resident,
                                                       state_bytes(graph_, node_.results))
                                      : std::nullopt;
    if (columns)
      by_columns(parallel, *columns);
    else if (rows_of_groups())
      by_groups(parallel);
    else
      by_threads(parallel);
    return built(std::move(frame_));
  }

 private:
  // Long rows whose elements are contiguous get a workgroup; a guard where the length is not known.
  bool rows_of_groups() const {
    if ((!node_.regions.empty() && node_.attr<bool>("ordered"))) return false;
    for (size_t d = dim_ + 1; d < domain_.size(); ++d) {
      if (!domain_[d].same(SymInt(1))) return false;
    }
    return domain_[dim_] > SymInt(c_.machine.tuning.scan.thread_row);
  }

  void by_blocks(const std::vector<LoopDim>& parallel, std::vector<AccessRecord> transposed);
  int64_t elements_of_row() const;
  void by_threads(const std::vector<LoopDim>& parallel);
  int64_t read_together() const;
  std::vector<Value> scan_elements(const std::vector<LoopDim>& row, Value i, int64_t count,
                                   std::span<const Value> carried);
  void by_groups(std::vector<LoopDim> parallel);
  void by_columns(std::vector<LoopDim> parallel, const SharedColumns& columns);
  // A tile of a row: elements `first`, ... are this thread's.
  struct Tile {
    const std::vector<LoopDim>& row;
    Value first;
    int64_t elements;
    Value may_store;  // i1; invalid: yes
  };
  using Scan = std::function<GroupScan::Result(const GroupScan::Values&)>;
  std::vector<Value> scan_tile(const Scan& scan, const Tile& tile, std::span<const Value> before);
  GroupScan::Result scan_parts(GroupMemory& memory, const SharedColumns& columns,
                               const ColumnThread& thread, const GroupScan::Values& own);
  GroupScan::Operation operation();

  // Sets the loop variables to element `position` of the row.
  void move_to(std::vector<LoopDim> row, Value position) {
    row.push_back({{dim_}, domain_[dim_], position, false});
    frame_.set_loops(std::move(row));
  }
  std::vector<ElementValue> operands() {
    std::vector<ElementValue> x;
    for (size_t k = 0; k < combiner_.arity(); ++k)
      x.push_back(emitter_.emit(combiner_.operand(k), at_));
    return x;
  }
  // All loads come before all stores: an output may be an input's memory.
  void store(const std::vector<ElementValue>& sum) {
    for (size_t k = 0; k < sum.size(); ++k) emitter_.bind(node_.results[k], at_, sum[k]);
    std::vector<ElementValue> made;
    for (const Root& root : roots_) made.push_back(emitter_.emit(root.value, at_));
    for (size_t i = 0; i < roots_.size(); ++i) {
      const Root& root = roots_[i];
      frame_.store(root.out.buffer, graph_.type(root.value).dtype,
                   element_address(frame_, root.out, at_), made[i]);
    }
  }
  // Contiguous elements of a tile that one thread scans.
  int64_t thread_elements() const { return c_.machine.tuning.scan.thread_elements; }
  Value index(Value i) { return frame_.index(i); }
  Value constant(int64_t v) { return frame_.index_constant(v); }
  kir::Builder& b() { return frame_.builder(); }

  const BuildContext& c_;
  const prims::Graph& graph_;
  const prims::Node& node_;
  const std::vector<Root>& roots_;
  const SymInts domain_;
  const size_t dim_;
  const Indices at_;
  Frame frame_;
  ElementEmitter emitter_;
  Combiner combiner_;
};

void ScanBuilder::by_threads(const std::vector<LoopDim>& parallel) {
  const auto each_row = [&] {
    const std::vector<LoopDim> row = frame_.loops();
    const Value mask = frame_.mask(), n = frame_.param(domain_[dim_]);
    const auto walk = [&](Value from, Value to, std::vector<Value> begun, int64_t together) {
      return b().for_loop(from, to, constant(together), std::move(begun),
                          [&](Value i, std::span<const Value> carried) {
                            frame_.set_mask(mask);
                            return scan_elements(row, i, together, carried);
                          });
    };
    std::vector<Value> total = combiner_.flatten(combiner_.identity(), frame_.lanes());
    Value done = constant(0);
    if (const int64_t together = read_together(); together > 1) {
      done = b().mul(b().udiv(n, constant(together)), constant(together));
      total = walk(constant(0), done, std::move(total), together);
    }
    walk(done, n, std::move(total), 1);
    frame_.set_loops(row);
  };
  for_each_point(frame_, parallel, each_row, std::nullopt, elements_of_row());
}

// What a CPU's workgroup takes is counted in elements; its rows fill a vector's lanes at least.
int64_t ScanBuilder::elements_of_row() const {
  const int64_t most = frame_.tuning().loops.group_elements / kBlockSide;
  return c_.target.simt ? 1 : std::clamp<int64_t>(domain_[dim_].hint(), 1, most);
}

// Block by block along the rows.
void ScanBuilder::by_blocks(const std::vector<LoopDim>& parallel,
                            std::vector<AccessRecord> transposed) {
  frame_.set_lanes(kBlockSide);
  TransposedBlock block(frame_, std::move(transposed));
  const auto each_vector = [&] {
    std::vector<LoopDim> loops = frame_.loops();
    loops.insert(loops.end() - 1, LoopDim{{dim_}, domain_[dim_], {}, false});
    const Value mask = frame_.mask(), n = frame_.param(domain_[dim_]);
    const Value rows = frame_.param(loops.back().size), side = constant(kBlockSide);
    const auto step = [&](Value first, std::span<const Value> before) {
      Value end = b().add(first, side);
      end = b().select(b().slt(end, n), end, n);
      const BlockPlace place{first, end, loops.back().base, rows};
      block.read(loops, place);
      auto total = b().for_loop(first, end, constant(1), {before.begin(), before.end()},
                                [&](Value i, std::span<const Value> carried) {
                                  ElementEmitter::Scope scope(emitter_);
                                  std::vector<Value> next;
                                  block.in_row(loops, i, place, [&] {
                                    frame_.set_mask(mask);
                                    const auto sum =
                                        combiner_.combine(combiner_.unflatten(carried), operands());
                                    store(sum);
                                    next = combiner_.flatten(sum, frame_.lanes());
                                  });
                                  return next;
                                });
      block.write(loops, place, mask);
      return total;
    };
    b().for_loop(constant(0), n, side, combiner_.flatten(combiner_.identity(), frame_.lanes()),
                 step);
    loops.erase(loops.end() - 2);
    frame_.set_loops(loops);
  };
  for_each_point(frame_, parallel, each_vector, std::nullopt, elements_of_row());
}

// A SIMT thread reads elements side by side, since it alone waits for each. Where one of them takes
// long to compute that is no matter, and the code would be.
int64_t ScanBuilder::read_together() const {
  constexpr size_t kLongRegion = 64;  // nodes
  const bool is_long = !node_.regions.empty() && node_.regions[0].nodes.size() > kLongRegion;
  return c_.target.simt && !is_long ? c_.machine.tuning.columns.loads : 1;
}

// Elements i, i + 1, ... of a row, in order.
std::vector<Value> ScanBuilder::scan_elements(const std::vector<LoopDim>& row, Value i,
                                              int64_t count, std::span<const Value> carried) {
  std::vector<std::vector<ElementValue>> own;
  for (int64_t k = 0; count > 1 && k < count; ++k) {
    ElementEmitter::Scope scope(emitter_);
    move_to(row, b().add(i, constant(k)));
    own.push_back(operands());
  }
  std::vector<Value> total(carried.begin(), carried.end());
  for (int64_t k = 0; k < count; ++k) {
    ElementEmitter::Scope scope(emitter_);
    move_to(row, b().add(i, constant(k)));
    // One alone shares what the results are made of.
    if (count == 1) own.push_back(operands());
    const auto sum = combiner_.combine(combiner_.unflatten(total), own[static_cast<size_t>(k)]);
    store(sum);
    total = combiner_.flatten(sum, frame_.lanes());
  }
  return total;
}

void ScanBuilder::by_groups(std::vector<LoopDim> parallel) {
  b().set_group_size(c_.target.group_threads);
  GroupScan scan(b(), operation(), c_.target.group_threads);
  const Value step = constant(thread_elements() * c_.target.group_threads);
  for_each_by_groups(frame_, extent(parallel, 0, parallel.size()), [&](Value row) {
    delinearize(frame_, row, parallel, 0, parallel.size());
    frame_.set_loops(parallel);
    const auto of_group = [&](const GroupScan::Values& own) { return scan.of(own); };
    b().for_loop(constant(0), frame_.param(domain_[dim_]), step,
                 combiner_.flatten(combiner_.identity(), 1),
                 [&](Value lo, std::span<const Value> before) {
                   const Value first =
                       b().add(lo, b().mul(index(b().local_id(0)), constant(thread_elements())));
                   return scan_tile(of_group, {parallel, first, thread_elements(), {}}, before);
                 });
  });
}

void ScanBuilder::by_columns(std::vector<LoopDim> parallel, const SharedColumns& columns) {
  const int64_t elements = c_.machine.tuning.columns.loads;
  const std::vector<Value> identity = combiner_.flatten(combiner_.identity(), 1);
  GroupMemory memory(b(), identity, columns.threads());
  for_each_shared_column(frame_, columns, parallel, [&](const ColumnThread& thread) {
    frame_.set_loops(parallel);
    const auto of_column = [&](const GroupScan::Values& own) {
      return scan_parts(memory, columns, thread, own);
    };
    b().for_loop(constant(0), frame_.param(domain_[dim_]), constant(elements * columns.parts),
                 identity, [&](Value lo, std::span<const Value> before) {
                   const Value first = b().add(lo, b().mul(thread.part, constant(elements)));
                   return scan_tile(of_column, {parallel, first, elements, thread.is_column},
                                    before);
                 });
  });
}

// The scan of the totals of a column's threads. Each reads all of them: they are few.
GroupScan::Result ScanBuilder::scan_parts(GroupMemory& memory, const SharedColumns& columns,
                                          const ColumnThread& thread,
                                          const GroupScan::Values& own) {
  memory.put(b().local_id(0), own);
  b().barrier();
  const Value column = b().and_(b().local_id(0), b().i32(columns.width - 1));
  const size_t n = own.size();
  const std::vector<Value> identity = combiner_.flatten(combiner_.identity(), 1);
  std::vector<Value> carried = identity;  // the total so far, then that before this thread
  carried.insert(carried.end(), identity.begin(), identity.end());
  const auto last = b().for_loop(
      b().i32(0), b().i32(columns.parts), b().i32(1), std::move(carried),
      [&](Value part, std::span<const Value> v) {
        const auto total = v.subspan(0, n);
        const auto x = memory.get(b().add(b().mul(part, b().i32(columns.width)), column));
        auto next = combiner_.flatten(
            combiner_.combine(combiner_.unflatten(total), combiner_.unflatten(x)), 1);
        const Value is_own = b().ieq(index(part), thread.part);
        for (size_t k = 0; k < n; ++k) next.push_back(b().select(is_own, total[k], v[n + k]));
        return next;
      });
  b().barrier();  // the memory is used again by the next tile
  const auto middle = last.begin() + static_cast<std::ptrdiff_t>(n);
  return {{middle, last.end()}, {last.begin(), middle}};
}

// Scans a tile; `before` is the total of all tiles before it. Returns the total up to its end. Each
// thread scans its own elements, `scan` gives the total of the threads before it.
std::vector<Value> ScanBuilder::scan_tile(const Scan& scan, const Tile& tile,
                                          std::span<const Value> before) {
  const Value n = frame_.param(domain_[dim_]);
  std::vector<std::vector<ElementValue>> own;
  for (int64_t k = 0; k < tile.elements; ++k) {
    ElementEmitter::Scope scope(emitter_);
    const Value position = b().add(tile.first, constant(k));
    const Value inside = b().slt(position, n);
    move_to(tile.row, b().select(inside, position, b().sub(n, constant(1))));
    const auto x = combiner_.or_identity(inside, operands());
    own.push_back(own.empty() ? x : combiner_.combine(own.back(), x));
  }
  const GroupScan::Result totals = scan(combiner_.flatten(own.back(), 1));
  const std::vector<ElementValue> start = combiner_.unflatten(before),
                                  all = combiner_.unflatten(totals.total);
  const std::vector<ElementValue> mine =
      combiner_.combine(start, combiner_.unflatten(totals.exclusive));
  for (int64_t k = 0; k < tile.elements; ++k) {
    const Value position = b().add(tile.first, constant(k));
    Value stores = b().slt(position, n);
    if (tile.may_store.valid()) stores = b().and_(stores, tile.may_store);
    b().if_then(stores, [&] {
      ElementEmitter::Scope scope(emitter_);
      move_to(tile.row, position);
      store(combiner_.combine(mine, own[static_cast<size_t>(k)]));
    });
  }
  frame_.set_loops(tile.row);
  return combiner_.flatten(combiner_.combine(start, all), 1);
}

// The scan of the threads' totals.
GroupScan::Operation ScanBuilder::operation() {
  return {combiner_.flatten(combiner_.identity(), 1),
          [&](std::span<const Value> left, std::span<const Value> right) {
            const auto both =
                combiner_.combine(combiner_.unflatten(left), combiner_.unflatten(right));
            return combiner_.flatten(both, 1);
          }};
}

// Built with one lane first, which records the accesses.
BuiltKernel cpu_kernel(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots,
                       const std::vector<LoopDim>& separate) {
  const BuiltKernel probe = ScanBuilder(c, node, roots).build_with_lanes(separate, 1);
  const SymInts& domain = c.values.graph.type(c.values.graph.node(node).operands[0]).shape;
  const std::vector<LoopDim> merged = merge_loops(domain, separate, probe.analysis);
  ScanBuilder builder(c, node, roots);
  if (builder.lanes() == 1) return builder.build_with_lanes(merged, 1);
  const auto dim = static_cast<size_t>(c.values.graph.node(node).attr<int64_t>("dim"));
  auto transposed = transposed_accesses(probe.analysis, dim, merged.back().dims.back());
  if (!transposed.empty()) return builder.build_in_blocks(merged, std::move(transposed));
  return builder.build_with_lanes(merged, builder.lanes());
}

}  // namespace

BuiltKernel scan_kernel(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots) {
  const prims::Graph& g = c.values.graph;
  const SymInts domain = g.type(g.node(node).operands[0]).shape;
  const auto dim = static_cast<size_t>(g.node(node).attr<int64_t>("dim"));
  std::vector<size_t> order;
  for (size_t d = 0; d < domain.size(); ++d) {
    if (d != dim) order.push_back(d);
  }
  const std::vector<LoopDim> separate = separate_loops(domain, order);
  if (!c.target.simt) return cpu_kernel(c, node, roots, separate);
  BuiltKernel first = ScanBuilder(c, node, roots).build(separate);
  const std::vector<LoopDim> merged = merge_loops(domain, separate, first.analysis);
  return merged.size() == separate.size() ? std::move(first)
                                          : ScanBuilder(c, node, roots).build(merged);
}

}  // namespace primset::schedule
