// The process's options as one word, for the fast path and for plan keys.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_OPTIONS_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_OPTIONS_H_

#include <primset/options.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace primset::runtime {

// Bits of Options that change what a plan is; part of every plan key.
uint32_t plan_options();
bool errors_eager();
bool options_fuse();
bool options_native();
// While it exists, the thread's calls use no native primitives.
class WithoutNatives {
 public:
  WithoutNatives();
  ~WithoutNatives();
  WithoutNatives(const WithoutNatives&) = delete;
  WithoutNatives& operator=(const WithoutNatives&) = delete;

 private:
  const bool before_;
};
bool launches_overlap();

uint64_t max_plans();
uint64_t max_kernels();
uint64_t max_disk_bytes();

// The value of an environment variable, or `otherwise` where it is not set.
std::string environment(const char* name, std::string_view otherwise = {});

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_OPTIONS_H_
