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

  // Whether the host has a cache, or packs of kernels.
  bool on() const { return on_; }
  // Whether it keeps what is stored.
  bool stores() const { return stores_; }

 private:
  std::string key_of(std::string_view text) const;

  const primset_host* host_;
  std::string target_;
  bool on_, stores_;
};

// What a driver makes of a kernel's text: from its own binary where the cache has one that it still
// takes, else compiled, and then stored.
//   load(std::vector<char>)  a program, or a false one where the driver refuses the binary
//   compile()                a program; throws where the driver refuses the text
//   binary_of(program)       its binary as a container of chars; empty where there is none
template <typename Load, typename Compile, typename BinaryOf>
auto compiled(const CompiledCache& cache, std::string_view text, Load&& load, Compile&& compile,
              BinaryOf&& binary_of) {
  if (const std::vector<char> binary = cache.find(text); !binary.empty()) {
    if (auto program = load(binary)) return program;
  }
  auto program = compile();
  if (cache.stores()) {
    const auto binary = binary_of(program);
    if (!binary.empty()) cache.store(text, {binary.data(), binary.size()});
  }
  return program;
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_COMPILED_CACHE_H_
