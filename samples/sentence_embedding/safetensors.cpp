#include "safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace sentence_embedding {
namespace {

using nlohmann::json;
using primset::DType;

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
// The header, a tensor's entry, a list in it. What is nested without end would exhaust the stack.
constexpr int kMaxNesting = 3;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("safetensors: " + what);
}
[[noreturn]] void fail(const std::string& tensor, const std::string& what) {
  fail("tensor '" + tensor + "': " + what);
}

std::optional<DType> dtype_of_code(std::string_view code) {
  static constexpr std::pair<std::string_view, DType> kCodes[] = {
      {"BOOL", DType::boolean},
      {"U8", DType::u8},
      {"I8", DType::i8},
      {"U16", DType::u16},
      {"I16", DType::i16},
      {"U32", DType::u32},
      {"I32", DType::i32},
      {"U64", DType::u64},
      {"I64", DType::i64},
      {"F8_E5M2", DType::f8_e5m2},
      {"F8_E4M3", DType::f8_e4m3fn},
      {"F16", DType::f16},
      {"BF16", DType::bf16},
      {"F32", DType::f32},
      {"F64", DType::f64},
  };
  for (const auto& [name, dtype] : kCodes)
    if (name == code) return dtype;
  return std::nullopt;
}

uint64_t read_header_length(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes)
    fail("the file has " + std::to_string(file.size()) + " bytes, fewer than the header's length");
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<uint64_t>(file[i]) << (8 * i);
  if (length > kMaxHeaderBytes || length > file.size() - kLengthBytes)
    fail("the header is said to have " + std::to_string(length) + " bytes, in a file of " +
         std::to_string(file.size()));
  return length;
}

// A JSON parser takes the last of two equal keys without a word; here it is an error, since which
// tensor is meant is anyone's guess.
json parse_header(std::string_view text) {
  if (!text.starts_with('{')) fail("the header does not begin with '{'");
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxNesting)
      fail("the header is nested deeper than " + std::to_string(kMaxNesting) + " levels");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      fail("the header has the key '" + value.get<std::string>() + "' twice");
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& e) {
    fail(std::string("the header is no JSON: ") + e.what());
  }
}

void check_metadata(const json& metadata) {
  if (!metadata.is_object()) fail("__metadata__ is no object");
  for (const auto& [key, value] : metadata.items())
    if (!value.is_string()) fail("__metadata__: '" + key + "' is no string");
}

std::vector<int64_t> read_shape(const std::string& name, const json& shape) {
  if (!shape.is_array()) fail(name, "'shape' is no list");
  std::vector<int64_t> out;
  for (const json& size : shape) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > INT64_MAX)
      fail(name, "'shape' has " + size.dump() + ", expected sizes of 0 and more");
    out.push_back(size.get<int64_t>());
  }
  return out;
}

uint64_t byte_count(const std::string& name, const StoredTensor& tensor) {
  uint64_t bytes = primset::byte_size(tensor.dtype);
  for (int64_t size : tensor.shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      fail(name, "its shape has more elements than memory has addresses");
  return bytes;
}

StoredTensor read_tensor(const std::string& name, const json& entry,
                         std::span<const std::byte> data) {
  if (!entry.is_object()) fail(name, "its entry is no object");
  for (const char* key : {"dtype", "shape", "data_offsets"})
    if (!entry.contains(key)) fail(name, std::string("'") + key + "' is missing");
  if (entry.size() != 3) fail(name, "has keys beside dtype, shape and data_offsets");
  if (!entry["dtype"].is_string()) fail(name, "'dtype' is no string");
  const auto dtype = dtype_of_code(entry["dtype"].get_ref<const std::string&>());
  if (!dtype) fail(name, "unknown dtype " + entry["dtype"].dump());
  StoredTensor out{*dtype, read_shape(name, entry["shape"]), {}};

  const json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    fail(name, "'data_offsets' is " + offsets.dump() + ", expected [begin, end]");
  const uint64_t begin = offsets[0], end = offsets[1];
  if (begin > end || end > data.size())
    fail(name, "'data_offsets' is " + offsets.dump() + ", outside the " +
                   std::to_string(data.size()) + " bytes of data");
  if (const uint64_t wanted = byte_count(name, out); end - begin != wanted)
    fail(name, "has " + std::to_string(end - begin) + " bytes of data, its dtype and shape need " +
                   std::to_string(wanted));
  out.data = data.subspan(begin, end - begin);
  return out;
}

void check_coverage(const StoredTensors& tensors, std::span<const std::byte> data) {
  std::vector<std::pair<std::span<const std::byte>, const std::string*>> places;
  for (const auto& [name, tensor] : tensors) places.emplace_back(tensor.data, &name);
  // Empty tensors first, where they begin together with another.
  std::ranges::sort(places, {}, [](const auto& p) {
    return std::pair(p.first.data(), p.first.data() + p.first.size());
  });
  const std::byte* at = data.data();
  for (const auto& [place, name] : places) {
    const auto offset = std::to_string(place.data() - data.data());
    if (place.data() != at)
      fail(*name, (place.data() < at ? "overlaps the tensor before it, at offset "
                                     : "leaves a gap before it, at offset ") +
                      offset);
    at += place.size();
  }
  if (at != data.data() + data.size())
    fail(std::to_string(data.data() + data.size() - at) + " bytes at the end belong to no tensor");
}

[[noreturn]] void system_failure(const std::string& path, const char* what) {
  throw std::runtime_error(path + ": " + what + ": " + std::generic_category().message(errno));
}

std::span<const std::byte> map_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) system_failure(path, "cannot be opened");
  struct stat status{};
  const bool known = ::fstat(file, &status) == 0;
  if (!known || status.st_size == 0) {
    ::close(file);
    if (!known) system_failure(path, "has no size");
    return {};  // an empty mapping is an error to mmap
  }
  const auto size = static_cast<size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);  // the mapping keeps the file
  if (address == MAP_FAILED) system_failure(path, "cannot be mapped");
  return {static_cast<const std::byte*>(address), size};
}

void unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

StoredTensors parse_safetensors(std::span<const std::byte> file) {
  const uint64_t length = read_header_length(file);
  const std::span<const std::byte> data = file.subspan(kLengthBytes + length);
  const json header = parse_header(
      std::string_view(reinterpret_cast<const char*>(file.data() + kLengthBytes), length));
  StoredTensors tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__")
      check_metadata(entry);
    else
      tensors.emplace(name, read_tensor(name, entry, data));
  }
  check_coverage(tensors, data);
  return tensors;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path.string()), bytes_(map_file(path_)) {
  try {
    tensors_ = parse_safetensors(bytes_);
  } catch (const std::exception& e) {
    unmap(bytes_);
    throw std::runtime_error(path_ + ": " + e.what());
  }
}

SafetensorsFile::~SafetensorsFile() {
  unmap(bytes_);
}

const StoredTensor& SafetensorsFile::tensor(std::string_view name) const {
  const auto it = tensors_.find(name);
  if (it == tensors_.end())
    throw std::runtime_error(path_ + ": has no tensor '" + std::string(name) + "'");
  return it->second;
}

}  // namespace sentence_embedding
