#include "sdk/runtime/files/trusted_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace primset::runtime {
namespace fs = std::filesystem;
namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

std::error_code last_error() {
  return {errno, std::generic_category()};
}

// Where users have a group of their own (umask 002), that a folder may be written by it means
// nothing: the group is the owner's primary one, has the owner's name and no other member.
bool is_private_group(const struct stat& s) {
  std::vector<char> memory(16384);
  struct passwd user, *found_user = nullptr;
  if (getpwuid_r(s.st_uid, &user, memory.data(), memory.size(), &found_user) != 0 || !found_user ||
      user.pw_gid != s.st_gid)
    return false;
  std::vector<char> more(65536);
  struct group group, *found_group = nullptr;
  if (getgrgid_r(s.st_gid, &group, more.data(), more.size(), &found_group) != 0 || !found_group ||
      std::strcmp(group.gr_name, user.pw_name) != 0)
    return false;
  for (char** member = group.gr_mem; *member; ++member)
    if (std::strcmp(*member, user.pw_name) != 0) return false;
  return true;
}

// Why others may have changed what is in a folder.
std::optional<std::string> distrust(const Descriptor& folder, const fs::path& shown,
                                    bool is_above) {
  struct stat s;
  if (fstat(folder.get(), &s) != 0)
    return fmt::format("{}: {}", shown.string(), last_error().message());
  if (s.st_uid != geteuid() && s.st_uid != 0)
    return fmt::format("{} belongs to user {}, not to user {}", shown.string(), s.st_uid,
                       geteuid());
  const bool sticky = is_above && (s.st_mode & S_ISVTX);
  if (!sticky && others_may_write(s))
    return fmt::format("{} may be written by others (mode {:04o})", shown.string(),
                       s.st_mode & 07777u);
  return std::nullopt;
}

// Opens a folder in another, making it where that is wanted. Sets errno.
// O_PATH: a folder above may be one that this user passes through but cannot list.
Descriptor open_folder(const Descriptor& parent, const std::string& name, Missing missing) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor folder(openat(parent.get(), name.c_str(), flags));
  if (folder || errno != ENOENT || missing == Missing::refuse) return folder;
  // Another process may make it at the same time: that is as good.
  const bool made = mkdirat(parent.get(), name.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return {};
  if (made && fchmodat(parent.get(), name.c_str(), 0700, 0) != 0) return {};
  return Descriptor(openat(parent.get(), name.c_str(), flags));
}

TrustedFolder refused(std::string why) {
  return {{}, std::move(why)};
}

// holds_trusted: what is in the folder is looked at itself, as the folders below those above are.
TrustedFolder open_checked(const fs::path& path, Missing missing, bool holds_trusted) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) return refused(fmt::format("{}: {}", path.string(), error.message()));
  fs::path shown = "/";
  Descriptor folder(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (auto part = ++real.begin(); part != real.end(); ++part) {
    if (part->empty()) continue;  // after a slash at the end
    if (auto why = distrust(folder, shown, true)) return refused(*std::move(why));
    shown /= *part;
    folder = open_folder(folder, part->string(), missing);
    if (!folder) return refused(fmt::format("{}: {}", shown.string(), last_error().message()));
  }
  if (auto why = distrust(folder, shown, holds_trusted)) return refused(*std::move(why));
  return {std::move(folder), {}};
}

}  // namespace

bool others_may_write(const struct stat& s) {
  if (s.st_mode & S_IWOTH) return true;
  return (s.st_mode & S_IWGRP) && !is_private_group(s);
}

TrustedFolder open_trusted_folder(const fs::path& path, Missing missing) {
  return open_checked(path, missing, false);
}

TrustedFolder open_trusted_subfolder(const Descriptor& folder, const std::string& name,
                                     const fs::path& shown, Missing missing) {
  Descriptor inner = open_folder(folder, name, missing);
  if (!inner) return refused(fmt::format("{}: {}", shown.string(), last_error().message()));
  if (auto why = distrust(inner, shown, false)) return refused(*std::move(why));
  return {std::move(inner), {}};
}

Descriptor open_own_file(const Descriptor& folder, const std::string& name) {
  // Without O_NONBLOCK, opening a FIFO waits for its other end.
  Descriptor file(
      openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s;
  if (!file || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid() ||
      (s.st_mode & kOthers))
    return {};
  return file;
}

Descriptor open_trusted_file(const fs::path& file, std::string& refusal) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(file, error), error);
  TrustedFolder folder = open_checked(real.parent_path(), Missing::refuse, true);
  refusal = error ? error.message() : folder.refusal;
  if (!refusal.empty()) return {};
  Descriptor opened(openat(folder.descriptor.get(), real.filename().c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s;
  if (!opened || fstat(opened.get(), &s) != 0) {
    refusal = last_error().message();
  } else if (!S_ISREG(s.st_mode)) {
    refusal = "it is no regular file";
  } else if (s.st_uid != geteuid() && s.st_uid != 0) {
    refusal = fmt::format("it belongs to user {}, not to user {}", s.st_uid, geteuid());
  } else if (others_may_write(s)) {
    refusal = fmt::format("it may be written by others (mode {:04o})", s.st_mode & 07777u);
  }
  return refusal.empty() ? std::move(opened) : Descriptor();
}

bool read_exactly(const Descriptor& file, std::span<uint8_t> out, uint64_t offset) {
  while (!out.empty()) {
    const ssize_t n = pread(file.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    out = out.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return true;
}

std::error_code write_own_file(const Descriptor& folder, const std::string& name,
                               std::span<const std::span<const uint8_t>> parts,
                               AtomicFile::Existing existing) {
  AtomicFile file(folder, name);
  if (const auto error = file.create(0600)) return error;
  // Whatever the umask was.
  if (fchmod(file.descriptor().get(), 0600) != 0) return last_error();
  for (const std::span<const uint8_t> part : parts) {
    const std::string_view bytes(reinterpret_cast<const char*>(part.data()), part.size());
    if (const auto error = write_all(file.descriptor(), bytes)) return error;
  }
  return file.commit(existing);
}

}  // namespace primset::runtime
