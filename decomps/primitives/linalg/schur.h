// The Schur form of general matrices: A = Z T Z* with a unitary Z and an upper triangular T, both
// complex.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_LINALG_SCHUR_H_
#define PRIMSET_DECOMPS_PRIMITIVES_LINALG_SCHUR_H_

#include "decomps/primitives/linalg/numbers.h"

namespace primset::decomps::linalg {

// [batch, 2 n, n]: a matrix that A is similar to, and below it the unitary matrix that makes it so.
struct Similar {
  Numbers both;
  SymInt n;
  Numbers matrix() const;
  Numbers unitary() const;
};

// Upper Hessenberg form by reflectors.
Similar hessenberg(const Numbers& a);

struct Schur {
  Similar form;
  Val unfinished;  // [batch], of index_type(): how many eigenvalues are not found, 0 where all are
};
Schur schur(const Numbers& a);

}  // namespace primset::decomps::linalg

#endif  // PRIMSET_DECOMPS_PRIMITIVES_LINALG_SCHUR_H_
