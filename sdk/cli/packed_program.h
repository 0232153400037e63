// Runs a program whose kernels go into a cache of its own, which a pack is made of.
#ifndef PRIMSET_SDK_CLI_PACKED_PROGRAM_H_
#define PRIMSET_SDK_CLI_PACKED_PROGRAM_H_

#include <filesystem>
#include <string>
#include <vector>

namespace primset::cli {

// A folder of this user's that is gone with this.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws std::system_error
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

enum class Output : bool { as_ours, to_standard_error };

// Runs it to its end, with `device` as its current device and `cache` as its kernel cache. Packs
// are off, so that the cache gets all that it uses. Its exit code; 128 and more: a signal. Throws
// std::system_error when it does not start.
int run_with_cache(const std::vector<std::string>& program, const std::string& device,
                   const std::filesystem::path& cache, Output output);

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_PACKED_PROGRAM_H_
