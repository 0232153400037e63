#include "prims/reference/tolerance.h"

#include "primset/error.h"
#include "specs/bundle/reader.h"

namespace primset::prims::reference {
namespace {

const specs::Primitive& entry(Prim prim) {
  const specs::Primitive* p = specs::embedded_bundle().find_primitive(info(prim).name);
  if (!p) {
    throw Error(ErrorCode::internal,
                "the spec bundle has no primitive '" + std::string(info(prim).name) + "'");
  }
  return *p;
}

}  // namespace

Tolerance tolerance(Prim prim, DType dtype) {
  return specs::tolerance_for(entry(prim).tolerance, dtype);
}

DType compute_dtype(Prim prim, DType dtype) {
  const std::string& compute = entry(prim).compute;
  if (compute == "opmath") return opmath_type(dtype);
  return dtype_from_name(compute).value_or(dtype);
}

}  // namespace primset::prims::reference
