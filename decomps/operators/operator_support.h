// What the operators' decompositions share: words of ATen's errors and small shape changes.
#ifndef PRIMSET_DECOMPS_OPERATORS_OPERATOR_SUPPORT_H_
#define PRIMSET_DECOMPS_OPERATORS_OPERATOR_SUPPORT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// "[2, 3]", as error texts show sizes.
std::string shape_text(const SymInts& shape);
std::vector<int64_t> hints_of(const SymInts& sizes);
// "float", "long int": the C++ type, as some error texts spell it.
// The dtype's name in Python without "torch.": "float32".
std::string_view torch_name(DType t);

// NotImplementedError: "kernel" not implemented for 'Bool'.
[[noreturn]] void not_implemented_for(std::string_view kernel, DType t);
void require_real(std::string_view kernel, const Val& x);  // neither bool nor complex

bool is_exact(DType t);  // an integer or bool
// What sums and products are computed of: x as `dtype`, else integers and bool as i64.
Val accumulated(const Val& x, const std::optional<DType>& dtype);

// Looked at where it is known, which may be on the device.
void require_not_negative(Tracer& t, const ScalarArg& number, std::string message);

// The number of a tensor, as one of this dtype: of a complex one its real part, where a real dtype
// takes it; no other part may be lost.
Val real_number(const Val& number, DType dtype);

// Sizes that guards say are equal.
bool equal_sizes(const SymInts& a, const SymInts& b);

// An argument that must have another's sizes: "op: expected grad of input's size [3, 7], ...".
void require_sizes(std::string_view op, std::string_view argument, const Val& v,
                   std::string_view other, const SymInts& sizes);

// x's shape expands to the other; throws as expand() does.
void require_expandable(const SymInts& shape, const SymInts& to);

// An argument of this dtype: "expected scalar type Float but found Double: op takes ...".
void require_dtype(std::string_view op, std::string_view argument, const Val& v, DType dtype);
void require_rank(std::string_view op, std::string_view argument, const Val& v, int64_t rank);

bool is_index(DType t);         // i32 or i64
Val at_least_1d(const Val& x);  // a number as a vector of one
Val flattened(const Val& x);    // in row-major order
Val moved_dim(const Val& x, int64_t from, int64_t to);
Val matrix_transpose(const Val& x);  // the last two dims swapped; below two dims x itself
Val zeros(Tracer& t, const SymInts& shape, DType dtype);
// x cut, or filled with zeros, to `size` along dim 0.
Val resized_front(const Val& x, const SymInt& size);

// Negative indices count from the end; what is out of range either way stays as it is, for the
// error to show.
Val wrapped_index(const Val& index, const SymInt& size);

// The coordinates, one a dim, of places in a row-major array of no size 0. A place that is out of
// range is so in the first coordinate.
std::vector<Val> unraveled(const Val& places, const SymInts& shape);

// Throws unless the index is empty where a dim of x that it goes along is: no kernel is run for a
// result without elements, which could look at it.
void require_nonempty_dim(const Val& x, int64_t dim, const Val& index);
// The same, and where another dim of x is empty the index is looked at by itself: ATen does so
// where it reads, and in index_reduce.
void check_index_of_empty(const Val& x, int64_t dim, const Val& index);

// scatter over dims of x: updates have the indices' shape, then the dims not indexed.
Val scattered(Prim kind, const Val& x, const std::vector<Val>& indices,
              const std::vector<int64_t>& dims, const Val& updates);

// For each place below `size` how many of the bounds, a vector in any order, are not above it: of
// ends the run that has it, of starts that and one more.
Val bounds_up_to(const Val& bounds, const SymInt& size);

std::vector<int64_t> dims_from(int64_t first, int64_t end);  // first, first + 1, ... end - 1

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_OPERATOR_SUPPORT_H_
