// What a driver made, with the driver's function that releases it.
#ifndef PRIMSET_BACKENDS_COMMON_OWNED_H_
#define PRIMSET_BACKENDS_COMMON_OWNED_H_

#include <memory>
#include <type_traits>

namespace primset_backend {

// What the function answers changes nothing.
template <typename Handle, typename Result>
struct Release {
  void operator()(Handle handle) const { function(handle); }

  Result (*function)(Handle) = nullptr;
};

// A Handle is a pointer.
template <typename Handle, typename Result>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<Handle, Result>>;

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_OWNED_H_
