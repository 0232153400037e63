// Native images in memory: checked, copied, then executable and no longer writable.
#ifndef PRIMSET_BACKENDS_CPU_IMAGE_H_
#define PRIMSET_BACKENDS_CPU_IMAGE_H_

#include <primset/plugin.h>

#include <cstddef>
#include <utility>

namespace primset_cpu {

class Image {
 public:
  Image() = default;
  Image(Image&& o) noexcept
      : address_(std::exchange(o.address_, nullptr)), mapped_bytes_(o.mapped_bytes_) {}
  Image& operator=(Image&& o) noexcept {
    std::swap(address_, o.address_);
    std::swap(mapped_bytes_, o.mapped_bytes_);
    return *this;
  }
  ~Image();

  // Maps the image in `data`; refuses one whose header does not fit this machine or its own size.
  static primset_status* load(const void* data, uint64_t size, Image& out,
                              primset_native_entry& out_entry);

  // Tells perf that the image is the code of `name`: a line in /tmp/perf-<pid>.map, which perf
  // reads. Only when PRIMSET_CPU_PERF_MAP=1.
  void announce(const char* name) const;

 private:
  void* address_ = nullptr;
  size_t mapped_bytes_ = 0;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_IMAGE_H_
