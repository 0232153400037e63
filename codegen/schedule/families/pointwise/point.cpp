#include "codegen/schedule/families/pointwise/point.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <set>

namespace primset::schedule {

using prims::NodeId;
using prims::ValueId;

namespace {

// The elements of one position.
class Point {
 public:
  Point(Frame& f, const BuildContext& c, const std::vector<Root>& roots,
        const std::vector<NodeId>& checks)
      : f_(f), c_(c), roots_(roots), checks_(checks), e_(f, c.values) {}

  // Of what the results are computed from elementwise.
  void load() {
    std::set<ValueId> seen;
    for (const Root& r : roots_) e_.emit_loads(r.value, at_, seen);
  }

  // All loads come before all stores: an output may be an input's memory.
  void compute() {
    for (NodeId id : checks_) {
      const prims::Node& n = graph().node(id);
      const ElementValue ok = e_.emit(n.operands[0], at_), value = e_.emit(n.operands[1], at_);
      f_.report(c_.values.check_site(n.attr<std::string>("code"), n.attr<std::string>("message")),
                f_.builder().not_(ok.re), value.re, graph().type(n.operands[1]).dtype);
    }
    for (const Root& r : roots_) results_.push_back(e_.emit(r.value, at_));
  }

  void store() {
    for (size_t i = 0; i < roots_.size(); ++i) {
      f_.store(roots_[i].out.buffer, graph().type(roots_[i].value).dtype,
               element_address(f_, roots_[i].out, at_), results_[i]);
    }
  }

 private:
  const prims::Graph& graph() const { return c_.values.graph; }

  Frame& f_;
  const BuildContext& c_;
  const std::vector<Root>& roots_;
  const std::vector<NodeId>& checks_;
  ElementEmitter e_;
  const Indices at_ = identity_indices(f_.domain());
  std::vector<ElementValue> results_;
};

}  // namespace

PointPhases point(Frame& f, const BuildContext& c, const std::vector<Root>& roots,
                  const std::vector<NodeId>& checks) {
  auto p = std::make_shared<Point>(f, c, roots, checks);
  return {[p] { p->load(); }, [p] { p->compute(); }, [p] { p->store(); }};
}

uint16_t narrow_lanes(const BuiltKernel& kernel) {
  constexpr size_t kLine = 64;
  if (kernel.kernel.insts.size() > kLongBody) return 0;
  size_t widest = 1;
  for (const AccessRecord& a : kernel.analysis.accesses)
    widest = std::max(widest, a.lanes == LaneAccess::same && !a.store ? 1 : byte_size(a.dtype));
  return widest > 2 ? 0 : static_cast<uint16_t>(kLine / widest);
}

int64_t elements_of_point(const BuiltKernel& kernel) {
  constexpr size_t kShortBody = 64, kMost = 256;
  const size_t bodies = std::bit_floor(kernel.kernel.insts.size() / kShortBody);
  return static_cast<int64_t>(std::clamp<size_t>(bodies, 1, kMost));
}

}  // namespace primset::schedule
