// Discrete Fourier transforms. A length that is a product is split into two shorter transforms with
// a multiplication in between (Cooley and Tukey 1965, in the four steps of Bailey 1990); a short
// one is a product with its matrix, and a long prime one a convolution (Bluestein 1970), which is
// made of transforms of a power of two. The parts are transforms again, so that a device computes
// those that it can. Transforms of real values of even length are complex ones of half the length.
//
// The length of a transform decides how it is split, and so is part of the plan; all other sizes
// are symbols.
#include "decomps/primitives/fft.h"

#include <algorithm>
#include <bit>
#include <numbers>
#include <span>

#include "decomps/primitives/elementwise/complex_parts.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

using math::joined;
using math::Parts;
using math::parts;
using Ints = std::vector<int64_t>;

// --- roots of unity ---

// What indices and their products are counted in, below 16 n^2: f64 where that is fast and exact,
// since vectors have no quotients of integers.
DType counting_type(Tracer& t, int64_t n) {
  return t.device().fast_f64 && n < int64_t{1} << 24 ? DType::f64 : DType::i64;
}

Val quotient(const Val& a, int64_t n) {
  if (a.dtype() == DType::i64) return a / Scalar(n);
  // Of numbers so small the rounded quotient is no greater integer than the exact one.
  return unary(Prim::floor, a / Scalar(static_cast<double>(n)));
}

Val count_of(const Val& like, int64_t n) {
  return full_like(like, like.dtype() == DType::i64 ? Scalar(n) : Scalar(static_cast<double>(n)));
}

Val modulo(const Val& a, int64_t n) {
  return a - quotient(a, n) * count_of(a, n);
}

// cos and sin of 2 pi k / n, for integers 0 <= k < n. The angle is brought into [0, pi / 4] in
// integers, which are exact: of the eighth of the circle that it lies in, odd ones are walked
// backwards.
Parts root_of_unity(const Val& k, int64_t n, DType part) {
  Tracer& t = k.tracer();
  const Val turned = k * count_of(k, 8), whole = quotient(turned, n);
  const Val into = turned - whole * count_of(k, n), eighth = convert(whole, DType::i32);
  const auto has = [&](int64_t add, int64_t bit) {
    return ne((eighth + Scalar(add)) & full_like(eighth, bit), Scalar(0));
  };
  const Val folded = where(has(0, 1), count_of(k, n) - into, into);
  const DType wide = t.device().fast_f64 ? DType::f64 : part;
  const Val fraction = convert(folded, wide) / Scalar(static_cast<double>(n));
  const Val angle = fraction * Scalar(std::numbers::pi / 4);
  const Val c = math::cos(angle), s = math::sin(angle);
  const Val swapped = has(1, 2), left = has(2, 4), below = has(0, 4);
  const Val x = where(swapped, s, c), y = where(swapped, c, s);
  return {convert(where(left, -x, x), part), convert(where(below, -y, y), part)};
}

Parts conjugate_if(bool backward, const Parts& z) {
  return {z.re, backward ? z.im : -z.im};
}

// e^(-2 pi i k / n), and backward its conjugate.
Parts twiddle(const Val& k, int64_t n, DType part, bool forward) {
  return conjugate_if(!forward, root_of_unity(k, n, part));
}

// Without C99's care for infinities, which transforms make no promise about.
Parts times(const Parts& a, const Parts& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// --- the parts of a transform: x is [outer, n, inner] ---

Val transformed(const Val& x, int64_t dim, bool forward) {
  return x.tracer().prim1(Prim::fft_c2c, {x}, {{"dims", Ints{dim}}, {"forward", forward}});
}

Val dot(const Val& a, const Val& b, const Ints& a_contract, const Ints& b_contract) {
  Tracer& t = a.tracer();
  return t.wrap(t.builder().dot_general(a.id(), b.id(), a_contract, b_contract, {}, {}, a.dtype()));
}

// The product with the matrix of roots of unity, real and imaginary parts below each other.
Val by_matrix(const Val& x, int64_t n, bool forward) {
  Tracer& t = x.tracer();
  const SymInts square = {n, n}, shape = x.shape();
  const DType count = counting_type(t, n);
  const Val power = t.iota(square, 0, count) * t.iota(square, 1, count);
  const Parts w = twiddle(modulo(power, n), n, real_type(x.dtype()), forward), z = parts(x);
  const Val matrix = concatenate({concatenate({w.re, -w.im}, 1), concatenate({w.im, w.re}, 1)}, 0);
  const Val y = dot(matrix, concatenate({z.re, z.im}, 1), {1}, {1});
  const auto half = [&](int64_t first) {
    return transpose(slice(y, 0, first, first + n, 1), {1, 0, 2});
  };
  return complex(half(0), half(n));
}

// Of length n1 n2, with j = j1 n2 + j2 and k = k2 n1 + k1: transforms over j1, a multiplication by
// the root of unity to the power j2 k1, transforms over j2, and a transposition.
Val by_split(const Val& x, int64_t n1, int64_t n2, bool forward) {
  Tracer& t = x.tracer();
  const SymInts shape = x.shape(), grid = {n1, n2};
  const Val square = reshape(x, {shape[0], n1, n2, shape[2]});
  const DType count = counting_type(t, n1 * n2);
  const Val power = t.iota(grid, 0, count) * t.iota(grid, 1, count);
  const Parts w = twiddle(power, n1 * n2, real_type(x.dtype()), forward);
  const auto along = [&](const Val& v) { return reshape(v, {1, n1, n2, 1}); };
  const Parts turned = times(parts(transformed(square, 1, forward)), {along(w.re), along(w.im)});
  const Val y = transformed(joined(turned), 2, forward);
  return reshape(transpose(y, {0, 2, 1, 3}), shape);
}

Val padded_to(const Val& x, int64_t n) {
  Tracer& t = x.tracer();
  const Val nothing = t.constant(Scalar(0.0), x.dtype());
  return t.wrap(t.builder().pad(x.id(), nothing.id(), {0, 0, 0}, {0, n - x.size(1), 0}, {0, 0, 0}));
}

// With j k = (j^2 + k^2 - (k - j)^2) / 2 the transform is a convolution with the chirp
// e^(pi i j^2 / n) between multiplications with its conjugate. The convolution goes around after m
// elements, which are enough for those that are looked at.
Val by_convolution(const Val& x, int64_t n, bool forward) {
  Tracer& t = x.tracer();
  const auto m = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
  const DType part = real_type(x.dtype());
  const auto chirp = [&](const Val& j) {
    return twiddle(modulo(j * j, 2 * n), 2 * n, part, forward);
  };
  const DType count = counting_type(t, 2 * n);
  const Val j = t.iota({1, n, 1}, 1, count), around = t.iota({1, m, 1}, 1, count);
  const Val distance = binary(Prim::min, around, count_of(around, m) - around);
  const Val near = lt(distance, count_of(distance, n));
  const Parts far = conjugate_if(false, chirp(where(near, distance, count_of(distance, 0))));
  const Val nothing = math::number(far.re, 0.0);
  const Val kernel = complex(where(near, far.re, nothing), where(near, far.im, nothing));
  const Parts own = chirp(j);
  const Val signal = transformed(padded_to(joined(times(parts(x), own)), m), 1, true);
  const Val product = joined(times(parts(signal), parts(transformed(kernel, 1, true))));
  const Val y = slice(transformed(product, 1, false), 1, 0, n, 1);
  const Scalar scale(1.0 / static_cast<double>(m));
  return joined(times(parts(y), {own.re * scale, own.im * scale}));
}

// --- how a length is split ---

constexpr int64_t kLongestMatrix = 32, kLongestPrimeMatrix = 64;

int64_t largest_prime_factor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return std::max(largest, n);
}

// The divisor next to the square root of n from below; of a length with a prime factor of more than
// one digit that factor, so that the rest is left to what computes smooth lengths.
int64_t first_part(int64_t n) {
  const int64_t prime = largest_prime_factor(n);
  if (prime > 7 && prime < n) return prime;
  int64_t best = 1;
  for (int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) best = d;
  }
  return best;
}

// x is [outer, n, inner].
Val line_transform(const Val& x, int64_t n, bool forward) {
  if (n == 1) return x;
  const int64_t part = first_part(n);
  if (n <= kLongestMatrix || (part == 1 && n <= kLongestPrimeMatrix))
    return by_matrix(x, n, forward);
  return part == 1 ? by_convolution(x, n, forward) : by_split(x, part, n / part, forward);
}

Val line_transform_along(const Val& x, int64_t dim, bool forward) {
  const SymInts shape = x.shape();
  const auto at = shape.begin() + dim;
  const int64_t n = at->specialize();
  const SymInt outer = prims::product(std::span(shape.begin(), at)),
               inner = prims::product(std::span(at + 1, shape.end()));
  if (n < 2) return x;
  return reshape(line_transform(reshape(x, {outer, n, inner}), n, forward), shape);
}

// --- real transforms ---

Val reversed(const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().reverse(x.id(), {dim}));
}

// [1, ..., size, ..., 1], counting along dim.
Val count_along_dim(const Val& like, int64_t dim, int64_t size) {
  Tracer& t = like.tracer();
  SymInts shape(static_cast<size_t>(like.rank()), SymInt(1));
  shape[static_cast<size_t>(dim)] = size;
  return t.iota(shape, dim, counting_type(t, 2 * size));
}

// Of even length n: pairs of neighbours are transformed as complex numbers. The spectra E and O of
// the even and the odd ones are what is conjugate symmetric in it, and what is not:
// X[k] = E[k] + e^(-2 pi i k / n) O[k].
Val half_of_even(const Val& x, int64_t dim, int64_t n) {
  const Val z = transformed(complex(slice(x, dim, 0, n, 2), slice(x, dim, 1, n, 2)), dim, true);
  const Val around = concatenate({z, slice(z, dim, 0, 1, 1)}, dim);
  const Parts a = parts(around), b = parts(reversed(around, dim));
  const Scalar half(0.5);
  const Parts even{(a.re + b.re) * half, (a.im - b.im) * half};
  const Parts odd{(a.im + b.im) * half, (b.re - a.re) * half};
  const Val k = count_along_dim(x, dim, n / 2 + 1);
  const Parts turned = times(odd, twiddle(k, n, x.dtype(), true));
  return complex(even.re + turned.re, even.im + turned.im);
}

Val half_spectrum(const Val& x, int64_t dim) {
  const int64_t n = x.size(dim).specialize();
  if (n % 2 == 0 && n > 0) return half_of_even(x, dim, n);
  const Val whole = transformed(complex(x, math::number(x, 0.0)), dim, true);
  return slice(whole, dim, 0, n / 2 + 1, 1);
}

// The imaginary parts of what is its own conjugate are not looked at.
Val with_real_ends(const Val& x, int64_t dim, int64_t n) {
  const Val k = count_along_dim(x, dim, n / 2 + 1);
  const Val own = eq(k + k, count_of(k, n)) | eq(k, count_of(k, 0));
  return complex(real(x), where(own, math::number(imag(x), 0.0), imag(x)));
}

// The way back from half_of_even, twice what is there.
Val values_of_even(const Val& x, int64_t dim, int64_t n) {
  const Val whole = with_real_ends(x, dim, n);
  const Parts a = parts(slice(whole, dim, 0, n / 2, 1));
  const Parts b = parts(slice(reversed(whole, dim), dim, 0, n / 2, 1));
  const Val k = count_along_dim(x, dim, n / 2);
  const Parts odd = times({a.re - b.re, a.im + b.im}, twiddle(k, n, real_type(x.dtype()), false));
  const Val pairs = complex(a.re + b.re - odd.im, a.im - b.im + odd.re);
  const Val z = transformed(pairs, dim, false);
  SymInts shape = x.shape();
  shape[static_cast<size_t>(dim)] = n;
  const Val both = concatenate({unsqueeze(real(z), dim + 1), unsqueeze(imag(z), dim + 1)}, dim + 1);
  return reshape(both, shape);
}

Val real_values(const Val& x, int64_t dim, int64_t n) {
  if (n % 2 == 0 && n > 0) return values_of_even(x, dim, n);
  const Val half = with_real_ends(x, dim, n), rest = slice(half, dim, 1, n / 2 + 1, 1);
  const Val whole = n < 2 ? half : concatenate({half, conj(reversed(rest, dim))}, dim);
  return real(transformed(whole, dim, false));
}

}  // namespace

Val fft_c2c::decompose(Tracer& t, const Val& x, const Ints& dims, bool forward) {
  if (dims.size() == 1) return line_transform_along(x, dims[0], forward);
  Val y = x;
  for (size_t i = dims.size(); i-- > 0;) y = transformed(y, dims[i], forward);
  return y;
}

Val fft_r2c::decompose(Tracer& t, const Val& x, const Ints& dims) {
  const int64_t last = dims.back();
  if (dims.size() == 1) return half_spectrum(x, last);
  Val y = t.prim1(Prim::fft_r2c, {x}, {{"dims", Ints{last}}});
  for (size_t i = dims.size() - 1; i-- > 0;) y = transformed(y, dims[i], true);
  return y;
}

Val fft_c2r::decompose(Tracer& t, const Val& x, const Ints& dims, SymInt n) {
  const int64_t last = dims.back();
  if (dims.size() == 1) return real_values(x, last, n.specialize());
  Val y = x;
  for (size_t i = 0; i + 1 < dims.size(); ++i) y = transformed(y, dims[i], false);
  return t.prim1(Prim::fft_c2r, {y}, {{"dims", Ints{last}}, {"n", n}});
}

}  // namespace primset::decomps::prim
