#include "sdk/runtime/cache/disk_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <system_error>

#include "sdk/runtime/plugin/loader.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/options.h"

namespace primset::runtime {
namespace fs = std::filesystem;
namespace {

struct Header {
  char magic[8] = {'P', 'S', 'K', 'E', 'R', 'N', '0', '1'};
  uint64_t size = 0;
  Digest checksum{};
};
static_assert(sizeof(Header) == 48);

std::optional<std::vector<uint8_t>> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  const std::streamoff size = file.tellg();
  if (size < 0) return std::nullopt;
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), size)) bytes.clear();
  return bytes;
}

// What processes left that were killed in the middle of a write. A file that is being written is
// seconds old.
void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() == ".tmp" &&
        now - it->last_write_time(ignored) > std::chrono::hours(1))
      fs::remove(it->path(), ignored);
  }
}

}  // namespace

fs::path cache_folder() {
  const std::string chosen = environment("PRIMSET_CACHE");
  if (chosen == "off") return {};
  return chosen.empty() ? plugin::default_cache_folder() : fs::path(chosen);
}

// Two levels, so that no folder holds many thousands of files.
fs::path DiskCache::path_of(const Digest& key) const {
  const std::string name = hex(key);
  return folder_ / "kernels" / name.substr(0, 2) / (name.substr(2) + ".psk");
}

std::optional<DiskCache::Found> DiskCache::load(const Digest& key) const {
  if (!enabled()) return std::nullopt;
  auto bytes = read_file(path_of(key));
  if (!bytes) return std::nullopt;
  Header header;
  const Header expected;
  if (bytes->size() < sizeof(header)) return Found{{}, true};
  std::memcpy(&header, bytes->data(), sizeof(header));
  const std::span payload = std::span(*bytes).subspan(sizeof(header));
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0 ||
      header.size != payload.size() || header.checksum != sha256(payload))
    return Found{{}, true};
  touch(path_of(key));
  return Found{{payload.begin(), payload.end()}, false};
}

namespace {

// Under a name of its own, then renamed.
std::error_code write_file(const fs::path& path, const Header& header,
                           std::span<const uint8_t> bytes) {
  static std::atomic<uint64_t> counter{0};
  const fs::path temporary =
      path.parent_path() / fmt::format(".{}.{}.{}.tmp", path.stem().string(), getpid(), counter++);
  std::ofstream file(temporary, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof(header));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file)
    fs::rename(temporary, path, error);
  else
    error = std::make_error_code(std::errc::io_error);
  std::error_code ignored;
  if (error) fs::remove(temporary, ignored);
  return error;
}

}  // namespace

void DiskCache::store(const Digest& key, std::span<const uint8_t> bytes) const {
  if (!enabled()) return;
  const fs::path path = path_of(key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (!error) remove_leftovers(path.parent_path());
  Header header;
  header.size = bytes.size();
  header.checksum = sha256(bytes);
  error = write_file(path, header, bytes);
  if (error)
    log(LogLevel::info, "kernel cache: cannot write {}: {}", path.string(), error.message());
  else
    bound_.add(sizeof(header) + bytes.size());
}

}  // namespace primset::runtime
