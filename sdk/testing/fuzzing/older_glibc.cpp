// What the C++ library asks of glibc and Ubuntu 22.04's does not have yet (2.36), so that fuzz
// targets run there.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" uint32_t arc4random() noexcept {
  uint32_t word = 0;
  if (getrandom(&word, sizeof(word), 0) != sizeof(word)) std::abort();
  return word;
}
