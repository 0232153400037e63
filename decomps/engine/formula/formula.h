// Evaluates a formula of the spec bundle over traced values.
#ifndef PRIMSET_DECOMPS_ENGINE_FORMULA_FORMULA_H_
#define PRIMSET_DECOMPS_ENGINE_FORMULA_FORMULA_H_

#include <vector>

#include "decomps/engine/apply.h"
#include "specs/bundle/formula.h"

namespace primset::decomps {

struct FormulaInput {
  const specs::Formula& formula;
  Arguments args;              // by index of the formula's arguments
  std::vector<bool> optional;  // arguments whose presence a condition tests
  // The dtype of literals without a value beside them, and the dtype that op:: calls round to.
  DType compute = DType::f32, storage = DType::f32;
  SymInts shape;  // results of lower rank are broadcast to it
};

std::vector<Val> evaluate(Tracer& t, const FormulaInput& input);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_FORMULA_FORMULA_H_
