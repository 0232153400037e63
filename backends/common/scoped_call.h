// Calls into a driver from the functions of the plugin ABI: guarded, and in the scope that the
// driver wants.
#ifndef PRIMSET_BACKENDS_COMMON_SCOPED_CALL_H_
#define PRIMSET_BACKENDS_COMMON_SCOPED_CALL_H_

#include <primset/plugin.h>

#include <new>

#include "backends/common/status.h"

namespace primset_backend {

// A Scope lives while a thread calls the driver. It is made of a device, or of a device and
// std::nothrow where something is released. This one is of drivers that do not care which thread
// calls them.
struct NoScope {
  template <typename Device>
  explicit NoScope(const Device&) {}
  template <typename Device>
  NoScope(const Device&, std::nothrow_t) noexcept {}
};

template <typename Scope, typename Device, typename F>
primset_status* scoped(const char* function, const Device& device, F&& f) noexcept {
  return guarded(function, [&] {
    const Scope scope(device);
    f();
  });
}

// Makes what a handle stands for; the handle is null when that fails.
template <typename Scope, typename Device, typename Object, typename... Arguments>
primset_status* make(const char* function, Device* device, Object** out,
                     Arguments... arguments) noexcept {
  *out = nullptr;
  return scoped<Scope>(function, *device, [&] { *out = new Object(device, arguments...); });
}

template <typename Scope, typename Device, typename Object>
void destroy(Device* device, Object* object) noexcept {
  const Scope scope(*device, std::nothrow);
  delete object;
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_SCOPED_CALL_H_
