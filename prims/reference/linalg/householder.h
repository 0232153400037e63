// QR factorisation by Householder reflectors.
#ifndef PRIMSET_PRIMS_REFERENCE_LINALG_HOUSEHOLDER_H_
#define PRIMSET_PRIMS_REFERENCE_LINALG_HOUSEHOLDER_H_

#include "prims/reference/linalg/dense_matrix.h"

namespace primset::prims::reference {

// `a` becomes R and below it the reflectors, whose factors are returned.
std::vector<Number> factor_qr(DenseMatrix& a);

// Q c or Q* c.
DenseMatrix times_q(const DenseMatrix& packed, const std::vector<Number>& tau, DenseMatrix c,
                    bool adjoint);

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_LINALG_HOUSEHOLDER_H_
