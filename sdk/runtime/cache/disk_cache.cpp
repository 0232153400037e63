#include "sdk/runtime/cache/disk_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <primset/plugin.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "sdk/runtime/files/trusted_folder.h"

namespace primset::runtime {
namespace fs = std::filesystem;
namespace {

using Existing = AtomicFile::Existing;

struct Header {
  char magic[8] = {'P', 'S', 'K', 'E', 'R', 'N', '0', '2'};
  uint64_t size = 0;
  Digest code{};
};
static_assert(sizeof(Header) == 48);

constexpr const char* kSecret = "secret";
// Of a file; more is no compiled kernel. A file's own header says its size before memory is asked
// for, so that a sparse file costs nothing.
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

template <typename T>
std::span<const uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(value)};
}

uint64_t size_of(const Descriptor& file) {
  struct stat s;
  return fstat(file.get(), &s) == 0 ? static_cast<uint64_t>(s.st_size) : 0;
}

std::optional<Digest> read_secret(const Descriptor& folder) {
  const Descriptor file = open_own_file(folder, kSecret);
  Digest secret;
  if (!file || size_of(file) != secret.size() || !read_exactly(file, secret, 0))
    return std::nullopt;
  return secret;
}

}  // namespace

DiskCache::DiskCache(fs::path folder, Settings settings)
    : folder_(std::move(folder)), settings_(std::move(settings)), bound_(folder_) {
  if (folder_.empty()) return;
  const TrustedFolder opened = open_trusted_folder(folder_, Missing::make);
  std::string why = opened.refusal;
  if (opened && !load_secret(opened.descriptor))
    why = fmt::format("cannot write {}", (folder_ / kSecret).string());
  if (why.empty()) return;
  tell(PRIMSET_LOG_WARNING,
       fmt::format("no kernel is cached on disk: {}. Kernels are executed, so their folder must be "
                   "one that only its user can change; PRIMSET_CACHE names another, "
                   "PRIMSET_CACHE=off none",
                   why));
  folder_.clear();
}

// The first process makes it; one that is damaged is made anew, and what was stored under it is
// damaged then. Never two processes with two secrets: what is read last is what is there.
bool DiskCache::load_secret(const Descriptor& folder) {
  for (const Existing existing : {Existing::keep, Existing::replace}) {
    if (const auto found = read_secret(folder)) {
      secret_ = *found;
      return true;
    }
    remove_abandoned_files(folder_);
    Digest fresh;
    if (getrandom(fresh.data(), fresh.size(), 0) != static_cast<ssize_t>(fresh.size()))
      return false;
    const std::span<const uint8_t> parts[] = {fresh};
    if (write_own_file(folder, kSecret, parts, existing)) return false;
  }
  const auto found = read_secret(folder);
  if (found) secret_ = *found;
  return found.has_value();
}

void DiskCache::tell(uint32_t level, std::string_view text) const {
  if (settings_.log) settings_.log(level, text);
}

// Two levels, so that no folder holds many thousands of files.
fs::path DiskCache::path_of(const std::string& kind, const Digest& key) const {
  const std::string name = hex(key);
  return folder_ / kind / name.substr(0, 2) / (name.substr(2) + ".psk");
}

// All from the root on, each time: who removes the folder under a running process, or puts another
// in its place, must find it made anew, and checked.
DiskCache::Bucket DiskCache::open_bucket(const std::string& kind, const Digest& key, bool make,
                                         std::string* why) const {
  const fs::path path = path_of(kind, key), bucket = path.parent_path();
  const Missing missing = make ? Missing::make : Missing::refuse;
  TrustedFolder folder = open_trusted_folder(folder_, missing);
  if (folder)
    folder = open_trusted_subfolder(folder.descriptor, kind, bucket.parent_path(), missing);
  if (folder)
    folder = open_trusted_subfolder(folder.descriptor, bucket.filename(), bucket, missing);
  if (why) *why = folder.refusal;
  return {std::move(folder.descriptor), path.filename()};
}

Digest DiskCache::code_of(std::string_view kind, const Digest& key,
                          std::span<const uint8_t> bytes) const {
  HmacSha256 code(secret_);
  const uint64_t size = kind.size();
  code.add(bytes_of(size));
  code.add({reinterpret_cast<const uint8_t*>(kind.data()), kind.size()});
  code.add(key);
  code.add(bytes);
  return code.finish();
}

std::vector<Digest> DiskCache::keys_of(const std::string& kind) const {
  std::vector<Digest> keys;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_ / kind, error), end; !error && it != end;
       it.increment(error)) {
    const std::string digits =
        it->path().parent_path().filename().string() + it->path().stem().string();
    const auto key = digest_of_hex(digits);
    if (key && it->path() == path_of(kind, *key)) keys.push_back(*key);
  }
  return keys;
}

std::optional<DiskCache::Found> DiskCache::load(const std::string& kind, const Digest& key) const {
  if (settings_.packs) {
    if (auto bytes = settings_.packs->find(kind, key)) return Found{*std::move(bytes), false, true};
  }
  return enabled() ? load_file(kind, key) : std::nullopt;
}

std::optional<DiskCache::Found> DiskCache::load_file(const std::string& kind,
                                                     const Digest& key) const {
  const Bucket bucket = open_bucket(kind, key, false, nullptr);
  if (!bucket.folder) return std::nullopt;
  struct stat there;
  if (fstatat(bucket.folder.get(), bucket.file.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  const Descriptor file = open_own_file(bucket.folder, bucket.file);
  Header header;
  const Header expected;
  const uint64_t size = file ? size_of(file) : 0;
  if (size < sizeof(header) || size > kMaxFileBytes ||
      !read_exactly(file, {reinterpret_cast<uint8_t*>(&header), sizeof(header)}, 0) ||
      std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0 ||
      header.size != size - sizeof(header))
    return Found{{}, true, false};
  std::vector<uint8_t> bytes(header.size);
  if (!read_exactly(file, bytes, sizeof(header)) || header.code != code_of(kind, key, bytes))
    return Found{{}, true, false};
  futimens(file.get(), nullptr);  // used now; where that fails, nothing is removed either
  return Found{std::move(bytes), false, false};
}

void DiskCache::store(const std::string& kind, const Digest& key,
                      std::span<const uint8_t> bytes) const {
  if (!enabled() || bytes.size() > kMaxFileBytes - sizeof(Header)) return;
  std::string why;
  const Bucket bucket = open_bucket(kind, key, true, &why);
  if (bucket.folder) {
    remove_abandoned_files(path_of(kind, key).parent_path());
    Header header;
    header.size = bytes.size();
    header.code = code_of(kind, key, bytes);
    const std::span<const uint8_t> parts[] = {bytes_of(header), bytes};
    if (const auto error = write_own_file(bucket.folder, bucket.file, parts, Existing::replace))
      why = fmt::format("{}: {}", path_of(kind, key).string(), error.message());
  }
  if (!why.empty()) return tell(PRIMSET_LOG_INFO, "kernel cache: cannot write " + why);
  const uint64_t limit = settings_.max_bytes ? settings_.max_bytes() : kMaxFileBytes;
  const size_t removed = bound_.add(sizeof(Header) + bytes.size(), limit);
  if (removed)
    tell(PRIMSET_LOG_INFO, fmt::format("kernel cache: removed {} files of {}, the least recently "
                                       "used",
                                       removed, folder_.string()));
}

}  // namespace primset::runtime
