// What the Jacobi methods for singular values and for Hermitian eigenvalues share. A round rotates
// n / 2 disjoint pairs of vectors at once, and n - 1 rounds, a sweep, meet every pair once
// (Brent and Luk, "The solution of singular-value and symmetric eigenvalue problems on
// multiprocessor arrays"): vector i of the first half is paired with vector i of the second, and
// between rounds all but the first move on by one seat, as players in a round-robin tournament do.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_LINALG_JACOBI_H_
#define PRIMSET_DECOMPS_PRIMITIVES_LINALG_JACOBI_H_

#include "decomps/primitives/linalg/numbers.h"

namespace primset::decomps::linalg {

inline constexpr int64_t kMostSweeps = 40;

// n made even: a vector of zeros is paired where one is left over, and stays at the end.
SymInt even_count(const SymInt& n);

// The rotations of [pairs, batch] vectors x_i and y_i:
//   x' = cosine x - conj(sine) y,  y' = cosine y + sine x.
struct Rotations {
  Val cosine;    // real
  Numbers sine;  // with the phase of the product
  Val any;       // 0-d: is any of them none of nothing?
};

// Makes pairs orthogonal whose own products are a and b and whose product is x* y = g, where
// `wanted`; elsewhere nothing is rotated.
Rotations rotations(const Val& a, const Val& b, const Numbers& g, const Val& wanted);

// Where each of n vectors comes from when all move on, and which vector it was paired with: [n].
struct Seats {
  Val from, partner, pair;
  Val in_first_half;
};
Seats seats(Tracer& t, const SymInt& n);

// For each of n vectors after they moved on, [n, batch], the factors of itself and its partner.
struct Factors {
  Val own;  // real
  Numbers partner;
};
Factors factors(const Rotations& r, const Seats& s);

// x[index, ...] along dim 0.
Numbers rows(const Numbers& x, const Val& index);

// Vectors [n, batch, length] rotated and moved on.
Numbers rotated(const Numbers& vectors, const Factors& f, const Seats& s);

// The vectors x [n, batch, length] in the order that puts `keys` [n, batch] in order, and the keys.
struct Ordered {
  Val keys;
  Numbers vectors;
};
Ordered ordered(const Val& keys, const Numbers& vectors, bool descending);

// [n, batch, length]: ones where both indices are equal, in the dtype of `like`.
Numbers identity_rows(const Numbers& like, const SymInt& n, const SymInt& batch);

}  // namespace primset::decomps::linalg

#endif  // PRIMSET_DECOMPS_PRIMITIVES_LINALG_JACOBI_H_
