// The last update of each place of an ordered scatter, found by all threads of a SIMT device at
// once.
//
// Three kernels: positions are cleared; every update raises that of its place to its own number,
// counted in row-major order; then only the update whose number stands there is written.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_LAST_WRITERS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_LAST_WRITERS_H_

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

struct LastWriters {
  BufferId positions = 0;
  SymInts places;  // sizes of the dims that are indexed
  DType dtype = DType::i64;

  // The update at the current position is the one that is claimed for its place (i1). Its indices
  // fit.
  kir::Value is_own(Frame& f, ElementEmitter& e, const prims::Node& scatter,
                    const ValueEnvironment& values) const;
};

// Whether the device can raise positions atomically.
bool can_claim(const kir::TargetModel& target, bool index32);

BuiltKernel clear_positions(const BuildContext& c, const LastWriters& last);
BuiltKernel claim_positions(const BuildContext& c, prims::NodeId scatter, const LastWriters& last);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_LAST_WRITERS_H_
