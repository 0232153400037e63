// Independent pieces of one call's work on several threads.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_SIDE_BY_SIDE_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_SIDE_BY_SIDE_H_

#include <cstddef>
#include <functional>

namespace primset::runtime {

// Calls work(0), ..., work(count - 1), on this thread and as many others as there are cores for,
// and returns when all have returned. Then throws what the first of them threw. The threads live as
// long as the call: work takes milliseconds a piece, or one thread does it as fast.
void side_by_side(size_t count, const std::function<void(size_t)>& work);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_SIDE_BY_SIDE_H_
