#include "prims/graph/signature.h"

#include <initializer_list>

namespace primset::prims {
namespace {

// Rows of constants: code that appends each was the slowest file of all to optimise.
template <typename Info>
struct Row {
  Prim prim;
  Info info;
};

#define PRIMSET_PRIM_OPERAND(id, index, name, variadic, optional, mask) \
  {Prim::id, {name, variadic, optional, DTypeSet(mask)}},
constexpr std::initializer_list<Row<OperandInfo>> kOperands = {
#include "prims/prim_table.inc"
};

#define PRIMSET_PRIM_ATTRIBUTE(id, index, name, type, has_default) \
  {Prim::id, {name, AttributeType::type}},
constexpr std::initializer_list<Row<AttributeInfo>> kAttributes = {
#include "prims/prim_table.inc"
};

#define PRIMSET_PRIM_RESULT(id, index, name, variadic, dtype) {Prim::id, {name, variadic, dtype}},
constexpr std::initializer_list<Row<ResultInfo>> kResults = {
#include "prims/prim_table.inc"
};

#define PRIMSET_PRIM_DONATES(id, operand) {Prim::id, operand},
constexpr std::initializer_list<Row<int>> kDonates = {
#include "prims/prim_table.inc"
};

std::vector<Signature> make_table() {
  std::vector<Signature> table(static_cast<size_t>(prim_count()));
  const auto at = [&](Prim p) -> Signature& { return table[static_cast<size_t>(p)]; };
  for (const auto& [prim, info] : kOperands) at(prim).operands.push_back(info);
  for (const auto& [prim, info] : kAttributes) at(prim).attributes.push_back(info);
  for (const auto& [prim, info] : kResults) at(prim).results.push_back(info);
  for (const auto& [prim, operand] : kDonates) at(prim).donates.push_back(operand);
  return table;
}

template <typename T>
bool holds(const Attr& attr) {
  return std::holds_alternative<T>(attr.value);
}

}  // namespace

const Signature& signature(Prim p) {
  static const auto* table = new std::vector<Signature>(make_table());
  return (*table)[static_cast<size_t>(p)];
}

bool has_type(const Attr& attr, AttributeType type) {
  switch (type) {
    case AttributeType::dtype:
      return holds<DType>(attr);
    case AttributeType::integer:
      return holds<int64_t>(attr);
    case AttributeType::ints:
      return holds<Attr::Ints>(attr);
    case AttributeType::size:
      return holds<SymInt>(attr);
    case AttributeType::sizes:
      return holds<SymInts>(attr);
    case AttributeType::scalar:
      return holds<Scalar>(attr) || holds<SymInt>(attr);
    case AttributeType::string:
      return holds<std::string>(attr);
    case AttributeType::boolean:
      return holds<bool>(attr);
  }
  return false;
}

void normalize_attrs(Prim p, std::vector<Attr>& attrs) {
  const std::vector<AttributeInfo>& infos = signature(p).attributes;
  for (size_t i = 0; i < attrs.size() && i < infos.size(); ++i) {
    Attr& a = attrs[i];
    if (a.name == infos[i].name) a.name = infos[i].name;
    if (infos[i].type == AttributeType::size && holds<int64_t>(a)) {
      a.value = SymInt(std::get<int64_t>(a.value));
    } else if (infos[i].type == AttributeType::sizes && holds<Attr::Ints>(a)) {
      const auto& ints = std::get<Attr::Ints>(a.value);
      a.value = SymInts(ints.begin(), ints.end());
    } else if (infos[i].type == AttributeType::scalar && holds<int64_t>(a)) {
      a.value = Scalar(std::get<int64_t>(a.value));
    }
  }
}

}  // namespace primset::prims
