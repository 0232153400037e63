// The primitive compact: the elements of which a mask holds, packed to the front.
#ifndef PRIMSET_BACKENDS_CPU_COMPACT_H_
#define PRIMSET_BACKENDS_CPU_COMPACT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "backends/cpu/linalg/support.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {

// Elements of type T, whose bits alone count. Parts count what they select; then each writes its
// own behind those before it. Zeros follow the last one, so that nobody reads what was never
// written.
template <typename T>
class CompactCall {
 public:
  explicit CompactCall(const primset_primitive_call& call)
      : x_(data_at<const T>(call.operands[0])),
        mask_(data_at<const uint8_t>(call.operands[1])),
        packed_(data_at<T>(call.results[0])),
        count_(data_at<int64_t>(call.results[1])),
        size_(call.operands[0].sizes[0]) {}

  void run(ThreadPool& pool) {
    constexpr int64_t kPart = 1 << 14;
    const int64_t parts = (size_ + kPart - 1) / kPart;
    const auto end_of = [&](int64_t part) { return std::min((part + 1) * kPart, size_); };
    std::vector<int64_t> starts(static_cast<size_t>(parts) + 1);
    in_parallel(pool, parts, [&](int64_t first, int64_t end) {
      for (int64_t p = first; p < end; ++p)
        vector_code([](const uint8_t* m, int64_t n, int64_t* to)
                        PRIMSET_INLINE_LAMBDA { *to = selected(m, n); },
                    mask_ + p * kPart, end_of(p) - p * kPart, &starts[static_cast<size_t>(p) + 1]);
    });
    for (size_t p = 0; p + 1 < starts.size(); ++p) starts[p + 1] += starts[p];
    *count_ = starts.back();
    in_parallel(pool, parts, [&](int64_t first, int64_t end) {
      for (int64_t p = first; p < end; ++p)
        pack(p * kPart, end_of(p), starts[static_cast<size_t>(p)],
             starts[static_cast<size_t>(p) + 1]);
    });
    std::fill(packed_ + *count_, packed_ + size_, T{});
  }

 private:
  PRIMSET_INLINE static int64_t selected(const uint8_t* mask, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += mask[i] != 0;
    return count;
  }

  // Without a branch for each element: what is not selected is written over by the next that is,
  // but behind the part's last place, which is another one's.
  void pack(int64_t from, int64_t to, int64_t at, int64_t end) {
    constexpr int64_t kWord = 8;
    for (int64_t i = from; i < to && at < end;) {
      uint64_t word = 0;
      if (i + kWord <= to) std::memcpy(&word, mask_ + i, kWord);
      const bool whole = i + kWord <= to;
      if (whole && word == 0) {
        i += kWord;
        continue;
      }
      for (const int64_t stop = whole ? i + kWord : to; i < stop && at < end; ++i) {
        packed_[at] = x_[i];
        at += mask_[i] != 0;
      }
    }
  }

  const T* const x_;
  const uint8_t* const mask_;
  T* const packed_;
  int64_t* const count_;
  const int64_t size_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_COMPACT_H_
