// Elements combined over windows: the taps of a window are its offsets, all that pooling and
// resampling read. A window of few taps is written out tap by tap, so that a pointwise kernel reads
// them in vectors; a longer one is a reduction over dims behind those of the places.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_SPATIAL_WINDOW_TAPS_H_
#define PRIMSET_DECOMPS_PRIMITIVES_SPATIAL_WINDOW_TAPS_H_

#include <functional>
#include <utility>
#include <vector>

#include "decomps/engine/decomposition.h"
#include "decomps/primitives/index_type.h"

namespace primset::decomps {

// One tap of each window; or all of them, with the offsets as last dims of the grid.
struct Tap {
  SymInts grid;
  std::vector<Val> place, offset;  // over the grid, one a dim
  std::vector<int64_t> written;    // the offsets of one tap; empty: of all
};

class WindowTaps {
 public:
  // Of `places` windows along each dim that have up to `reach` taps there. Places and offsets are
  // of the dtype `index`.
  WindowTaps(Tracer& t, SymInts places, const SymInts& reach, DType index);

  // Terms are [batch..., grid...]. A NaN is the greatest of them, and the least.
  using Term = std::function<Val(const Tap&)>;
  Val sum(const Term& term) const;
  Val greatest(const Term& term) const;
  Val least(const Term& term) const;

  // The greatest value and its position. Of equal ones the least position, of NaNs the greatest. A
  // window's first tap is no further than all others; one outside has the least value there is, and
  // the position of a tap that is not.
  using Candidate = std::pair<Val, Val>;
  Candidate maximum(const std::function<Candidate(const Tap&)>& candidate) const;

 private:
  std::vector<Tap> taps() const;
  std::vector<int64_t> offset_dims(int64_t rank) const;
  Val reduced(Prim pair, Prim whole, const Term& term) const;

  Tracer& t_;
  SymInts places_, reach_;
  DType index_;
  bool written_out_;
};

// The numbers themselves where windows of so many taps are written out.
SymInts known_if_few(const SymInts& reach);

// The greatest place of a type that place_type() gives.
int64_t last_place(DType type);

// x at the places of `dims`, one index each over a grid: [the other dims..., grid...].
Val at_places(const Val& x, const std::vector<int64_t>& dims, const std::vector<Val>& index);

// The order in which dims of the sizes `from` are given the sizes `to`: those that get shorter from
// the first on, then those that get longer from the last on. So there is little to read where
// places along the last dim, in which memory is contiguous, are computed.
std::vector<size_t> order_by_growth(const SymInts& from, const SymInts& to);

// min(max(x, low), high)
Val bounded(const Val& x, const SymInt& low, const SymInt& high);

std::vector<int64_t> last_dims(const Val& x, size_t count);
SymInts last_sizes(const Val& x, size_t count);
// In row-major order of the shape.
Val flat_position(const SymInts& shape, const std::vector<Val>& at);
Val zero_like(const Val& x);

// A number no value of the dtype is less than.
Val least_number(Tracer& t, DType dtype, const SymInts& shape = {});

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_PRIMITIVES_SPATIAL_WINDOW_TAPS_H_
