// How our back ends make a primset_status, and keep exceptions on their side of the border. Knows
// plugin.h only; each back end links its own copy.
#ifndef PRIMSET_BACKENDS_COMMON_STATUS_H_
#define PRIMSET_BACKENDS_COMMON_STATUS_H_

#include <primset/plugin.h>

#include <exception>
#include <new>

namespace primset_backend {

// printf-like; never fails: without memory for the message it returns a static status.
[[gnu::format(printf, 2, 3)]] primset_status* make_status(uint32_t code, const char* format, ...);

// Calls f, which returns a primset_status*; an exception becomes a status.
template <typename F>
primset_status* guarded(const char* function, F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return make_status(PRIMSET_OUT_OF_MEMORY, "%s: no host memory left", function);
  } catch (const std::exception& e) {
    return make_status(PRIMSET_INTERNAL, "%s: %s", function, e.what());
  } catch (...) {
    return make_status(PRIMSET_INTERNAL, "%s: unknown exception", function);
  }
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_STATUS_H_
