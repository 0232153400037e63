#include "backends/cuda/fft/fft_call.h"

#include <algorithm>
#include <span>

#include "backends/common/call_attributes.h"
#include "backends/common/element_bytes.h"

namespace primset_cuda {
namespace {

using primset_backend::element_bytes;
using Ints = std::vector<int64_t>;

// Transforms that no one stride steps through take a call for each of a few parts.
constexpr int64_t kMostFftCalls = 64;

struct Types {
  std::string_view name;
  FftKind kind;
  uint32_t in, out;
  bool wide;
};
constexpr Types kTypes[] = {
    {"fft_c2c", FftKind::complex, PRIMSET_C64, PRIMSET_C64, false},
    {"fft_c2c", FftKind::complex, PRIMSET_C128, PRIMSET_C128, true},
    {"fft_r2c", FftKind::to_half, PRIMSET_F32, PRIMSET_C64, false},
    {"fft_r2c", FftKind::to_half, PRIMSET_F64, PRIMSET_C128, true},
    {"fft_c2r", FftKind::from_half, PRIMSET_C64, PRIMSET_F32, false},
    {"fft_c2r", FftKind::from_half, PRIMSET_C128, PRIMSET_F64, true},
};

bool has_other_factors(int64_t n) {
  for (const int64_t p : {2, 3, 5, 7})
    while (n % p == 0) n /= p;
  return n != 1;
}

bool is_worth_it(const FftShape& s, const LibraryTuning& tuning) {
  int64_t points = 1;
  bool rough = false;
  for (int d = 0; d < s.rank; ++d) {
    points *= s.sizes[static_cast<size_t>(d)];
    rough |= has_other_factors(s.sizes[static_cast<size_t>(d)]);
  }
  if (rough && points >= tuning.fft_rough_points) return true;
  switch (s.kind) {
    case FftKind::to_half:
      return points >= tuning.fft_real_points;
    case FftKind::from_half:
      return points >= tuning.fft_from_half_points;
    default:
      return points >= tuning.fft_points;
  }
}

// The dims of a transform in the order of memory: along the last of them, of real values, there is
// half a spectrum, and all others are in ascending order. Empty when they are no such dims.
Ints transformed_dims(const primset_primitive_call& call, FftKind kind) {
  Ints dims = primset_backend::integers(call, "dims");
  const auto rank = static_cast<int64_t>(call.operands[0].rank);
  if (std::ranges::any_of(dims, [&](int64_t d) { return d < 0 || d >= rank; })) return {};
  if (dims.empty()) return dims;
  std::sort(dims.begin(), kind == FftKind::complex ? dims.end() : dims.end() - 1);
  return dims;
}

// Strides of a transform's dims as the library names them; false when it cannot.
bool embed(const Ints& sizes, const int64_t* strides, const Ints& dims, FftSide& side) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t stride = strides[dims[i]];
    if (stride <= 0) return false;
    side.embed[i] = sizes[static_cast<size_t>(dims[i])];
    if (i == 0) continue;
    const int64_t before = strides[dims[i - 1]];
    if (before % stride != 0 || before / stride < side.embed[i]) return false;
    side.embed[i] = before / stride;
  }
  side.stride = strides[dims.back()];
  return true;
}

// The other dims: those of the longest run that one stride steps through become the batch, and the
// others places.
bool spread_fft(const StridedCopy& batch, int64_t in_bytes, int64_t out_bytes, FftCall& x) {
  const StridedCopy m = batch.merged();
  const auto longest = std::ranges::max_element(m.sizes) - m.sizes.begin();
  x.places.assign(1, {});
  for (size_t d = 0; d < m.sizes.size(); ++d) {
    if (static_cast<std::ptrdiff_t>(d) == longest) continue;
    if (m.sizes[d] > kMostFftCalls / static_cast<int64_t>(x.places.size())) return false;
    std::vector<FftPlace> next;
    for (const FftPlace& p : x.places)
      for (int64_t i = 0; i < m.sizes[d]; ++i)
        next.push_back(
            {p.in + i * m.from_strides[d] * in_bytes, p.out + i * m.to_strides[d] * out_bytes});
    x.places = std::move(next);
  }
  if (m.sizes.empty()) return true;
  const auto at = static_cast<size_t>(longest);
  x.shape.batch = m.sizes[at];
  x.shape.in.distance = m.from_strides[at];
  x.shape.out.distance = m.to_strides[at];
  return x.shape.in.distance > 0;
}

// The library reads and writes complex numbers at once, also where their parts are reals.
bool is_aligned(const FftCall& x, uint64_t in, uint64_t out, int64_t complex_bytes) {
  const auto aligned = [&](uint64_t base, int64_t place) {
    return (base + static_cast<uint64_t>(place)) % static_cast<uint64_t>(complex_bytes) == 0;
  };
  return std::ranges::all_of(
      x.places, [&](const FftPlace& p) { return aligned(in, p.in) && aligned(out, p.out); });
}

// Of a spectrum without gaps, sizes as given: elements 0 and n / 2 of an even n along `dim`.
StridedCopy real_elements(const primset_tensor& x, size_t dim, int64_t n) {
  StridedCopy c = StridedCopy::from_tensor(x, StridedCopy::dense_strides(x));
  std::ranges::fill(c.from_strides, 0);
  c.sizes[dim] = n % 2 == 0 ? 2 : 1;
  c.to_strides[dim] *= n / 2;
  return c;
}

bool read_copy(const primset_tensor& x, const Ints& dims, int64_t n, FftCall& call) {
  if (dims.size() != 1) return false;  // of more dims none but the last transform's ends are real
  const auto dim = static_cast<size_t>(dims[0]);
  call.copied = StridedCopy::from_tensor(x, StridedCopy::dense_strides(x));
  call.made_real = real_elements(x, dim, n);
  int64_t elements = 1;
  for (const int64_t size : call.copied->sizes) elements *= size;
  call.copied_bytes = static_cast<uint64_t>(elements * element_bytes(x.dtype));
  return call.copied->launches() <= kMostCopyLaunches &&
         call.made_real.launches() <= kMostCopyLaunches;
}

std::optional<FftCall> read_typed(const Types& types, const primset_primitive_call& call,
                                  const LibraryTuning& tuning) {
  const primset_tensor &x = call.operands[0], &y = call.results[0];
  const Ints dims = transformed_dims(call, types.kind);
  if (dims.empty() || dims.size() > 3) return std::nullopt;
  const primset_tensor& whole = types.kind == FftKind::from_half ? y : x;
  FftCall f;
  f.shape.kind = types.kind;
  f.shape.wide = types.wide;
  f.shape.rank = static_cast<int>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) f.shape.sizes[i] = whole.sizes[dims[i]];
  f.forward = types.kind != FftKind::from_half && primset_backend::flag(call, "forward", true);
  const auto none = [](const primset_tensor& t) {
    return std::any_of(t.sizes, t.sizes + t.rank, [](int64_t n) { return n == 0; });
  };
  f.is_empty = none(y);
  if (f.is_empty) return f;
  if (none(x) || !is_worth_it(f.shape, tuning)) return std::nullopt;
  if (types.kind == FftKind::from_half && !read_copy(x, dims, f.shape.sizes[0], f))
    return std::nullopt;

  const Ints dense = StridedCopy::dense_strides(x);
  const int64_t* const strides = f.copied ? dense.data() : x.strides;
  if (!embed({x.sizes, x.sizes + x.rank}, strides, dims, f.shape.in) ||
      !embed({y.sizes, y.sizes + y.rank}, y.strides, dims, f.shape.out))
    return std::nullopt;
  StridedCopy batch;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (std::ranges::count(dims, int64_t{d}) != 0) continue;
    batch.sizes.push_back(x.sizes[d]);
    batch.from_strides.push_back(strides[d]);
    batch.to_strides.push_back(y.strides[d]);
  }
  const int64_t in_bytes = element_bytes(x.dtype), out_bytes = element_bytes(y.dtype);
  if (!spread_fft(batch, in_bytes, out_bytes, f)) return std::nullopt;
  return is_aligned(f, f.copied ? 0 : x.offset, y.offset, types.wide ? 16 : 8)
             ? std::optional(std::move(f))
             : std::nullopt;
}

}  // namespace

std::optional<FftCall> read_fft(std::string_view name, const primset_primitive_call& call,
                                const LibraryTuning& tuning) {
  if (call.operand_count != 1 || call.result_count != 1) return std::nullopt;
  for (const Types& t : kTypes)
    if (t.name == name && t.in == call.operands[0].dtype && t.out == call.results[0].dtype)
      return read_typed(t, call, tuning);
  return std::nullopt;
}

}  // namespace primset_cuda
