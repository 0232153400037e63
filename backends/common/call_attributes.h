// The attributes of a native primitive's call by name. One that has its default may not be given.
#ifndef PRIMSET_BACKENDS_COMMON_CALL_ATTRIBUTES_H_
#define PRIMSET_BACKENDS_COMMON_CALL_ATTRIBUTES_H_

#include <primset/plugin.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace primset_backend {

inline const primset_attr* find_attribute(const primset_primitive_call& call,
                                          std::string_view name) {
  const auto all = std::span(call.attrs, call.attr_count);
  const auto it = std::ranges::find(
      all, name, [](const primset_attr& a) -> std::string_view { return a.name; });
  return it == all.end() ? nullptr : &*it;
}

inline int64_t integer(const primset_primitive_call& call, std::string_view name,
                       int64_t otherwise = 0) {
  const primset_attr* a = find_attribute(call, name);
  return a && a->kind == PRIMSET_ATTR_INT ? a->value.i : otherwise;
}

inline bool flag(const primset_primitive_call& call, std::string_view name,
                 bool otherwise = false) {
  return integer(call, name, otherwise) != 0;
}

// Of a number that may be an integer.
inline double number(const primset_primitive_call& call, std::string_view name,
                     int64_t otherwise = 0) {
  const primset_attr* a = find_attribute(call, name);
  if (a && a->kind == PRIMSET_ATTR_FLOAT) return a->value.f;
  return static_cast<double>(integer(call, name, otherwise));
}

inline std::vector<int64_t> integers(const primset_primitive_call& call, std::string_view name) {
  const primset_attr* a = find_attribute(call, name);
  if (!a || a->kind != PRIMSET_ATTR_INTS) return {};
  return {a->value.ints, a->value.ints + a->count};
}

inline std::string_view text(const primset_primitive_call& call, std::string_view name) {
  const primset_attr* a = find_attribute(call, name);
  return a && a->kind == PRIMSET_ATTR_STRING ? a->value.string : std::string_view();
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_CALL_ATTRIBUTES_H_
