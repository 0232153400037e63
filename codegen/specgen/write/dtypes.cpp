#include "codegen/specgen/write/dtypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "codegen/specgen/write/file_writer.h"
#include "primset/error.h"

namespace primset::specs {
namespace {

constexpr std::string_view kListHead = R"(// Every element type. Include with PRIMSET_DTYPE defined:
//
//   PRIMSET_DTYPE(id, code, name, torch_name, aten_name, cpp_name, bits, kind, real, dlpack_code,
//                 format)
)";

// The lines of plugin.h that stand before and after what is written.
constexpr std::string_view kBegin = "/* From specs/dtypes.yaml, by `specgen dtypes`: */\n";
constexpr std::string_view kEnd = "/* End of what specgen wrote. */\n";

// DType's enumerator: C++ has `bool` for itself.
std::string enumerator(const std::string& name) {
  return name == "bool" ? "boolean" : name;
}

std::string upper(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string_view text_of(NanEncoding nan) {
  switch (nan) {
    case NanEncoding::ieee:
      return "ieee";
    case NanEncoding::all_ones:
      return "all_ones";
    case NanEncoding::negative_zero:
      break;
  }
  return "negative_zero";
}

std::string_view text_of(Overflow overflow) {
  switch (overflow) {
    case Overflow::infinity:
      return "infinity";
    case Overflow::saturate:
      return "saturate";
    case Overflow::nan:
      break;
  }
  return "nan";
}

std::string format_text(const FloatFormat& f) {
  if (f.exponent_bits == 0) return "FloatFormat{}";
  return fmt::format("FloatFormat{{{}, {}, {}, NanEncoding::{}, Overflow::{}}}", f.exponent_bits,
                     f.mantissa_bits, f.bias, text_of(f.nan), text_of(f.overflow));
}

std::string plugin_lines(std::span<const DTypeDefinition> dtypes,
                         std::span<const NamedDTypeSet> sets) {
  std::string out = "enum {\n";
  for (const DTypeDefinition& d : dtypes) {
    out += fmt::format("  PRIMSET_{} = {}{}\n", upper(d.entry.name), static_cast<int>(d.entry.code),
                       &d == &dtypes.back() ? "" : ",");
  }
  out += "};\n";
  for (const NamedDTypeSet& set : sets) {
    out += fmt::format("#define PRIMSET_DTYPES_{} UINT64_C({:#x})\n", upper(set.name),
                       set.dtypes.mask());
  }
  return out;
}

}  // namespace

std::string emit_dtype_list(std::span<const DTypeDefinition> dtypes) {
  std::string out(kGeneratedNotice);
  out += kListHead;
  for (const DTypeDefinition& d : dtypes) {
    const DTypeEntry& e = d.entry;
    out +=
        fmt::format("PRIMSET_DTYPE({}, {}, \"{}\", \"{}\", \"{}\", \"{}\", {}, '{}', {}, {}, {})\n",
                    enumerator(e.name), static_cast<int>(e.code), e.name, e.torch_name, d.aten_name,
                    d.cpp_name, e.bits, e.kind, enumerator(d.parts.empty() ? e.name : d.parts),
                    d.dlpack_code, format_text(d.format));
  }
  return out;
}

std::string emit_plugin_header(const std::string& header, std::span<const DTypeDefinition> dtypes,
                               std::span<const NamedDTypeSet> sets) {
  const size_t begin = header.find(kBegin);
  const size_t end = header.find(kEnd, begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) {
    throw Error(ErrorCode::value,
                fmt::format("the plugin header has no place for dtypes; expected the lines\n{}{}",
                            kBegin, kEnd));
  }
  return header.substr(0, begin + kBegin.size()) + plugin_lines(dtypes, sets) + header.substr(end);
}

}  // namespace primset::specs
