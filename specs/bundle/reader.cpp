#include "specs/bundle/reader.h"

#include <fmt/format.h>

#include <bit>
#include <concepts>
#include <fstream>
#include <iterator>
#include <limits>
#include <type_traits>

#include "primset/error.h"
#include "specs/bundle/archive.h"
#include "specs/bundle/validate.h"

namespace primset::specs {
namespace {

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(ErrorCode::corrupt, "spec bundle: " + what);
}

class Reader {
 public:
  explicit Reader(std::string_view payload) : rest_(payload), size_(payload.size()) {
    const size_t count = length();
    strings_.reserve(count);
    for (size_t i = 0; i < count; ++i) strings_.push_back(take(length()));
  }

  template <typename... T>
  void operator()(T&... members) {
    (get(members), ...);
  }

  void expect_end() const {
    if (!rest_.empty()) corrupt(fmt::format("{} bytes too many at its end", rest_.size()));
  }

 private:
  size_t offset() const { return size_ - rest_.size(); }

  std::string_view take(size_t count) {
    if (count > rest_.size()) corrupt(fmt::format("cut short at payload byte {}", offset()));
    std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    corrupt(fmt::format("an integer that does not end at payload byte {}", offset()));
  }

  // A count of things that each take at least a byte: a larger one is refused before allocating.
  size_t length() {
    const uint64_t count = varint();
    if (count > rest_.size()) {
      corrupt(fmt::format("a length of {} with {} bytes left, at payload byte {}", count,
                          rest_.size(), offset()));
    }
    return static_cast<size_t>(count);
  }

  template <typename T>
  void get(T& value) {
    if constexpr (std::is_enum_v<T>) {
      const auto code = static_cast<unsigned char>(take(1)[0]);
      if (code >= archive::kEnumCount<T>) {
        corrupt(fmt::format("code {} of {} at payload byte {}", code, archive::kEnumCount<T>,
                            offset()));
      }
      value = static_cast<T>(code);
    } else if constexpr (std::is_same_v<T, char>) {
      value = take(1)[0];
    } else if constexpr (std::is_same_v<T, double>) {
      uint64_t bits = 0;
      const std::string_view bytes = take(8);
      for (size_t i = 0; i < 8; ++i) {
        bits |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
      }
      value = std::bit_cast<double>(bits);
    } else if constexpr (std::signed_integral<T>) {
      const uint64_t zigzag = varint();
      value = narrow<T>(static_cast<int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1)));
    } else if constexpr (std::unsigned_integral<T>) {
      value = narrow<T>(varint());
    } else if constexpr (std::is_same_v<T, DTypeSet>) {
      value = DTypeSet(varint());
    } else {
      archive::fields(*this, value);
    }
  }

  template <typename T, typename Wide>
  T narrow(Wide wide) {
    if (wide < Wide{std::numeric_limits<T>::min()} || wide > Wide{std::numeric_limits<T>::max()}) {
      corrupt(fmt::format("the integer {} is out of range at payload byte {}", wide, offset()));
    }
    return static_cast<T>(wide);
  }

  void get(std::string& text) {
    const uint64_t index = varint();
    if (index >= strings_.size()) {
      corrupt(fmt::format("string {} of {} at payload byte {}", index, strings_.size(), offset()));
    }
    text = strings_[index];
  }

  template <typename T>
  void get(std::vector<T>& list) {
    const size_t count = length();
    list.clear();
    list.reserve(count);
    for (size_t i = 0; i < count; ++i) get(list.emplace_back());
  }

  std::string_view rest_;
  size_t size_;
  std::vector<std::string_view> strings_;
};

uint64_t fixed(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

// Checks the header and the checksum; returns the payload.
std::string_view open_envelope(std::string_view file, uint64_t& hash) {
  if (file.size() < archive::kHeaderSize) {
    corrupt(fmt::format("{} bytes; expected at least {}", file.size(), archive::kHeaderSize));
  }
  if (file.substr(0, 8) != archive::kMagic) {
    corrupt("not a spec bundle; expected a file written by specgen");
  }
  const uint64_t version = fixed(file.substr(8, 4));
  if (version != archive::kVersion) {
    corrupt(fmt::format("format version {}; expected {}: run specgen again", version,
                        archive::kVersion));
  }
  const uint64_t size = fixed(file.substr(12, 8));
  const std::string_view payload = file.substr(archive::kHeaderSize);
  if (size != payload.size()) {
    corrupt(fmt::format("{} bytes after the header; expected {}", payload.size(), size));
  }
  hash = fixed(file.substr(20, 8));
  if (fnv1a(payload) != hash) corrupt("its checksum does not match: the bytes were changed");
  return payload;
}

}  // namespace

Bundle read_bundle(std::span<const std::byte> bytes) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Bundle bundle;
  Reader reader(open_envelope(file, bundle.content_hash));
  archive::fields(reader, bundle);
  reader.expect_end();
  validate(bundle);
  bundle.build_index();
  return bundle;
}

Bundle load_bundle(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw Error(ErrorCode::runtime, fmt::format("spec bundle: cannot open '{}'", path.string()));
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return read_bundle(std::as_bytes(std::span(text)));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} (in '{}')", error.what(), path.string()));
  }
}

}  // namespace primset::specs
