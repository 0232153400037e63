#include "codegen/emit/spirv/types.h"

#include "primset/error.h"

namespace primset::emit::spirv {

using kir::Scalar;

Id Types::scalar(Scalar s) {
  const uint32_t width = static_cast<uint32_t>(kir::width(s));
  switch (s) {
    case Scalar::i1:
      return m_.type_bool();
    case Scalar::i8:
      m_.capability(spv::Capability::Int8);
      return m_.type_int(width);
    case Scalar::i16:
      m_.capability(spv::Capability::Int16);
      return m_.type_int(width);
    case Scalar::i32:
      return m_.type_int(width);
    case Scalar::i64:
      m_.capability(spv::Capability::Int64);
      return m_.type_int(width);
    case Scalar::f16:
      m_.capability(spv::Capability::Float16);
      break;
    case Scalar::f32:
      break;
    case Scalar::f64:
      m_.capability(spv::Capability::Float64);
      break;
    case Scalar::bf16:  // SPV_KHR_bfloat16; newer than the headers
      m_.extension("SPV_KHR_bfloat16");
      m_.capability(khr::kBFloat16Type);
      return m_.type_float(width, khr::kBFloat16Encoding);
    case Scalar::none:
      throw Error(ErrorCode::internal, "SPIR-V: a pointer is no number");
  }
  float_widths_ |= width;
  return m_.type_float(width);
}

Id Types::piece(kir::Type t) {
  if (t.is_pointer()) return pointer(t.space);
  if (t.is_matrix()) return matrix(t.scalar, t.use);
  return vector(t.scalar, piece_lanes(t));
}

Id Types::pointer(kir::AddressSpace space) {
  if (space != kir::AddressSpace::global) {
    throw Error(ErrorCode::internal,
                "SPIR-V: a workgroup or private pointer must be the result of group_alloc or "
                "private_alloc itself, not a value that control flow or select passes on");
  }
  return flavour_ == Flavour::vulkan
             ? scalar(Scalar::i64)
             : m_.type_pointer(spv::StorageClass::CrossWorkgroup, scalar(Scalar::i8));
}

// SPV_KHR_cooperative_matrix; newer than the headers.
Id Types::matrix(Scalar element, kir::MatrixUse use) {
  constexpr uint32_t kUses[] = {khr::kUseLeft, khr::kUseRight, khr::kUseSums};
  m_.extension("SPV_KHR_cooperative_matrix");
  m_.capability(khr::kCooperativeMatrix);
  const Id component = scalar(element);
  if (element == Scalar::bf16) m_.capability(khr::kBFloat16CooperativeMatrix);
  const Id subgroup = m_.constant32(static_cast<uint32_t>(spv::Scope::Subgroup));
  const Id side = m_.constant32(16);
  const Id meant = m_.constant32(kUses[static_cast<size_t>(use)]);
  return m_.type_cooperative_matrix({component, subgroup, side, side, meant});
}

Id Types::constant(Scalar s, uint64_t bits) {
  if (s == Scalar::i1) return m_.constant_bool((bits & 1) != 0);
  const uint32_t width = static_cast<uint32_t>(kir::width(s));
  return m_.constant(scalar(s), width, bits & kir::low_bits(static_cast<int>(width)));
}

Id Types::constant(kir::Type t, uint64_t bits) {
  // A null pointer has no other form in the Kernel flavour, and no kernel needs another constant
  // one.
  if (t.is_pointer())
    return flavour_ == Flavour::kernel ? m_.constant_null(piece(t)) : constant(Scalar::i64, bits);
  if (!t.is_matrix()) return constant(t.scalar, piece_lanes(t), bits);
  const Id element = constant(t.scalar, 0);
  return m_.constant_composite(piece(t), {&element, 1});
}

Id Types::constant(Scalar s, uint32_t lanes, uint64_t bits) {
  const Id element = constant(s, bits);
  if (lanes == 1) return element;
  return m_.constant_composite(vector(s, lanes), Ids(lanes, element));
}

}  // namespace primset::emit::spirv
