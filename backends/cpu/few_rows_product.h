// Products of few rows, c = a b with b much larger than a and c: a token's vectors times the
// weights of a layer. They read b once, and that is what their time is.
#ifndef PRIMSET_BACKENDS_CPU_FEW_ROWS_PRODUCT_H_
#define PRIMSET_BACKENDS_CPU_FEW_ROWS_PRODUCT_H_

#include <cstdint>

#include "backends/cpu/contraction.h"
#include "backends/cpu/thread_pool.h"

namespace primset_cpu {

inline constexpr int64_t kFewRows = 15;

// Computes x, of f32 or bf16 and at most kFewRows rows, on the pool. The bits of c depend on the
// shape alone: neither on the threads nor on how a and b lie in memory.
// Throws std::bad_alloc.
void run_few_rows_product(ThreadPool& pool, const Contraction& x);

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_FEW_ROWS_PRODUCT_H_
