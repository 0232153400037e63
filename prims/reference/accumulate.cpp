#include "prims/reference/accumulate.h"

#include <cmath>

#include "prims/reference/float_format.h"

namespace primset::prims::reference {
namespace {

// As std::abs, which takes long where there is no imaginary part either.
long double modulus(std::complex<long double> z) {
  return z.imag() == 0 ? std::fabs(z.real()) : std::abs(z);
}

// What a device's own order of operations may add to `roundings` roundings of values of this
// magnitude in the compute dtype.
long double accumulation_error(const ElementOp& op, int64_t roundings, long double magnitude) {
  bool accumulates = op.tolerance.kind == ToleranceKind::accumulate;
  long double factor = accumulates ? op.tolerance.number : 1;
  if (is_complex(op.compute)) factor *= 2;
  return factor * static_cast<long double>(roundings) * unit_roundoff(op.compute) * magnitude;
}

// Rounds once to the result's dtype, here and on the device.
Element round_total(ElementOp op, std::complex<long double> v, long double error) {
  op.tolerance = {ToleranceKind::rounded, 0};
  if (!std::isfinite(v.real()) || !std::isfinite(v.imag())) error = 0;
  return is_complex(op.to) ? rounded(op, v.real(), v.imag(), error) : rounded(op, v.real(), error);
}

}  // namespace

void Sum::add_term(std::complex<long double> v, long double error) {
  value_ += v;
  magnitude_ += modulus(v);
  error_ += error;
  ++count_;
}

void Sum::add(const Element& x) {
  undecided_ |= x.undecided;
  integer_ += static_cast<uint64_t>(x.integer);
  add_term({x.re, x.im}, x.error);
}

void Sum::add_product(const ElementOp& op, const Element& x, const Element& y) {
  undecided_ |= x.undecided || y.undecided;
  integer_ += static_cast<uint64_t>(x.integer) * static_cast<uint64_t>(y.integer);
  if (computes_integers(op.from)) return;
  std::complex<long double> a(x.re, x.im), b(y.re, y.im);
  rounds_terms_ = true;
  // Without infinities and NaN the plain product is C99's.
  auto product = is_complex(op.from) ? a * b : std::complex<long double>(x.re * y.re, 0);
  add_term(product, modulus(a) * y.error + modulus(b) * x.error + x.error * y.error);
}

Element Sum::finish(const ElementOp& op) const {
  if (undecided_) return undecided_element();
  if (computes_integers(op.to)) return integer_element(wrap(static_cast<int64_t>(integer_), op.to));
  int64_t roundings = count_ - 1 + rounds_terms_;
  long double own = roundings > 0 ? accumulation_error(op, roundings, magnitude_) : 0;
  // Some order may overflow on the way, unless all terms pull in one direction.
  bool overflows = magnitude_ + own > format(op.compute).max_finite;
  bool finite = std::isfinite(magnitude_);
  if (overflows && finite && std::abs(value_) != magnitude_) return undecided_element();
  return round_total(op, value_, finite ? error_ + own : 0);
}

void Product::add(const ElementOp& op, const Element& x) {
  undecided_ |= x.undecided;
  integer_ *= static_cast<uint64_t>(x.integer);
  ++count_;
  if (computes_integers(op.to)) return;
  std::complex<long double> v(x.re, x.im);
  long double magnitude = modulus(v);
  error_ = error_ * (magnitude + x.error) + modulus(value_) * x.error;
  value_ = is_complex(op.to) ? value_ * v : std::complex<long double>(value_.real() * x.re, 0);
  zero_ |= magnitude == 0;
  if (magnitude == 0 || !std::isfinite(magnitude)) return;
  (magnitude > 1 ? log_above_ : log_below_) += std::log2(magnitude);
}

Element Product::finish(const ElementOp& op) const {
  if (undecided_) return undecided_element();
  if (computes_integers(op.to)) return integer_element(wrap(static_cast<int64_t>(integer_), op.to));
  const Format& f = format(op.compute);
  long double own = count_ > 1 ? accumulation_error(op, count_ - 1, std::abs(value_)) : 0;
  // An order that takes the large factors first may overflow, one that takes the small ones first
  // may lose the product, when the other factors would have brought it back.
  bool overflows = log_above_ >= f.max_exponent && (log_below_ < 0 || zero_);
  bool underflows = log_below_ <= f.min_exponent && log_above_ > 0 && !zero_;
  if (count_ > 1 && (overflows || underflows)) return undecided_element();
  // Below the normal range roundings are absolute.
  if (count_ > 1 && log_below_ <= f.min_exponent && !zero_) own += ulp(0, op.compute);
  return round_total(op, value_, error_ + own);
}

}  // namespace primset::prims::reference
