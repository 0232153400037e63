// Windows of signal processing: functions of i / (N - 1), i = 0 ... N - 1. A periodic one is the
// first N of N + 1. They are computed in opmath and rounded once.
#include "decomps/operators/window.h"

#include <fmt/format.h>

#include <functional>
#include <numbers>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

using Type = std::optional<DType>;
using Place = std::optional<Layout>;
using Device = std::optional<DeviceArg>;
using Pin = std::optional<bool>;

// What a window needs to know: how it is called in errors, its length, and what it is made of.
struct Request {
  const char* name;
  int64_t length;
  bool periodic;
  Type dtype;
  Place layout;
};

using Shape = std::function<Val(const Val& x)>;  // of x from 0 to 1

Val window(Tracer& t, const Request& r, const Shape& shape) {
  const DType type = r.dtype.value_or(DType::f32);
  require(!r.layout || *r.layout == Layout::strided, ErrorCode::runtime,
          fmt::format("{} is not implemented for sparse types", r.name));
  require(is_floating(type) || is_complex(type), ErrorCode::runtime,
          fmt::format("{} expects floating point dtypes, got: {}", r.name, cpp_name(type)));
  require(r.length >= 0, ErrorCode::runtime,
          fmt::format("{} requires non-negative window_length, got window_length={}", r.name,
                      r.length));
  const SymInts size = {SymInt(r.length)};
  if (r.length <= 1) return t.constant(1, type, size);
  if (is_complex(type)) not_implemented_for("arange_cpu", type);
  const Val i = t.iota(size, 0, opmath_type(type));
  const auto steps = static_cast<double>(r.periodic ? r.length : r.length - 1);
  return convert(shape(i / Scalar(steps)), type);
}

// alpha - beta cos(2 pi x)
Val raised_cosine(Tracer& t, const Request& r, const ScalarArg& alpha, const ScalarArg& beta) {
  return window(t, r, [&](const Val& x) {
    const Val cosine = math::cos(x * Scalar(2 * std::numbers::pi));
    return t.scalar(alpha, x.dtype()) - t.scalar(beta, x.dtype()) * cosine;
  });
}

Val bartlett(Tracer& t, const Request& r) {
  return window(t, r, [](const Val& x) {
    const Val rising = x * Scalar(2.0);
    return where(le(rising, Scalar(1.0)), rising, Scalar(2.0) - rising);
  });
}

Val blackman(Tracer& t, const Request& r) {
  return window(t, r, [](const Val& x) {
    const Val turn = x * Scalar(2 * std::numbers::pi);
    return math::cos(turn * Scalar(2.0)) * Scalar(0.08) - math::cos(turn) * Scalar(0.5) +
           Scalar(0.42);
  });
}

// I0(beta sqrt(1 - (2 x - 1)^2)) / I0(beta)
Val kaiser(Tracer& t, const Request& r, const ScalarArg& beta) {
  return window(t, r, [&](const Val& x) {
    const Val y = x * Scalar(2.0) - Scalar(1.0);
    const Val b = t.wrap(t.scalar(beta, x.dtype()).id());  // no number that would be promoted less
    const Val height = math::sqrt((Scalar(1.0) - y) * (Scalar(1.0) + y));
    return t.call1("i0", {b * height}) / t.call1("i0", {b});
  });
}

}  // namespace

Val bartlett_window::decompose(Tracer& t, int64_t window_length, const Type& dtype,
                               const Place& layout, const Device&, const Pin&) {
  return bartlett(t, {"bartlett_window", window_length, true, dtype, layout});
}
Val bartlett_window_periodic::decompose(Tracer& t, int64_t window_length, bool periodic,
                                        const Type& dtype, const Place& layout, const Device&,
                                        const Pin&) {
  return bartlett(t, {"bartlett_window", window_length, periodic, dtype, layout});
}

Val blackman_window::decompose(Tracer& t, int64_t window_length, const Type& dtype,
                               const Place& layout, const Device&, const Pin&) {
  return blackman(t, {"blackman_window", window_length, true, dtype, layout});
}
Val blackman_window_periodic::decompose(Tracer& t, int64_t window_length, bool periodic,
                                        const Type& dtype, const Place& layout, const Device&,
                                        const Pin&) {
  return blackman(t, {"blackman_window", window_length, periodic, dtype, layout});
}

Val hann_window::decompose(Tracer& t, int64_t window_length, const Type& dtype, const Place& layout,
                           const Device&, const Pin&) {
  return raised_cosine(t, {"hann_window", window_length, true, dtype, layout}, t.literal(0.5),
                       t.literal(0.5));
}
Val hann_window_periodic::decompose(Tracer& t, int64_t window_length, bool periodic,
                                    const Type& dtype, const Place& layout, const Device&,
                                    const Pin&) {
  return raised_cosine(t, {"hann_window", window_length, periodic, dtype, layout}, t.literal(0.5),
                       t.literal(0.5));
}

Val hamming_window::decompose(Tracer& t, int64_t window_length, const Type& dtype,
                              const Place& layout, const Device&, const Pin&) {
  return raised_cosine(t, {"hamming_window", window_length, true, dtype, layout}, t.literal(0.54),
                       t.literal(0.46));
}
Val hamming_window_periodic::decompose(Tracer& t, int64_t window_length, bool periodic,
                                       const Type& dtype, const Place& layout, const Device&,
                                       const Pin&) {
  return raised_cosine(t, {"hamming_window", window_length, periodic, dtype, layout},
                       t.literal(0.54), t.literal(0.46));
}
Val hamming_window_alpha::decompose(Tracer& t, int64_t window_length, bool periodic,
                                    const ScalarArg& alpha, const Type& dtype, const Place& layout,
                                    const Device&, const Pin&) {
  return raised_cosine(t, {"hamming_window", window_length, periodic, dtype, layout}, alpha,
                       t.literal(0.46));
}
Val hamming_window_alpha_beta::decompose(Tracer& t, int64_t window_length, bool periodic,
                                         const ScalarArg& alpha, const ScalarArg& beta,
                                         const Type& dtype, const Place& layout, const Device&,
                                         const Pin&) {
  return raised_cosine(t, {"hamming_window", window_length, periodic, dtype, layout}, alpha, beta);
}

Val kaiser_window::decompose(Tracer& t, int64_t window_length, const Type& dtype,
                             const Place& layout, const Device&, const Pin&) {
  return kaiser(t, {"kaiser_window", window_length, true, dtype, layout}, t.literal(12.0));
}
Val kaiser_window_periodic::decompose(Tracer& t, int64_t window_length, bool periodic,
                                      const Type& dtype, const Place& layout, const Device&,
                                      const Pin&) {
  return kaiser(t, {"kaiser_window", window_length, periodic, dtype, layout}, t.literal(12.0));
}
Val kaiser_window_beta::decompose(Tracer& t, int64_t window_length, bool periodic,
                                  const ScalarArg& beta, const Type& dtype, const Place& layout,
                                  const Device&, const Pin&) {
  return kaiser(t, {"kaiser_window", window_length, periodic, dtype, layout}, beta);
}

}  // namespace primset::decomps
