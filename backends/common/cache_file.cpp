#include "backends/common/cache_file.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace primset_backend {
namespace {

namespace fs = std::filesystem;

struct Header {
  char magic[8] = {};
  uint64_t bytes = 0;
  uint64_t hash = 0;
};

Header header_of(std::string_view magic, std::string_view bytes) {
  Header header;
  std::memcpy(header.magic, magic.data(), std::min(magic.size(), sizeof(header.magic)));
  header.bytes = bytes.size();
  header.hash = hash_of(bytes);
  return header;
}

}  // namespace

uint64_t hash_of(std::string_view bytes, uint64_t seed) {
  uint64_t hash = seed;
  for (char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string cache_path(const primset_host* host, std::string_view name) {
  if (!host || !host->cache_folder || !*host->cache_folder) return {};
  return (fs::path(host->cache_folder) / name).string();
}

std::vector<char> CacheFile::read() const {
  std::ifstream in(path_, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  Header header;
  if (size < std::streamoff{sizeof(header)}) return {};
  in.seekg(0);
  std::vector<char> data(static_cast<size_t>(size) - sizeof(header));
  if (!in.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      !in.read(data.data(), static_cast<std::streamsize>(data.size())))
    return {};
  const Header expected = header_of(magic_, {data.data(), data.size()});
  if (std::memcmp(&header, &expected, sizeof(header)) != 0) return {};
  std::error_code ignored;  // the host goes by when a file was used last
  fs::last_write_time(path_, fs::file_time_type::clock::now(), ignored);
  return data;
}

void CacheFile::write(std::string_view bytes) const {
  static std::atomic<uint64_t> counter{0};
  fs::create_directories(fs::path(path_).parent_path());
  const std::string temporary =
      path_ + "." + std::to_string(getpid()) + "." + std::to_string(counter++) + ".tmp";
  const Header header = header_of(magic_, bytes);
  std::ofstream out(temporary, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&header), sizeof(header));
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, path_, error);
  if (!out || error) {
    const std::string reason = error ? error.message() : "write failed";
    fs::remove(temporary, error);
    throw std::runtime_error(path_ + ": " + reason);
  }
}

}  // namespace primset_backend
