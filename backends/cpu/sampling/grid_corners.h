// The elements of an image between which a grid's places are, and what they weigh. Along each dim a
// place has taps: neighbours with weights. Its corners are all combinations of them.
#ifndef PRIMSET_BACKENDS_CPU_SAMPLING_GRID_CORNERS_H_
#define PRIMSET_BACKENDS_CPU_SAMPLING_GRID_CORNERS_H_

#include <vector>

#include "backends/cpu/sampling/grid_positions.h"

namespace primset_cpu {

inline constexpr int kMostDims = 3, kMostTaps = 4, kMostCorners = 16;

enum class GridMode : uint8_t { nearest, bilinear, bicubic };

// Of a block of places along one dim.
struct DimTaps {
  int64_t index[kMostTaps][kBlockPlaces];  // -1: outside
  double weight[kMostTaps][kBlockPlaces];
  double derivative[kMostTaps][kBlockPlaces];  // of the weight by the position; of cubic ones
  double slope[kBlockPlaces];                  // of the position by the grid's coordinate
};

namespace grid_taps {

template <typename Real>
PRIMSET_INLINE void set_indices(const GridAxis& axis, const Real* at, int64_t* index) {
  const auto last = static_cast<Real>(axis.size - 1);
  for (int i = 0; i < kBlockPlaces; ++i) {
    const bool inside = at[i] >= 0 && at[i] <= last;
    const auto kept = static_cast<int64_t>(inside ? at[i] : Real(0));
    index[i] = inside ? kept : -1;
  }
}

// In the grid's own type, half to even, as ATen finds the nearest element.
template <typename T>
PRIMSET_INLINE void nearest(const GridAxis& axis, GridPositions<T>& p, DimTaps& taps) {
  unnormalize(axis, p);
  pad(axis, p);
  for (int i = 0; i < kBlockPlaces; ++i) {
    p.at[i] = std::nearbyint(p.at[i]);
    taps.weight[0][i] = 1;
  }
  set_indices(axis, p.at, taps.index[0]);
}

PRIMSET_INLINE void linear(const GridAxis& axis, GridPositions<double>& p, DimTaps& taps) {
  unnormalize(axis, p);
  pad(axis, p);
  double next[kBlockPlaces];
  for (int i = 0; i < kBlockPlaces; ++i) {
    const double below = std::floor(p.at[i]), fraction = p.at[i] - below;
    taps.weight[0][i] = 1 - fraction;
    taps.weight[1][i] = fraction;
    taps.slope[i] = p.slope[i];
    p.at[i] = below, next[i] = below + 1;
  }
  set_indices(axis, p.at, taps.index[0]);
  set_indices(axis, next, taps.index[1]);
}

// Cubic convolution with a = -3/4 (Keys, Cubic convolution interpolation for digital image
// processing, 1981): weights of elements at distances up to 1 and from 1 to 2.
inline constexpr double kA = -0.75;
PRIMSET_INLINE double near_weight(double x) {
  return (x * (kA + 2) - (kA + 3)) * x * x + 1;
}
PRIMSET_INLINE double far_weight(double x) {
  return ((x * kA - 5 * kA) * x + 8 * kA) * x - 4 * kA;
}
PRIMSET_INLINE double near_slope(double x) {
  return (x * (3 * (kA + 2)) - 2 * (kA + 3)) * x;
}
PRIMSET_INLINE double far_slope(double x) {
  return (x * (3 * kA) - 10 * kA) * x + 8 * kA;
}

// Weights go by the place itself; it is its neighbours that are reflected and clipped.
PRIMSET_INLINE void cubic(const GridAxis& axis, GridPositions<double>& p, DimTaps& taps) {
  unnormalize(axis, p);
  double below[kBlockPlaces];
  for (int i = 0; i < kBlockPlaces; ++i) {
    below[i] = std::floor(p.at[i]);
    const double t = p.at[i] - below[i];
    taps.weight[0][i] = far_weight(t + 1), taps.derivative[0][i] = far_slope(t + 1);
    taps.weight[1][i] = near_weight(t), taps.derivative[1][i] = near_slope(t);
    taps.weight[2][i] = near_weight(1 - t), taps.derivative[2][i] = -near_slope(1 - t);
    taps.weight[3][i] = far_weight(2 - t), taps.derivative[3][i] = -far_slope(2 - t);
    taps.slope[i] = p.slope[i];
  }
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < kBlockPlaces; ++i) p.at[i] = below[i] + (k - 1);
    pad(axis, p);
    for (int i = 0; i < kBlockPlaces; ++i) p.at[i] = std::floor(p.at[i]);
    set_indices(axis, p.at, taps.index[k]);
  }
}

}  // namespace grid_taps

// The image rises along a dim by the sum of (high - low) times weights over pairs of corners, where
// no corner stands for 0. Of two neighbours it is their difference, taken first: great values that
// hardly differ cancel each other without an error.
struct CornerPair {
  int low, high;
};

// What all blocks of a call have in common. The last dim is the fastest, as in memory.
struct GridCorners {
  std::vector<GridAxis> axes;
  GridMode mode;
  int taps, corners = 1;
  int64_t plane = 1;  // elements of the image; also the place of what is outside
  std::vector<CornerPair> pairs[kMostDims];

  GridCorners(std::vector<GridAxis> all, GridMode how) : axes(std::move(all)), mode(how) {
    taps = mode == GridMode::nearest ? 1 : mode == GridMode::bilinear ? 2 : 4;
    for (const GridAxis& a : axes) corners *= taps, plane *= a.size;
    if (mode == GridMode::nearest) return;
    for (int d = 0; d < dims(); ++d) {
      for (int c = 0; c < corners; ++c) {
        if (mode == GridMode::bicubic) pairs[d].push_back({corners, c});
        if (mode == GridMode::bilinear && tap_of(c, d) == 0)
          pairs[d].push_back({c, c + corners_behind(d)});
      }
    }
  }

  int dims() const { return static_cast<int>(axes.size()); }
  int pairs_of(int dim) const { return static_cast<int>(pairs[dim].size()); }
  // From a corner to the next along the dim.
  int corners_behind(int dim) const {
    int behind = 1;
    for (int d = dim + 1; d < dims(); ++d) behind *= taps;
    return behind;
  }
  int tap_of(int corner, int dim) const { return corner / corners_behind(dim) % taps; }
};

// The corners of a block of places, and their weights.
template <typename T>
struct BlockCorners {
  int64_t place[kMostCorners][kBlockPlaces];
  T weight[kMostCorners][kBlockPlaces];
  T rise_weight[kMostDims][kMostCorners][kBlockPlaces];  // of pairs
  T slope[kMostDims][kBlockPlaces];

  // `grid`: the coordinates of the first place, innermost dim first, of up to kBlockPlaces places.
  PRIMSET_INLINE void find_values(const GridCorners& all, const T* grid, int count) {
    DimTaps taps[kMostDims];
    find_values(all, grid, count, taps);
  }

  PRIMSET_INLINE void find(const GridCorners& all, const T* grid, int count) {
    DimTaps taps[kMostDims];
    find_values(all, grid, count, taps);
    if (all.mode == GridMode::nearest) return;
    for (int d = 0; d < all.dims(); ++d) {
      for (int k = 0; k < all.pairs_of(d); ++k)
        find_weight(all, all.pairs[d][static_cast<size_t>(k)].high, d, taps, rise_weight[d][k]);
      for (int i = 0; i < kBlockPlaces; ++i) slope[d][i] = static_cast<T>(taps[d].slope[i]);
    }
  }

 private:
  PRIMSET_INLINE void find_values(const GridCorners& all, const T* grid, int count, DimTaps* taps) {
    for (int d = 0; d < all.dims(); ++d)
      find_taps(all, d, grid + (all.dims() - 1 - d), count, taps[d]);
    for (int c = 0; c < all.corners; ++c) {
      find_place(all, c, taps);
      find_weight(all, c, kNoDim, taps, weight[c]);
    }
  }

  PRIMSET_INLINE static void find_taps(const GridCorners& all, int dim, const T* grid, int count,
                                       DimTaps& taps) {
    const GridAxis& axis = all.axes[static_cast<size_t>(dim)];
    const auto read = [&]<typename Real>(GridPositions<Real>& p) PRIMSET_INLINE_LAMBDA {
      for (int i = 0; i < kBlockPlaces; ++i)
        p.at[i] = i < count ? static_cast<Real>(grid[i * all.dims()]) : Real(0);
    };
    if (all.mode == GridMode::nearest) {
      GridPositions<T> p;
      read(p);
      return grid_taps::nearest(axis, p, taps);
    }
    GridPositions<double> p;
    read(p);
    if (all.mode == GridMode::bilinear)
      grid_taps::linear(axis, p, taps);
    else
      grid_taps::cubic(axis, p, taps);
  }

  PRIMSET_INLINE void find_place(const GridCorners& all, int corner, const DimTaps* taps) {
    int64_t outside[kBlockPlaces] = {}, at[kBlockPlaces] = {};
    for (int d = 0; d < all.dims(); ++d) {
      const int64_t* const index = taps[d].index[all.tap_of(corner, d)];
      const int64_t size = all.axes[static_cast<size_t>(d)].size;
      for (int i = 0; i < kBlockPlaces; ++i) {
        outside[i] |= index[i];
        at[i] = at[i] * size + index[i];
      }
    }
    for (int i = 0; i < kBlockPlaces; ++i) place[corner][i] = outside[i] < 0 ? all.plane : at[i];
  }

  static constexpr int kNoDim = -1;

  // The product of the weights of all dims, but of one where the image rises along it: the
  // derivative of a cubic weight, 1 of two neighbours. Linear weights are rounded to the image's
  // type first, cubic ones last, as the primitive's decomposition says.
  PRIMSET_INLINE static void find_weight(const GridCorners& all, int corner, int risen,
                                         const DimTaps* taps, T* to) {
    if (all.mode == GridMode::bicubic)
      multiply_weights<double>(all, corner, risen, taps, to);
    else
      multiply_weights<T>(all, corner, risen, taps, to);
  }

  template <typename Real>
  PRIMSET_INLINE static void multiply_weights(const GridCorners& all, int corner, int risen,
                                              const DimTaps* taps, T* to) {
    Real product[kBlockPlaces];
    for (Real& p : product) p = 1;
    for (int d = 0; d < all.dims(); ++d) {
      if (d == risen && all.mode == GridMode::bilinear) continue;
      const int tap = all.tap_of(corner, d);
      const double* const w = d == risen ? taps[d].derivative[tap] : taps[d].weight[tap];
      for (int i = 0; i < kBlockPlaces; ++i) product[i] *= static_cast<Real>(w[i]);
    }
    for (int i = 0; i < kBlockPlaces; ++i) to[i] = static_cast<T>(product[i]);
  }
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SAMPLING_GRID_CORNERS_H_
