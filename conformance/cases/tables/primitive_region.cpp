// Primitives with regions.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

// Graphs as the graph's own text form has them.
constexpr PrimitiveRow kRegion[] = {
    {"region/map", "program", kSmoke,
     "graph(%0 x: $T[3, 17]{ties}, %1 y: $T[3, 17]{ties}) {"
     " %5: $T[3, 17], %6: bool[3, 17] = map(%0, %1) region(%2: $T[], %3: $T[])"
     " { %4: $T[] = mul(%2, %3) %7: bool[] = lt(%2, %3) return %4, %7 }"
     " return %5 product, %6 less }"},
    {"region/map", "empty", kStandard,
     "graph(%0 x: $T[0, 3]) { %3: $T[0, 3] = map(%0) region(%1: $T[])"
     " { %2: $T[] = add(%1, %1) return %2 } return %3 y }"},
    {"region/map", "loop_inside", kStandard,
     "graph(%0 x: $T[33]) { %5: $T[33] = map(%0) region(%1: $T[]) {"
     " %4: $T[] = for_loop(%1) {count = <3>, stacked = 0} region(%2: i64[], %3: $T[])"
     " { %6: $T[] = add(%3, %3) return %6 } return %4 } return %5 y }"},
    {"region/reduce", "sum", kSmoke,
     "graph(%0 x: $T[6, 37]) { %1: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %5: $T[6] = reduce(%0, %1) {dims = (1)} region(%2: $T[], %3: $T[])"
     " { %4: $T[] = add(%2, %3) return %4 } return %5 y }"},
    {"region/reduce", "two_values", kStandard,
     "graph(%0 x: $T[37, 6], %1 i: $T[37, 6]) {"
     " %2: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %3: $T[] = constant() {value = #1, dtype = $T, shape = []}"
     " %10: $T[6], %11: $T[6] = reduce(%0, %1, %2, %3) {dims = (0)}"
     " region(%4: $T[], %5: $T[], %6: $T[], %7: $T[])"
     " { %8: $T[] = add(%4, %6) %9: $T[] = max(%5, %7) return %8, %9 } return %10 a, %11 b }"},
    {"region/reduce", "of_nothing", kStandard,
     "graph(%0 x: $T[6, 0]) { %1: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %5: $T[6] = reduce(%0, %1) {dims = (1)} region(%2: $T[], %3: $T[])"
     " { %4: $T[] = add(%2, %3) return %4 } return %5 y }"},
    {"region/scan", "sum", kSmoke,
     "graph(%0 x: $T[6, 37]) { %1: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %5: $T[6, 37] = scan(%0, %1) {dim = 1, ordered = false} region(%2: $T[], %3: $T[])"
     " { %4: $T[] = add(%2, %3) return %4 } return %5 y }"},
    {"region/scan", "long", kStandard,
     "graph(%0 x: $T[4099]) { %1: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %5: $T[4099] = scan(%0, %1) {dim = 0, ordered = true} region(%2: $T[], %3: $T[])"
     " { %4: $T[] = max(%2, %3) return %4 } return %5 y }"},
    {"region/for_loop", "stacked", kSmoke,
     "graph(%0 x: $T[5]) { %4: $T[5], %5: $T[3, 5] = for_loop(%0) {count = <3>, stacked = 1}"
     " region(%1: i64[], %2: $T[5]) { %3: $T[5] = add(%2, %2) return %3, %2 }"
     " return %4 last, %5 all }"},
    {"region/for_loop", "zero", kStandard,
     "graph(%0 x: $T[5]) { %4: $T[5] = for_loop(%0) {count = <0>, stacked = 0}"
     " region(%1: i64[], %2: $T[5]) { %3: $T[5] = add(%2, %2) return %3 } return %4 y }"},
    {"region/while_loop", "count", kSmoke,
     "graph(%0 n: i64[]{3..9}, %1 x: $T[5]) {"
     " %10: i64[], %11: $T[5] = while_loop(%0, %1)"
     " region(%2: i64[], %3: $T[5]) { %4: i64[] = constant() {value = #0, dtype = i64, shape = []}"
     " %5: bool[] = lt(%4, %2) return %5 }"
     " region(%6: i64[], %7: $T[5]) { %8: i64[] = constant() {value = #1, dtype = i64, shape = []}"
     " %9: i64[] = sub(%6, %8) %12: $T[5] = add(%7, %7) return %9, %12 }"
     " return %10 n, %11 y }"},
    {"region/cond", "taken", kSmoke,
     "graph(%0 p: bool[]{ones}, %1 x: $T[5]) { %5: $T[5] = cond(%0, %1)"
     " region(%2: $T[5]) { %3: $T[5] = add(%2, %2) return %3 } region(%4: $T[5]) { return %4 }"
     " return %5 y }"},
    {"region/cond", "not_taken", kStandard,
     "graph(%0 p: bool[]{zeros}, %1 x: $T[5]) { %5: $T[5] = cond(%0, %1)"
     " region(%2: $T[5]) { %3: $T[5] = add(%2, %2) return %3 } region(%4: $T[5]) { return %4 }"
     " return %5 y }"},
};

}  // namespace

std::span<const PrimitiveRow> region_rows() {
  return kRegion;
}

}  // namespace primset::conformance
