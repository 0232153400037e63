// Rows that threads share.
#ifndef PRIMSET_BACKENDS_CPU_ROW_BLOCKS_H_
#define PRIMSET_BACKENDS_CPU_ROW_BLOCKS_H_

#include <algorithm>

#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

// f(row, first column, end) for parts of all rows, on the pool's threads. make() gives an f, with
// memory of its own, to each share of the rows. Where there are fewer of them than threads want,
// they share the columns.
template <typename Make>
void in_row_blocks(ThreadPool& pool, int64_t rows, int64_t columns, const Make& make) {
  constexpr int64_t kItems = 8, kLeastColumns = 64;
  const int64_t wanted = kItems * pool.size() / std::max<int64_t>(rows, 1) + 1;
  const int64_t blocks = std::clamp<int64_t>(columns / kLeastColumns, 1, wanted);
  in_parallel(pool, rows * blocks, [&](int64_t first, int64_t end) {
    auto f = make();
    for (int64_t i = first; i < end; ++i) {
      const int64_t block = i % blocks;
      f(i / blocks, columns * block / blocks, columns * (block + 1) / blocks);
    }
  });
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_ROW_BLOCKS_H_
