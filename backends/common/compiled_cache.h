// What drivers compiled of kernels, cached on disk from one process to the next.
#ifndef PRIMSET_BACKENDS_COMMON_COMPILED_CACHE_H_
#define PRIMSET_BACKENDS_COMMON_COMPILED_CACHE_H_

#include <primset/plugin.h>

#include <string>
#include <string_view>
#include <vector>

namespace primset_backend {

// One file a kernel, named by a hash of what it was compiled for and of its text. The file holds
// both too: what is handed out was made from exactly this text. Damaged files count as absent and
// are replaced. Written at once, not when the process ends, which may be by a signal. The host
// bounds their bytes (plugin.h, cache_folder).
class CompiledCache {
 public:
  // folder: within the one that the host gives, by the plugin's name. target: all that a compiled
  // kernel depends on beside its text. suffix: of the files' names.
  CompiledCache(const primset_host* host, std::string folder, std::string target,
                std::string suffix);

  // Empty when there is none.
  std::vector<char> find(std::string_view text) const;
  // Failing to write is told in the log and is no error.
  void store(std::string_view text, std::string_view compiled) const;

  // Whether the host gave a folder.
  bool on() const { return !folder_.empty(); }

 private:
  std::string path_of(std::string_view text) const;

  const primset_host* host_;
  std::string plugin_;
  std::string folder_;  // empty: nothing is stored
  std::string target_;
  std::string suffix_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_COMPILED_CACHE_H_
