// How far a result may be from the exact one.
#ifndef PRIMSET_SPECS_BUNDLE_TOLERANCE_H_
#define PRIMSET_SPECS_BUNDLE_TOLERANCE_H_

#include <cstdint>
#include <vector>

#include "primset/dtype.h"

namespace primset::specs {

enum class ToleranceKind : uint8_t {
  exact,       // the same bits, any NaN for a NaN
  rounded,     // the exact value, rounded once to nearest even: 0.5 ulp
  ulp,         // within `number` units in the last place of the result's dtype
  absolute,    // within `number`
  accumulate,  // `number` times the bound of adding K terms in the compute dtype, K from the shape
};

struct Tolerance {
  ToleranceKind kind = ToleranceKind::exact;
  double number = 0;

  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

struct ToleranceRule {
  DTypeSet dtypes;
  Tolerance tolerance;

  friend bool operator==(const ToleranceRule&, const ToleranceRule&) = default;
};

// The tolerance for `t`: the first rule that names it; exact when none does.
inline Tolerance tolerance_for(const std::vector<ToleranceRule>& rules, DType t) {
  for (const ToleranceRule& rule : rules) {
    if (rule.dtypes.contains(t)) return rule.tolerance;
  }
  return {};
}

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_TOLERANCE_H_
