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
    case Scalar::f16_left:
    case Scalar::f16_right:
    case Scalar::bf16_left:
    case Scalar::bf16_right:
    case Scalar::f32_sums:
      return matrix(s);
    case Scalar::global:
      return flavour_ == Flavour::vulkan
                 ? scalar(Scalar::i64)
                 : m_.type_pointer(spv::StorageClass::CrossWorkgroup, scalar(Scalar::i8));
    case Scalar::group:
    case Scalar::priv:
      throw Error(ErrorCode::internal,
                  "SPIR-V: a workgroup or private pointer must be the result of group_alloc or "
                  "private_alloc itself, not a value that control flow or select passes on");
  }
  float_widths_ |= width;
  return m_.type_float(width);
}

// SPV_KHR_cooperative_matrix, SPV_KHR_bfloat16; newer than the headers.
Id Types::matrix(Scalar s) {
  m_.extension("SPV_KHR_cooperative_matrix");
  m_.capability(khr::kCooperativeMatrix);
  const auto component = [&] {
    if (s == Scalar::f32_sums) return scalar(Scalar::f32);
    if (s == Scalar::f16_left || s == Scalar::f16_right) return scalar(Scalar::f16);
    m_.extension("SPV_KHR_bfloat16");
    m_.capability(khr::kBFloat16Type);
    m_.capability(khr::kBFloat16CooperativeMatrix);
    return m_.type_float(16, khr::kBFloat16Encoding);
  };
  const uint32_t use = s == Scalar::f32_sums                             ? khr::kUseSums
                       : s == Scalar::f16_left || s == Scalar::bf16_left ? khr::kUseLeft
                                                                         : khr::kUseRight;
  const Id subgroup = m_.constant32(static_cast<uint32_t>(spv::Scope::Subgroup));
  const Id side = m_.constant32(16);
  return m_.type_cooperative_matrix({component(), subgroup, side, side, m_.constant32(use)});
}

Id Types::constant(Scalar s, uint64_t bits) {
  if (s == Scalar::i1) return m_.constant_bool((bits & 1) != 0);
  // A null pointer has no other form in the Kernel flavour, and no kernel needs another constant
  // one.
  if (s == Scalar::global && flavour_ == Flavour::kernel) return m_.constant_null(scalar(s));
  if (kir::is_matrix(s)) {
    const Id element = constant(Scalar::f32, 0);
    return m_.constant_composite(scalar(s), {&element, 1});
  }
  const uint32_t width = static_cast<uint32_t>(kir::width(s));
  const uint64_t mask = kir::low_bits(width);
  return m_.constant(scalar(s), width, bits & mask);
}

Id Types::constant(Scalar s, uint32_t lanes, uint64_t bits) {
  const Id element = constant(s, bits);
  if (lanes == 1) return element;
  return m_.constant_composite(vector(s, lanes), Ids(lanes, element));
}

}  // namespace primset::emit::spirv
