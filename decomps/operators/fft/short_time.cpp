// Spectrograms: transforms of overlapping frames of a signal, and the signal back from them by
// adding up what overlaps, divided by what the windows add up to.
#include <fmt/format.h>

#include "decomps/operators/fft.h"
#include "decomps/operators/fft/signals.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using OptionalLength = std::optional<int64_t>;

void require_stft(bool ok, const std::string& what) {
  require(ok, ErrorCode::runtime, "stft: " + what);
}
void require_istft(bool ok, const std::string& what) {
  require(ok, ErrorCode::runtime, "istft: " + what);
}

// Of n_fft elements, win_length of which are `window`, in the middle of zeros.
Val centered(const Val& window, int64_t n_fft) {
  Tracer& t = window.tracer();
  const int64_t gap = n_fft - window.size(0).specialize(), left = gap / 2;
  if (gap == 0) return window;
  return t.call1("constant_pad_nd", {window, SymInts{left, gap - left}, t.literal(Scalar(0))});
}

bool is_window(const std::optional<Val>& window, int64_t length) {
  return !window || (window->rank() == 1 && window->size(0) == SymInt(length));
}

struct Frames {
  int64_t n_fft, hop, window;

  Frames(int64_t n_fft, const OptionalLength& hop_length, const OptionalLength& win_length)
      : n_fft(n_fft), hop(hop_length.value_or(n_fft / 4)), window(win_length.value_or(n_fft)) {}
};

// As real numbers with a last dim of 2, if that was asked for.
Val as_asked(const Val& z, bool complex_result) {
  if (complex_result) return z;
  return concatenate({unsqueeze(real(z), -1), unsqueeze(imag(z), -1)}, z.rank());
}

bool gives_complex(const Val& self, const std::optional<Val>& window,
                   const std::optional<bool>& return_complex) {
  const bool of_complex = is_complex(self.dtype()) || (window && is_complex(window->dtype()));
  require(return_complex.has_value() || of_complex, ErrorCode::runtime,
          "stft requires the return_complex parameter be given for real inputs");
  return return_complex.value_or(true);
}

void require_frames(const Val& signal, const std::optional<Val>& window, const Frames& f) {
  require_stft(signal.rank() == 2, fmt::format("expected a 1D or 2D tensor, but got size {}",
                                               shape_text(signal.shape())));
  const SymInt length = signal.size(1);
  require_stft(f.n_fft > 0 && SymInt(f.n_fft) <= length,
               fmt::format("expected 0 < n_fft <= {}, but got n_fft={}", length.hint(), f.n_fft));
  require_stft(f.hop > 0, fmt::format("expected hop_length > 0, but got hop_length={}", f.hop));
  require_stft(f.window > 0 && f.window <= f.n_fft,
               fmt::format("expected 0 < win_length <= n_fft, but got win_length={}", f.window));
  require_stft(is_window(window, f.window),
               fmt::format("expected a 1D window tensor of size equal to win_length={}, but got "
                           "window with size {}",
                           f.window, window ? shape_text(window->shape()) : ""));
}

// signal is [batch, length].
Val spectrogram(Val signal, std::optional<Val> window, const Frames& f, bool normalized,
                const std::optional<bool>& onesided, bool align_to_window) {
  Tracer& t = signal.tracer();
  require_frames(signal, window, f);
  if (f.window < f.n_fft) {
    if (!window) window = t.constant(Scalar(1), signal.dtype(), {f.window});
    window = centered(*window, f.n_fft);
  }
  const int64_t margin = (f.n_fft - f.window) / 2;
  if (align_to_window && margin > 0)
    signal = t.call1("constant_pad_nd", {signal, SymInts{margin, margin}, t.literal(Scalar(0))});
  Val frames = t.wrap(t.builder().window(signal.id(), {1}, {f.n_fft}, {f.hop}, {1}));
  if (window) frames = frames * *window;
  const bool of_complex = is_complex(frames.dtype());
  const bool half = onesided.value_or(!of_complex);
  require(!half || !of_complex, ErrorCode::runtime,
          "Cannot have onesided output if window or input is complex");
  const Val input = of_complex ? fft::complex_input(frames) : fft::real_input(frames);
  const double scale = fft::scale_of(normalized ? 1 : 0, static_cast<double>(f.n_fft));
  const Val spectra =
      fft::scaled(of_complex ? fft::c2c(input, {2}, true) : fft::r2c(input, {2}), scale);
  return matrix_transpose(of_complex || half ? spectra : fft::completed(spectra, {2}, f.n_fft));
}

Val short_time_transform(const Val& self, const std::optional<Val>& window, const Frames& f,
                         bool normalized, const std::optional<bool>& onesided,
                         const std::optional<bool>& return_complex,
                         const std::optional<bool>& align_to_window) {
  const bool complex_result = gives_complex(self, window, return_complex);
  const Val signal = self.rank() == 1 ? unsqueeze(self, 0) : self;
  const Val spectra =
      spectrogram(signal, window, f, normalized, onesided, align_to_window.value_or(false));
  return as_asked(self.rank() == 1 ? squeeze(spectra, 0) : spectra, complex_result);
}

// n_fft / 2 more elements at both ends.
Val with_margins(const Val& self, int64_t n_fft, const std::string& pad_mode) {
  Tracer& t = self.tracer();
  SymInts shape = self.shape();
  while (shape.size() < 3) shape.insert(shape.begin(), SymInt(1));
  const Val padded = t.call1(
      "pad", {reshape(self, shape), SymInts{n_fft / 2, n_fft / 2}, pad_mode, Tracer::Argument()});
  SymInts sizes = self.shape();
  if (sizes.empty()) sizes.push_back(1);
  sizes.back() = padded.size(-1);
  return reshape(padded, sizes);
}

}  // namespace

Val stft::decompose(Tracer&, const Val& self, int64_t n_fft, const OptionalLength& hop_length,
                    const OptionalLength& win_length, const std::optional<Val>& window,
                    bool normalized, const std::optional<bool>& onesided,
                    const std::optional<bool>& return_complex,
                    const std::optional<bool>& align_to_window) {
  return short_time_transform(self, window, {n_fft, hop_length, win_length}, normalized, onesided,
                              return_complex, align_to_window);
}

Val stft_center::decompose(Tracer&, const Val& self, int64_t n_fft,
                           const OptionalLength& hop_length, const OptionalLength& win_length,
                           const std::optional<Val>& window, bool center,
                           const std::string& pad_mode, bool normalized,
                           const std::optional<bool>& onesided,
                           const std::optional<bool>& return_complex,
                           const std::optional<bool>& align_to_window) {
  require_stft(!center || !align_to_window,
               "align_to_window should only be set when center = false");
  gives_complex(self, window, return_complex);
  require_stft(self.rank() > 0, "expected a 1D or 2D tensor, but got size []");
  return short_time_transform(center ? with_margins(self, n_fft, pad_mode) : self, window,
                              {n_fft, hop_length, win_length}, normalized, onesided, return_complex,
                              align_to_window);
}

namespace {

void require_spectrogram(const Val& self, const std::optional<Val>& window, const Frames& f,
                         bool half) {
  const int64_t frequencies = self.size(-2).specialize();
  require_istft(
      frequencies == (half ? f.n_fft / 2 + 1 : f.n_fft),
      fmt::format("expected the frequency dimension (3rd to the last) of the input tensor "
                  "to match {} when onesided={}, but got {}",
                  half ? "n_fft / 2 + 1" : "n_fft", half ? "True" : "False", frequencies));
  require_istft(0 < f.hop && f.hop <= f.window,
                fmt::format("expected 0 < hop_length <= win_length, but got hop_length={}", f.hop));
  require_istft(0 < f.window && f.window <= f.n_fft,
                fmt::format("expected 0 < win_length <= n_fft, but got win_length={}", f.window));
  require_istft(is_window(window, f.window),
                fmt::format("Invalid window shape. window has to be 1D and length of "
                            "`win_length`={}, but got {}",
                            f.window, window ? shape_text(window->shape()) : ""));
}

// The frames [batch, count, n_fft] of a signal back from [batch, frequencies, count].
Val frames_of(const Val& spectra, const std::optional<Val>& window, const Frames& f, bool half,
              bool normalized, bool return_complex) {
  const Val turned = matrix_transpose(spectra);
  const double scale = fft::scale_of(normalized ? 1 : 2, static_cast<double>(f.n_fft));
  if (return_complex) {
    require(!half, ErrorCode::runtime, "Cannot have onesided output if window or input is complex");
    return fft::scaled(fft::c2c(turned, {2}, false), scale);
  }
  require(!window || !is_complex(window->dtype()), ErrorCode::runtime,
          "Complex windows are incompatible with return_complex=False");
  return fft::scaled(fft::c2r(slice(turned, 2, 0, f.n_fft / 2 + 1, 1), {2}, f.n_fft), scale);
}

// Frames [batch, count, n_fft] added up at steps of `hop` to [batch, length].
Val overlapped(const Val& frames, const SymInt& length, const Frames& f) {
  if (is_complex(frames.dtype()))
    return complex(overlapped(real(frames), length, f), overlapped(imag(frames), length, f));
  return frames.tracer().call1(
      "unfold_backward", {frames, SymInts{frames.size(0), length}, int64_t{1}, f.n_fft, f.hop});
}

struct SignalRange {
  SymInt start, end;
};

// Of the signal of `whole` elements that the frames make.
SignalRange wanted_range(const SymInt& whole, const Frames& f, bool center,
                         const OptionalLength& length) {
  const int64_t margin = center ? f.n_fft / 2 : 0;
  if (length) return {margin, SymInt(margin + *length)};
  return {margin, whole - margin};
}

Val synthesized(const Val& spectra, const std::optional<Val>& window, const Frames& f,
                const Val& frames, bool center, const OptionalLength& length) {
  Tracer& t = spectra.tracer();
  const DType part = real_type(spectra.dtype());
  const Val shape = window ? centered(*window, f.n_fft)
                           : centered(t.constant(Scalar(1), part, {f.window}), f.n_fft);
  const SymInt count = spectra.size(-1), whole = (count - 1) * f.hop + f.n_fft;
  const SignalRange range = wanted_range(whole, f, center, length);
  const SliceBounds inside = clamped_slice_bounds(whole, range.start, range.end, 1);
  require(inside.count > SymInt(0), ErrorCode::runtime,
          fmt::format("istft: no element of the signal is asked for; found elements {} to {} of {}",
                      range.start.hint(), range.end.hint(), whole.hint()));
  const auto cut = [&](const Val& x) {
    return slice(x, 1, inside.start, inside.start + inside.count, 1);
  };
  const Val signal = cut(overlapped(frames * shape, whole, f));
  const Val squares = broadcast_to(shape * shape, {1, count, f.n_fft});
  const Val envelope = cut(overlapped(squares, whole, f));
  const Val size = unary(Prim::abs, envelope);
  check(ge(size, Scalar(1e-11)), t.constant(0, DType::i64), ErrorCode::runtime,
        "istft: window overlap add min: 1");
  const Val made = signal / envelope;
  const SymInt missing = range.end - (inside.start + inside.count);
  if (!length || !(missing > SymInt(0))) return made;
  return t.call1("constant_pad_nd", {made, SymInts{0, missing}, t.literal(Scalar(0))});
}

}  // namespace

Val istft::decompose(Tracer&, const Val& self, int64_t n_fft, const OptionalLength& hop_length,
                     const OptionalLength& win_length, const std::optional<Val>& window,
                     bool center, bool normalized, const std::optional<bool>& onesided,
                     const OptionalLength& length, bool return_complex) {
  const Frames f(n_fft, hop_length, win_length);
  require(is_complex(self.dtype()), ErrorCode::runtime,
          fmt::format("istft requires a complex-valued input tensor matching the output from stft "
                      "with return_complex=True, but got {}",
                      aten_name(self.dtype())));
  if (self.rank() < 2) wrap_dim(-2 - (self.rank() == 0 ? 0 : 1), self.rank());
  require_istft(!self.is_empty(), "input tensor cannot be empty");
  require_istft(self.rank() == 2 || self.rank() == 3,
                fmt::format("expected a tensor with 2 or 3 dimensions, but got {}", self.rank()));
  const bool half = onesided.value_or(!(self.size(-2) == SymInt(n_fft)));
  require_spectrogram(self, window, f, half);
  const Val input = fft::complex_input(self);
  const Val spectra = self.rank() == 2 ? unsqueeze(input, 0) : input;
  const Val frames = frames_of(spectra, window, f, half, normalized, return_complex);
  const Val signal = synthesized(spectra, window, f, frames, center, length);
  return self.rank() == 2 ? squeeze(signal, 0) : signal;
}

}  // namespace primset::decomps
