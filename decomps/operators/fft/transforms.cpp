// torch.fft: transforms of one dim and of several, between complex values, real values and the
// halves of their spectra. An inverse of real values is the conjugate of their transform.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "decomps/operators/fft.h"
#include "decomps/operators/fft/signals.h"

namespace primset::decomps {
namespace {

using fft::Signal;
using Dims = std::vector<int64_t>;
using FftLength = std::optional<SymInt>;
using FftLengths = std::optional<SymInts>;
using FftDims = std::optional<Dims>;
using FftNorm = std::optional<std::string>;

void require_real_signal(const char* op, const char* what, const Val& x) {
  require(!is_complex(x.dtype()), ErrorCode::runtime,
          fmt::format("{} expects a {} input tensor, but got {}", op, what, aten_name(x.dtype())));
}

Val whole_line(const Val& self, const FftLength& n, int64_t dim, const FftNorm& norm,
               bool forward) {
  const Signal s = fft::line_of(self, n, dim);
  const double scale = fft::scale_of(norm, s.count(), forward);
  if (is_complex(self.dtype()))
    return fft::scaled(fft::c2c(fft::resized(fft::complex_input(self), s), s.dims, forward), scale);
  const Val half = fft::r2c(fft::resized(fft::real_input(self), s), s.dims);
  const Val whole = fft::completed(fft::scaled(half, scale), s.dims, s.lengths[0]);
  return forward ? whole : conj(whole);
}

Val half_line(const char* op, const Val& self, const FftLength& n, int64_t dim, const FftNorm& norm,
              bool forward) {
  require_real_signal(op, "real", self);
  const Signal s = fft::line_of(self, n, dim);
  const double scale = fft::scale_of(norm, s.count(), forward);
  const Val half = fft::scaled(fft::r2c(fft::resized(fft::real_input(self), s), s.dims), scale);
  return forward ? half : conj(half);
}

Val real_line(const Val& self, const FftLength& n, int64_t dim, const FftNorm& norm, bool forward) {
  const Signal s = fft::line_of(self, n, dim, true);
  const double scale = fft::scale_of(norm, s.count(), forward);
  const Val half = fft::resized(fft::complex_input(self), s, true);
  return fft::scaled(fft::c2r(forward ? conj(half) : half, s.dims, s.lengths[0]), scale);
}

Val over_several_dims(const Val& self, const FftLengths& lengths, const FftDims& dim,
                      const FftNorm& norm, bool forward) {
  const Signal s = fft::signal_of(self, lengths, dim);
  const double scale = fft::scale_of(norm, s.count(), forward);
  return fft::scaled(fft::c2c(fft::resized(fft::complex_input(self), s), s.dims, forward), scale);
}

// The dims but the last one are transformed backward.
Dims all_but_last(const Dims& dims) {
  return {dims.begin(), dims.end() - 1};
}

void require_fft_dim(const char* op, const Signal& s) {
  require(!s.dims.empty(), ErrorCode::runtime,
          fmt::format("{} must transform at least one axis", op));
}

}  // namespace

Val fft_fft::decompose(Tracer&, const Val& self, const FftLength& n, int64_t dim,
                       const FftNorm& norm) {
  return whole_line(self, n, dim, norm, true);
}
Val fft_ifft::decompose(Tracer&, const Val& self, const FftLength& n, int64_t dim,
                        const FftNorm& norm) {
  return whole_line(self, n, dim, norm, false);
}
Val fft_rfft::decompose(Tracer&, const Val& self, const FftLength& n, int64_t dim,
                        const FftNorm& norm) {
  return half_line("rfft", self, n, dim, norm, true);
}
Val fft_ihfft::decompose(Tracer&, const Val& self, const FftLength& n, int64_t dim,
                         const FftNorm& norm) {
  return half_line("ihfft", self, n, dim, norm, false);
}
Val fft_irfft::decompose(Tracer&, const Val& self, const FftLength& n, int64_t dim,
                         const FftNorm& norm) {
  return real_line(self, n, dim, norm, false);
}
Val fft_hfft::decompose(Tracer&, const Val& self, const FftLength& n, int64_t dim,
                        const FftNorm& norm) {
  return real_line(self, n, dim, norm, true);
}

Val fft_fftn::decompose(Tracer&, const Val& self, const FftLengths& s, const FftDims& dim,
                        const FftNorm& norm) {
  return over_several_dims(self, s, dim, norm, true);
}
Val fft_ifftn::decompose(Tracer&, const Val& self, const FftLengths& s, const FftDims& dim,
                         const FftNorm& norm) {
  return over_several_dims(self, s, dim, norm, false);
}

Val fft_rfftn::decompose(Tracer&, const Val& self, const FftLengths& s, const FftDims& dim,
                         const FftNorm& norm) {
  require_real_signal("rfftn", "real-valued", self);
  const Signal signal = fft::signal_of(self, s, dim);
  require_fft_dim("rfftn", signal);
  const double scale = fft::scale_of(norm, signal.count(), true);
  return fft::scaled(fft::r2c(fft::resized(fft::real_input(self), signal), signal.dims), scale);
}

Val fft_ihfftn::decompose(Tracer&, const Val& self, const FftLengths& s, const FftDims& dim,
                          const FftNorm& norm) {
  require_real_signal("ihfftn", "real-valued", self);
  const Signal signal = fft::signal_of(self, s, dim);
  require_fft_dim("ihfftn", signal);
  const double scale = fft::scale_of(norm, signal.count(), false);
  const Val half =
      conj(fft::r2c(fft::resized(fft::real_input(self), signal), {signal.dims.back()}));
  return fft::scaled(fft::c2c(half, all_but_last(signal.dims), false), scale);
}

Val fft_irfftn::decompose(Tracer&, const Val& self, const FftLengths& s, const FftDims& dim,
                          const FftNorm& norm) {
  const Signal signal = fft::half_signal_of("irfftn", self, s, dim);
  const double scale = fft::scale_of(norm, signal.count(), false);
  const Val half = fft::resized(fft::complex_input(self), signal, true);
  return fft::scaled(fft::c2r(half, signal.dims, signal.lengths.back()), scale);
}

Val fft_hfftn::decompose(Tracer&, const Val& self, const FftLengths& s, const FftDims& dim,
                         const FftNorm& norm) {
  const Signal signal = fft::half_signal_of("hfftn", self, s, dim);
  const double scale = fft::scale_of(norm, signal.count(), true);
  const Val half = fft::resized(fft::complex_input(self), signal, true);
  const Val turned = conj(fft::c2c(half, all_but_last(signal.dims), true));
  return fft::scaled(fft::c2r(turned, {signal.dims.back()}, signal.lengths.back()), scale);
}

namespace {

// --- the operators that these are made of in ATen: dims as they are, lengths that fit ---

enum class FftInput : uint8_t { real, complex };

Signal plain_signal(const Val& x, const Dims& dims, FftInput input) {
  const bool wants_complex = input == FftInput::complex;
  const DType t = x.dtype();
  require(wants_complex ? is_complex(t) : is_floating(t), ErrorCode::runtime,
          fmt::format("Only supports {} dtypes, but found: {}",
                      wants_complex ? "complex" : "floating-point", aten_name(t)));
  require(bits(real_type(t)) >= 32, ErrorCode::runtime,
          fmt::format("MKL FFT doesn't support tensors of type: {}", aten_name(real_type(t))));
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto at = dims.begin() + static_cast<std::ptrdiff_t>(i);
    require(
        dims[i] >= 0 && dims[i] < x.rank() && std::find(dims.begin(), at, dims[i]) == at,
        ErrorCode::runtime,
        fmt::format("dim must hold different dims of a tensor of rank {}, counted from 0; found "
                    "[{}]",
                    x.rank(), fmt::join(dims, ", ")));
  }
  return fft::signal_of(x, {}, dims);
}

void require_dims_named(const char* op, const Dims& dims) {
  require(!dims.empty(), ErrorCode::runtime,
          fmt::format("{}: dim must name at least one dim; found none", op));
}

}  // namespace

Val _fft_c2c::decompose(Tracer&, const Val& self, const SymInts& dim, int64_t normalization,
                        bool forward) {
  Dims dims;
  for (const SymInt& d : dim) dims.push_back(d.specialize());
  const Signal s = plain_signal(self, dims, FftInput::complex);
  return fft::scaled(fft::c2c(self, s.dims, forward), fft::scale_of(normalization, s.count()));
}

Val _fft_r2c::decompose(Tracer&, const Val& self, const Dims& dim, int64_t normalization,
                        bool onesided) {
  require_dims_named("_fft_r2c", dim);
  const Signal s = plain_signal(self, dim, FftInput::real);
  const Val half = fft::scaled(fft::r2c(self, s.dims), fft::scale_of(normalization, s.count()));
  return onesided ? half : fft::completed(half, s.dims, s.lengths.back());
}

Val _fft_c2r::decompose(Tracer&, const Val& self, const Dims& dim, int64_t normalization,
                        SymInt last_dim_size) {
  require_dims_named("_fft_c2r", dim);
  Signal s = plain_signal(self, dim, FftInput::complex);
  const int64_t length = last_dim_size.specialize();
  require(length >= 1 && s.lengths.back() == length / 2 + 1, ErrorCode::runtime,
          fmt::format("_fft_c2r: last_dim_size must be that of a signal with {} frequencies, along "
                      "dim {}; found {}",
                      s.lengths.back(), s.dims.back(), length));
  s.lengths.back() = length;
  return fft::scaled(fft::c2r(self, s.dims, length), fft::scale_of(normalization, s.count()));
}

}  // namespace primset::decomps
