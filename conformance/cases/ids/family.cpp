#include "conformance/cases/ids/family.h"

namespace primset::conformance {

std::string family_of(const specs::Bundle& bundle, std::string_view subject) {
  constexpr std::string_view kPrim = "prim/";
  if (subject.starts_with(kPrim)) {
    const specs::Primitive* p = bundle.find_primitive(subject.substr(kPrim.size()));
    return std::string(kPrim) + (p ? p->category : std::string("unknown"));
  }
  const specs::Overload* o = bundle.find_overload(subject);
  return o ? o->family : "unknown";
}

}  // namespace primset::conformance
