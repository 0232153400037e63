#include "prims/inference/inference.h"

#include <algorithm>

#include "prims/graph/signature.h"
#include "prims/graph/text.h"
#include "prims/inference/rules.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

const RuleTable& rules() {
  static const RuleTable* table = [] {
    auto* t = new RuleTable;
    add_elementwise_rules(*t);
    add_conversion_rules(*t);
    add_shape_rules(*t);
    add_window_rules(*t);
    add_indexing_rules(*t);
    add_reduction_rules(*t);
    add_contraction_rules(*t);
    add_region_rules(*t);
    add_derived_indexing_rules(*t);
    add_derived_search_rules(*t);
    add_derived_sparse_rules(*t);
    add_derived_contraction_rules(*t);
    add_linalg_rules(*t);
    add_derived_array_rules(*t);
    add_derived_network_rules(*t);
    add_derived_spatial_rules(*t);
    add_orthogonal_rules(*t);
    add_derived_fft_rules(*t);
    return t;
  }();
  return *table;
}

void check_operands(const Call& call) {
  const std::vector<OperandInfo>& infos = signature(call.prim).operands;
  if (info(call.prim).variadic) {
    call.require_shared(call.count() + 1 >= infos.size(), "_c0: operands are missing");
  } else {
    call.require_shared(call.count() == infos.size(), "_c0: the number of operands");
  }
  for (size_t i = 0; i < call.count(); ++i) {
    bool optional = i < infos.size() && infos[i].optional;
    call.require_shared(call.has(i) || optional, "_c0: an operand is absent");
    call.require_shared(!call.has(i) || call.operands[i] < call.graph.value_count(),
                        "_c0: an operand does not exist");
  }
  call.require_shared(call.regions.size() == static_cast<size_t>(info(call.prim).regions),
                      "_c0: the number of regions");
}

void check_attrs(const Call& call) {
  const std::vector<AttributeInfo>& infos = signature(call.prim).attributes;
  call.require_shared(call.attrs.size() == infos.size(), "_c0: the number of attributes");
  for (size_t i = 0; i < infos.size(); ++i) {
    if (call.attrs[i].name != infos[i].name) {
      call.fail("attribute '" + std::string(infos[i].name) + "' stands where '" +
                std::string(call.attrs[i].name) + "' was given");
    }
    if (!has_type(call.attrs[i], infos[i].type)) {
      call.fail("attribute '" + std::string(infos[i].name) + "' is of another type");
    }
  }
}

std::optional<size_t> operand_index(Prim p, std::string_view name) {
  const std::vector<OperandInfo>& infos = signature(p).operands;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace

void Call::require_signature_dtypes() const {
  const std::vector<OperandInfo>& infos = signature(prim).operands;
  for (size_t i = 0; i < count(); ++i) {
    if (!has(i)) continue;
    const OperandInfo& o = infos[std::min(i, infos.size() - 1)];
    require_shared(o.dtypes.contains(dtype(i)), "_c2: operands are of a dtype that is supported");
    if (o.dtypes == infos[0].dtypes) {
      require_shared(dtype(i) == dtype(0), "_c2: operands of one kind have one dtype");
    }
  }
}

DType Call::result_dtype(size_t result) const {
  std::string_view rule = signature(prim).results[result].dtype;
  bool real = rule.starts_with("real("), complex = rule.starts_with("complex(");
  if (real || complex) rule = rule.substr(rule.find('(') + 1, rule.rfind(')') - rule.find('(') - 1);
  if (auto i = operand_index(prim, rule)) {
    DType t = dtype(*i);
    return real ? real_type(t) : complex ? complex_type(t) : t;
  }
  if (auto t = dtype_from_name(rule)) return *t;
  return attr<DType>(rule);
}

const Attr& Call::find_attr(std::string_view name) const {
  for (const Attr& a : attrs) {
    if (a.name == name) return a;
  }
  fail("attribute '" + std::string(name) + "' is missing");
}

void Call::require_shared(bool ok, const char* suffix_and_rule) const {
  if (!ok) fail(std::string(info(prim).name) + suffix_and_rule);
}

void Call::fail(const std::string& rule) const {
  std::string text = rule + "; in " + std::string(info(prim).name) + "(";
  for (size_t i = 0; i < operands.size(); ++i) {
    text += (i ? ", " : "");
    bool valid = has(i) && operands[i] < graph.value_count();
    text += valid ? type_text(graph, type(i)) : "none";
  }
  throw Error(ErrorCode::internal, text + ")");
}

SymInt Call::fresh_size(const SymInt& bound, size_t result, size_t dim) const {
  SymContext& context = graph.context();
  if (verifying) {
    require_shared(result < existing.size() && dim < graph.type(existing[result]).rank(),
                   "_c0: the result has a run-time size");
    SymInt size = graph.type(existing[result]).shape[dim];
    require_shared(context.as_symbol(size).has_value(), "_c0: a run-time size is a symbol");
    return size;
  }
  return context.symbol("u" + std::to_string(context.symbol_count()), bound.hint(), 0);
}

bool has_rule(Prim p) {
  return rules().find(p) != nullptr;
}

std::vector<ValueType> infer(const Call& call) {
  check_operands(call);
  check_attrs(call);
  Rule rule = rules().find(call.prim);
  if (!rule) call.fail("no inference rule for this primitive");
  return rule(call);
}

std::vector<ValueType> infer(const Graph& graph, Prim prim, std::span<const ValueId> operands,
                             std::span<const Attr> attrs, std::span<const Region> regions) {
  return infer(Call{graph, prim, operands, attrs, regions});
}

bool equal_shapes(const SymInts& a, const SymInts& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}

bool valid_dims(const std::vector<int64_t>& dims, size_t rank) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= static_cast<int64_t>(rank)) return false;
    if (std::find(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i), dims[i]) !=
        dims.begin() + static_cast<std::ptrdiff_t>(i)) {
      return false;
    }
  }
  return true;
}

SymInts without_dims(const SymInts& shape, const std::vector<int64_t>& dims) {
  SymInts out;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) == dims.end()) {
      out.push_back(shape[i]);
    }
  }
  return out;
}

bool is_real(DType t) {
  return !is_complex(t);
}
bool is_index_type(DType t) {
  return t == DType::i64 || t == DType::i32;
}

}  // namespace primset::prims
