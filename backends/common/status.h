// How our back ends make a primset_status, and keep exceptions on their side of the ABI boundary.
// Knows plugin.h only; each back end links its own copy.
#ifndef PRIMSET_BACKENDS_COMMON_STATUS_H_
#define PRIMSET_BACKENDS_COMMON_STATUS_H_

#include <primset/plugin.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace primset_backend {

// printf-like; never fails: without memory for the message it returns a static status.
[[gnu::format(printf, 2, 3)]] primset_status* make_status(uint32_t code, const char* format, ...);

// An error on its way to the ABI boundary: `code` is a PRIMSET_* code.
class BackendError : public std::runtime_error {
 public:
  BackendError(uint32_t code, const std::string& text) : runtime_error(text), code_(code) {}
  uint32_t code() const { return code_; }

 private:
  uint32_t code_;
};

// Calls f, which returns a primset_status* or nothing; an exception becomes a status.
template <typename F>
primset_status* guarded(const char* function, F&& f) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      return nullptr;
    } else {
      return f();
    }
  } catch (const BackendError& e) {
    return make_status(e.code(), "%s: %s", function, e.what());
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
