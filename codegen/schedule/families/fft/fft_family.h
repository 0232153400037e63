// The family of complex Fourier transforms along one dim, of lengths that are products of 2, 3, 5
// and 7. What is along several dims, real, or of another length is decomposed into such.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& fft_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_FFT_FAMILY_H_
