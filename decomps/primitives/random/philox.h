// Philox 4x32-10: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC
// 2011). The 64 bits of a counter are its two low words; the other two are 0, or say which block of
// the same counter is wanted. The key is the seed's two words. Numbers of more than 32 bits take
// the low word first.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_RANDOM_PHILOX_H_
#define PRIMSET_DECOMPS_PRIMITIVES_RANDOM_PHILOX_H_

#include <array>

#include "decomps/engine/decomposition.h"

namespace primset::decomps::philox {

using Words = std::array<Val, 4>;  // u32

// The block of `counter`, whose words go from the lowest up.
Words block(Words counter, Val key0, Val key1);
// The counters offset, offset + 1, ... of 64 bits, as vectors of words.
struct Counters {
  Val low, high;
};
Counters counters_from(Tracer& t, const Val& offset, const SymInt& count);
Words block(const Val& key, const Counters& counters);
// Of 64-bit integers, i64 or u64: element by element.
Words block(const Val& key, const Val& counter);

Val low_word(const Val& x);
Val high_word(const Val& x);
Val shifted_right(const Val& x, int64_t n);
Val shifted_left(const Val& x, int64_t n);
Val joined_words(const Val& low, const Val& high);  // u64

// The n highest bits of one word, or of two for more than 32, as an integer.
Val random_bits(const Val& low, const Val& high, int n);
double power_of_two(int n);

// A uniform number in (0, 1] of type f32 or f64, of all bits of its words, so that the tails reach
// out far; f32 takes the low one alone.
Val positive_uniform(const Val& low, const Val& high, DType type);

// cos(2 pi j / 2^n).
Val cosine_of_turn(const Val& j, int n, DType type);
// A standard normal number of type f32 or f64: Box and Muller (1958), sqrt(-2 log u) cos(2 pi v).
Val standard_normal(const Words& w, DType type);

}  // namespace primset::decomps::philox

#endif  // PRIMSET_DECOMPS_PRIMITIVES_RANDOM_PHILOX_H_
