#include "backends/common/staging/ring.h"

namespace primset_backend {

bool Ring::take(uint64_t bytes, uint64_t& offset) {
  uint64_t start = (head_ + kAlignment - 1) / kAlignment * kAlignment;
  // A piece does not wrap around the end.
  if (start % bytes_ + bytes > bytes_) start = (start / bytes_ + 1) * bytes_;
  if (start + bytes - tail_ > bytes_) return false;
  head_ = start + bytes;
  offset = start % bytes_;
  return true;
}

void Ring::mark(uint64_t value) {
  const uint64_t marked = marks_.empty() ? tail_ : marks_.back().head;
  if (head_ != marked) marks_.push_back({value, head_});
}

void Ring::release(uint64_t value) {
  while (!marks_.empty() && marks_.front().value <= value) {
    tail_ = marks_.front().head;
    marks_.pop_front();
  }
}

}  // namespace primset_backend
