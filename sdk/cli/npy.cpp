#include "sdk/cli/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>

#include "primset/error.h"
#include "sdk/base/output_file.h"

namespace primset::cli {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxNumpyRank = 64, kFirstRead = 1 << 20;

struct Name {
  std::string_view descr;
  DType dtype;
};
constexpr Name kNames[] = {
    {"|b1", DType::boolean}, {"|u1", DType::u8},    {"|i1", DType::i8},   {"<u2", DType::u16},
    {"<i2", DType::i16},     {"<u4", DType::u32},   {"<i4", DType::i32},  {"<u8", DType::u64},
    {"<i8", DType::i64},     {"<f2", DType::f16},   {"<f4", DType::f32},  {"<f8", DType::f64},
    {"<c8", DType::c64},     {"<c16", DType::c128}, {"|V2", DType::bf16}, {"<V2", DType::bf16}};

// Reads the header, a Python dict literal of three known keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void parse(NpyArray& out) {
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      const int index = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (index < 0 || seen[index]) fail(fmt::format("unexpected key '{}'", key));
      seen[index] = true;
      if (index == 0) out.dtype = dtype(string());
      if (index == 1) out.fortran_order = boolean();
      if (index == 2) out.shape = tuple();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!seen[0] || !seen[1] || !seen[2]) fail("descr, fortran_order and shape must all be there");
    skip();
    if (at_ != text_.size()) fail("text after the dict");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::corrupt,
                fmt::format("{}: npy header, column {}: {}", file_, at_ + 1, what));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}'", c));
  }
  std::string string() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : 0;
    if (quote != '\'' && quote != '"') fail("expected a string");
    const size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) fail("a string without end");
    std::string s(text_.substr(at_, end - at_));
    at_ = end + 1;
    return s;
  }
  bool boolean() {
    skip();
    for (std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("expected True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> out;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t value = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) fail("expected a size");
      at_ = static_cast<size_t>(end - text_.data());
      out.push_back(value);
      if (out.size() > kMaxNumpyRank) fail("too many dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }
  DType dtype(const std::string& descr) const {
    for (const Name& n : kNames) {
      if (n.descr == descr) return n.dtype;
    }
    fail(fmt::format("dtype '{}' is not supported", descr));
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
};

uint64_t data_bytes(const NpyArray& array, const std::string& name) {
  uint64_t bytes = byte_size(array.dtype);
  for (int64_t n : array.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(n), &bytes))
      throw Error(ErrorCode::corrupt, fmt::format("{}: the shape's product overflows", name));
  }
  return bytes;
}

}  // namespace

NpyArray parse_npy(std::span<const std::byte> file, const std::string& name) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::corrupt, fmt::format("{}: {}", name, what));
  };
  if (file.size() < 10 || std::memcmp(bytes, kMagic.data(), kMagic.size()) != 0)
    fail("no .npy file: it does not begin with \\x93NUMPY");
  const int version = bytes[6];
  if (version < 1 || version > 3) fail(fmt::format("npy version {} is not 1, 2 or 3", version));
  const size_t width = version == 1 ? 2 : 4, start = 8 + width;
  if (file.size() < start) fail("cut short in the header");
  size_t length = 0;
  for (size_t i = 0; i < width; ++i) length |= size_t{bytes[8 + i]} << (8 * i);
  if (length > file.size() - start) fail("cut short in the header");
  NpyArray out;
  HeaderParser({reinterpret_cast<const char*>(bytes) + start, length}, name).parse(out);
  const std::span data = file.subspan(start + length);
  const uint64_t expected = data_bytes(out, name);
  if (data.size() != expected)
    fail(fmt::format("{} bytes of data; shape ({}) of {} needs {}", data.size(),
                     fmt::join(out.shape, ", "), primset::name(out.dtype), expected));
  out.data.assign(data.begin(), data.end());
  return out;
}

NpyArray read_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::corrupt, fmt::format("{}: cannot be opened", path.string()));
  std::vector<char> bytes;
  while (file) {  // of a pipe the size is not known
    const size_t at = bytes.size();
    bytes.resize(at + std::max(at, kFirstRead));
    file.read(bytes.data() + at, static_cast<std::streamsize>(bytes.size() - at));
    bytes.resize(at + static_cast<size_t>(file.gcount()));
  }
  return parse_npy(std::as_bytes(std::span(bytes)), path.string());
}

Tensor read_tensor_npy(const std::filesystem::path& path, Device device) {
  const NpyArray array = read_npy(path);
  if (!array.fortran_order)
    return Tensor::from_host(array.data.data(), array.shape, array.dtype, device);
  // Column-major: the transpose of what lies there.
  std::vector<int64_t> reversed(array.shape.rbegin(), array.shape.rend());
  const Tensor t = Tensor::from_host(array.data.data(), reversed, array.dtype, device);
  std::vector<int64_t> strides(t.strides().rbegin(), t.strides().rend());
  return t.as_strided(array.shape, strides, 0);
}

std::vector<std::byte> npy_bytes(const Tensor& tensor) {
  std::string_view descr;
  for (const Name& n : kNames) {
    if (n.dtype == tensor.dtype() && descr.empty()) descr = n.descr;
  }
  if (descr.empty())
    throw Error(ErrorCode::not_implemented,
                fmt::format("NumPy has no dtype for {}", primset::name(tensor.dtype())));
  const auto sizes = tensor.sizes();
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr, fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
  // The data begins at a multiple of 64.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  start += header;
  std::vector<std::byte> out(start.size() +
                             static_cast<size_t>(tensor.numel()) * byte_size(tensor.dtype()));
  std::memcpy(out.data(), start.data(), start.size());
  tensor.copy_to_host(out.data() + start.size(), out.size() - start.size());
  return out;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const std::vector<std::byte> bytes = npy_bytes(tensor);
  write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace primset::cli
