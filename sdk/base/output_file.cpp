#include "sdk/base/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "primset/error.h"

namespace primset {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".primset-tmp";

bool is_temporary(const fs::path& path) {
  return path.filename().string().ends_with(kTemporary);
}

// Who writes a temporary file holds a lock on it, which ends with the process however it ends.
void remove_if_abandoned(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  close(fd);
}

// Once a folder and process.
void remove_abandoned_files(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> visited;
  const std::lock_guard lock(mutex);
  if (!visited.insert(folder).second) return;
  std::error_code error;  // a folder that cannot be listed keeps what it has
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (is_temporary(it->path())) remove_if_abandoned(it->path());
  }
}

fs::path target_of(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

// Another process may have taken the file for an abandoned one before it was locked.
bool lock_named(int fd) {
  struct stat status{};
  return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

OutputFile::OutputFile(fs::path path, Mode mode) : path_(std::move(path)) {
  target_ = target_of(path_);
  std::error_code error;
  if (target_.has_parent_path()) fs::create_directories(target_.parent_path(), error);
  const fs::file_status status = fs::status(target_, error);
  if (mode == Mode::replace && (!fs::exists(status) || fs::is_regular_file(status))) {
    open_temporary();
    return;
  }
  fd_ = open(target_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("cannot be opened for writing");
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::open_temporary() {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  remove_abandoned_files(folder);
  struct stat existing{};
  const bool replaces = stat(target_.c_str(), &existing) == 0;
  constexpr int kAttempts = 1000;
  for (int i = 0; i < kAttempts && fd_ < 0; ++i) {
    const fs::path name = folder / ("." + std::to_string(getpid()) + "-" + std::to_string(i) +
                                    std::string(kTemporary));
    fd_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) fail("cannot be written");
    if (fd_ < 0) continue;
    temporary_ = name;
    if (lock_named(fd_)) break;
    close(std::exchange(fd_, -1));
    temporary_.clear();
  }
  if (fd_ < 0) fail("cannot be written");
  if (replaces) fchmod(fd_, existing.st_mode & 07777);
}

void OutputFile::write(std::string_view bytes) {
  const off_t begin = temporary_.empty() ? lseek(fd_, 0, SEEK_END) : -1;
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : ENOSPC;
      if (begin >= 0 && done > 0) [[maybe_unused]]
        const int ignored = ftruncate(fd_, begin);  // readers drop half a line, too
      errno = error;
      fail("cannot be written");
    }
    done += static_cast<size_t>(n);
  }
}

void OutputFile::sync() {
  // Pipes and devices keep nothing that could be waited for.
  if (fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail("cannot be written");
}

void OutputFile::commit() {
  sync();
  // Under its lock: an unlocked temporary file may be removed by anybody.
  if (!temporary_.empty() && rename(temporary_.c_str(), target_.c_str()) != 0)
    fail("cannot be replaced");
  temporary_.clear();
  // Some file systems say only now that the disk is full.
  if (close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail("cannot be written");
}

void OutputFile::fail(const char* doing) const {
  throw Error(ErrorCode::runtime,
              path_.string() + ": " + doing + ": " + std::generic_category().message(errno));
}

void write_file(const fs::path& path, std::string_view contents) {
  OutputFile file(path, OutputFile::Mode::replace);
  file.write(contents);
  file.commit();
}

}  // namespace primset
