// The arguments of an operator call before it is traced: tensors without data, and all the rest.
#ifndef PRIMSET_DECOMPS_ENGINE_ACTUAL_H_
#define PRIMSET_DECOMPS_ENGINE_ACTUAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "decomps/engine/tracer.h"
#include "prims/graph/large_variant.h"

namespace primset::decomps {

// A tensor argument without data. Sizes and strides are symbols of the graph's context or constants
// (sizes 0 and 1, strides 0 and 1 and those that follow from others are).
struct TensorMeta {
  DType dtype = DType::f32;
  SymInts sizes, strides;     // strides in elements
  SymInt storage_offset = 0;  // in elements; only operators that read offsets use it
  // Arguments with equal numbers are the same memory with the same geometry.
  uint32_t identity = 0;
  bool wrapped_number = false;  // a Scalar passed where a tensor is expected
  bool on_cpu_scalar = false;   // a rank-0 CPU tensor beside tensors of another device
};

// One actual argument. Of a Scalar the kind is part of the plan; its value is a kernel parameter,
// unless the spec declares the argument structural.
struct Actual {
  using Value =
      LargeVariant<std::variant<std::monostate, TensorMeta, std::vector<TensorMeta>,
                                std::vector<std::optional<TensorMeta>>, Scalar, std::vector<Scalar>,
                                SymInt, SymInts, double, std::vector<double>, bool,
                                std::vector<bool>, std::string, DType, Layout, MemoryFormat,
                                DeviceArg, RngArg /* only its presence matters */, StorageArg>>;
  Value value;
  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
};

}  // namespace primset::decomps

extern template class primset::LargeVariant<primset::decomps::Actual::Value::Alternatives>;

#endif  // PRIMSET_DECOMPS_ENGINE_ACTUAL_H_
