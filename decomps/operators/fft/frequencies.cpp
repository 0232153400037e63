// The frequencies of a spectrum's elements, and the orders that spectra are shown in.
#include <fmt/format.h>

#include "decomps/operators/fft.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;
using Type = std::optional<DType>;

DType frequency_type(const char* op, const Type& dtype) {
  const DType t = dtype.value_or(DType::f32);
  if (is_complex(t)) not_implemented_for("arange_cpu", t);
  require(is_floating(t) && bits(t) >= 16, ErrorCode::runtime,
          fmt::format("{} requires a floating point or complex dtype; found {}", op, aten_name(t)));
  return t;
}

// 0, 1, ..., those from `negative` on counted from below 0, in cycles of n samples d apart.
Val frequencies(Tracer& t, int64_t count, int64_t negative, int64_t n, const ScalarArg& d,
                DType type) {
  require(count >= 0, ErrorCode::runtime,
          fmt::format("Trying to create tensor with negative dimension {}: [{}]", count, count));
  const Val i = t.iota({count}, 0, DType::i64);
  const Val k = where(ge(i, Scalar(negative)), i - Scalar(n), i);
  const DType wide = opmath_type(type);
  const Val samples = t.scalar(d, DType::f64) * Scalar(static_cast<double>(n));
  const Val step = convert(Scalar(1.0) / samples, wide);
  return convert(convert(convert(k, type), wide) * broadcast_to(step, {count}), type);
}

// Rolled by half the sizes, rounded up for the way back.
Val shifted_by_halves(Tracer& t, const Val& self, const std::optional<Dims>& dim,
                      int64_t round_up) {
  const Dims dims = dim ? *dim : dims_from(0, self.rank());
  SymInts shifts;
  for (int64_t d : dims) shifts.push_back(floor_div(self.size(d) + round_up, 2));
  return t.call1("roll", {self, shifts, dims});
}

}  // namespace

Val fft_fftfreq::decompose(Tracer& t, int64_t n, const ScalarArg& d, const Type& dtype,
                           const std::optional<Layout>&, const std::optional<DeviceArg>&,
                           const std::optional<bool>&) {
  return frequencies(t, n, n - n / 2, n, d, frequency_type("fftfreq", dtype));
}
Val fft_rfftfreq::decompose(Tracer& t, int64_t n, const ScalarArg& d, const Type& dtype,
                            const std::optional<Layout>&, const std::optional<DeviceArg>&,
                            const std::optional<bool>&) {
  const int64_t count = n / 2 + 1;
  return frequencies(t, count, count, n, d, frequency_type("rfftfreq", dtype));
}

Val fft_fftshift::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim) {
  return shifted_by_halves(t, self, dim, 0);
}
Val fft_ifftshift::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim) {
  return shifted_by_halves(t, self, dim, 1);
}

}  // namespace primset::decomps
