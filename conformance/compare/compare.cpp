#include "conformance/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "prims/reference/array.h"
#include "prims/reference/float_format.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using specs::ToleranceKind;

bool has_nan(const Element& e) {
  return std::isnan(e.re) || std::isnan(e.im);
}
bool has_inf(const Element& e) {
  return std::isinf(e.re) || std::isinf(e.im);
}
bool is_special(const Element& e) {
  return has_nan(e) || has_inf(e);
}

// An infinite part makes a complex number infinite, whatever the other part is (C99, annex G).
bool special_matches(DType t, const Element& expected, const Element& actual) {
  if (is_complex(t)) {
    if (has_inf(expected) || has_inf(actual)) return has_inf(expected) && has_inf(actual);
    return has_nan(expected) && has_nan(actual);
  }
  if (std::isnan(expected.re)) return std::isnan(actual.re);
  return expected.re == actual.re;
}

bool zero_sign_differs(const Element& a, const Element& b) {
  auto differs = [](long double x, long double y) {
    return x == 0 && y == 0 && std::signbit(x) != std::signbit(y);
  };
  return differs(a.re, b.re) || differs(a.im, b.im);
}

long double modulus(const Element& e) {
  return std::hypot(e.re, e.im);
}

// One element's error in both measures.
struct Miss {
  bool wrong = false;
  long double distance = 0, allowed = 0;
  double ulp = 0, share = 0;
};

class Comparer {
 public:
  Comparer(const Array& expected, const Array& actual, const ComparePolicy& policy,
           const Array* other)
      : expected_(expected), actual_(actual), other_(other), policy_(policy), t_(expected.dtype) {
    for (const Element& e : expected.data) {
      if (!is_special(e)) scale_ = std::max(scale_, modulus(e));
    }
  }

  Comparison run() {
    Comparison out;
    for (size_t i = 0; i < expected_.data.size(); ++i) {
      ++out.elements;
      if (expected_.data[i].undecided) {
        ++out.undecided;
        continue;
      }
      Miss miss = look_at(expected_.data[i], actual_.data[i]);
      if (miss.wrong && other_) {
        const Miss second = look_at(other_->data[i], actual_.data[i]);
        if (!second.wrong) miss = second;
      }
      out.max_ulp = std::max(out.max_ulp, miss.ulp);
      out.max_share = std::max(out.max_share, miss.share);
      if (!miss.wrong) continue;
      if (out.wrong++ == 0) out.first = describe(i, miss);
    }
    if (out.wrong > 1) out.first += fmt::format("; {} of {} differ", out.wrong, out.elements);
    return out;
  }

 private:
  Miss look_at(const Element& expected, const Element& actual) const {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    if (is_integral(t_) || is_bool(t_)) {
      bool same = expected.integer == actual.integer;
      return {!same, 0, 0, 0, same ? 0 : kInfinite};
    }
    if (is_special(expected) || is_special(actual)) {
      bool same = special_matches(t_, expected, actual);
      return {!same, 0, 0, same ? 0 : kInfinite, same ? 0 : kInfinite};
    }
    Miss miss;
    miss.distance = std::hypot(actual.re - expected.re, actual.im - expected.im);
    miss.allowed = allowed(expected);
    miss.ulp = static_cast<double>(miss.distance / ulp_of(expected));
    if (miss.distance > 0) {
      miss.share = miss.allowed > 0 ? static_cast<double>(miss.distance / miss.allowed) : kInfinite;
    }
    miss.wrong = miss.distance > miss.allowed;
    if (policy_.signed_zero && miss.allowed == 0 && zero_sign_differs(expected, actual)) {
      miss.wrong = true;
    }
    return miss;
  }

  long double ulp_of(const Element& e) const {
    return std::max(ref::ulp(e.re, t_), is_complex(t_) ? ref::ulp(e.im, t_) : 0.0L);
  }

  long double allowed(const Element& expected) const {
    long double limit = expected.error;
    if (policy_.tolerance) {
      limit = std::max(limit, bound(*policy_.tolerance, policy_, t_, expected, scale_));
    }
    const bool as_f32 = real_type(t_) == DType::f32 || t_ == DType::bf16;  // the same exponents
    // A denormal flushed is lost whole: the result itself, or a term of it on the way there.
    const bool has_terms = expected.error > 0;
    if (policy_.flush_f32 && as_f32 && (has_terms || modulus(expected) < 0x1p-126L)) {
      limit += 0x1p-126L;
    }
    return limit;
  }

  std::string describe(size_t at, const Miss& miss) const {
    std::vector<int64_t> index(expected_.shape.size());
    auto rest = static_cast<int64_t>(at);
    for (size_t d = index.size(); d-- > 0;) {
      index[d] = rest % expected_.shape[d];
      rest /= expected_.shape[d];
    }
    std::string out =
        fmt::format("at {}: got {}, expected {}", list_text(index),
                    element_text(t_, actual_.data[at]), element_text(t_, expected_.data[at]));
    if (miss.allowed > 0) out += fmt::format(" within {:.4g}", static_cast<double>(miss.allowed));
    if (miss.distance > 0) out += fmt::format(" ({:.4g} ulp off)", miss.ulp);
    return out;
  }

  const Array &expected_, &actual_;
  const Array* other_;
  const ComparePolicy& policy_;
  DType t_;
  long double scale_ = 0;
};

std::string number_text(DType t, long double v) {
  int digits = bits(real_type(t)) > 32 ? 17 : 9;
  return fmt::format("{:.{}g}", static_cast<double>(v), digits);
}

}  // namespace

long double bound(const specs::Tolerance& tolerance, const ComparePolicy& policy, DType t,
                  const Element& expected, long double scale) {
  if (is_integral(t) || is_bool(t) || is_special(expected)) return 0;
  long double step =
      std::max(ref::ulp(expected.re, t), is_complex(t) ? ref::ulp(expected.im, t) : 0);
  long double number = static_cast<long double>(tolerance.number);
  switch (tolerance.kind) {
    case ToleranceKind::exact:
      return 0;
    case ToleranceKind::rounded:
      // The reference may itself have been rounded to the other side of a tie.
      return expected.error > 0 ? step : 0;
    case ToleranceKind::ulp:
      return number * step;
    case ToleranceKind::absolute:
      return number;
    case ToleranceKind::accumulate: {
      auto terms = std::max(1.0L, static_cast<long double>(policy.terms));
      long double depth = std::ceil(std::log2(terms)) + 1;
      return number * depth * 2 * ref::unit_roundoff(policy.compute) * scale + step;
    }
  }
  return 0;
}

Comparison compare(const Array& expected, const Array& actual, const ComparePolicy& policy,
                   const Array* other) {
  return Comparer(expected, actual, policy, other).run();
}

std::string element_text(DType t, const Element& e) {
  if (is_bool(t)) return e.integer ? "true" : "false";
  if (t == DType::u64) return std::to_string(static_cast<uint64_t>(e.integer));
  if (is_integral(t)) return std::to_string(e.integer);
  if (!is_complex(t)) return number_text(t, e.re);
  std::string im = number_text(t, e.im);
  return "(" + number_text(t, e.re) + (im.starts_with('-') ? "" : "+") + im + "j)";
}

std::string list_text(const std::vector<int64_t>& xs) {
  return fmt::format("[{}]", fmt::join(xs, ", "));
}

}  // namespace primset::conformance
