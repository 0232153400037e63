#include "conformance/cases/inputs/case_text.h"

#include <array>
#include <cctype>
#include <cmath>
#include <complex>
#include <cstdlib>

#include "conformance/cases/inputs/values.h"

namespace primset::conformance {
namespace {

using specs::ArgKind;

[[noreturn]] void malformed(std::string_view text, const std::string& expected) {
  throw Error(ErrorCode::value, "'" + std::string(text) + "' in a case: expected " + expected);
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// Takes the suffix that `open` begins, with its closing character, off the text.
std::string_view take_suffix(std::string_view& text, char open, char close) {
  size_t at = text.find(open);
  if (at == std::string_view::npos) return {};
  std::string_view suffix = text.substr(at + 1);
  text = text.substr(0, at);
  if (close == 0) return suffix;
  if (suffix.empty() || suffix.back() != close)
    malformed(suffix, std::string("a closing ") + close);
  suffix.remove_suffix(1);
  return suffix;
}

std::optional<std::string_view> inside(std::string_view text, std::string_view prefix, char close) {
  if (!text.starts_with(prefix) || text.back() != close) return std::nullopt;
  return text.substr(prefix.size(), text.size() - prefix.size() - 1);
}

MemoryFormat read_memory_format(std::string_view text) {
  constexpr std::array<std::string_view, 4> kNames = {"contiguous", "preserve", "channels_last",
                                                      "channels_last_3d"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) return static_cast<MemoryFormat>(i);
  }
  malformed(text, "a memory format");
}

RngState read_rng(std::string_view text) {
  std::optional<std::string_view> numbers = inside(text, "rng(", ')');
  if (!numbers) malformed(text, "rng(seed,offset)");
  std::vector<std::string> parts = split_outside_brackets(*numbers, ',');
  if (parts.size() != 2) malformed(text, "rng(seed,offset)");
  return {static_cast<uint64_t>(read_integer(parts[0])),
          static_cast<uint64_t>(read_integer(parts[1]))};
}

template <typename T>
std::vector<T> read_each(std::string_view text, T (*one)(std::string_view)) {
  std::vector<T> out;
  for (const std::string& part : read_list(text)) out.push_back(one(part));
  return out;
}

}  // namespace

std::vector<std::string> split_outside_brackets(std::string_view text, char separator) {
  std::vector<std::string> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  auto add = [&](size_t end) {
    std::string_view part = trimmed(text.substr(start, end - start));
    if (!part.empty()) parts.emplace_back(part);
    start = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
    if (depth < 0) malformed(text, "an opening bracket");
    if (c == separator && depth == 0) add(i);
  }
  if (depth != 0 || quoted) malformed(text, "a closing bracket or quote");
  add(text.size());
  return parts;
}

CaseText CaseText::parse(std::string_view text) {
  CaseText out;
  for (const std::string& part : split_outside_brackets(text, ' ')) {
    if (part.front() == '!') {
      out.expected_error = read_error_code(std::string_view(part).substr(1));
      continue;
    }
    if (part.starts_with("->")) {
      for (const std::string& layout : split_outside_brackets(part.substr(2), ','))
        out.result_layouts.push_back(read_sparse_layout(layout));
      continue;
    }
    size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      malformed(part, "name=value");
    }
    out.items.push_back({part.substr(0, equals), part.substr(equals + 1)});
    for (size_t i = 0; i + 1 < out.items.size(); ++i) {
      if (out.items[i].name == out.items.back().name) malformed(part, "each argument once");
    }
  }
  return out;
}

const std::string* CaseText::find(std::string_view name) const {
  for (const TextItem& item : items) {
    if (item.name == name) return &item.value;
  }
  return nullptr;
}

DType ValueReader::dtype_of(std::string_view text) const {
  if (text == "T") return dtype_;
  if (text == "R") return real_type(dtype_);
  if (text == "C") return complex_type(dtype_);
  if (text == "A") return opmath_type(dtype_);
  std::optional<DType> t = dtype_from_name(text);
  if (!t) malformed(text, "a dtype");
  return *t;
}

OutTensor ValueReader::read_out(std::string_view text) const {
  constexpr std::array<std::string_view, 3> kNames = {"out", "out@strided", "out@empty"};
  std::string_view kind = text.substr(0, text.find(':'));
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kind != kNames[i]) continue;
    OutTensor out{static_cast<OutTensor::Kind>(i)};
    if (kind.size() < text.size()) out.dtype = dtype_of(text.substr(kind.size() + 1));
    return out;
  }
  malformed(text, "out, out@strided or out@empty");
}

HostTensor ValueReader::wrapped_number(std::string_view number) {
  Scalar s = read_scalar(number);
  DType t = s.is_complex()    ? DType::c128
            : s.is_floating() ? DType::f64
            : s.is_bool()     ? DType::boolean
                              : DType::i64;
  Array a{t, {}, {Element{}}};
  a.data[0].re = s.to_double();
  a.data[0].im = s.imag();
  a.data[0].integer = s.is_integral() ? s.to_int() : 0;
  HostTensor out = place(storages_, a, LayoutKind::contiguous);
  out.wrapped_number = true;
  return out;
}

// "f32[2,3]@strided{special}", of which layout and fill may be absent.
FilledTensor ValueReader::read_filled(std::string_view text) const {
  size_t open = text.find('[');
  if (open == std::string_view::npos) malformed(text, "a tensor such as T[2,3]@strided{special}");
  FilledTensor out;
  out.dtype = dtype_of(text.substr(0, open));
  std::string_view rest = text.substr(open);
  std::string_view fill_text = take_suffix(rest, '{', '}');
  std::string_view layout_text = take_suffix(rest, '@', 0);
  if (!fill_text.empty()) out.fill = Fill::parse(fill_text);
  out.memory = layout_text.empty() ? layout_ : layout_from_name(layout_text);
  out.sizes = read_integers(rest);
  return out;
}

// Besides: "&self", an argument named before; "wrapped(2)", a number that promotes as a Scalar
// does; and "coo(T[2,3])", of a sparse layout.
HostTensor ValueReader::tensor(std::string_view text) {
  if (text.starts_with('&')) {
    auto it = named_.find(text.substr(1));
    if (it == named_.end()) malformed(text, "an argument named before");
    return it->second;
  }
  if (std::optional<std::string_view> number = inside(text, "wrapped(", ')'))
    return wrapped_number(*number);
  if (const std::optional<SparseText> sparse = SparseText::parse(text))
    return place_sparse(storages_, rng_, *sparse, read_filled(sparse->tensor));
  const FilledTensor t = read_filled(text);
  return place(storages_, fill(rng_, t.dtype, t.sizes, t.fill), t.memory);
}

TensorList ValueReader::tensors(std::string_view text) {
  std::optional<std::string_view> list = inside(text, "(", ')');
  if (!list) malformed(text, "a list of tensors in parentheses");
  TensorList out;
  for (const std::string& part : split_outside_brackets(*list, ',')) {
    out.push_back(part == "none" ? std::optional<HostTensor>() : tensor(part));
  }
  return out;
}

ArgValue ValueReader::read(ArgKind kind, const std::string& name, std::string_view text) {
  if (text == "none") return std::monostate{};
  switch (kind) {
    case ArgKind::tensor: {
      if (text.starts_with("out")) return read_out(text);
      HostTensor t = tensor(text);
      named_[name] = t;
      return t;
    }
    case ArgKind::tensor_list:
    case ArgKind::optional_tensor_list:
      if (text.starts_with("out")) return read_out(text);
      return tensors(text);
    case ArgKind::scalar:
      return read_scalar(text);
    case ArgKind::scalar_list:
      return read_each<Scalar>(text, read_scalar);
    case ArgKind::integer:
    case ArgKind::sym_int:
      return read_integer(text);
    case ArgKind::int_list:
    case ArgKind::sym_int_list:
      return read_integers(text);
    case ArgKind::floating:
      return read_number(text);
    case ArgKind::float_list:
      return read_each<double>(text, read_number);
    case ArgKind::boolean:
      return read_boolean(text);
    case ArgKind::bool_list: {
      std::vector<bool> out;
      for (const std::string& part : read_list(text)) out.push_back(read_boolean(part));
      return out;
    }
    case ArgKind::string:
      return read_string(text);
    case ArgKind::scalar_type:
      return dtype_of(text);
    case ArgKind::layout:
      return read_sparse_layout(text);
    case ArgKind::device:
      return DeviceUnderTest{};
    case ArgKind::memory_format:
      return read_memory_format(text);
    case ArgKind::generator:
      return read_rng(text);
    case ArgKind::storage:  // that of this tensor
      return tensor(text);
  }
  malformed(text, "an argument of a kind that cases can state");
}

int64_t read_integer(std::string_view text) {
  std::string s(text);
  char* end = nullptr;
  int64_t v = std::strtoll(s.c_str(), &end, 0);
  if (s.empty() || *end) malformed(text, "an integer");
  return v;
}

double read_number(std::string_view text) {
  std::string s(text);
  char* end = nullptr;
  double v = std::strtod(s.c_str(), &end);
  if (s.empty() || *end) malformed(text, "a number");
  return v;
}

bool read_boolean(std::string_view text) {
  if (text != "true" && text != "false") malformed(text, "true or false");
  return text == "true";
}

std::string read_string(std::string_view text) {
  if (std::optional<std::string_view> quoted = inside(text, "\"", '"')) return std::string(*quoted);
  return std::string(text);
}

Scalar read_scalar(std::string_view text) {
  if (text == "true" || text == "false") return Scalar(text == "true");
  if (text.ends_with('j')) {
    size_t split = text.find_last_of("+-");
    if (split == std::string_view::npos || split == 0) malformed(text, "a complex number 1+2j");
    return Scalar(std::complex<double>(read_number(text.substr(0, split)),
                                       read_number(text.substr(split, text.size() - split - 1))));
  }
  bool integral = text.find_first_of(".eEin") == std::string_view::npos;
  return integral ? Scalar(read_integer(text)) : Scalar(read_number(text));
}

std::vector<std::string> read_list(std::string_view text) {
  std::optional<std::string_view> list = inside(text, "[", ']');
  if (!list) malformed(text, "a list [a,b]");
  return split_outside_brackets(*list, ',');
}

std::vector<int64_t> read_integers(std::string_view text) {
  if (!text.starts_with('[')) return {read_integer(text)};
  return read_each<int64_t>(text, read_integer);
}

ErrorCode read_error_code(std::string_view text) {
  for (int c = 0; c <= static_cast<int>(ErrorCode::internal); ++c) {
    auto code = static_cast<ErrorCode>(c);
    if (text == name(code)) return code;
  }
  malformed(text, "a class of error");
}

}  // namespace primset::conformance
