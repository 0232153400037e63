#include "specs/bundle/model.h"

namespace primset::specs {
namespace {

template <typename T>
const T* at_or_null(const std::vector<T>& list, int64_t index) {
  return index < 0 ? nullptr : &list[static_cast<size_t>(index)];
}

// The overload that states the dtypes of one that does not: what it stands for, or what computes
// it.
const Overload& states_dtypes(const Bundle& bundle, const Overload& overload) {
  const Overload* at = &overload;
  while (at->dtypes.empty()) {
    if (at->implementation.kind == ImplKind::alias)
      at = &bundle.overloads[at->implementation.target];
    else if (at->base != kNoIndex)
      at = &bundle.overloads[at->base];
    else
      break;
  }
  return *at;
}

}  // namespace

void Bundle::build_index() {
  overload_index_.build(overloads.size(),
                        [this](size_t i) -> std::string_view { return overloads[i].qualified; });
  primitive_index_.build(primitives.size(),
                         [this](size_t i) -> std::string_view { return primitives[i].name; });
}

const Overload* Bundle::find_overload(std::string_view qualified) const {
  return at_or_null(overloads, overload_index_.find(qualified, [this](size_t i) {
    return std::string_view(overloads[i].qualified);
  }));
}

const Primitive* Bundle::find_primitive(std::string_view name) const {
  return at_or_null(primitives, primitive_index_.find(name, [this](size_t i) {
    return std::string_view(primitives[i].name);
  }));
}

const NamedDTypeSet* Bundle::find_dtype_set(std::string_view name) const {
  for (const NamedDTypeSet& set : dtype_sets) {
    if (set.name == name) return &set;
  }
  return nullptr;
}

const Overload& Bundle::computed_by(const Overload& overload) const {
  const Overload* at = &overload;
  for (;;) {
    if (at->implementation.kind == ImplKind::alias) {
      at = &overloads[at->implementation.target];
    } else if (at->implementation.kind == ImplKind::none && at->base != kNoIndex) {
      at = &overloads[at->base];
    } else {
      return *at;
    }
  }
}

DTypeSet Bundle::promoted_dtypes(const Overload& overload) const {
  return states_dtypes(*this, overload).dtypes;
}

// The result in place would be a float in the memory of integers.
DTypeSet Bundle::dtypes_of(const Overload& overload) const {
  const Overload& stating = states_dtypes(*this, overload);
  const bool converts =
      stating.promote.kind == PromoteKind::int_to_float && stating.dtypes.contains(DType::f32);
  if (!converts || overload.kind == OverloadKind::inplace) return stating.dtypes;
  DTypeSet taken = stating.dtypes;
  for (const DTypeEntry& t : dtypes) {
    if (is_integral(t.code) || is_bool(t.code)) taken = taken | DTypeSet{t.code};
  }
  return taken;
}

}  // namespace primset::specs
