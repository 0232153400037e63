// Singular values and eigenvalues with ATen's checks and errors, for operators that are made of
// them.
#ifndef PRIMSET_DECOMPS_OPERATORS_LINALG_SPECTRA_H_
#define PRIMSET_DECOMPS_OPERATORS_LINALG_SPECTRA_H_

#include <string>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

struct SingularValues {
  Val u, s, vh;  // u and vh without columns and rows where no vectors are asked for
};
SingularValues singular_values(Tracer& t, const Val& a, bool full, bool vectors);
// What the primitive svd says of a batch, in ATen's words.
void check_singular_values(const Val& info);
// The values alone.
Val singular_values(Tracer& t, const Val& a);

struct HermitianEigen {
  Val values, vectors;
};
HermitianEigen hermitian_eigen(Tracer& t, const Val& a, const std::string& uplo, bool vectors);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_LINALG_SPECTRA_H_
