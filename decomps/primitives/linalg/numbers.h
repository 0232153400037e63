// Arrays of real numbers, or of complex ones by their parts, so that an algorithm is written once
// for both: core primitives and the values that loops carry are real.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_LINALG_NUMBERS_H_
#define PRIMSET_DECOMPS_PRIMITIVES_LINALG_NUMBERS_H_

#include <functional>
#include <optional>
#include <vector>

#include "decomps/engine/decomposition.h"
#include "decomps/primitives/index_type.h"

namespace primset::decomps::linalg {

struct Numbers {
  Val re;
  std::optional<Val> im;  // none: real numbers

  bool is_complex() const { return im.has_value(); }
  Tracer& tracer() const { return re.tracer(); }
  SymInts shape() const { return re.shape(); }
};

Numbers parts_of(const Val& a);
Val joined_parts(const Numbers& a);

// f of each part, or of each part of a and b.
Numbers each(const Numbers& a, const std::function<Val(const Val&)>& f);
Numbers each(const Numbers& a, const Numbers& b,
             const std::function<Val(const Val&, const Val&)>& f);

// Elementwise, broadcasting as Vals do. Products are plain sums of products, without C99's rules
// for infinities.
Numbers operator+(const Numbers& a, const Numbers& b);
Numbers operator-(const Numbers& a, const Numbers& b);
Numbers operator-(const Numbers& a);
Numbers operator*(const Numbers& a, const Numbers& b);
Numbers operator*(const Numbers& a, const Val& real);
Numbers operator/(const Numbers& a, const Val& real);
Numbers conj(const Numbers& a);
Numbers where(const Val& p, const Numbers& a, const Numbers& b);
Numbers where_or_zero(const Val& p, const Numbers& a);
Numbers zeros_like(const Numbers& a);
Numbers real_numbers(const Val& re, bool complex);  // imaginary parts of 0 where complex
Val magnitude(const Numbers& a);                    // without overflow in between
Val squared_magnitude(const Numbers& a);
Numbers sum(const Numbers& a, int64_t dim);
// a / |a|, and 1 of 0, where |a| is given.
Numbers phase(const Numbers& a, const Val& modulus);

// With zeros behind dim, up to the size.
Numbers padded(const Numbers& x, int64_t dim, const SymInt& size);

// Of matrices in a batch, [batch, rows, columns].
Numbers matrix_product(const Numbers& a, const Numbers& b);
Numbers transposed(const Numbers& a);
Numbers adjoint(const Numbers& a);
Val index_constant(Tracer& t, const SymInt& v);  // of index_type(), 0-d
Val row_index(const Val& like);                  // of index_type(), [1, rows, 1]
Val column_index(const Val& like);               // of index_type(), [1, 1, columns]

// The part of x of these sizes that begins at `starts`, 0-d values, and x with it replaced.
Numbers block(const Numbers& x, const std::vector<Val>& starts, const SymInts& sizes);
Numbers with_block(const Numbers& x, const Numbers& part, const std::vector<Val>& starts);

// Loops whose bodies see what is outside. The body of for_loop takes the 0-d index and the
// carried values, and gives the next ones, then `stacked` values a round.
using Values = std::vector<Val>;
Values for_loop(Tracer& t, const SymInt& count, const Values& carried,
                const std::function<Values(const Val& index, const Values&)>& body,
                int64_t stacked = 0);
Values while_loop(Tracer& t, const Values& carried, const std::function<Val(const Values&)>& go_on,
                  const std::function<Values(const Values&)>& body);

// Numbers among the values that a loop carries.
void append(Values& values, const Numbers& a);
Numbers take(const Values& values, size_t& next, bool complex);

// Unit roundoff times 2 of a real dtype.
double epsilon(DType t);

// What numbers as great as `greatest` are divided by so that their squares neither overflow nor
// vanish: 1 but for numbers far from 1.
Val scale_against_overflow(const Val& greatest);

// [batch..., rows, columns] as [batch, rows, columns], and back.
Val in_one_batch(const Val& a);
Val in_batches(const Val& a, const SymInts& batch);
SymInts batch_dims(const Val& matrices);

}  // namespace primset::decomps::linalg

#endif  // PRIMSET_DECOMPS_PRIMITIVES_LINALG_NUMBERS_H_
