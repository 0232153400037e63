#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

BuiltKernel built(Frame&& f) {
  LaunchStep step = f.step();
  Analysis analysis = f.analysis();
  return {std::move(f).finish(), std::move(step), std::move(analysis)};
}

bool writes_in_place(const Analysis& a, BufferId input, BufferId output) {
  const Affine* stored = nullptr;
  for (const AccessRecord& r : a.accesses) {
    if (r.buffer != output || !r.store) continue;
    if (stored != nullptr && !same(*stored, r.address)) return false;
    stored = &r.address;
  }
  if (stored == nullptr || !stored->is_affine()) return false;
  for (const AccessRecord& r : a.accesses) {
    if (r.buffer == input && !r.store && !same(*stored, r.address)) return false;
  }
  return true;
}

}  // namespace primset::schedule
