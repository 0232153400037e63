// Measures the math library's functions against the C library's long double ones.
#ifndef PRIMSET_CODEGEN_KERNEL_MATH_TESTING_ACCURACY_H_
#define PRIMSET_CODEGEN_KERNEL_MATH_TESTING_ACCURACY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/kernel/math/testing/function_runs.h"

namespace primset::kir::math_test {

// A function of one or two arguments, its reference and its bounds in ULP.
struct Case {
  std::string name;
  int arguments = 1;
  Function function;
  long double (*reference)(long double, long double) = nullptr;
  double bound_f32 = 0, bound_f64 = 0;
};
const std::vector<Case>& cases();

struct Worst {
  double ulp = 0;
  std::vector<double> at;
  double got = 0;
  long double expected = 0;
};
std::string to_string(const Worst& worst);

// The distance of `got` (an f32 or f64 value) from the exact result, in units in the last place of
// the type at that result; infinity where one is NaN and the other is not. Infinity stands one unit
// past the largest finite value.
double ulp_error(Scalar type, double got, long double expected);
// The same on a device: 0 for the zero that it takes a denormal for.
double ulp_error(const Device& device, Scalar type, double got, long double expected);

double as_double(Scalar type, uint64_t bits);

// arguments: bit patterns, one array an argument. references: see reference_values().
Worst measure(const Device& device, const Case& c, Scalar type, uint16_t lanes,
              const std::vector<std::vector<uint64_t>>& arguments,
              const std::vector<long double>& references);
std::vector<long double> reference_values(const Case& c, Scalar type,
                                          const std::vector<std::vector<uint64_t>>& arguments);

}  // namespace primset::kir::math_test

#endif  // PRIMSET_CODEGEN_KERNEL_MATH_TESTING_ACCURACY_H_
