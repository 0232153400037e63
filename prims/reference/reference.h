// The reference interpreter: what each primitive means, written for reading, slow on purpose.
// Conformance compares devices with it.
//
// Numbers. Floating values are carried in long double (64 or 113 bits of mantissa) together with a
// bound of the error that a correct device may have made by then:
//   exact result r, device result d: |r - d| <= error.
// `convert` and every rounding the graph states are applied to the value itself (a value of dtype
// f16 is representable in f16). Each primitive adds its own tolerance (specs/prims) to the bound it
// inherits from its operands; discontinuous primitives (floor, comparison, argmax, sort ...) whose
// operands' bounds straddle a jump mark the element as undecided. Integers and bools are exact.
#ifndef PRIMSET_PRIMS_REFERENCE_REFERENCE_H_
#define PRIMSET_PRIMS_REFERENCE_REFERENCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::prims::reference {

// One number of any dtype.
struct Element {
  long double re = 0, im = 0;  // floating and complex dtypes
  int64_t integer = 0;         // integer dtypes (u64 as its bit pattern) and bool
  long double error = 0;       // bound of |device - this|; for complex of the modulus
  bool undecided = false;      // any value is acceptable
};

// A dense row-major array.
struct Array {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<Element> data;

  int64_t size() const;
};

// Reads and writes packed row-major memory of the dtype.
Array from_bytes(DType dtype, std::vector<int64_t> shape, std::span<const std::byte> bytes);
std::vector<std::byte> to_bytes(const Array& array);  // rounds to nearest even

struct CheckFailure {
  std::string code, message;
  Element value;
};

struct Result {
  std::vector<Array> outputs;
  std::vector<CheckFailure> failures;  // `check`s that did not hold, first of each node
};

// In what a device may deviate from the reference: it goes into the error bounds.
struct PermittedDeviations {
  // f32 denormals that an operation gives may become zeros, and count as such in sums and products.
  bool flush_f32 = false;
};

// Whether run() computes this derived primitive itself, by its definition. The others must be
// decomposed before.
bool defines(Prim derived);

// inputs follow graph.inputs (scalar inputs are rank-0 arrays); symbols are the values of the
// graph's symbols. Throws Error{internal} for a graph that does not verify.
Result run(const Graph& graph, std::span<const Array> inputs, std::span<const int64_t> symbols,
           PermittedDeviations deviations = {});

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_REFERENCE_H_
