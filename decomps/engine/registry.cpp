#include "decomps/engine/registry.h"

#include <unordered_map>

#include "decomps/all.h"
#include "decomps/engine/boxing.h"

namespace primset::decomps {
namespace {

using Table = std::unordered_map<std::string_view, Decomposition>;

const Table& operators() {
  static const Table* table = new Table{
#define PRIMSET_DECOMP(type, function) {function, boxed(&type::decompose)},
#include "decomps/registry.inc"
  };
  return *table;
}

const Table& primitives() {
  static const Table* table = new Table{
#define PRIMSET_PRIM_DECOMP(type, function) {function, boxed(&prim::type::decompose)},
#include "decomps/registry.inc"
  };
  return *table;
}

Decomposition find(const Table& table, std::string_view function) {
  const auto found = table.find(function);
  return found == table.end() ? Decomposition() : found->second;
}

}  // namespace

Decomposition find_decomposition(std::string_view function) {
  return find(operators(), function);
}

Decomposition find_prim_decomposition(std::string_view function) {
  return find(primitives(), function);
}

}  // namespace primset::decomps
