// Enumerators by name: a table of names, indexed by the enumeration's values.
#ifndef PRIMSET_CODEGEN_KERNEL_IR_NAME_TABLE_H_
#define PRIMSET_CODEGEN_KERNEL_IR_NAME_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace primset::kir {

// Sets `out` to the enumerator of that name; false when there is none.
template <typename E, size_t N>
bool find_name(const std::string_view (&table)[N], std::string_view text, E& out) {
  const auto* found = std::find(std::begin(table), std::end(table), text);
  if (found == std::end(table)) return false;
  out = static_cast<E>(found - std::begin(table));
  return true;
}

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_IR_NAME_TABLE_H_
