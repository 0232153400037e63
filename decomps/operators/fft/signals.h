// What is transformed, and how it is scaled: the arguments that the operators of the FFT family
// have in common, brought into one form.
#ifndef PRIMSET_DECOMPS_OPERATORS_FFT_SIGNALS_H_
#define PRIMSET_DECOMPS_OPERATORS_FFT_SIGNALS_H_

#include <optional>
#include <string>
#include <vector>

#include "decomps/engine/engine.h"

namespace primset::decomps::fft {

using Dims = std::vector<int64_t>;

// Dims, not negative, and the lengths of the transforms along them, which are part of the plan.
struct Signal {
  Dims dims, lengths;

  double count() const;  // of the elements of a transform
};

// torch.fft's `n` and `dim` of one dim. The length defaults to the size, and of half a spectrum to
// that of the even signal whose half it is.
Signal line_of(const Val& x, const std::optional<SymInt>& n, int64_t dim, bool half = false);
// Its `s` and `dim` of several.
Signal signal_of(const Val& x, const std::optional<SymInts>& s, const std::optional<Dims>& dim);
// The same, where x is half a spectrum along the last of dims.
Signal half_signal_of(const char* op, const Val& x, const std::optional<SymInts>& s,
                      const std::optional<Dims>& dim);

// x cut, or filled with zeros, to the lengths; `half`: the last one to the half of it that a
// spectrum of real values needs.
Val resized(const Val& x, const Signal& signal, bool half = false);

// x in a dtype that transforms are computed in: integers become f32.
Val real_input(const Val& x);
Val complex_input(const Val& x);

// What a transform of `count` elements is multiplied by: nothing, 1 / sqrt(count) or 1 / count. In
// torch.fft's words a transform in one direction, or both by the root.
double scale_of(const std::optional<std::string>& norm, double count, bool forward);
// The same by ATen's number for it.
double scale_of(int64_t normalization, double count);
Val scaled(const Val& x, double factor);

// The primitives; transforms over no dims are the identity.
Val c2c(const Val& x, const Dims& dims, bool forward);
Val r2c(const Val& x, const Dims& dims);
Val c2r(const Val& x, const Dims& dims, int64_t length);
// The whole spectrum of real values of this length, from the half of it along dim. Along the other
// dims that were transformed it is mirrored too.
Val completed(const Val& half, const Dims& dims, int64_t length);

}  // namespace primset::decomps::fft

#endif  // PRIMSET_DECOMPS_OPERATORS_FFT_SIGNALS_H_
