// What an exception says to people.
#ifndef PRIMSET_SDK_BASE_EXCEPTION_TEXT_H_
#define PRIMSET_SDK_BASE_EXCEPTION_TEXT_H_

#include <exception>
#include <new>

namespace primset {

// Its what(); of std::bad_alloc, whose what() names only a class, "out of memory".
inline const char* text_of(const std::exception& e) {
  return dynamic_cast<const std::bad_alloc*>(&e) ? "out of memory" : e.what();
}

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_EXCEPTION_TEXT_H_
