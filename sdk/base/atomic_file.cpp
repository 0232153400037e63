#include "sdk/base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sdk/base/folder.h"

namespace primset {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".primset-tmp";

std::error_code last_error() {
  return {errno, std::generic_category()};
}

}  // namespace

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlinkat(folder_->get(), temporary_.c_str(), 0);
}

// Another process may have taken the file for an abandoned one before it was locked. Where a file
// system has no locks, nobody takes it.
bool AtomicFile::lock_temporary() {
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status{};
  return fstat(file_.get(), &status) == 0 && status.st_nlink > 0;
}

std::error_code AtomicFile::create(mode_t mode) {
  constexpr int kAttempts = 1000;
  for (int i = 0; i < kAttempts; ++i) {
    const std::string name =
        "." + std::to_string(getpid()) + "-" + std::to_string(i) + std::string(kTemporary);
    file_ = Descriptor(openat(folder_->get(), name.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file_ && errno != EEXIST) return last_error();
    if (!file_ || !lock_temporary()) continue;
    temporary_ = name;
    return {};
  }
  return std::make_error_code(std::errc::file_exists);
}

// Under the lock: an unlocked temporary file may be removed by anybody.
std::error_code AtomicFile::commit(Existing existing) {
  const int at = folder_->get();
  if (existing == Existing::replace) {
    if (renameat(at, temporary_.c_str(), at, name_.c_str()) != 0) return last_error();
    temporary_.clear();
    return {};
  }
  // The temporary name goes with this.
  if (linkat(at, temporary_.c_str(), at, name_.c_str(), 0) == 0 || errno == EEXIST) return {};
  return last_error();
}

std::error_code write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error();
    if (n == 0) return std::make_error_code(std::errc::no_space_on_device);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

void remove_abandoned_files(const fs::path& folder) {
  for (const std::string& name : names_in(folder)) {
    if (!name.ends_with(kTemporary)) continue;
    const fs::path path = folder / name;
    const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  }
}

}  // namespace primset
