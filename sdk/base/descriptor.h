// A file descriptor that is closed with its owner.
#ifndef PRIMSET_SDK_BASE_DESCRIPTOR_H_
#define PRIMSET_SDK_BASE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace primset {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    if (this != &o) {
      reset();
      fd_ = std::exchange(o.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // The caller closes it.
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_DESCRIPTOR_H_
