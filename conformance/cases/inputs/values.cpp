#include "conformance/cases/inputs/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "conformance/cases/inputs/case_text.h"
#include "prims/reference/array.h"
#include "prims/reference/float_format.h"
#include "primset/error.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using Kind = Fill::Kind;

Element real(long double v, DType t) {
  Element e;
  e.re = ref::round_to(v, t);
  return e;
}

Element integer(int64_t v, DType t) {
  Element e;
  e.integer = ref::wrap(v, t);
  return e;
}

// Any dtype's element from one number.
Element number(long double v, DType t) {
  if (is_floating(t) || is_complex(t)) return real(v, t);
  return integer(static_cast<int64_t>(std::llroundl(v)), t);
}

std::vector<Element> interesting_floats(DType t) {
  const ref::Format& f = ref::format(t);
  long double min_normal = std::ldexp(1.0L, f.min_exponent);
  long double denormal = ref::ulp(0, t), eps = 2 * ref::unit_roundoff(t);
  std::vector<long double> values = {0.0L,       1.0L,         0.5L,    2.0L,
                                     3.0L,       0.25L,        1 + eps, 1 - eps / 2,
                                     min_normal, denormal,     10.0L,   0x1.921fb54442d18p+1L,
                                     100.0L,     f.max_finite, 1.5L,    min_normal - denormal};
  std::vector<Element> out;
  for (long double v : values) {
    out.push_back(real(v, t));
    out.push_back(real(-v, t));
  }
  if (f.has_infinity) {
    out.push_back(real(HUGE_VALL, t));
    out.push_back(real(-HUGE_VALL, t));
  }
  out.push_back(real(std::nanl(""), t));
  return out;
}

std::vector<Element> interesting_integers(DType t) {
  std::vector<Element> out;
  int64_t low = ref::min_integer(t), high = ref::max_integer(t);
  for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{-2}, int64_t{3},
                    int64_t{7}, int64_t{-7}, int64_t{10}, int64_t{31}, int64_t{64}, low, high,
                    low + 1, high - 1, int64_t{-128}, int64_t{255}}) {
    out.push_back(integer(v, t));
  }
  return out;
}

std::vector<Element> interesting_complex(DType t) {
  std::vector<Element> out;
  std::vector<Element> parts = interesting_floats(real_type(t));
  // Each part with a plain partner, and the pairs of zeros, infinities and NaN among themselves.
  for (const Element& p : parts) {
    for (long double other : {0.0L, 1.0L}) {
      Element e;
      e.re = p.re;
      e.im = other;
      out.push_back(e);
      std::swap(e.re, e.im);
      out.push_back(e);
    }
  }
  for (long double a : {-0.0L, HUGE_VALL, -HUGE_VALL, std::nanl("")}) {
    for (long double b : {-0.0L, HUGE_VALL, -HUGE_VALL, std::nanl("")}) {
      Element e;
      e.re = a;
      e.im = b;
      out.push_back(e);
    }
  }
  return out;
}

// Mostly near 1, sometimes small or large, so that rounding errors show at every magnitude.
long double normal_real(Rng& rng, DType t) {
  const ref::Format& f = ref::format(t);
  uint64_t pick = rng.below(16);
  long double v = static_cast<long double>(rng.uniform(-4, 4));
  int span = std::min(20, f.max_exponent / 3);
  if (pick == 0) v = std::ldexp(v, static_cast<int>(rng.between(-span, span / 2)));
  if (pick == 1 || pick == 2) v = std::nearbyint(v);
  if (pick == 2 && v == 0) v = 3;
  return ref::round_to(v, t);
}

// Often small, so that equal ones meet.
int64_t normal_integer(Rng& rng, DType t) {
  if (rng.below(4) == 0) {
    const int64_t small = rng.between(1, 3);
    return is_unsigned_integer(t) || rng.below(2) == 0 ? small : -small;
  }
  int64_t high = t == DType::u64 ? 100 : std::min<int64_t>(ref::max_integer(t), 100);
  return rng.between(is_unsigned_integer(t) ? 0 : -high, high);
}

Element normal_element(Rng& rng, DType t) {
  if (is_bool(t)) return integer(static_cast<int64_t>(rng.below(2)), t);
  if (is_integral(t)) return integer(normal_integer(rng, t), t);
  Element e;
  e.re = normal_real(rng, real_type(t));
  if (is_complex(t)) e.im = normal_real(rng, real_type(t));
  return e;
}

Element range_element(Rng& rng, DType t, double low, double high) {
  if (is_floating(t) || is_complex(t)) {
    Element e = real(static_cast<long double>(rng.uniform(low, high)), real_type(t));
    if (is_complex(t))
      e.im = real(static_cast<long double>(rng.uniform(low, high)), real_type(t)).re;
    return e;
  }
  auto from = static_cast<int64_t>(std::ceil(low)), to = static_cast<int64_t>(std::ceil(high)) - 1;
  return integer(rng.between(from, std::max(from, to)), t);
}

Element positive_element(Rng& rng, DType t) {
  Element e = normal_element(rng, t);
  if (is_integral(t)) return integer(std::max<int64_t>(1, std::abs(e.integer)), t);
  if (is_bool(t)) return integer(1, t);
  e.re = e.re == 0 ? 1 : std::fabs(e.re);
  e.im = std::fabs(e.im);
  return e;
}

Element bits_element(Rng& rng, DType t) {
  if (is_bool(t)) return integer(static_cast<int64_t>(rng.below(2)), t);
  if (is_integral(t)) return integer(static_cast<int64_t>(rng.next()), t);
  auto part = [&] {
    DType r = real_type(t);
    for (;;) {
      uint64_t pattern = rng.next() & (bits(r) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits(r)) - 1);
      long double v = ref::decode(pattern, r);
      if (std::isfinite(v)) return v;
    }
  };
  Element e;
  e.re = part();
  if (is_complex(t)) e.im = part();
  return e;
}

void shuffle(Rng& rng, std::vector<Element>& data) {
  for (size_t i = data.size(); i > 1; --i) std::swap(data[i - 1], data[rng.below(i)]);
}

// Steps of 1/4 around 0 while the dtype can tell them apart, and integers for integers.
void fill_distinct(Rng& rng, Array& a, bool shuffled) {
  auto n = static_cast<int64_t>(a.data.size());
  bool fractions = is_floating(a.dtype) || is_complex(a.dtype);
  int64_t first = is_unsigned_integer(a.dtype) || is_bool(a.dtype) ? 0 : -(n / 2);
  for (int64_t i = 0; i < n; ++i) {
    long double v = static_cast<long double>(first + i);
    a.data[static_cast<size_t>(i)] = number(fractions ? v / 4 : v, a.dtype);
  }
  if (shuffled) shuffle(rng, a.data);
}

void fill_ordered(Rng& rng, Array& a) {
  const int64_t row = a.shape.empty() ? 1 : a.shape.back(), middle = row / 2;
  for (size_t at = 0; at < a.data.size(); ++at) {
    int64_t i = row == 0 ? 0 : static_cast<int64_t>(at) % row;
    long double jitter = is_floating(a.dtype) ? static_cast<long double>(rng.uniform()) : 0;
    long double v = (static_cast<long double>(i - middle) + jitter * 0.75L) / 2;
    a.data[at] = number(is_unsigned_integer(a.dtype) ? static_cast<long double>(i) : v, a.dtype);
  }
}

void fill_permutation(Rng& rng, Array& a) {
  for (size_t i = 0; i < a.data.size(); ++i)
    a.data[i] = number(static_cast<long double>(i), a.dtype);
  shuffle(rng, a.data);
}

// Which half is counted from the end is random, so that the first place is met in both ways.
void fill_wrapped(Rng& rng, Array& a) {
  fill_permutation(rng, a);
  const size_t parity = rng.below(2);
  for (size_t i = 0; i < a.data.size(); ++i) {
    if (i % 2 == parity) a.data[i].integer -= static_cast<int64_t>(a.data.size());
  }
}

// The ends of a range and the neighbours of zero, at places of their own. A single number is any.
void put_ends(Rng& rng, Array& a, double low, double high) {
  const auto first = static_cast<int64_t>(std::ceil(low));
  const auto last = static_cast<int64_t>(std::ceil(high)) - 1;
  if (a.data.size() < 2) return;
  std::vector<size_t> free(a.data.size());
  std::iota(free.begin(), free.end(), size_t{0});
  std::vector<int64_t> placed;
  for (int64_t v : {first, last, int64_t{0}, int64_t{-1}}) {
    const bool done = std::ranges::find(placed, v) != placed.end();
    if (done || v < first || v > last || free.empty()) continue;
    const size_t pick = rng.below(free.size());
    a.data[free[pick]] = integer(v, a.dtype);
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(pick));
    placed.push_back(v);
  }
}

// Symmetric with a diagonal that outweighs its row; with `triangle` the upper part is 0.
void fill_matrix(Rng& rng, Array& a, bool triangle) {
  size_t n = a.shape.empty() ? 1 : static_cast<size_t>(a.shape.back());
  if (a.shape.size() < 2 || a.shape[a.shape.size() - 2] != a.shape.back()) {
    throw Error(ErrorCode::value, "spd and triangular fill square matrices only");
  }
  for (size_t base = 0; base + n * n <= a.data.size() && n > 0; base += n * n) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        Element e = range_element(rng, a.dtype, -1, 1);
        if (i == j) e = number(static_cast<long double>(n + 1), a.dtype);
        a.data[base + i * n + j] = e;
        if (i == j) continue;
        e.im = -e.im;
        a.data[base + j * n + i] = triangle ? Element{} : e;
      }
    }
  }
}

struct KindName {
  std::string_view name;
  Kind kind;
};
constexpr std::array kKindNames = {
    KindName{"normal", Kind::normal},
    KindName{"special", Kind::special},
    KindName{"special_outer", Kind::special_outer},
    KindName{"special_inner", Kind::special_inner},
    KindName{"positive", Kind::positive},
    KindName{"unit", Kind::unit},
    KindName{"nan", Kind::nan},
    KindName{"ties", Kind::ties},
    KindName{"distinct", Kind::distinct},
    KindName{"ordered", Kind::ordered},
    KindName{"counted", Kind::counted},
    KindName{"permutation", Kind::permutation},
    KindName{"wrapped", Kind::wrapped},
    KindName{"spd", Kind::spd},
    KindName{"triangular", Kind::triangular},
    KindName{"zeros", Kind::zeros},
    KindName{"ones", Kind::ones},
    KindName{"bits", Kind::bits},
};

Element element_of(Rng& rng, DType t, const Fill& f, size_t at,
                   const std::vector<Element>& special) {
  switch (f.kind) {
    case Kind::range:
      return range_element(rng, t, f.low, f.high);
    case Kind::special:
      return at < special.size() ? special[at] : normal_element(rng, t);
    case Kind::positive:
      return positive_element(rng, t);
    case Kind::unit:
      return is_bool(t) || is_integral(t) ? number(1, t) : range_element(rng, t, 0.0625, 0.9375);
    case Kind::nan: {
      Element e = normal_element(rng, t);
      if (at % 3 == 1 && !is_bool(t) && !is_integral(t)) e.re = std::nanl("");
      return e;
    }
    case Kind::ties:
      return number(static_cast<long double>(rng.below(is_bool(t) ? 2 : 4)), t);
    case Kind::counted:
      return number(static_cast<long double>(at), t);
    case Kind::zeros:
      return number(0, t);
    case Kind::ones:
      return number(1, t);
    case Kind::bits:
      return bits_element(rng, t);
    default:
      return normal_element(rng, t);
  }
}

}  // namespace

std::vector<Element> interesting_values(DType t) {
  if (is_bool(t)) return {integer(0, t), integer(1, t)};
  if (is_complex(t)) return interesting_complex(t);
  return is_floating(t) ? interesting_floats(t) : interesting_integers(t);
}

Fill Fill::parse(std::string_view text) {
  constexpr std::string_view kNonzero = "!0";
  if (text.ends_with(kNonzero)) {
    Fill f = parse(text.substr(0, text.size() - kNonzero.size()));
    f.nonzero = true;
    return f;
  }
  constexpr std::string_view kNans = "+nan";
  if (text.ends_with(kNans)) {
    Fill f = parse(text.substr(0, text.size() - kNans.size()));
    f.nans = true;
    return f;
  }
  for (const KindName& k : kKindNames) {
    if (k.name == text) return {.kind = k.kind};
  }
  if (text.find(',') != std::string_view::npos) {
    Fill f{.kind = Kind::list};
    for (const std::string& n : split_outside_brackets(text, ','))
      f.numbers.push_back(read_number(n));
    return f;
  }
  size_t dots = text.find("..");
  if (dots != std::string_view::npos) {
    std::string low(text.substr(0, dots)), high(text.substr(dots + 2));
    char *low_end = nullptr, *high_end = nullptr;
    Fill f{.kind = Kind::range,
           .low = std::strtod(low.c_str(), &low_end),
           .high = std::strtod(high.c_str(), &high_end)};
    if (!low.empty() && !high.empty() && !*low_end && !*high_end && f.low < f.high) return f;
  }
  throw Error(ErrorCode::value, "'" + std::string(text) + "' is not a way to fill a tensor");
}

namespace {

bool is_zero(const Element& e, DType t) {
  return is_floating(t) || is_complex(t) ? e.re == 0 && e.im == 0 : e.integer == 0;
}

// Element by element, independently of each other.
void fill_elements(Rng& rng, Array& a, const Fill& f) {
  bool outer = f.kind == Kind::special_outer, inner = f.kind == Kind::special_inner;
  std::vector<Element> special;
  if (outer || inner || f.kind == Kind::special) special = interesting_values(a.dtype);
  size_t row = a.shape.empty() ? 1 : static_cast<size_t>(std::max<int64_t>(1, a.shape.back()));
  for (size_t i = 0; i < a.data.size(); ++i) {
    a.data[i] = outer   ? special[i / row % special.size()]
                : inner ? special[i % row % special.size()]
                        : element_of(rng, a.dtype, f, i, special);
  }
}

void fill_array(Rng& rng, Array& a, const Fill& f) {
  switch (f.kind) {
    case Kind::distinct:
      return fill_distinct(rng, a, true);
    case Kind::ordered:
      return fill_ordered(rng, a);
    case Kind::permutation:
      return fill_permutation(rng, a);
    case Kind::wrapped:
      return fill_wrapped(rng, a);
    case Kind::spd:
    case Kind::triangular:
      return fill_matrix(rng, a, f.kind == Kind::triangular);
    case Kind::list:
      for (size_t i = 0; i < a.data.size(); ++i)
        a.data[i] = number(f.numbers[i % f.numbers.size()], a.dtype);
      return;
    default:
      fill_elements(rng, a, f);
  }
  if (f.kind == Kind::range && is_integral(a.dtype)) put_ends(rng, a, f.low, f.high);
}

}  // namespace

Array fill(Rng& rng, DType dtype, std::vector<int64_t> shape, const Fill& f) {
  Array a = ref::make_array(dtype, std::move(shape));
  fill_array(rng, a, f);
  for (size_t i = 0; i < a.data.size(); ++i) {
    if (f.nonzero && is_zero(a.data[i], dtype)) a.data[i] = number(1, dtype);
    if (f.nans && is_floating(dtype) && rng.below(4) == 0) a.data[i].re = std::nanl("");
  }
  return a;
}

}  // namespace primset::conformance
