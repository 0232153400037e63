#include "codegen/schedule/families/gather_scatter/indexed_address.h"

#include "codegen/schedule/element/bounds_check.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

Affine indexed_address(Frame& f, ElementEmitter& e, const ValueEnvironment& values,
                       const prims::Node& scatter, const SymInts& strides, kir::Value& fits,
                       bool checked) {
  const Indices at = identity_indices(values.graph.type(scatter.operands[1]).shape);
  const bool in_bounds = !checked || scatter.attr<bool>("in_bounds");
  Affine address;
  for (size_t k = 0; k < strides.size(); ++k) {
    const kir::Value wide = e.emit(scatter.operands[1 + k], at).re;
    if (!in_bounds) {
      const kir::Value ok = check_bounds(f, values, scatter, k, wide);
      fits = fits.valid() ? f.builder().and_(fits, ok) : ok;
    }
    Affine index;
    index.opaque = f.index(wide);
    address = f.add(address, f.scale(index, strides[k]));
  }
  return address;
}

}  // namespace primset::schedule
