#include "sdk/runtime/cache/cache_bound.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "sdk/base/atomic_file.h"
#include "sdk/base/descriptor.h"
#include "sdk/base/folder.h"

namespace primset::runtime {
namespace fs = std::filesystem;
namespace {

using Clock = fs::file_time_type::clock;

// A file that is being written is seconds old.
constexpr auto kLongestWrite = std::chrono::hours(1);
// The files are counted at least so often: plugins write some that the sum lacks, and processes
// that were killed leave temporary ones.
constexpr int64_t kCountEverySeconds = 24 * 60 * 60;

struct Usage {
  uint64_t bytes = 0;
  int64_t counted_at = 0;  // seconds since 1970
};

// The file with the sum, locked while this lives.
class UsageFile {
 public:
  explicit UsageFile(const fs::path& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)) {
    if (!file_) return;
    fchmod(file_.get(), 0600);  // whatever the umask was: the next process must open it
    while (flock(file_.get(), LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      file_.reset();
      return;
    }
  }

  bool locked() const { return static_cast<bool>(file_); }
  // Zeros where nothing was written yet.
  Usage read() const {
    Usage usage;
    return pread(file_.get(), &usage, sizeof(usage), 0) == sizeof(usage) ? usage : Usage{};
  }
  void write(const Usage& usage) const {
    // Short of space the old sum stays, and the files are counted a little later.
    [[maybe_unused]] const ssize_t written = pwrite(file_.get(), &usage, sizeof(usage), 0);
  }

 private:
  Descriptor file_;
};

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_cache_file(const fs::path& path) {
  constexpr size_t kDigits = 14;  // of the shortest names: 64 bits but for the folder's eight
  const std::string stem = path.stem().string();
  return path.has_extension() && stem.size() >= kDigits && is_hex(stem);
}

// The entries of a folder; those that other processes remove meanwhile are passed over.
template <typename F>
void for_each_entry(const fs::path& folder, F f) {
  for (const std::string& name : names_in(folder)) {
    std::error_code error;
    f(fs::directory_entry(folder / name, error));
  }
}

template <typename F>
void for_each_folder(const fs::path& folder, F f) {
  for_each_entry(folder, [&](const fs::directory_entry& e) {
    std::error_code error;
    if (!e.is_symlink(error) && e.is_directory(error)) f(e.path());
  });
}

struct CachedFile {
  fs::path path;
  fs::file_time_type used;
  uint64_t bytes;
};

// Counts the file, or removes it when it is an old temporary one of a plugin.
void visit(const fs::directory_entry& entry, std::vector<CachedFile>& files) {
  std::error_code error;
  const fs::file_time_type used = entry.last_write_time(error);
  if (error || !entry.is_regular_file(error)) return;
  if (entry.path().extension() == ".tmp") {
    if (Clock::now() - used > kLongestWrite) fs::remove(entry.path(), error);
  } else if (is_cache_file(entry.path())) {
    const uint64_t bytes = entry.file_size(error);
    if (!error) files.push_back({entry.path(), used, bytes});
  }
}

int64_t now_in_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

size_t CacheBound::add(uint64_t bytes, uint64_t limit) const {
  const UsageFile file(folder_ / "usage");
  if (!file.locked()) return 0;
  size_t removed = 0;
  Usage usage = file.read();
  usage.bytes += bytes;
  const int64_t now = now_in_seconds();
  if (usage.bytes > limit || now - usage.counted_at > kCountEverySeconds || now < usage.counted_at)
    usage = {remove_unused(limit, removed), now};
  file.write(usage);
  return removed;
}

// The bytes that are left: what is above the limit is removed, and a sixteenth more, so that one
// count pays for many files.
uint64_t CacheBound::remove_unused(uint64_t limit, size_t& removed) const {
  std::vector<CachedFile> files;
  remove_abandoned_files(folder_);
  for_each_folder(folder_, [&](const fs::path& owner) {
    for_each_folder(owner, [&](const fs::path& bucket) {
      const std::string name = bucket.filename().string();
      if (name.size() != 2 || !is_hex(name)) return;
      remove_abandoned_files(bucket);
      for_each_entry(bucket, [&](const fs::directory_entry& e) { visit(e, files); });
    });
  });
  uint64_t bytes = 0;
  for (const CachedFile& f : files) bytes += f.bytes;
  if (bytes <= limit) return bytes;
  std::ranges::sort(files, {}, &CachedFile::used);
  for (const CachedFile& f : files) {
    if (bytes <= limit - limit / 16) break;
    std::error_code error;
    fs::remove(f.path, error);
    if (error) continue;
    bytes -= f.bytes;
    ++removed;
  }
  return bytes;
}

}  // namespace primset::runtime
