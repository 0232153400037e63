#include "sdk/runtime/cache/kernel_pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "sdk/base/atomic_file.h"
#include "sdk/base/printable.h"
#include "sdk/runtime/files/trusted_folder.h"

namespace primset::runtime {
namespace fs = std::filesystem;
namespace {

static_assert(std::endian::native == std::endian::little, "numbers in packs are little-endian");

struct PackHeader {
  char magic[8] = {'P', 'S', 'P', 'A', 'C', 'K', '0', '1'};
  uint64_t file_bytes = 0, entries = 0, identity_bytes = 0;
  Digest checksum{};
};
static_assert(sizeof(PackHeader) == 64);

struct IndexEntry {
  Digest name;
  uint64_t offset, bytes;
  Digest checksum;
};
static_assert(sizeof(IndexEntry) == 80);

constexpr uint64_t kMaxIdentityBytes = 64 << 10;
constexpr uint64_t kMaxEntries = uint64_t{1} << 24;

template <typename T>
std::span<const uint8_t> raw_bytes(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(value)};
}

std::span<const uint8_t> raw_text_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Digest checksum_of(PackHeader header, std::span<const uint8_t> identity_and_index) {
  header.checksum = {};
  Sha256 hash;
  hash.add(raw_bytes(header));
  hash.add(identity_and_index);
  return hash.finish();
}

std::string text_of(const PackIdentity& identity) {
  std::string out;
  for (const std::string* line :
       {&identity.plugin, &identity.device, &identity.build, &identity.target})
    out += printable(*line, kMaxIdentityBytes) + '\n';
  return out;
}

// False for other than four lines.
bool parse(std::string_view text, PackIdentity& identity) {
  for (std::string* line :
       {&identity.plugin, &identity.device, &identity.build, &identity.target}) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    *line = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  return text.empty();
}

bool comes_before(const auto& a, const auto& b) {
  return a.name < b.name;
}

std::string differs(std::string_view what, std::string_view pack, std::string_view here) {
  return fmt::format("it is for the {} '{}', and this is '{}'", what, printable(pack),
                     printable(here));
}

// Targets have dozens of words.
std::string differs_in_words(std::string_view pack, std::string_view here) {
  const auto word = [](std::string_view text) { return text.substr(0, text.find(' ')); };
  while (word(pack) == word(here)) {
    const size_t length = word(pack).size() + 1;
    pack.remove_prefix(std::min(length, pack.size()));
    here.remove_prefix(std::min(length, here.size()));
  }
  return differs("target", word(pack), word(here));
}

}  // namespace

std::string difference(const PackIdentity& pack, const PackIdentity& here) {
  if (pack.plugin != here.plugin) return differs("plugin", pack.plugin, here.plugin);
  if (pack.build != here.build) return differs("build", pack.build, here.build);
  if (pack.target != here.target)
    return pack.device != here.device ? differs("device", pack.device, here.device)
                                      : differs_in_words(pack.target, here.target);
  return {};
}

Digest pack_name(std::string_view kind, const Digest& key) {
  Sha256 hash;
  const uint64_t size = kind.size();
  hash.add(raw_bytes(size));
  hash.add(kind);
  hash.add(std::span<const uint8_t>(key));
  return hash.finish();
}

void write_pack(const fs::path& file, const PackIdentity& identity,
                std::vector<PackEntry> entries) {
  std::ranges::sort(entries, comes_before<PackEntry, PackEntry>);
  std::string front = text_of(identity);
  PackHeader header;
  header.entries = entries.size();
  header.identity_bytes = front.size();
  uint64_t at = sizeof(PackHeader) + front.size() + entries.size() * sizeof(IndexEntry);
  for (const PackEntry& e : entries) {
    const IndexEntry entry{e.name, at, e.content.size(), sha256(e.content)};
    front += text_of(raw_bytes(entry));
    at += e.content.size();
  }
  header.file_bytes = at;
  header.checksum = checksum_of(header, raw_text_bytes(front));
  const fs::path absolute = fs::absolute(file);
  const Descriptor folder(::open(absolute.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto require = [&](std::error_code error) {
    if (error) throw std::system_error(error, file.string());
  };
  if (!folder) require({errno, std::generic_category()});
  AtomicFile out(folder, absolute.filename());
  require(out.create(0644));
  require(write_all(out.descriptor(), text_of(raw_bytes(header))));
  require(write_all(out.descriptor(), front));
  for (const PackEntry& e : entries) require(write_all(out.descriptor(), text_of(e.content)));
  require(out.commit(AtomicFile::Existing::replace));
}

std::shared_ptr<const KernelPack> KernelPack::open(const fs::path& file, std::string& refusal) {
  std::shared_ptr<KernelPack> pack(new KernelPack);
  pack->file_ = file;
  pack->descriptor_ = open_trusted_file(file, refusal);
  if (!pack->descriptor_) return nullptr;
  refusal = pack->read();
  return refusal.empty() ? pack : nullptr;
}

std::string KernelPack::read() {
  struct stat status;
  if (fstat(descriptor_.get(), &status) != 0) return std::strerror(errno);
  bytes_ = static_cast<uint64_t>(status.st_size);
  PackHeader header;
  const PackHeader expected;
  if (bytes_ < sizeof(header) ||
      !read_exactly(descriptor_, {reinterpret_cast<uint8_t*>(&header), sizeof(header)}, 0) ||
      std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0)
    return "it is no pack of kernels, or one of another format";
  if (header.file_bytes != bytes_)
    return fmt::format("it has {} bytes, and says that there are {}", bytes_, header.file_bytes);
  // What memory is asked for is bounded by the size of the file.
  const uint64_t begin = sizeof(header);
  if (header.identity_bytes > std::min(kMaxIdentityBytes, bytes_ - begin) ||
      header.entries > kMaxEntries ||
      header.entries * sizeof(IndexEntry) > bytes_ - begin - header.identity_bytes)
    return "its index does not fit into it";
  std::vector<uint8_t> front(header.identity_bytes + header.entries * sizeof(IndexEntry));
  if (!read_exactly(descriptor_, front, begin) || checksum_of(header, front) != header.checksum)
    return "its index is damaged";
  const auto all = std::span<const uint8_t>(front);
  if (!parse(text_of(all.first(header.identity_bytes)), identity_) ||
      !read_index(all.subspan(header.identity_bytes), begin + front.size()))
    return "its index is not one";
  return {};
}

// Names ascend, and content lies behind the index, within the file.
bool KernelPack::read_index(std::span<const uint8_t> index, uint64_t begin) {
  index_.reserve(index.size() / sizeof(IndexEntry));
  for (; !index.empty(); index = index.subspan(sizeof(IndexEntry))) {
    IndexEntry e;
    std::memcpy(&e, index.data(), sizeof(e));
    if (e.offset < begin || e.offset > bytes_ || e.bytes > bytes_ - e.offset) return false;
    if (!index_.empty() && index_.back().name >= e.name) return false;
    index_.push_back({e.name, e.offset, e.bytes, e.checksum});
  }
  return true;
}

std::optional<std::vector<uint8_t>> KernelPack::content_of(const Place& place) const {
  std::vector<uint8_t> content(place.bytes);
  if (!read_exactly(descriptor_, content, place.offset) || sha256(content) != place.checksum)
    return std::nullopt;
  return content;
}

std::optional<std::vector<uint8_t>> KernelPack::find(const Digest& name,
                                                     std::string& damage) const {
  const auto at = std::ranges::lower_bound(index_, name, {}, &Place::name);
  if (at == index_.end() || at->name != name || damaged_) return std::nullopt;
  auto content = content_of(*at);
  if (!content && !damaged_.exchange(true))
    damage = fmt::format("its kernel {} is damaged", hex(name).substr(0, 16));
  return content;
}

std::string KernelPack::check() const {
  for (const Place& place : index_)
    if (!content_of(place))
      return fmt::format("its kernel {} is damaged", hex(place.name).substr(0, 16));
  return {};
}

}  // namespace primset::runtime
