// What drivers compiled of kernels, from one process to the next, in the host's cache.
#ifndef PRIMSET_BACKENDS_COMMON_COMPILED_CACHE_H_
#define PRIMSET_BACKENDS_COMMON_COMPILED_CACHE_H_

#include <primset/plugin.h>

#include <string>
#include <string_view>
#include <vector>

namespace primset_backend {

// Written at once, not when the process ends, which may be by a signal. Any thread.
class CompiledCache {
 public:
  // target: all that a compiled kernel depends on beside its text.
  CompiledCache(const primset_host* host, std::string target);

  // Empty when there is none.
  std::vector<char> find(std::string_view text) const;
  // That nothing can be stored is no error.
  void store(std::string_view text, std::string_view compiled) const;

  // Whether the host has a cache.
  bool on() const { return on_; }

 private:
  std::string key_of(std::string_view text) const;

  const primset_host* host_;
  std::string target_;
  bool on_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_COMPILED_CACHE_H_
