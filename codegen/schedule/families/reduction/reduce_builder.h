// Builds one reduction kernel (reduce_kernel.cpp). Five parts have files of their own: the loops
// over a row (reduce_walks.cpp), register-resident rows (register_resident.cpp), rows side by side
// in memory (rows_in_lanes.cpp on SIMT devices, rows_across.cpp on CPUs), and the combination of
// partial results (reduce_combine.cpp).
//
// Loops are parallel (the dims that are not reduced) or reduced (along a row). A row is
// register-resident where its threads load each element once and then use registers.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_BUILDER_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_BUILDER_H_

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "codegen/schedule/element/combine.h"
#include "codegen/schedule/families/reduction/cached_element.h"
#include "codegen/schedule/families/reduction/reduce_kernel.h"
#include "codegen/schedule/families/reduction/register_resident_row.h"
#include "codegen/schedule/loops/loops.h"
#include "codegen/schedule/loops/shared_columns.h"
#include "codegen/schedule/loops/transposed_blocks.h"
#include "codegen/schedule/tuning/summation_order.h"

namespace primset::schedule {

// cpu_across: rows that lie side by side in memory, in the lanes of vectors; simt_lanes: a thread's
// row is short and lies along memory; simt_subgroup: a row belongs to some lanes of a subgroup, and
// several rows share a workgroup.
enum class ReduceShape {
  cpu_row,
  cpu_across,
  cpu_column,
  simt_group,
  simt_subgroup,
  simt_lanes,
  simt_thread,
  simt_column
};

// Does a SIMT thread take neighbours of a row, in vectors?
constexpr bool takes_neighbours(ReduceShape s) {
  return s == ReduceShape::simt_group || s == ReduceShape::simt_subgroup ||
         s == ReduceShape::simt_lanes;
}

// The parallel loop along which elements lie side by side in memory while those of a row do not;
// `dim` is the reduced one of the domain.
std::optional<size_t> loop_across(const std::vector<LoopDim>& parallel, size_t dim,
                                  const Analysis& seen);

struct RowSchedule {
  ReduceShape shape;
  uint32_t threads = 1;          // of a workgroup
  uint32_t iterations = 0;       // that cover a register-resident row; 0: rows are not resident
  uint32_t parts = 1;            // simt_column, simt_subgroup: threads that share a row
  uint16_t lanes = kGroupLanes;  // takes_neighbours(): as many that a thread takes
  bool one_lane = false;         // cpu_column, cpu_across: records accesses without masks of lanes
  bool short_body = false;  // CPU: several vectors find registers, and the body may be there twice
  bool side_by_side = false;  // simt_thread, simt_column: elements are read together
};

// Rows side by side in memory that a workgroup takes: half a sector to a whole one of f32.
inline constexpr uint16_t kMinRowLanes = 4, kMaxRowLanes = 8;
// The same of a CPU, in the lanes of several vectors.
inline constexpr uint16_t kMostCpuRows = 64;
inline constexpr int64_t kManyPages = 256;
// Rows so far apart are prefetched, so many rows ahead.
inline constexpr int64_t kFarRowBytes = 2048, kRowsAhead = 16;
// Of a CPU's columns: the fewest rows and the longest, in elements, that no prefetcher follows.
inline constexpr int64_t kManyRows = 16, kNearRow = 2048;
// Bytes of the partial results of a CPU's rows side by side, at most.
inline constexpr size_t kMostPartialBytes = 1 << 14;
// Of one row.
size_t partial_bytes_of_row(const BuildContext& c, const ReduceRequest& r);

class ReduceBuilder {
 public:
  ReduceBuilder(const BuildContext& c, const ReduceRequest& r, const RowSchedule& schedule)
      : c_(c),
        r_(r),
        shape_(schedule.shape),
        threads_(schedule.threads),
        iterations_(schedule.iterations),
        parts_(schedule.parts),
        lanes_(schedule.lanes),
        one_lane_(schedule.one_lane),
        short_body_(schedule.short_body),
        side_by_side_(schedule.side_by_side),
        frame_(c.name, c.machine, c.index32, r.domain),
        emitter_(frame_, c.values) {
    frame_.set_error_buffer(c.errors);
  }

  // Accesses that lie along memory while the lanes are different rows or columns, and go block by
  // block: loads of cpu_column, stores of cpu_across.
  void set_transposed(std::vector<AccessRecord> accesses) { transposed_ = std::move(accesses); }

  // `seen`: the accesses of a first build, without it; they decide where vectors are aligned.
  BuiltKernel build(std::vector<LoopDim> parallel, std::vector<LoopDim> reduced,
                    const Analysis* seen = nullptr);

 private:
  void rows_on_cpu();
  void prefetch_rows_ahead();
  uint16_t column_lanes() const;
  uint16_t row_partials() const;
  void rows_on_simt();
  void columns_on_simt();
  void row_of_group();
  kir::Value slot_row(kir::Value first, int64_t rows);
  void rows_of_subgroups();
  void wait_for_repeated_rows();
  bool lies_across(const Analysis& seen) const;
  size_t partial_bytes();
  void choose_row_lanes(const Analysis& seen);
  void blocks_of_rows();
  void block_in_lanes(kir::Value block);
  void rows_one_by_one(kir::Value block);
  void stage_in_lanes(const std::vector<prims::NodeId>& nodes);
  void bind_in_lanes(Combiner& c, size_t n, const std::vector<std::vector<ElementValue>>& all);
  std::vector<kir::Value> walk_neighbours(std::vector<Combiner>& combiners, const Indices& at);
  kir::Value element_is_inside() const;
  void one_row();
  void row_versions();
  bool can_be_resident(const Analysis& seen) const;
  void for_iteration(uint32_t iteration, const std::function<void()>& body);
  kir::Value iteration_position(uint32_t iteration);
  void store_resident();
  void load_cached_element();
  kir::Value stores_row();
  void hoist_row_loads(std::span<const prims::NodeId> reduces);
  void hoist_invariants(prims::ValueId v, std::set<prims::ValueId>& seen);
  void hoist_invariants(std::span<const prims::ValueId> values);
  void stage(const std::vector<prims::NodeId>& nodes, bool last);
  std::vector<std::vector<prims::NodeId>> stages() const;
  void store(const ElementValue& e, const Root& root, const Indices& at);
  void store_all(const std::vector<Root>& roots, const Indices& at);
  // Emits the loop over the row's elements with `carried` values; the body finds lanes and mask
  // set.
  std::vector<kir::Value> walk_row(
      std::vector<kir::Value> carried,
      const std::function<std::vector<kir::Value>(std::span<const kir::Value>)>& body);
  std::vector<kir::Value> walk_resident(
      const std::function<std::vector<kir::Value>(std::span<const kir::Value>)>& body);
  int64_t read_together() const;
  void store_column();
  void store_across();
  std::vector<kir::Value> walk_blocks(std::vector<Combiner>& combiners, const Indices& at);
  std::vector<kir::Value> walk_partial_results(std::vector<Combiner>& combiners, const Indices& at);
  std::vector<kir::Value> walk_transposed(
      kir::Value from, kir::Value to, std::vector<kir::Value> begun,
      const std::function<std::vector<kir::Value>(std::span<const kir::Value>)>& body);
  bool streams(std::span<const Combiner> combiners) const;
  std::vector<kir::Value> walk_streams(
      std::vector<Combiner>& combiners,
      const std::function<std::vector<kir::Value>(std::span<const kir::Value>)>& body);
  kir::Value row_is_inside();
  bool covered() const;
  std::vector<kir::Value> combine_all(std::vector<Combiner>& combiners,
                                      std::span<const kir::Value> x, std::span<const kir::Value> y);
  // Tuples side by side, a power of two of them, combined by halves: each with the one as far
  // behind the middle. One is left.
  void combine_halves(std::vector<Combiner>& combiners, std::vector<kir::Value>& tuples);
  std::vector<kir::Value> accumulate(std::vector<Combiner>& combiners, const Indices& at,
                                     std::span<const kir::Value> acc);
  std::optional<kir::Value> with_product(Combiner& c, const Indices& at, kir::Value acc);
  std::vector<kir::Value> identities(std::vector<Combiner>& combiners);
  void combine_lanes(Combiner& c, std::vector<ElementValue>& acc);
  void combine_shuffled(Combiner& c, std::vector<ElementValue>& acc, uint32_t lanes);
  void combine_threads(Combiner& c, std::vector<ElementValue>& acc);
  void combine_subgroups(std::vector<Combiner>& combiners,
                         std::vector<std::vector<ElementValue>>& all);
  Indices domain_indices() const { return identity_indices(r_.domain); }
  Indices row_indices() const;
  kir::Value index(kir::Value i) { return frame_.index(i); }
  kir::Value constant(int64_t v) { return frame_.index_constant(v); }
  // Do the lanes take contiguous elements of a row?
  bool in_lanes() const { return shape_ == ReduceShape::cpu_row || along_memory(); }
  // Are the lanes of a CPU's vector different rows?
  bool rows_are_lanes() const {
    return shape_ == ReduceShape::cpu_column || shape_ == ReduceShape::cpu_across;
  }
  bool along_memory() const { return takes_neighbours(shape_); }
  // Do several threads share a row whose neighbours they take?
  bool shares_neighbours() const { return along_memory() && shape_ != ReduceShape::simt_lanes; }
  // As many, and which of them this one is.
  uint32_t row_threads() const { return shape_ == ReduceShape::simt_group ? threads_ : parts_; }
  kir::Value row_thread() {
    return shape_ == ReduceShape::simt_group ? index(b().local_id(0)) : part_;
  }
  // Rows, or blocks of rows side by side, that a workgroup takes at a time.
  uint32_t slots() const { return threads_ / row_threads(); }
  void set_vectors(const Analysis* seen);
  kir::Builder& b() { return frame_.builder(); }
  void set_loops();

  const BuildContext& c_;
  const ReduceRequest& r_;
  ReduceShape shape_;
  uint32_t threads_, iterations_, parts_;
  uint16_t lanes_;
  bool one_lane_, short_body_, side_by_side_;
  kir::Value part_;     // simt_column, simt_subgroup: which of a row's threads this one is
  kir::Value slot_;     // simt_subgroup: which of the workgroup's rows at a time
  kir::Value is_row_;   // of both: i1, the thread's row is there; else it repeats the last one
  kir::Value repeats_;  // simt_subgroup: i1, some of the workgroup's threads do
  kir::Value aligned_;  // along_memory(): a row's vectors are aligned
  kir::Value
      full_vectors_;  // aligned, and the row is a multiple of a vector; valid: rows may be resident
  uint16_t row_lanes_ = 0;    // rows that a workgroup may have side by side in its lanes
  kir::Value rows_in_lanes_;  // i1: it has; invalid: it may not
  bool across_ = false;       // the current rows are side by side
  bool exact_ = false;     // a guard says that the iterations cover a register-resident row exactly
  bool resident_ = false;  // the current row is register-resident
  bool evict_last_ = false;  // the rows exceed caches: load them with an evict-last policy
  // Resident rows, and those side by side: i1, this iteration's elements are inside; invalid:
  // always.
  kir::Value inside_;
  std::vector<PaddingTest> padding_;  // tested once a row instead of once an element
  bool one_stage_ = true;
  Frame frame_;
  ElementEmitter emitter_;
  std::vector<AccessRecord> transposed_;
  std::optional<TransposedBlock> block_;  // of them
  std::vector<LoopDim> parallel_, reduced_;
  prims::SymInt length_ = 1;
  std::optional<CachedElement> cached_element_;
  ResidentRow row_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_BUILDER_H_
