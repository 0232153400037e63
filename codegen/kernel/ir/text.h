// The textual form of kernel IR: print() and parse() are inverse to each other.
//
//   kernel @scale(x: ptr<global> read, y: ptr<global> write, n: i64) group_size(1, 1, 1) {
//     %0 = param[0] : ptr<global>
//     %1 = const 2.0 : vec<f32, 8>
//     %5 = for %2, %3, %4, %2 : i64 do (%6: i64, %7: i64) {
//       %8 = load %0, %6 align 4 : vec<f32, 8>
//       store %9, %6, %10 align 4
//       yield %7
//     }
//   }
//
// Each line is `results = operation[immediates] operands : result types`, with the operations of
// ops.def. Constants are decimal; a NaN, an infinity and f16 are written as bits (0x7f800000).
// Regions open with `then`, `else`, `do` or `cond` and the region's parameters. `//` begins a
// comment. Values are numbered in the order of the text; parse() accepts any %name.
#ifndef PRIMSET_CODEGEN_KERNEL_IR_TEXT_H_
#define PRIMSET_CODEGEN_KERNEL_IR_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "codegen/kernel/ir/ir.h"

namespace primset::kir {

// Never fails, not even on a kernel that the verifier refuses.
std::string print(const Kernel& kernel);
// What a kernel calls its parameters is for people: with numbers for names (p0, p1, ...), kernels
// that compute the same way have the same text.
enum class ParamNames : uint8_t { given, numbered };
std::string print(const Kernel& kernel, ParamNames names);
// One instruction on one line, without its regions, numbered as in print(): for messages.
std::string print(const Kernel& kernel, InstId inst);
// Throws primset::Error{value} with line, column and what was expected.
Kernel parse(std::string_view text);

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_IR_TEXT_H_
