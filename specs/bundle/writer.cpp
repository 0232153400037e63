#include "specs/bundle/writer.h"

#include <bit>
#include <concepts>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "specs/bundle/archive.h"

namespace primset::specs {
namespace {

void append_fixed(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

class Writer {
 public:
  template <typename... T>
  void operator()(T&... members) {
    (put(members), ...);
  }

  // The string table followed by everything written.
  std::string payload() const {
    std::string out;
    append_varint(out, strings_.size());
    for (const std::string& s : strings_) {
      append_varint(out, s.size());
      out += s;
    }
    return out + body_;
  }

 private:
  template <typename T>
  void put(T& value) {
    if constexpr (std::is_enum_v<T>) {
      body_.push_back(static_cast<char>(value));
    } else if constexpr (std::is_same_v<T, char>) {
      body_.push_back(value);
    } else if constexpr (std::is_same_v<T, double>) {
      append_fixed(body_, std::bit_cast<uint64_t>(value), 8);
    } else if constexpr (std::signed_integral<T>) {
      auto wide = static_cast<uint64_t>(static_cast<int64_t>(value));
      append_varint(body_, (wide << 1) ^ (value < 0 ? ~uint64_t{0} : 0));
    } else if constexpr (std::unsigned_integral<T>) {
      append_varint(body_, value);
    } else if constexpr (std::is_same_v<T, DTypeSet>) {
      append_varint(body_, value.mask());
    } else {
      archive::fields(*this, value);
    }
  }

  void put(std::string& text) {
    auto [it, is_new] = index_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    append_varint(body_, it->second);
  }

  template <typename T>
  void put(std::vector<T>& list) {
    append_varint(body_, list.size());
    for (T& element : list) put(element);
  }

  std::string body_;
  std::vector<std::string> strings_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace

std::vector<std::byte> write_bundle(Bundle& bundle) {
  Writer writer;
  archive::fields(writer, bundle);
  const std::string payload = writer.payload();
  bundle.content_hash = fnv1a(payload);

  std::string file(archive::kMagic);
  append_fixed(file, archive::kVersion, 4);
  append_fixed(file, payload.size(), 8);
  append_fixed(file, bundle.content_hash, 8);
  file += payload;
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  return {bytes, bytes + file.size()};
}

}  // namespace primset::specs
