// Long scans in chunks.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_SCANS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_SCANS_H_

#include "codegen/schedule/legalize/legalizer.h"
#include "codegen/schedule/tuning/summation_order.h"

namespace primset::schedule {

// An inclusive scan of `xs` along `dim`: by a primitive that combines numbers, or by a region from
// `inits` on, its identity.
struct Scan {
  prims::Prim prim = prims::Prim::scan;
  Values inits;
  MakeRegion combine;
};

// One thread or group walks a row, so a long row is cut: every chunk is scanned, then the chunks'
// last elements, and each chunk takes up what the chunks before it came to. Elements are combined
// in another order than along the row: this is for scans that are exact.
Values scan_in_chunks(Legalizer& l, const Scan& scan, const Values& xs, int64_t dim,
                      int64_t chunk = kReductionChunk);

// Long rows of integers that are fewer than a SIMT device's multiprocessors are summed up in
// chunks.
std::optional<Values> split_long_scan(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_SCANS_H_
