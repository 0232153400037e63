// Householder reflectors in blocks (Schreiber and Van Loan, "A storage-efficient WY representation
// for products of Householder transformations"): H_1 H_2 ... H_k = 1 - V T V*, with the reflectors
// as columns of V and an upper triangular T.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_LINALG_REFLECTORS_H_
#define PRIMSET_DECOMPS_PRIMITIVES_LINALG_REFLECTORS_H_

#include "decomps/primitives/linalg/numbers.h"

namespace primset::decomps::linalg {

// How many reflectors make a block.
inline constexpr int64_t kBlockWidth = 32;

// The column a [batch, rows, 1] as beta e_row after a reflection with H*, H = 1 - tau v v*; v is 1
// at `row` and 0 above. tau and beta are [batch, 1, 1].
struct Reflector {
  Numbers v, tau;
  Val beta;  // real
};
Reflector reflector(const Numbers& column, const Val& row);

// Columns of V from a packed factorisation: what is below the diagonal, whose first entry of column
// 0 lies in `first_row`, and ones on it.
Numbers unit_lower(const Numbers& packed, const Val& first_row);

// T of the reflectors V [batch, rows, count] with the factors tau [batch, count].
Numbers triangular_factor(const Numbers& v, const Numbers& tau);

// (1 - V T V*) c, or with adjoint (1 - V T* V*) c.
Numbers reflected(const Numbers& v, const Numbers& factor, const Numbers& c, bool adjoint);

// Q c or Q* c for the packed reflectors v [batch, rows, columns] and tau [batch, count].
Numbers times_q(const Numbers& v, const Numbers& tau, const Numbers& c, bool adjoint);

struct PackedQr {
  Numbers v, tau;
};
PackedQr packed_qr(const Numbers& a);

}  // namespace primset::decomps::linalg

#endif  // PRIMSET_DECOMPS_PRIMITIVES_LINALG_REFLECTORS_H_
