// Native primitives: those that a plugin computes itself (PRIMSET_EXT_PRIMITIVES;
// docs/decisions/native_primitives.md). native_selection.h says which.
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_NATIVE_PRIMITIVE_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_NATIVE_PRIMITIVE_H_

#include <string_view>
#include <vector>

#include "prims/graph/graph.h"
#include "sdk/runtime/plan/plan.h"
#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

// A check's attribute beside its own: the code that it stores in the error slot.
inline constexpr std::string_view kSlotCode = "slot_code";

// A primset_primitive_call of one node; owns the arrays that it points to.
class NativeCall {
 public:
  void add_operand(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides,
                   primset_buffer buffer = nullptr, uint64_t offset = 0);
  void add_result(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides,
                  primset_buffer buffer = nullptr, uint64_t offset = 0);
  void add_ints(const std::string& name, std::vector<int64_t> values, bool list);
  void add_float(const std::string& name, double value);
  void add_text(const std::string& name, const std::string& text);

  // Does the device compute it? Fills *out if so.
  bool find(const plugin::PluginDevice& device, const std::string& name, primset_primitive* out);
  primset_primitive_call& call();

 private:
  struct Tensor {
    std::vector<int64_t> sizes, strides;
    primset_tensor c{};
  };
  struct Attribute {
    std::string name, text;
    std::vector<int64_t> ints;
    primset_attr c{};
  };
  static Tensor make(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides,
                     primset_buffer buffer, uint64_t offset);

  std::vector<Tensor> operands_, results_;
  std::vector<Attribute> attributes_;
  std::vector<primset_tensor> operand_table_, result_table_;
  std::vector<primset_attr> attribute_table_;
  primset_primitive_call call_{};
};

// A node's attributes, integers as slots of the plan's bytecode.
std::vector<NativePlan::Attribute> native_attributes(const prims::Node& node, CodeBuilder& code);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_NATIVE_PRIMITIVE_H_
