#include "codegen/schedule/tuning/contraction_tiles.h"

#include <algorithm>

namespace primset::schedule {

ContractionRoles contraction_roles(const prims::Node& n, size_t operand, size_t rank) {
  ContractionRoles r{n.attr<DimList>(operand == 0 ? "a_batch" : "b_batch"),
                     {},
                     n.attr<DimList>(operand == 0 ? "a_contract" : "b_contract")};
  auto in = [](const DimList& list, int64_t d) { return std::ranges::find(list, d) != list.end(); };
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (!in(r.batch, d) && !in(r.contract, d)) r.free.push_back(d);
  }
  return r;
}

SymInt size_of(const SymInts& shape, const DimList& dims) {
  SymInt n = 1;
  for (int64_t d : dims) n *= shape[static_cast<size_t>(d)];
  return n;
}

namespace {

constexpr ContractionTiling kTilings[] = {
#define TILING(kind, rows, columns, k, threads, stages, subgroup_rows, subgroup_columns, resident, \
               busy, fills, selects)                                                               \
  {TileKind::kind,                                                                                 \
   {rows, columns, threads, resident},                                                             \
   k,                                                                                              \
   stages,                                                                                         \
   subgroup_rows,                                                                                  \
   subgroup_columns,                                                                               \
   busy,                                                                                           \
   fills,                                                                                          \
   selects},
#include "codegen/schedule/tuning/contraction_tilings.def"
#undef TILING
};

}  // namespace

std::span<const ContractionTiling> contraction_tilings(TileKind kind) {
  const auto same = std::ranges::equal_range(kTilings, kind, {}, &ContractionTiling::kind);
  return {same.begin(), same.end()};
}

bool enough_tiles(const SymInt& elements, const TileShape& t, int64_t multiprocessors) {
  return SymInt(int64_t{t.rows} * t.columns * multiprocessors - 1) < elements;
}

const ContractionTiling& choose_tiling(TileKind kind, const SymInt& elements, const SymInt& k,
                                       const Machine& machine) {
  const std::span<const ContractionTiling> all = contraction_tilings(kind);
  for (const ContractionTiling& t : all) {
    const int64_t busy = (int64_t{machine.target.multiprocessors} * t.busy_percent + 99) / 100;
    const bool enough = t.busy_percent == 0 || enough_tiles(elements, t.shape, busy);
    if (enough && (!t.fills_depth || SymInt(t.depth - 1) < k)) return t;
  }
  return all.back();
}

bool tiles_contraction(const prims::Node& n, const SymInts& a, const SymInts& b,
                       const Machine& machine) {
  const kir::TargetModel& target = machine.target;
  const int64_t side = machine.tuning.contraction.least_side;
  const DType t = n.attr<DType>("accumulate");
  const bool type = t == DType::f32 || t == DType::f64 || t == DType::i32 || t == DType::i64;
  if (!type || (target.simt && target.group_threads < 32)) return false;
  const SymInt m = size_of(a, contraction_roles(n, 0, a.size()).free);
  const SymInt n_size = size_of(b, contraction_roles(n, 1, b.size()).free);
  if (!target.simt) {
    const auto& tuning = machine.tuning.contraction;
    const SymInt k = size_of(a, contraction_roles(n, 0, a.size()).contract);
    return SymInt(tuning.least_rows - 1) < m && SymInt(tuning.least_columns - 1) < n_size &&
           SymInt(tuning.least_terms - 1) < k;
  }
  const auto least = [&](int64_t size) {
    return SymInt(size - 1) < m && SymInt(size - 1) < n_size;
  };
  if (least(side)) return true;
  // Smaller ones leave most of a tile empty, which many tiles make good.
  const SymInt batch = size_of(a, contraction_roles(n, 0, a.size()).batch);
  return SymInt(int64_t{target.multiprocessors} - 1) < batch && least(side / 2);
}

}  // namespace primset::schedule
