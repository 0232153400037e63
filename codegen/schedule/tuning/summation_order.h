// Numbers that the order of additions depends on, and with it the last digits of results. They are
// the same on every device and cannot be tuned. What else that order depends on are parameters of
// the device's kind (parameters.def says "changes the order of additions"). On one device, what a
// reduction gives is a function of its logical shape alone, however it is fused or laid out
// (docs/decisions/order_of_additions.md).
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_SUMMATION_ORDER_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_SUMMATION_ORDER_H_

#include <cstddef>
#include <cstdint>

namespace primset::schedule {

// A reduction longer than this takes two steps, whatever it is fused with: bounds the error of the
// partial sums and lets one long row use all threads.
inline constexpr int64_t kReductionChunk = 16384;
// CPU: partial results of a row, combined in a tree.
inline constexpr uint16_t kRowLanes = 32;
// The same of a maximum or a minimum of a long row.
inline constexpr uint16_t kExtremumLanes = 64;
// CPU: streams that a chunk is read as, and partial results of each.
inline constexpr uint16_t kStreams = 8, kStreamLanes = 16;
// One thread's or lane's row: elements added up before they join the total.
inline constexpr int64_t kColumnBlock = 64;
// SIMT: neighbours of a row that a thread of a workgroup takes, 16 bytes of halves.
inline constexpr uint16_t kGroupLanes = 8;
// Where f64 is fast, products of a matrix are added up in it if they are fewer: beside the call
// that costs next to nothing, and where they cancel no digit is lost.
inline constexpr int64_t kFewProducts = int64_t{1} << 14;
// And so are the terms of a sum; longer ones are read as fast as memory gives them.
inline constexpr int64_t kFewTerms = int64_t{1} << 10;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_SUMMATION_ORDER_H_
