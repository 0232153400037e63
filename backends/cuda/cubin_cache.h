// PTX compiled for the device, kept on disk from one process to the next.
#ifndef PRIMSET_BACKENDS_CUDA_CUBIN_CACHE_H_
#define PRIMSET_BACKENDS_CUDA_CUBIN_CACHE_H_

#include <primset/plugin.h>

#include <string>
#include <string_view>
#include <vector>

namespace primset_cuda {

// One file a module, named by a hash of the driver's version, the device's architecture and the
// PTX. The file holds the PTX too: what is handed out was made from exactly this text. Damaged
// files count as absent and are replaced.
class CubinCache {
 public:
  CubinCache(const primset_host* host, int driver_version, std::string_view sm);

  // Empty when there is none.
  std::vector<char> find(std::string_view ptx) const;
  // Failing to write is told in the log and is no error.
  void keep(std::string_view ptx, std::string_view cubin) const;

 private:
  std::string path_of(std::string_view ptx) const;

  const primset_host* host_;
  std::string folder_;  // empty: nothing is kept
  std::string target_;  // "13000 sm_90"
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CUBIN_CACHE_H_
