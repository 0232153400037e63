#include "decomps/engine/argument_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

bool has_integer(const Actual& a, int64_t value) {
  const auto is = [&](const SymInt& s) { return s.hint() == value; };
  if (auto* s = std::get_if<SymInt>(&a.value)) return is(*s);
  if (auto* l = std::get_if<SymInts>(&a.value)) return std::ranges::any_of(*l, is);
  return false;
}

// Calls f(name, meta) for every tensor among the arguments, "tensors[1]" for one of a list.
template <typename F>
void for_each_tensor(const specs::Overload& o, const std::vector<Actual>& args, F f) {
  for (size_t i = 0; i < std::min(args.size(), o.args.size()); ++i) {
    const std::string& name = o.args[i].name;
    const auto element = [&](size_t e) { return fmt::format("{}[{}]", name, e); };
    if (auto* t = std::get_if<TensorMeta>(&args[i].value)) f(name, *t);
    if (auto* l = std::get_if<std::vector<TensorMeta>>(&args[i].value)) {
      for (size_t e = 0; e < l->size(); ++e) f(element(e), (*l)[e]);
    }
    if (auto* l = std::get_if<std::vector<std::optional<TensorMeta>>>(&args[i].value)) {
      for (size_t e = 0; e < l->size(); ++e) {
        if ((*l)[e]) f(element(e), *(*l)[e]);
      }
    }
  }
}

}  // namespace

DimensionError::DimensionError(int64_t dim, int64_t rank)
    : Error(ErrorCode::index,
            fmt::format("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                        -std::max<int64_t>(rank, 1), std::max<int64_t>(rank, 1) - 1, dim)),
      dim_(dim) {}

BroadcastError::BroadcastError(int64_t a, int64_t b, int64_t rank, int64_t from_last)
    : Error(ErrorCode::runtime,
            fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at "
                        "non-singleton dimension {}",
                        a, b, rank - 1 - from_last)),
      a_(a),
      b_(b),
      from_last_(from_last) {}

DTypeError::DTypeError(std::string_view kernel, DType dtype)
    : Error(ErrorCode::not_implemented,
            fmt::format("\"{}\" not implemented for '{}'", kernel, aten_name(dtype))),
      dtype_(dtype) {}

// Of two arguments with that value, the one called a dim is meant.
Error in_arguments(const DimensionError& e, const specs::Overload& overload,
                   const std::vector<Actual>& args) {
  const std::string* name = nullptr;
  for (size_t i = 0; i < std::min(args.size(), overload.args.size()); ++i) {
    if (!has_integer(args[i], e.dim())) continue;
    const std::string& candidate = overload.args[i].name;
    if (!name || candidate.find("dim") != std::string::npos) name = &candidate;
  }
  return {e.code(), name ? fmt::format("{} in argument '{}'", e.what(), *name) : e.what()};
}

Error in_arguments(const BroadcastError& e, const specs::Overload& overload,
                   const std::vector<Actual>& args) {
  std::string a, b;
  for_each_tensor(overload, args, [&](const std::string& name, const TensorMeta& t) {
    const int64_t at = static_cast<int64_t>(t.sizes.size()) - 1 - e.from_last();
    if (at < 0) return;
    const int64_t size = t.sizes[static_cast<size_t>(at)].hint();
    std::string text = fmt::format("'{}' has shape {}", name, shape_text(t.sizes));
    if (size == e.a() && a.empty()) {
      a = std::move(text);
    } else if (size == e.b() && b.empty()) {
      b = std::move(text);
    }
  });
  const std::string found = a.empty() || b.empty() ? "" : fmt::format("; {} and {}", a, b);
  return {e.code(), fmt::format("{}{}; expected sizes that are equal or 1, counted from the last "
                                "dimension",
                                e.what(), found)};
}

Error in_arguments(const DTypeError& e, DTypeSet taken) {
  // Some take a dtype in one argument and not in another.
  if (taken.empty() || taken.contains(e.dtype()))
    return {e.code(), fmt::format("{}; expected another dtype: convert with to()", e.what())};
  std::vector<std::string_view> names;
  for (int code = 0; code < kDTypeCodes; ++code) {
    if (taken.contains(static_cast<DType>(code))) names.push_back(name(static_cast<DType>(code)));
  }
  return {e.code(), fmt::format("{}; expected one of {}", e.what(), fmt::join(names, ", "))};
}

}  // namespace primset::decomps
