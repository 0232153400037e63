// What the decompositions of linear algebra are written with: [count, rows, columns] values, their
// blocks at places that loops count up to, and products.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_LINALG_MATRICES_H_
#define PRIMSET_DECOMPS_PRIMITIVES_LINALG_MATRICES_H_

#include <functional>
#include <vector>

#include "decomps/engine/decomposition.h"
#include "decomps/primitives/index_type.h"

namespace primset::decomps::mat {

// Columns of a block, and the order up to which a matrix is one block: a step of the loop over
// columns costs a launch or two, which products of blocks have to be worth.
inline constexpr int64_t kBlock = 32, kOneBlock = 64;

// The dims before the last two, and matrices with these joined to one.
SymInts batch_of(const SymInts& shape);
Val as_matrices(const Val& a);

// The operands of a dynamic slice, which are i64.
std::vector<ValueId> starts(std::initializer_list<Val> numbers);

// The part of x at (0, row, column), which are 0-d of index_type().
Val block(const Val& x, const Val& row, const Val& column, const SymInts& sizes);
Val updated(const Val& x, const Val& part, const Val& row, const Val& column);
Val zero_index(Tracer& t);

// The number of its row, or of its column, for each element of a value of x's shape, of
// index_type().
Val row_numbers(const Val& x);
Val column_numbers(const Val& x);

Val transposed(const Val& a);
Val adjoint(const Val& a);
Val product(const Val& a, const Val& b);
Val identity(Tracer& t, const SymInt& count, const SymInt& order, DType dtype);

// Zeros behind the last row and column, up to these sizes.
Val padded(const Val& a, const SymInt& rows, const SymInt& columns);
// The same with ones on the new part of the diagonal of a square matrix.
Val padded_by_identity(const Val& a, const SymInt& order);
Val cut(const Val& a, const SymInt& rows, const SymInt& columns);

// |x|, or what LAPACK compares complex pivots by: |re| + |im|.
Val pivot_magnitude(const Val& x);

// A value divided by a real one, by its parts.
Val divided(const Val& x, const Val& real_divisor);

// A loop of `count` rounds: the body takes the round's number, 0-d, and the carried values. It
// gives their next values and then `stacked` further ones, which are stacked along a new first dim.
using Body = std::function<std::vector<Val>(const Val&, const std::vector<Val>&)>;
std::vector<Val> loop(Tracer& t, const SymInt& count, const std::vector<Val>& carried,
                      const Body& body, int64_t stacked = 0);

// The first place, from 1, in rows [count, n] at which p holds, or 0, as i32.
Val first_true(const Val& p);

}  // namespace primset::decomps::mat

#endif  // PRIMSET_DECOMPS_PRIMITIVES_LINALG_MATRICES_H_
