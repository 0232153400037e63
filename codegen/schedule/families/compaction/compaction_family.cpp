#include "codegen/schedule/families/compaction/compaction_family.h"

#include <algorithm>

#include "codegen/schedule/families/compaction/compaction_kernels.h"
#include "codegen/schedule/program/program_builder.h"
#include "codegen/schedule/tuning/compaction.h"

namespace primset::schedule {
namespace {

class CompactionFamily : public Family {
 public:
  std::string_view name() const override { return "compaction"; }

  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    if (n.prim != prims::Prim::compact || !compacts_in_tiles(machine, g.type(n.operands[0]).dtype))
      return std::nullopt;
    return Cost{};
  }

  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const Compaction compaction = request(b, group);
    b.launch(compaction_count_kernel(b.context("compact_count"), compaction), group.anchor);
    b.launch(compaction_starts_kernel(b.context("compact_starts"), compaction), group.anchor);
    if (compaction.packed)
      b.launch(compaction_store_kernel(b.context("compact_store"), compaction), group.anchor);
  }

 private:
  static Compaction request(ProgramBuilder& b, const FusionGroup& group) {
    const prims::Node& n = b.graph().node(group.anchor);
    const auto& type = b.graph().type(n.operands[0]);
    Compaction c;
    c.node = group.anchor;
    c.size = type.shape[0];
    c.threads = b.machine().target.group_threads;
    c.items = compaction_items(b.machine(), static_cast<uint32_t>(byte_size(type.dtype)));
    c.place = b.options().index32 ? DType::i32 : DType::i64;
    c.starts = b.scratch(c.place, c.tiles(), "starts of tiles");
    const auto wanted = [&](size_t result) {
      const Placement* p = ProgramBuilder::wanted(group, n.results[result]);
      return p ? std::optional(*p) : std::nullopt;
    };
    c.packed = wanted(0);
    c.count = wanted(1);
    return c;
  }
};

const CompactionFamily kCompaction;

}  // namespace

const Family& compaction_family = kCompaction;

}  // namespace primset::schedule
