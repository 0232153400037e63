// complex32 is computed in complex64 and rounded once, as half types are in f32: arguments are
// converted before an operator runs, and its results after.
#ifndef PRIMSET_DECOMPS_ENGINE_COMPLEX_COMPLEX_HALVES_H_
#define PRIMSET_DECOMPS_ENGINE_COMPLEX_COMPLEX_HALVES_H_

#include <optional>
#include <vector>

#include "decomps/engine/apply.h"
#include "specs/bundle/operator.h"

namespace primset::decomps {

struct WideComplex {
  Arguments args;
  bool rounds = true;  // false: the call gives its results a wider dtype

  // The results in complex halves, real ones in halves.
  std::vector<Val> narrowed(std::vector<Val> results) const;
};

// The arguments in c64; none where there is nothing to widen, or the operator moves elements and
// computes nothing.
std::optional<WideComplex> widen_complex_halves(const specs::Overload& overload,
                                                const Promoted& promoted, const Arguments& args);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_COMPLEX_COMPLEX_HALVES_H_
