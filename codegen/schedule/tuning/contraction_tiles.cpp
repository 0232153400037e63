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

bool tiles_contraction(const prims::Node& n, const SymInts& a, const SymInts& b,
                       const kir::TargetModel& target) {
  const DType t = n.attr<DType>("accumulate");
  const bool type = t == DType::f32 || t == DType::f64 || t == DType::i32 || t == DType::i64;
  if (!target.simt || !type || target.group_threads < 2 * kTileThreadsAcross) return false;
  const SymInt m = size_of(a, contraction_roles(n, 0, a.size()).free);
  const SymInt n_size = size_of(b, contraction_roles(n, 1, b.size()).free);
  const auto least = [&](int64_t size) {
    return SymInt(size - 1) < m && SymInt(size - 1) < n_size;
  };
  if (least(kTiledContraction)) return true;
  // Smaller ones leave most of a tile empty, which many tiles make good.
  const SymInt batch = size_of(a, contraction_roles(n, 0, a.size()).batch);
  return SymInt(int64_t{target.processors} - 1) < batch && least(kTiledContraction / 2);
}

}  // namespace primset::schedule
