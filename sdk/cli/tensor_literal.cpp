#include "sdk/cli/tensor_literal.h"

#include <fmt/format.h>

#include <algorithm>

#include "primset/error.h"
#include "sdk/runtime/tensor/scalar_memory.h"
#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::cli {
namespace {

using runtime::kMaxRank;

// Where the bracket that `text` begins with is closed, or npos.
size_t closing(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

bool bracketed(std::string_view text) {
  return text.starts_with('[') && closing(text) == text.size() - 1;
}

struct Nested {
  std::vector<int64_t> shape;
  std::vector<Scalar> values;
  DType dtype = DType::boolean;
};

DType dtype_of(const Scalar& s) {
  if (s.is_complex()) return DType::c64;
  if (s.is_floating()) return DType::f32;
  return s.is_bool() ? DType::boolean : DType::i64;
}

// The wider of two of the dtypes above.
DType wider(DType a, DType b) {
  for (DType t : {DType::c64, DType::f32, DType::i64}) {
    if (a == t || b == t) return t;
  }
  return DType::boolean;
}

void read(std::string_view text, size_t depth,
          const std::function<Scalar(std::string_view)>& number, Nested& out) {
  if (depth > kMaxRank)
    throw Error(ErrorCode::value,
                fmt::format("a list of numbers is nested deeper than {}; expected at most as many "
                            "dims",
                            kMaxRank));
  if (!text.starts_with('[')) {
    if (depth != out.shape.size())
      throw Error(ErrorCode::value,
                  fmt::format("'{}': expected a list of {} dims here, as before it", text,
                              out.shape.size() - depth));
    const Scalar s = number(text);
    out.dtype = wider(out.dtype, dtype_of(s));
    out.values.push_back(s);
    return;
  }
  if (!bracketed(text))
    throw Error(ErrorCode::value, fmt::format("'{}': expected one ] for each [", text));
  const std::vector<std::string> parts = split_list(text);
  const auto size = static_cast<int64_t>(parts.size());
  const bool first = out.values.empty() && depth == out.shape.size();
  if (first) out.shape.push_back(size);
  if (depth >= out.shape.size() || out.shape[depth] != size)
    throw Error(ErrorCode::value, fmt::format("'{}': expected rows of one length and depth", text));
  for (const std::string& part : parts) read(part, depth + 1, number, out);
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  if (bracketed(text)) text = text.substr(1, text.size() - 2);
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  parts.emplace_back();
  int depth = 0;
  for (char c : text) {
    if (c == ' ') continue;
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Tensor parse_tensor(std::string_view text, Device device,
                    const std::function<Scalar(std::string_view)>& number) {
  Nested nested;
  const bool is_vector = !text.starts_with('[') && text.find(',') != std::string_view::npos;
  const std::string whole = is_vector ? fmt::format("[{}]", text) : std::string(text);
  read(whole, 0, number, nested);
  if (nested.values.empty()) nested.dtype = DType::f32;
  std::vector<std::byte> bytes(nested.values.size() * byte_size(nested.dtype));
  for (size_t i = 0; i < nested.values.size(); ++i)
    runtime::store_scalar(nested.dtype, nested.values[i],
                          bytes.data() + i * byte_size(nested.dtype));
  return Tensor::from_host(bytes.data(), nested.shape, nested.dtype, device);
}

}  // namespace primset::cli
