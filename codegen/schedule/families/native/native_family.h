// The family of native primitives: those that the plugin computes (PRIMSET_EXT_PRIMITIVES).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_NATIVE_NATIVE_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_NATIVE_NATIVE_FAMILY_H_

#include "codegen/schedule/families/family.h"
#include "codegen/schedule/options.h"

namespace primset::schedule {

// Computes the primitives that options.native accepts. `options` must outlive it.
class NativeFamily : public Family {
 public:
  explicit NativeFamily(const Options& options) : options_(options) {}

  std::string_view name() const override { return "native"; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override;
  OperandUse operand(const prims::Graph&, const prims::Node&, size_t,
                     const Machine&) const override {
    return OperandUse::in_memory;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override;

 private:
  const Options& options_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_NATIVE_NATIVE_FAMILY_H_
