// Orthogonal factorisations, eigenvalues and singular values. Orders above 32 take blocks.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr PrimitiveRow kRows[] = {
    {"linalg/qr", "plain", kSmoke, "a=T[5,5]"},
    {"linalg/qr", "tall", kStandard, "a=T[2,7,4]"},
    {"linalg/qr", "wide", kStandard, "a=T[4,7]"},
    {"linalg/qr", "column", kStandard, "a=T[6,1]"},
    {"linalg/qr", "one", kStandard, "a=T[3,1,1]"},
    {"linalg/qr", "of_zeros", kStandard, "a=T[4,3]{zeros}"},
    {"linalg/qr", "rank_one", kStandard, "a=T[4,3]{ones}"},
    {"linalg/qr", "large", kStandard, "a=T[70,40]"},
    {"linalg/qr", "large_wide", kStandard, "a=T[2,37,50]"},
    {"linalg/qr", "empty", kStandard, "a=T[3,0]"},
    {"linalg/householder_product", "plain", kSmoke, "v=T[5,3] tau=T[3]{unit}"},
    {"linalg/householder_product", "fewer", kStandard, "v=T[2,5,4] tau=T[2,2]{unit}"},
    {"linalg/householder_product", "none", kStandard, "v=T[5,4] tau=T[0]"},
    {"linalg/householder_product", "large", kStandard, "v=T[45,40]{-0.1..0.1} tau=T[40]{unit}"},
    {"linalg/apply_reflectors", "plain", kSmoke, "v=T[5,3] tau=T[3]{unit} c=T[5,4]"},
    {"linalg/apply_reflectors", "adjoint", kStandard,
     "v=T[5,3] tau=T[3]{unit} c=T[5,4] adjoint=true"},
    {"linalg/apply_reflectors", "right", kStandard,
     "v=T[2,5,3] tau=T[2,3]{unit} c=T[2,4,5] left=false"},
    {"linalg/apply_reflectors", "right_adjoint", kStandard,
     "v=T[5,3] tau=T[3]{unit} c=T[4,5] left=false adjoint=true"},
    {"linalg/apply_reflectors", "large", kStandard,
     "v=T[45,40]{-0.1..0.1} tau=T[40]{unit} c=T[45,3]"},
    {"linalg/apply_reflectors", "large_adjoint", kStandard,
     "v=T[45,40]{-0.1..0.1} tau=T[40]{unit} c=T[45,3] adjoint=true"},
    {"linalg/svd", "plain", kSmoke, "a=T[5,5]"},
    {"linalg/svd", "tall", kStandard, "a=T[2,7,4]"},
    {"linalg/svd", "wide", kStandard, "a=T[4,7]"},
    {"linalg/svd", "full", kStandard, "a=T[7,4] full=true"},
    {"linalg/svd", "full_wide", kStandard, "a=T[3,6] full=true"},
    {"linalg/svd", "values", kStandard, "a=T[2,6,5] vectors=false"},
    {"linalg/svd", "one", kStandard, "a=T[3,1,1]"},
    {"linalg/svd", "of_zeros", kStandard, "a=T[4,3]{zeros}"},
    {"linalg/svd", "rank_one", kStandard, "a=T[4,6]{ones}"},
    {"linalg/svd", "large", kStandard, "a=T[40,33]"},
    {"linalg/svd", "empty", kStandard, "a=T[3,0] full=true"},
    {"linalg/eigh", "plain", kSmoke, "a=T[5,5]"},
    {"linalg/eigh", "batch", kStandard, "a=T[3,4,4]"},
    {"linalg/eigh", "definite", kStandard, "a=T[6,6]{spd}"},
    {"linalg/eigh", "values", kStandard, "a=T[2,5,5] vectors=false"},
    {"linalg/eigh", "one", kStandard, "a=T[3,1,1]"},
    {"linalg/eigh", "of_zeros", kStandard, "a=T[4,4]{zeros}"},
    {"linalg/eigh", "rank_one", kStandard, "a=T[5,5]{ones}"},
    {"linalg/eigh", "large", kStandard, "a=T[33,33]"},
    {"linalg/eigh", "empty", kStandard, "a=T[2,0,0]"},
    {"linalg/eig", "plain", kSmoke, "a=T[5,5]"},
    {"linalg/eig", "batch", kStandard, "a=T[3,4,4]"},
    {"linalg/eig", "hermitian", kStandard, "a=T[6,6]{spd}"},
    {"linalg/eig", "triangular", kStandard, "a=T[5,5]{triangular}"},
    {"linalg/eig", "values", kStandard, "a=T[2,5,5] vectors=false"},
    {"linalg/eig", "one", kStandard, "a=T[3,1,1]"},
    {"linalg/eig", "two", kStandard, "a=T[3,2,2]"},
    {"linalg/eig", "of_zeros", kStandard, "a=T[4,4]{zeros}"},
    {"linalg/eig", "rank_one", kStandard, "a=T[5,5]{ones}"},
    {"linalg/eig", "large", kStandard, "a=T[20,20]"},
    {"linalg/eig", "empty", kStandard, "a=T[2,0,0]"},
};

}  // namespace

std::span<const PrimitiveRow> spectra_rows() {
  return kRows;
}

}  // namespace primset::conformance
