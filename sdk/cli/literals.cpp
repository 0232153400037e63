#include "sdk/cli/literals.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <exception>
#include <random>

#include "primset/error.h"
#include "sdk/cli/npy.h"
#include "sdk/cli/tensor_literal.h"
#include "sdk/runtime/call/bind.h"
#include "sdk/runtime/tensor/scalar_memory.h"

namespace primset::cli {
namespace {

using specs::ArgKind;

[[noreturn]] void bad(std::string_view text, std::string_view expected) {
  throw Error(ErrorCode::value, fmt::format("'{}': expected {}", text, expected));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::optional<int64_t> to_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && end == text.end() ? std::optional(value) : std::nullopt;
}

std::optional<double> to_double(std::string_view text) {
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  if (text == "nan") return NAN;
  double value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && end == text.end() ? std::optional(value) : std::nullopt;
}

std::optional<bool> to_bool(std::string_view text) {
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  return std::nullopt;
}

Scalar scalar(std::string_view text) {
  if (auto b = to_bool(text)) return *b;
  if (auto i = to_int(text)) return *i;
  if (auto d = to_double(text)) return *d;
  // a+bj, bj
  if (text.ends_with('j')) {
    const std::string_view body = text.substr(0, text.size() - 1);
    const size_t sign = body.find_last_of("+-");
    const bool two = sign != std::string_view::npos && sign > 0 && body[sign - 1] != 'e';
    std::string_view imag = two ? body.substr(sign) : body;
    if (imag.starts_with('+')) imag.remove_prefix(1);
    const auto re = two ? to_double(body.substr(0, sign)) : std::optional(0.0);
    const auto im = to_double(imag);
    if (re && im) return std::complex<double>(*re, *im);
  }
  bad(text, "a number: 3, 2.5, true or 1+2j");
}

int64_t integer(std::string_view text) {
  if (auto i = to_int(text)) return *i;
  bad(text, "an integer");
}
double floating(std::string_view text) {
  if (auto d = to_double(text)) return *d;
  bad(text, "a number");
}
bool boolean(std::string_view text) {
  if (auto b = to_bool(text)) return *b;
  bad(text, "true or false");
}
DType dtype(std::string_view text) {
  if (auto t = dtype_from_name(text)) return *t;
  bad(text, "a dtype: f32, float32, i64 ...");
}
Tensor tensor(std::string_view text, Device device) {
  if (text == "none") return {};
  if (text.ends_with(".npy")) return read_tensor_npy(std::string(text), device);
  if (text.starts_with('[') || text.find(',') != std::string_view::npos)
    return parse_tensor(text, device, scalar);
  bad(text, "the name of an .npy file, numbers as in [[1,2],[3,4]], or none");
}
MemoryFormat memory_format(std::string_view text) {
  if (text == "contiguous_format") return MemoryFormat::contiguous;
  if (text == "preserve_format") return MemoryFormat::preserve;
  if (text == "channels_last") return MemoryFormat::channels_last;
  if (text == "channels_last_3d") return MemoryFormat::channels_last_3d;
  bad(text, "contiguous_format, preserve_format, channels_last or channels_last_3d");
}

Layout layout(std::string_view text) {
  for (const LayoutName& l : kLayoutNames) {
    if (l.name == text) return l.layout;
  }
  bad(text, "strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr or sparse_bsc");
}

template <typename T, typename F>
Value list(std::string_view text, F parse) {
  std::vector<T> out;
  for (const std::string& e : split_list(text)) out.push_back(parse(e));
  return Value(std::move(out));
}

// More numbers than the host makes in no time are drawn on the device, and like those of a model.
constexpr int64_t kMany = 1 << 20;

bool draw(Tensor& out, const SampleType& type, uint64_t seed) {
  const NamedValue generator{"generator", Generator(seed)};
  if (type.below)
    invoke("random_.to", {out, *type.below}, {generator});
  else if (out.numel() > kMany && is_floating(type.dtype))
    invoke("normal_", {out}, {generator});
  else
    return false;
  return true;
}

// Small whole and half numbers, the same on every machine for one seed.
Tensor sample(const SampleType& type, const std::vector<int64_t>& shape, Device device,
              uint64_t seed) {
  const DType t = type.dtype;
  Tensor out = Tensor::empty(shape, t, device);
  if (device.is_meta() || draw(out, type, seed)) return out;
  std::mt19937_64 random(seed);
  const size_t width = byte_size(t);
  std::vector<std::byte> bytes(static_cast<size_t>(out.numel()) * width);
  for (size_t at = 0; at < bytes.size(); at += width) {
    const auto whole = static_cast<int64_t>(random() % 9) - (is_unsigned_integer(t) ? 0 : 4);
    Scalar v = whole;
    if (is_bool(t))
      v = whole > 0;
    else if (is_floating(t))
      v = static_cast<double>(whole) / 2;
    else if (is_complex(t))
      v = std::complex<double>(static_cast<double>(whole) / 2, 0.5);
    runtime::store_scalar(t, v, bytes.data() + at);
  }
  out.copy_from_host(bytes.data(), bytes.size());
  return out;
}

template <typename T>
const T& nth(const std::vector<T>& list, size_t i, const char* what) {
  if (list.size() == 1) return list[0];
  if (i < list.size()) return list[i];
  throw Error(ErrorCode::value,
              fmt::format("tensor argument {} has no {}; {} are given", i + 1, what, list.size()));
}

}  // namespace

std::vector<SampleType> parse_dtypes(const std::string& text) {
  std::vector<SampleType> out;
  for (const std::string& part : split(text, ',')) {
    const auto words = split(part, ':');
    SampleType& type = out.emplace_back(dtype(words[0]));
    if (words.size() == 1) continue;
    type.below = to_int(words[1]);
    if (words.size() > 2 || !type.below || *type.below < 1 || !is_integral(type.dtype))
      bad(part, "a dtype, or an integer dtype and a number that all are below: i64:1000");
  }
  return out;
}

std::vector<std::vector<int64_t>> parse_shapes(const std::string& text) {
  std::vector<std::vector<int64_t>> out;
  for (const std::string& part : split(text, ',')) {
    auto& shape = out.emplace_back();
    if (part == "scalar" || part == "-") continue;
    for (const std::string& size : split(part, 'x')) {
      const auto n = to_int(size);
      if (!n || *n < 0) bad(part, "a shape: 2x3, or scalar for rank 0");
      shape.push_back(*n);
    }
  }
  return out;
}

Value parse_literal(std::string_view text, const specs::Argument& a, Device device) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (a.optional && text == "none") return {};
  switch (a.kind) {
    case ArgKind::tensor: {
      const bool one_number = !text.ends_with(".npy") && !text.starts_with('[') && text != "none";
      return one_number ? Value(scalar(text)) : Value(tensor(text, device));
    }
    case ArgKind::tensor_list:
    case ArgKind::optional_tensor_list:
      return list<Tensor>(text, [&](std::string_view s) { return tensor(s, device); });
    case ArgKind::scalar:
      return scalar(text);
    case ArgKind::scalar_list:
      return list<Scalar>(text, scalar);
    case ArgKind::integer:
    case ArgKind::sym_int:
      return integer(text);
    case ArgKind::int_list:
    case ArgKind::sym_int_list:
      return list<int64_t>(text, integer);
    case ArgKind::floating:
      return floating(text);
    case ArgKind::float_list:
      return list<double>(text, floating);
    case ArgKind::boolean:
      return boolean(text);
    case ArgKind::bool_list:
      return list<bool>(text, boolean);
    case ArgKind::string:
      return std::string(text);
    case ArgKind::scalar_type:
      return dtype(text);
    case ArgKind::layout:
      return layout(text);
    case ArgKind::memory_format:
      return memory_format(text);
    case ArgKind::device:
      return Device(text);
    case ArgKind::generator:
      return Generator(static_cast<uint64_t>(integer(text)));
    case ArgKind::storage:
      break;
  }
  throw Error(ErrorCode::not_implemented,
              fmt::format("argument '{}' cannot be given on the command line", a.name));
}

void OperatorOptions::declare(CLI::App& app) {
  app.add_option("operator", op, "An overload (add.Tensor) or a base name (relu)")->required();
  app.add_option("--dtypes", dtypes,
                 "dtypes of the tensor arguments: f32,i64; i64:1000 holds 0 to 999")
      ->capture_default_str();
  app.add_option("--shapes", shapes, "their shapes: 2x3,3,scalar")->capture_default_str();
  app.add_option("--arg", named, "another argument: --arg dim=1 --arg keepdim=true")
      ->allow_extra_args(false);
  app.add_option("--device", device, "cpu, vulkan:0, ... (default: the current device)");
  app.add_option("--seed", seed, "of the tensors' contents")->capture_default_str();
}

Device OperatorOptions::chosen_device() const {
  return device.empty() ? current_device() : Device(device);
}

// The operator's arguments, sampled or parsed.
OperatorOptions::Bound OperatorOptions::bind(const runtime::OperatorInfo& info) const {
  Bound out;
  out.info = &info;
  const Device where = chosen_device();
  const auto types = parse_dtypes(dtypes);
  const auto sizes = parse_shapes(shapes);
  std::vector<std::pair<std::string, std::string>> given;
  for (const std::string& text : named) {
    const size_t eq = text.find('=');
    if (eq == std::string::npos) bad(text, "name=value");
    given.emplace_back(text.substr(0, eq), text.substr(eq + 1));
    if (info.overload.find_arg(given.back().first) < 0)
      throw Error(ErrorCode::value, fmt::format("{} has no argument '{}': {}", op,
                                                given.back().first, info.overload.schema));
  }
  size_t tensors = 0;
  for (const specs::Argument& a : info.overload.args) {
    const auto it = std::ranges::find(given, a.name, &std::pair<std::string, std::string>::first);
    if (it != given.end()) {
      out.kwargs.push_back({a.name, parse_literal(it->second, a, where)});
      continue;
    }
    auto next = [&] {
      const size_t i = tensors++;
      return sample(nth(types, i, "dtype"), nth(sizes, i, "shape"), where, seed + i);
    };
    const bool wanted = !a.optional || tensors < std::max(types.size(), sizes.size());
    if (a.is_out)
      out.kwargs.push_back({a.name, Tensor::empty({0}, types[0].dtype, where)});
    else if (a.kind == ArgKind::tensor && wanted)
      out.kwargs.push_back({a.name, next()});
    else if (a.kind == ArgKind::tensor_list)
      out.kwargs.push_back({a.name, std::vector<Tensor>{next(), next()}});
  }
  runtime::Call call(info);
  runtime::BindScratch scratch;
  runtime::bind_or_throw(call, out.args, out.kwargs, scratch);
  return out;
}

OperatorOptions::Bound OperatorOptions::bind() const {
  runtime::OperatorRegistry& registry = runtime::OperatorRegistry::instance();
  const auto overloads = registry.overloads(op);
  if (registry.find(op) || overloads.empty()) return bind(registry.at(op));
  // A base name: the first overload that computes something from these arguments.
  std::exception_ptr first;
  for (const auto* info : overloads) {
    if (!info->outs.empty() || info->overload.status != specs::Status::implemented) continue;
    try {
      return bind(*info);
    } catch (const Error&) {  // the next one may fit
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return bind(*overloads[0]);
}

}  // namespace primset::cli
