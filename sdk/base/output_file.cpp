#include "sdk/base/output_file.h"

#include <fcntl.h>
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

// Once a folder and process.
void visit(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> visited;
  const std::lock_guard lock(mutex);
  if (visited.insert(folder).second) remove_abandoned_files(folder);
}

fs::path target_of(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
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
  file_ = Descriptor(open(target_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file_) fail("cannot be opened for writing", {errno, std::generic_category()});
}

OutputFile::~OutputFile() = default;

void OutputFile::open_temporary() {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  visit(folder);
  folder_ = Descriptor(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) fail("cannot be written", {errno, std::generic_category()});
  temporary_.emplace(folder_, target_.filename().string());
  if (const auto error = temporary_->create(0666)) fail("cannot be written", error);
  struct stat existing{};
  if (stat(target_.c_str(), &existing) == 0) fchmod(file().get(), existing.st_mode & 07777);
}

const Descriptor& OutputFile::file() const {
  return temporary_ ? temporary_->descriptor() : file_;
}

void OutputFile::write(std::string_view bytes) {
  const off_t begin = temporary_ ? -1 : lseek(file_.get(), 0, SEEK_END);
  const std::error_code error = write_all(file(), bytes);
  if (!error) return;
  if (begin >= 0) [[maybe_unused]]
    const int ignored = ftruncate(file_.get(), begin);  // readers drop half a line, too
  fail("cannot be written", error);
}

void OutputFile::sync() {
  // Pipes and devices keep nothing that could be waited for.
  if (fdatasync(file().get()) != 0 && errno != EINVAL && errno != EROFS)
    fail("cannot be written", {errno, std::generic_category()});
}

void OutputFile::commit() {
  sync();
  if (!temporary_) return close_file(file_.release());
  if (const auto error = temporary_->commit(AtomicFile::Existing::replace))
    fail("cannot be replaced", error);
  close_file(temporary_->release());
}

// Some file systems say only now that the disk is full.
void OutputFile::close_file(int fd) const {
  if (close(fd) != 0 && errno != EINTR) fail("cannot be written", {errno, std::generic_category()});
}

void OutputFile::fail(const char* doing, std::error_code error) const {
  throw Error(ErrorCode::runtime, path_.string() + ": " + doing + ": " + error.message());
}

void write_file(const fs::path& path, std::string_view contents) {
  OutputFile file(path, OutputFile::Mode::replace);
  file.write(contents);
  file.commit();
}

}  // namespace primset
