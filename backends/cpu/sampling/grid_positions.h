// Where the coordinates of a grid are along a dim of the image, for a block of places at a time.
#ifndef PRIMSET_BACKENDS_CPU_SAMPLING_GRID_POSITIONS_H_
#define PRIMSET_BACKENDS_CPU_SAMPLING_GRID_POSITIONS_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/cpu/vector_code.h"

namespace primset_cpu {

inline constexpr int kBlockPlaces = 32;

enum class GridPadding : uint8_t { zeros, border, reflection };

struct GridAxis {
  int64_t size;  // of the image
  GridPadding padding;
  bool align_corners;
};

// Positions among the elements of a dim, and their derivatives by the grid's coordinate.
template <typename Real>
struct GridPositions {
  Real at[kBlockPlaces], slope[kBlockPlaces];
};

// From -1 to 1 to the elements: their centres are the outermost, or their edges.
template <typename Real>
PRIMSET_INLINE void unnormalize(const GridAxis& axis, GridPositions<Real>& p) {
  const auto count = static_cast<Real>(axis.align_corners ? axis.size - 1 : axis.size);
  for (int i = 0; i < kBlockPlaces; ++i) {
    const Real from_edge = p.at[i] + 1;
    p.at[i] = axis.align_corners ? from_edge / 2 * count : (from_edge * count - 1) / 2;
    p.slope[i] = count / 2;
  }
}

// Back and forth between the outermost elements, or their edges.
template <typename Real>
PRIMSET_INLINE void reflect(const GridAxis& axis, GridPositions<Real>& p) {
  const auto span = static_cast<Real>(axis.align_corners ? axis.size - 1 : axis.size);
  const Real low = axis.align_corners ? Real(0) : Real(-0.5);
  for (int i = 0; i < kBlockPlaces; ++i) {
    if (span == 0) {
      p.at[i] = p.slope[i] = 0;
      continue;
    }
    const Real from_low = p.at[i] - low, distance = std::abs(from_low);
    const Real turns = std::floor(distance / span), rest = std::fmod(distance, span);
    const bool returns = std::fmod(turns, Real(2)) != 0;
    p.at[i] = (returns ? span - rest : rest) + low;
    p.slope[i] = returns != (from_low < 0) ? -p.slope[i] : p.slope[i];
  }
}

// To the outermost elements, where there is no derivative. NaN stays.
template <typename Real>
PRIMSET_INLINE void clip(const GridAxis& axis, GridPositions<Real>& p) {
  const auto last = static_cast<Real>(axis.size - 1);
  for (int i = 0; i < kBlockPlaces; ++i) {
    const Real at = p.at[i];
    p.slope[i] = at > 0 && at < last ? p.slope[i] : Real(0);
    p.at[i] = at < 0 ? Real(0) : at > last ? last : at;
  }
}

template <typename Real>
PRIMSET_INLINE void pad(const GridAxis& axis, GridPositions<Real>& p) {
  if (axis.padding == GridPadding::zeros) return;
  if (axis.padding == GridPadding::reflection) reflect(axis, p);
  clip(axis, p);
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SAMPLING_GRID_POSITIONS_H_
