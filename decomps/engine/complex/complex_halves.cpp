#include "decomps/engine/complex/complex_halves.h"

#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/arithmetic.h"

namespace primset::decomps {
namespace {

using specs::Overload;

// An operator that has float8 as well knows nothing of numbers: it moves elements.
bool computes(const Overload& o) {
  return o.implementation.kind != specs::ImplKind::view && o.dtypes.contains(DType::c32) &&
         !o.dtypes.contains(DType::f8_e5m2);
}

std::vector<DType> tensor_dtypes(const Arguments& args) {
  std::vector<DType> out;
  for (const Tracer::Argument& a : args) {
    if (auto* v = std::get_if<Val>(&a.value)) out.push_back(v->dtype());
    if (auto* l = std::get_if<std::vector<Val>>(&a.value)) {
      for (const Val& v : *l) out.push_back(v.dtype());
    }
  }
  return out;
}

// Without promotion operands are of one dtype, which halves must not hide.
void require_one_complex_dtype(const Overload& o, const std::vector<DType>& dtypes) {
  for (DType t : dtypes) {
    require(!is_complex(t) || t == DType::c32, ErrorCode::runtime,
            fmt::format("{}: expected complex tensors of one dtype, got {} and {}", o.op,
                        aten_name(DType::c32), aten_name(t)));
  }
}

// Real operands beside complex halves are halves, too; promotion converts them by itself.
Val widened(const Val& v, bool promotes) {
  if (v.dtype() == DType::c32) return convert(v, DType::c64);
  return v.dtype() == DType::f16 && !promotes ? convert(v, DType::f32) : v;
}

void widen(Tracer::Argument& a, bool promotes) {
  if (auto* v = std::get_if<Val>(&a.value)) *v = widened(*v, promotes);
  if (auto* l = std::get_if<std::vector<Val>>(&a.value)) {
    for (Val& v : *l) v = widened(v, promotes);
  }
  if (auto* t = std::get_if<DType>(&a.value); t && *t == DType::c32) *t = DType::c64;
}

}  // namespace

std::vector<Val> WideComplex::narrowed(std::vector<Val> results) const {
  if (!rounds) return results;
  for (Val& v : results) {
    if (v.dtype() == DType::c64) v = convert(v, DType::c32);
    if (v.dtype() == DType::f32) v = convert(v, DType::f16);
  }
  return results;
}

std::optional<WideComplex> widen_complex_halves(const Overload& o, const Promoted& p,
                                                const Arguments& args) {
  if (!computes(o)) return std::nullopt;
  const std::vector<DType> dtypes = tensor_dtypes(args);
  const std::optional<DType> named = named_dtype(args);
  if (named != DType::c32 && std::ranges::find(dtypes, DType::c32) == dtypes.end())
    return std::nullopt;
  if (!p.any) require_one_complex_dtype(o, dtypes);
  // Where nothing is promoted, the first tensor, whose dtype is common then, may be of indices.
  const bool complex_halves = !p.any || p.common == DType::c32;
  WideComplex wide{args, named ? *named == DType::c32 : complex_halves};
  for (Tracer::Argument& a : wide.args) widen(a, p.any);
  return wide;
}

}  // namespace primset::decomps
