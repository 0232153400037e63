// Computes one element (or one vector of elements) of any value of a graph at given indices: the
// fused body of every kernel.
//
// Starting from the value asked for it walks back through elementwise primitives and views,
// rewriting the indices on the way, and ends at loads of materialised values. What it walks through
// costs nothing but the arithmetic itself.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEMENT_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEMENT_H_

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/schedule/element/index.h"
#include "codegen/schedule/element/view_indices.h"
#include "codegen/schedule/loops/frame.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

// The environment of a kernel: what the emitter knows of values outside it, and the program's list
// of checks.
struct ValueEnvironment {
  const prims::Graph& graph;
  std::function<const Placement*(prims::ValueId)> placement;  // null: not in memory
  std::function<std::optional<uint32_t>(prims::ValueId)> scalar_input;
  // A rank-0 integer that is a symbol: the counter of an enclosing loop.
  std::function<std::optional<SymInt>(prims::ValueId)> symbol;
  std::function<uint32_t(const std::string& code, const std::string& message)> check_site;
  // Products that may be contracted with the addition of their result (Legalized::contractible).
  std::function<bool(prims::ValueId)> contractible;
  // An input whose memory an output takes over: while a kernel reads it another thread may write.
  std::function<bool(prims::ValueId)> overwritten;
};

// Index arithmetic by instructions of a kernel.
class FrameArithmetic : public IndexArithmetic {
 public:
  explicit FrameArithmetic(Frame& frame) : frame_(frame) {}
  Affine add(const Affine& a, const Affine& b) override { return frame_.add(a, b); }
  Affine scale(const Affine& a, const SymInt& factor) override { return frame_.scale(a, factor); }
  Affine divide_out(const Index& i) override;

 private:
  class ConsecutivePart;
  Frame& frame_;
};

class ElementEmitter {
 public:
  ElementEmitter(Frame& frame, const ValueEnvironment& values)
      : frame_(frame), values_(values), arithmetic_(frame) {}

  ElementValue emit(prims::ValueId v, const Indices& at);

  // Emits the loads of what `v` is computed from elementwise, at the same indices, which are those
  // of the whole domain; `loaded` is told of each. `seen`: values that need no look any more.
  void emit_loads(prims::ValueId v, const Indices& at, std::set<prims::ValueId>& seen,
                  const std::function<void(const Placement&)>& loaded = {});

  // The element of a view's operand that the view has at `at`.
  ElementValue emit_viewed(const prims::Node& view, const Indices& at);

  // Gives `v` a value inside this kernel: at exactly these indices (the identity over the loops
  // that are not reduced) or, with rank 0, everywhere.
  void bind(prims::ValueId v, const Indices& at, ElementValue value);

  // While one is open, computed elements are memoised in it, and forgotten when it closes: their
  // registers do not dominate what follows the loop or branch.
  class Scope {
   public:
    explicit Scope(ElementEmitter& e) : e_(e) { e_.memo_.emplace_back(); }
    ~Scope() { e_.memo_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ElementEmitter& e_;
  };

  // Runs a scalar region on the given arguments.
  std::vector<ElementValue> run_region(const prims::Region& region,
                                       std::span<const ElementValue> args);

  // From now on these padded values are read inside their operand only: no test for padding.
  void set_inside(std::set<prims::ValueId> padded) { inside_ = std::move(padded); }

  // The value of v at `at` under an additional condition; other lanes are undefined.
  ElementValue emit_under(kir::Value condition, prims::ValueId v, const Indices& at);

  // A rank-0 i64 value clamped to [0, limit], as an index.
  kir::Value clamped_start(prims::ValueId start, const SymInt& limit);

  Frame& frame() { return frame_; }
  const prims::Graph& graph() const { return values_.graph; }

 private:
  friend class Scope;
  using Node = prims::Node;

  ElementValue compute(prims::ValueId v, const Indices& at);
  ElementValue elementwise(const Node& n, const Indices& at);
  ElementValue constant(const Node& n);
  ElementValue iota(const Node& n, const Indices& at);
  ElementValue pad(const Node& n, const Indices& at);
  ElementValue concatenate(const Node& n, const Indices& at);
  ElementValue window_scatter_add(const Node& n, const Indices& at);
  ElementValue dynamic_slice(const Node& n, const Indices& at);
  ElementValue dynamic_update_slice(const Node& n, const Indices& at);
  ElementValue gather(const Node& n, const Indices& at);
  void read_ahead(prims::ValueId index);
  void prefetch_gathered(const Node& n, const Indices& index_at, Indices at);
  ElementValue map(prims::ValueId v, const Node& n, const Indices& at);
  bool regroups_bits(const Node& n) const;
  ElementValue regrouped(const Node& n, const Indices& at);
  std::optional<Placement> parts_in_memory(const Node& n) const;
  std::optional<Indices> view(const Node& n, const Indices& at);

  // The scalar regions' own control flow.
  std::vector<ElementValue> region_loop(const Node& n, std::span<const ElementValue> args);
  std::vector<ElementValue> region_while(const Node& n, std::span<const ElementValue> args);

  // The affine form of an index; a part of a split is computed by division.
  Affine affine(const Index& i) { return arithmetic_.affine(i); }
  // The value of a whole dimension's index.
  kir::Value value(const Index& i) { return frame_.materialize(affine(i)); }
  Index opaque(kir::Value v) const;
  // lo <= v < hi for index-typed values; v clamped there too.
  kir::Value in_range(kir::Value v, const SymInt& hi);
  kir::Value widen_to(kir::Value v, kir::Value like);
  std::optional<Affine> affine_value(prims::ValueId v, const Indices& at);

  Frame& frame_;
  const ValueEnvironment& values_;
  FrameArithmetic arithmetic_;
  std::vector<std::unordered_map<std::string, ElementValue>> memo_{1};
  std::unordered_map<prims::ValueId, std::pair<std::string, ElementValue>> bound_;
  std::unordered_map<prims::ValueId, ElementValue> region_values_;
  std::set<prims::ValueId> inside_;
};

// The address of an element, computed in the kernel.
Affine element_address(Frame& f, const Placement& p, const Indices& at);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEMENT_H_
