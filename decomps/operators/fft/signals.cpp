#include "decomps/operators/fft/signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decomps/operators/operator_support.h"

namespace primset::decomps::fft {
namespace {

int64_t dim_of(int64_t dim, int64_t rank) {
  require(rank > 0, ErrorCode::index,
          fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  return wrap_dim(dim, rank);
}

void require_points(int64_t n) {
  require(n >= 1, ErrorCode::runtime,
          fmt::format("Invalid number of data points ({}) specified", n));
}

// Those that are named, else as many of the last as there are sizes, else all.
Dims dims_of(const Val& x, const std::optional<SymInts>& s, const std::optional<Dims>& dim) {
  const int64_t rank = x.rank();
  Dims dims;
  if (dim) {
    for (int64_t d : *dim) dims.push_back(dim_of(d, rank));
    for (size_t i = 0; i < dims.size(); ++i)
      require(std::find(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i), dims[i]) ==
                  dims.begin() + static_cast<std::ptrdiff_t>(i),
              ErrorCode::runtime, "FFT dims must be unique");
  }
  if (!s) return dim ? dims : dims_from(0, rank);
  const auto count = static_cast<int64_t>(s->size());
  require(!dim || dim->size() == s->size(), ErrorCode::runtime,
          "When given, dim and shape arguments must have the same length");
  require(count <= rank, ErrorCode::runtime,
          fmt::format("Got shape with {} values but input tensor only has {} dimensions.", count,
                      rank));
  return dim ? dims : dims_from(rank - count, rank);
}

void require_real_or_complex_float(DType t) {
  require(t == DType::f32 || t == DType::f64 || t == DType::c64 || t == DType::c128,
          ErrorCode::runtime,
          t == DType::c32 ? "MKL FFT doesn't support tensors of type: Half"
                          : fmt::format("Unsupported dtype {}", aten_name(t)));
}

}  // namespace

double Signal::count() const {
  return std::accumulate(lengths.begin(), lengths.end(), 1.0,
                         [](double n, int64_t length) { return n * static_cast<double>(length); });
}

Signal line_of(const Val& x, const std::optional<SymInt>& n, int64_t dim, bool half) {
  const int64_t d = dim_of(dim, x.rank());
  const auto size = [&] { return x.size(d).specialize(); };
  const int64_t length = n ? n->specialize() : half ? 2 * (size() - 1) : size();
  require_points(length);
  return {{d}, {length}};
}

Signal signal_of(const Val& x, const std::optional<SymInts>& s, const std::optional<Dims>& dim) {
  Signal signal{dims_of(x, s, dim), {}};
  for (size_t i = 0; i < signal.dims.size(); ++i) {
    const int64_t wanted = s ? (*s)[i].specialize() : -1;
    signal.lengths.push_back(wanted == -1 ? x.size(signal.dims[i]).specialize() : wanted);
    require_points(signal.lengths.back());
  }
  return signal;
}

Signal half_signal_of(const char* op, const Val& x, const std::optional<SymInts>& s,
                      const std::optional<Dims>& dim) {
  Signal signal = signal_of(x, s, dim);
  require(!signal.dims.empty(), ErrorCode::runtime,
          fmt::format("{} must transform at least one axis", op));
  if (!s || s->back().specialize() == -1)
    signal.lengths.back() = 2 * (x.size(signal.dims.back()).specialize() - 1);
  require_points(signal.lengths.back());
  return signal;
}

Val resized(const Val& x, const Signal& signal, bool half) {
  Tracer& t = x.tracer();
  Val cut = x;
  SymInts none(static_cast<size_t>(x.rank()), SymInt(0)), high = none;
  bool short_of = false;
  for (size_t i = 0; i < signal.dims.size(); ++i) {
    const bool halved = half && i + 1 == signal.dims.size();
    const int64_t length = halved ? signal.lengths[i] / 2 + 1 : signal.lengths[i];
    const int64_t d = signal.dims[i], size = x.size(d).specialize();
    if (size > length) cut = slice(cut, d, 0, length, 1);
    if (size < length) high[static_cast<size_t>(d)] = length - size;
    short_of |= size < length;
  }
  if (!short_of) return cut;
  const Val nothing = t.constant(0, x.dtype());
  return t.wrap(t.builder().pad(cut.id(), nothing.id(), none, high, none));
}

Val real_input(const Val& x) {
  const DType t = is_exact(x.dtype()) ? DType::f32 : x.dtype();
  require_real_or_complex_float(t);
  return convert(x, t);
}

Val complex_input(const Val& x) {
  const Val v = real_input(x);
  return convert(v, complex_type(v.dtype()));
}

double scale_of(const std::optional<std::string>& norm, double count, bool forward) {
  const std::string mode = norm.value_or("backward");
  if (mode == "ortho") return scale_of(1, count);
  require(mode == "backward" || mode == "forward", ErrorCode::runtime,
          fmt::format("Invalid normalization mode: \"{}\"", mode));
  return scale_of((mode == "forward") == forward ? 2 : 0, count);
}

double scale_of(int64_t normalization, double count) {
  return normalization == 1 ? 1 / std::sqrt(count) : normalization == 2 ? 1 / count : 1;
}

Val scaled(const Val& x, double factor) {
  if (factor == 1) return x;
  const Scalar f(factor);
  return is_complex(x.dtype()) ? complex(real(x) * f, imag(x) * f) : x * f;
}

Val c2c(const Val& x, const Dims& dims, bool forward) {
  if (dims.empty()) return x;
  return x.tracer().prim1(Prim::fft_c2c, {x}, {{"dims", dims}, {"forward", forward}});
}

Val r2c(const Val& x, const Dims& dims) {
  return x.tracer().prim1(Prim::fft_r2c, {x}, {{"dims", dims}});
}

Val c2r(const Val& x, const Dims& dims, int64_t length) {
  return x.tracer().prim1(Prim::fft_c2r, {x}, {{"dims", dims}, {"n", SymInt(length)}});
}

// Element k is the conjugate of element -k, modulo the lengths: along the other dims element 0
// stays and the rest is reversed.
Val completed(const Val& half, const Dims& dims, int64_t length) {
  if (length < 3) return half;
  Tracer& t = half.tracer();
  const int64_t last = dims.back();
  Val mirrored =
      conj(t.wrap(t.builder().reverse(slice(half, last, 1, (length + 1) / 2, 1).id(), {last})));
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    const int64_t d = dims[i];
    const Val rest = slice(mirrored, d, 1, mirrored.size(d), 1);
    mirrored =
        concatenate({slice(mirrored, d, 0, 1, 1), t.wrap(t.builder().reverse(rest.id(), {d}))}, d);
  }
  return concatenate({half, mirrored}, last);
}

}  // namespace primset::decomps::fft
