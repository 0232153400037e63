#include <algorithm>
#include <bit>
#include <optional>

#include "conformance/cases/ids/filter.h"
#include "conformance/cases/inputs/case_text.h"
#include "conformance/cases/tables/primitive_tables.h"
#include "conformance/cases/tables/recipe.h"
#include "prims/graph/graph.h"

namespace primset::conformance {
namespace {

using specs::Primitive;

// What an operand must be when the table does not say: T where it may be, else what it only can be.
std::string operand_dtype(const specs::Operand& operand, DType t) {
  if (operand.dtypes.empty() || operand.dtypes.contains(t)) return "T";
  for (DType other : {DType::boolean, DType::i64, DType::f32}) {
    if (operand.dtypes.contains(other)) return std::string(name(other));
  }
  return "T";
}

// "?=T[3]" becomes one item for each operand.
std::string spread(std::string_view text, const Primitive& primitive, DType t) {
  if (!text.starts_with("?=T")) return std::string(text);
  std::string out;
  for (const specs::Operand& operand : primitive.operands) {
    out += (out.empty() ? "" : " ") + operand.name + "=" + operand_dtype(operand, t);
    out += text.substr(3);
  }
  return out;
}

bool names_something(const Primitive& p, std::string_view item) {
  auto named = [&](const auto& x) { return x.name == item; };
  return std::any_of(p.operands.begin(), p.operands.end(), named) ||
         std::any_of(p.attributes.begin(), p.attributes.end(), named);
}

// Does the text give just what the primitive takes?
bool fits(const Primitive& p, const CaseText& text) {
  for (const TextItem& item : text.items) {
    if (!names_something(p, item.name)) return false;
  }
  for (const specs::Operand& o : p.operands) {
    if (!o.optional && !text.find(o.name)) return false;
  }
  for (const specs::Attribute& a : p.attributes) {
    if (!a.default_value.present() && !text.find(a.name)) return false;
  }
  return true;
}

// Reductions and scans over NaN make no difference for dtypes without one.
bool is_pointless(const PrimitiveRow& row, DType t) {
  bool has_nan = is_floating(t) || is_complex(t);
  return !has_nan && row.name.starts_with("nan");
}

const std::vector<PrimitiveRow>& all_rows() {
  static const std::vector<PrimitiveRow> rows = [] {
    std::vector<PrimitiveRow> out;
    for (auto table :
         {elementwise_rows(), shape_rows(), reduction_rows(), indexing_rows(), contraction_rows(),
          network_primitive_rows(), fft_primitive_rows(), region_rows(), random_rows(),
          spatial_rows(), spectra_rows(), sparse_primitive_rows()}) {
      out.insert(out.end(), table.begin(), table.end());
    }
    return out;
  }();
  return rows;
}

bool applies(const PrimitiveRow& row, const Primitive& primitive) {
  return glob_matches(row.primitives, primitive.category + "/" + primitive.name);
}

// Non-contiguous inputs, for one representative shape: which the runtime folds or makes contiguous.
constexpr LayoutKind kLayouts[] = {LayoutKind::transposed, LayoutKind::strided, LayoutKind::offset,
                                   LayoutKind::padded, LayoutKind::expanded};

}  // namespace

std::vector<DType> primitive_dtypes(const Primitive& primitive) {
  DTypeSet set;
  bool by_attribute = false;
  for (const specs::Attribute& a : primitive.attributes) {
    by_attribute = by_attribute || a.name == "dtype";
  }
  // T stands for the first operand that may have several dtypes, indices (i32, i64) apart.
  for (const specs::Operand& o : primitive.operands) {
    if (std::popcount(set.mask()) <= 2 &&
        std::popcount(o.dtypes.mask()) > std::popcount(set.mask())) {
      set = o.dtypes;
    }
  }
  DTypeSet numbers{DType::u8,  DType::i8,  DType::i16, DType::i32,     DType::i64,
                   DType::f16, DType::f32, DType::f64, DType::boolean, DType::bf16};
  const std::optional<prims::Prim> prim = prims::prim_from_name(primitive.name);
  if (primitive.traits.pattern == specs::OpPattern::random && by_attribute) {
    bool integers = prim == prims::Prim::random_integers;
    set = integers ? DTypeSet{DType::i32, DType::i64}
                   : DTypeSet{DType::f16, DType::bf16, DType::f32, DType::f64};
  } else if (primitive.operands.empty() || primitive.regions > 0) {
    set = numbers;
  }
  std::vector<DType> out;
  for (int code = 0; code < kDTypeCodes; ++code) {
    auto t = static_cast<DType>(code);
    bool counts = prim != prims::Prim::iota || !is_bool(t);
    if (info(t).bits != 0 && set.contains(t) && counts) out.push_back(t);
  }
  return out;
}

std::vector<Recipe> primitive_recipes(const Primitive& primitive, DType dtype) {
  std::vector<Recipe> out;
  for (const PrimitiveRow& row : all_rows()) {
    if (!applies(row, primitive) || is_pointless(row, dtype)) continue;
    std::string text = spread(row.text, primitive, dtype);
    bool graph = text.starts_with("graph");
    if (!graph && !fits(primitive, CaseText::parse(text))) continue;
    out.push_back({std::string(row.name), LayoutKind::contiguous, row.tier, text, false});
    bool representative = row.name == "matrix" || row.name == "last_dim" || row.name == "plain";
    if (graph || !representative) continue;
    for (LayoutKind layout : kLayouts) {
      out.push_back({std::string(row.name), layout, CaseTier::standard, text, false});
    }
  }
  return out;
}

}  // namespace primset::conformance
