// The values that cases are made of.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_VALUES_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_VALUES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/inputs/rng.h"
#include "prims/reference/reference.h"
#include "primset/dtype.h"

namespace primset::conformance {

using prims::reference::Array;
using prims::reference::Element;

// Where mistakes hide: zeros of both signs, ones, the ends of the range, denormals, infinities and
// NaN of floating dtypes; the ends and the neighbours of zero of integers.
std::vector<Element> interesting_values(DType t);

// How a tensor is filled, as case texts name it in braces: T[5]{special}.
struct Fill {
  enum class Kind {
    normal,         // default: a mix of magnitudes around 1, of both signs
    range,          // {2..5} in [2, 5), uniform; integers meet the ends, 0 and -1 where they fit
    special,        // interesting_values in order, repeated; then normal ones
    special_outer,  // interesting_values, one a row of the last two dims: with special_inner in the
    special_inner,  // other operand every pair of them meets
    positive,       // normal, without signs and zeros
    unit,           // in (0, 1)
    nan,            // normal, with a NaN at every third place
    ties,           // few distinct values, so that sorts and argmax meet equal ones
    distinct,       // no two are equal: a shuffled arithmetic sequence
    ordered,        // ascending along the last dim
    counted,        // 0 .. n - 1 in order
    permutation,    // 0 .. n - 1 in random order
    wrapped,        // the same as indices, every other of them counted from the end: i - n
    spd,            // a symmetric (Hermitian) positive definite matrix in the last two dims
    triangular,     // lower triangular with a dominant diagonal, in the last two dims
    zeros,
    ones,
    list,  // {0,2,3}: these numbers, in turn
    bits,  // uniformly random bit patterns, floating ones finite
  };
  Kind kind = Kind::normal;
  double low = 0, high = 0;          // range
  std::vector<double> numbers = {};  // list
  bool nonzero = false;              // "!0": ones stand where zeros would
  bool nans = false;                 // "+nan": NaN at some places of floating dtypes

  // "special", "2..5", "normal!0", "0..7+nan"; throws Error{value}.
  static Fill parse(std::string_view text);
};

// A dense row-major array of random values; every one of them is representable in the dtype.
Array fill(Rng& rng, DType dtype, std::vector<int64_t> shape, const Fill& fill);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_VALUES_H_
