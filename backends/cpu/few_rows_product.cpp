#include "backends/cpu/few_rows_product.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/cpu/bf16.h"
#include "backends/cpu/linalg/support.h"
#include "backends/cpu/transposed_copy.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {
namespace {

constexpr int64_t kLanes = 16;       // columns of a vector
constexpr int64_t kStreams = 8;      // rows of b that are read side by side
constexpr int64_t kLeastPart = 128;  // terms that are added to a sum one by one, at least
constexpr int64_t kMostParts = 32, kMostUnits = 64;

using Vector __attribute__((vector_size(kLanes * sizeof(float)))) = float;

int64_t blocks(int64_t size, int64_t block) {
  return (size + block - 1) / block;
}

// Rows that are computed: 1, 4, 8 or 16, for which there is code.
int64_t tile_rows(int64_t m) {
  if (m <= 1) return 1;
  return m <= 4 ? 4 : m <= 8 ? 8 : 16;
}

// How a product is cut. The sum over k is cut into parts, whose sums are added up at the end in
// their order: by the shape alone, as the bits are to depend on nothing else. Columns are cut into
// strips as the layout of b wants it, which changes no bit.
struct Cut {
  int64_t batches;
  int64_t parts, part;    // of k
  int64_t strips, width;  // of n
  int64_t depth = 128;    // rows of b that are copied at once where b lies by columns
  bool by_rows;           // b is read in place
  bool whole;             // a unit is all parts of a strip; else one of them

  explicit Cut(const Contraction& x) : batches(static_cast<int64_t>(x.a.offsets.size())) {
    const int64_t rows = tile_rows(x.m);
    const int64_t most =
        std::min({kMostParts, x.k / (rows == 1 ? 4 * kLeastPart : std::max(kLeastPart, 16 * rows)),
                  x.k * x.n / (int64_t{1} << 14), kMostUnits / batches});
    part = blocks(blocks(x.k, std::max<int64_t>(most, 1)), kLanes) * kLanes;
    parts = blocks(x.k, part);
    by_rows = x.b.cols == 1;
    // Rows are read over whole pages, while the tile stays in the cache. Of columns, as many as
    // the processor follows at a time are read from end to end.
    width = !by_rows ? kLanes : rows == 1 ? 4096 : rows == 4 ? 2048 : 1024;
    width = std::min(width, blocks(x.n, kLanes) * kLanes);
    strips = blocks(x.n, width);
    constexpr int64_t kEnoughUnits = 16;
    whole = parts == 1 || (!by_rows && strips * batches >= kEnoughUnits);
  }
  int64_t units() const { return batches * strips * (whole ? 1 : parts); }
};

PRIMSET_INLINE Vector vector_at(const float* x) {
  Vector v;
  std::memcpy(&v, x, sizeof(v));
  return v;
}
PRIMSET_INLINE Vector vector_at(const uint16_t* bf16) {
  using Halves __attribute__((vector_size(kLanes * sizeof(uint16_t)))) = uint16_t;
  using Words __attribute__((vector_size(kLanes * sizeof(uint32_t)))) = uint32_t;
  Halves halves;
  std::memcpy(&halves, bf16, sizeof(halves));
  const Words words = __builtin_convertvector(halves, Words) << 16;
  return reinterpret_cast<Vector>(words);
}

// tile[r] += sum over i < count of a[i][r] rows[i], for whole vectors of columns; the terms of each
// sum in their order. A vector of the tile is loaded and stored once for all rows of b.
template <int R, typename T>
PRIMSET_INLINE void add_rows(const T* const* rows, int64_t count, const float* a, float* tile,
                             int64_t width, int64_t columns) {
#pragma clang fp contract(fast)
  for (int64_t j = 0; j < columns; j += kLanes) {
    Vector sums[R];
    for (int r = 0; r < R; ++r) std::memcpy(&sums[r], tile + r * width + j, sizeof(Vector));
    for (int64_t i = 0; i < count; ++i) {
      const Vector b = vector_at(rows[i] + j);
      for (int r = 0; r < R; ++r) sums[r] += a[i * R + r] * b;
    }
    for (int r = 0; r < R; ++r) std::memcpy(tile + r * width + j, &sums[r], sizeof(Vector));
  }
}

template <int R>
struct AddRows {
  template <typename T>
  PRIMSET_INLINE void operator()(const T* const* rows, int64_t count, const float* a, float* tile,
                                 int64_t width, int64_t columns) const {
    if (count == kStreams)
      add_rows<R>(rows, kStreams, a, tile, width, columns);
    else
      add_rows<R>(rows, count, a, tile, width, columns);
  }
  // Rows of b of one vector each, without gaps between them.
  template <typename T>
  PRIMSET_INLINE void operator()(const T* b, int64_t count, const float* a, float* tile) const {
    for (int64_t i = 0; i < count; i += kStreams) {
      const T* rows[kStreams];
      for (int64_t s = 0; s < kStreams; ++s) rows[s] = b + (i + s) * kLanes;
      add_rows<R>(rows, std::min(kStreams, count - i), a + i * R, tile, kLanes, kLanes);
    }
  }
};

// AddRows of the tile's number of rows.
template <typename... Args>
void add_rows_of(int64_t tile_rows, const Args&... args) {
  switch (tile_rows) {
    case 4:
      return vector_code(AddRows<4>(), args...);
    case 8:
      return vector_code(AddRows<8>(), args...);
    default:
      return vector_code(AddRows<16>(), args...);
  }
}

// One row: every kLanes-th term is added to one of kLanes sums, and these at the end in a tree. So
// the terms of a column that lies in one piece are added as vectors, without turning them.
struct OneRow {
  // sums[j] = the sum over i < terms of a[i] b[i rows + j cols], one of the strides 1. The sums are
  // the first of kLanes lines of `columns`.
  template <typename T>
  PRIMSET_INLINE void operator()(const T* b, int64_t rows, int64_t cols, int64_t terms,
                                 int64_t columns, const float* a, float* sums) const {
    if (cols == 1)
      by_rows(b, rows, terms, columns, a, sums);
    else
      by_columns(b, cols, terms, columns, a, sums);
  }

  template <typename T>
  PRIMSET_INLINE static void by_rows(const T* b, int64_t rows, int64_t terms, int64_t columns,
                                     const float* a, float* sums) {
#pragma clang fp contract(fast)
    std::fill_n(sums, kLanes * columns, 0.0f);
    for (int64_t i = 0; i < terms; ++i) {
      float* const line = sums + i % kLanes * columns;
      for (int64_t j = 0; j < columns; ++j) line[j] += a[i] * float_of(b[i * rows + j]);
    }
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half * columns; ++j) sums[j] += sums[half * columns + j];
  }

  template <typename T>
  PRIMSET_INLINE static void by_columns(const T* b, int64_t cols, int64_t terms, int64_t columns,
                                        const float* a, float* sums) {
    constexpr int64_t kColumns = 4;  // at a time
    int64_t j = 0;
    for (; j + kColumns <= columns; j += kColumns)
      add_columns<kColumns>(b + j * cols, cols, terms, a, sums + j);
    for (; j < columns; ++j) add_columns<1>(b + j * cols, cols, terms, a, sums + j);
  }

  template <int C, typename T>
  PRIMSET_INLINE static void add_columns(const T* b, int64_t cols, int64_t terms, const float* a,
                                         float* sums) {
#pragma clang fp contract(fast)
    Vector lanes[C] = {};
    int64_t i = 0;
    for (; i + kLanes <= terms; i += kLanes)
      for (int c = 0; c < C; ++c) lanes[c] += vector_at(a + i) * vector_at(b + c * cols + i);
    for (; i < terms; ++i)
      for (int c = 0; c < C; ++c) lanes[c][i % kLanes] += a[i] * float_of(b[c * cols + i]);
    for (int c = 0; c < C; ++c) {
      for (int64_t half = kLanes / 2; half > 0; half /= 2)
        for (int64_t l = 0; l < half; ++l) lanes[c][l] += lanes[c][half + l];
      sums[c] = lanes[c][0];
    }
  }
};

// Computes units of one product of the batch: a strip of the columns, of a part of the sum or
// whole.
template <typename T>
class FewRows {
 public:
  // Sums go to [batches, m, n], of parts to [batches, parts, m, n].
  FewRows(const Contraction& x, const Cut& cut, const float* a, float* sums)
      : x_(x),
        cut_(cut),
        sums_(sums),
        a_(a),
        rows_(tile_rows(x.m)),
        tile_(static_cast<size_t>((rows_ == 1 ? kLanes : rows_) * cut.width)),
        copied_(static_cast<size_t>(cut.by_rows ? kStreams * kLanes : cut.depth * cut.width)) {}

  void run(int64_t first, int64_t end) {
    for (int64_t unit = first; unit < end; ++unit) {
      const int64_t column = unit % cut_.strips * cut_.width, place = unit / cut_.strips;
      const int64_t batch = cut_.whole ? place : place / cut_.parts;
      const int64_t from = cut_.whole ? 0 : place % cut_.parts;
      const int64_t to = cut_.whole ? cut_.parts : from + 1;
      const int64_t columns = std::min(cut_.width, x_.n - column);
      for (int64_t part = from; part < to; ++part) {
        add_part(batch, part, column, columns);
        write(columns, sums_ + place * x_.m * x_.n + column, part > from);
      }
    }
  }

 private:
  // The tile's sums of a part.
  void add_part(int64_t batch, int64_t part, int64_t column, int64_t columns) {
    const int64_t k = part * cut_.part, terms = std::min(cut_.part, x_.k - k);
    const float* const a = a_ + (batch * x_.k + k) * rows_;
    const T* const b = reinterpret_cast<const T*>(x_.b.data) + x_.b.offsets[size_t(batch)] +
                       k * x_.b.rows + column * x_.b.cols;
    if (rows_ == 1) {
      vector_code(OneRow(), b, x_.b.rows, x_.b.cols, terms, columns, a, tile_.data());
      return;
    }
    std::fill(tile_.begin(), tile_.end(), 0.0f);
    cut_.by_rows ? add_in_place(b, terms, columns, a) : add_copied(b, terms, columns, a);
  }

  void write(int64_t columns, float* to, bool add) {
    for (int64_t r = 0; r < x_.m; ++r) {
      const float* const from = &tile_[size_t(r * cut_.width)];
      for (int64_t j = 0; j < columns; ++j)
        to[r * x_.n + j] = add ? to[r * x_.n + j] + from[j] : from[j];
    }
  }

  // Rows of b from where they are; what is left of a vector at their ends is copied.
  void add_in_place(const T* b, int64_t terms, int64_t columns, const float* a) {
    const int64_t whole = columns / kLanes * kLanes;
    for (int64_t i = 0; i < terms; i += kStreams) {
      const int64_t count = std::min(kStreams, terms - i);
      const T* rows[kStreams];
      const T* ends[kStreams];
      for (int64_t s = 0; s < count; ++s) {
        rows[s] = b + (i + s) * x_.b.rows;
        ends[s] = std::copy(rows[s] + whole, rows[s] + columns, &copied_[size_t(s * kLanes)]) -
                  (columns - whole);
      }
      const float* const terms_of_a = a + i * rows_;
      add(rows, count, terms_of_a, tile_.data(), whole);
      if (whole < columns) add(ends, count, terms_of_a, &tile_[size_t(whole)], kLanes);
    }
  }

  void add(const T* const* rows, int64_t count, const float* a, float* tile, int64_t columns) {
    add_rows_of(rows_, rows, count, a, tile, cut_.width, columns);
  }

  void add_copied(const T* b, int64_t terms, int64_t columns, const float* a) {
    for (int64_t i = 0; i < terms; i += cut_.depth) {
      const int64_t depth = std::min(cut_.depth, terms - i);
      copy_to_rows(b + i * x_.b.rows, depth, columns, x_.b.rows, x_.b.cols, copied_.data());
      if (columns < kLanes) spread(depth, columns);
      const T* const rows = copied_.data();
      add_rows_of(rows_, rows, depth, a + i * rows_, tile_.data());
    }
  }

  // Rows of fewer columns than a vector, to where whole vectors of them begin.
  void spread(int64_t rows, int64_t columns) {
    for (int64_t i = rows; i-- > 0;)
      std::copy_backward(&copied_[size_t(i * columns)], &copied_[size_t(i * columns)] + columns,
                         &copied_[size_t(i * kLanes)] + columns);
  }

  const Contraction& x_;
  const Cut& cut_;
  float* sums_;
  const float* a_;  // [batches, k, rows]
  int64_t rows_;
  std::vector<float> tile_;
  std::vector<T> copied_;
};

// a as tiles want it, the rows of a term side by side: [batches, k, rows].
template <typename T>
std::vector<float> terms_of(const Contraction& x) {
  const int64_t rows = tile_rows(x.m);
  std::vector<float> terms(x.a.offsets.size() * static_cast<size_t>(x.k * rows));
  float* to = terms.data();
  for (const int64_t offset : x.a.offsets) {
    const T* const a = reinterpret_cast<const T*>(x.a.data) + offset;
    for (int64_t i = 0; i < x.k; ++i, to += rows)
      for (int64_t r = 0; r < x.m; ++r) to[r] = float_of(a[r * x.a.rows + i * x.a.cols]);
  }
  return terms;
}

struct AddParts {
  PRIMSET_INLINE void operator()(const float* parts, int64_t count, int64_t stride,
                                 int64_t elements, float* to) const {
    for (int64_t i = 0; i < elements; ++i) to[i] = parts[i];
    for (int64_t p = 1; p < count; ++p)
      for (int64_t i = 0; i < elements; ++i) to[i] += parts[p * stride + i];
  }
};

template <typename T>
void run_product(ThreadPool& pool, const Contraction& x) {
  const Cut cut(x);
  const std::vector<float> a = terms_of<T>(x);
  float* const c = reinterpret_cast<float*>(x.c);
  const int64_t product = x.m * x.n;
  std::unique_ptr<float[]> parts;
  if (!cut.whole) parts.reset(new float[size_t(cut.batches * cut.parts * product)]);
  float* const sums = parts ? parts.get() : c;
  const auto compute = [&](int64_t first, int64_t end) {
    FewRows<T>(x, cut, a.data(), sums).run(first, end);
  };
  if (cut.units() == 1) return compute(0, 1);
  in_parallel(pool, cut.units(), compute);
  if (cut.whole) return;
  constexpr int64_t kColumns = 512;  // of all parts: they stay in the cache
  const int64_t pieces = blocks(product, kColumns);
  in_parallel(pool, cut.batches * pieces, [&](int64_t first, int64_t end) {
    for (int64_t piece = first; piece < end; ++piece) {
      const int64_t batch = piece / pieces, at = piece % pieces * kColumns;
      vector_code(AddParts(), sums + batch * cut.parts * product + at, cut.parts, product,
                  std::min(kColumns, product - at), c + batch * product + at);
    }
  });
}

}  // namespace

void run_few_rows_product(ThreadPool& pool, const Contraction& x) {
  if (x.dtype == PRIMSET_BF16)
    run_product<uint16_t>(pool, x);
  else
    run_product<float>(pool, x);
}

}  // namespace primset_cpu
