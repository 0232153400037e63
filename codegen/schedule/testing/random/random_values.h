// The values that the nodes of a random graph are made of: found in scope, or made as they are
// wanted.
//
// A graph has few sizes, shapes and dtypes, so that its values meet each other. A size is a
// constant or a symbol whose hint is its value in the run; one that only the run makes (set_dim) is
// dynamic: it may be any number up to its hint.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_VALUES_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_VALUES_H_

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codegen/schedule/testing/random/random.h"
#include "prims/graph/builder.h"

namespace primset::schedule {

class RandomValues {
 public:
  using Prim = prims::Prim;
  using SymInt = prims::SymInt;
  using SymInts = prims::SymInts;
  using ValueId = prims::ValueId;
  using Values = prims::Builder::Values;

  RandomValues(prims::Builder& b, Random& random);

  prims::Builder& builder() { return b_; }
  Random& random() { return random_; }
  SymInts shape(ValueId v) const { return b_.shape(v); }  // a copy: nodes that are added move it
  DType dtype(ValueId v) const { return b_.dtype(v); }
  size_t rank(ValueId v) const { return b_.rank(v); }

  // --- sizes and dtypes ---
  const SymInt& any_size() { return random_.pick(sizes_); }
  const SymInts& any_shape() { return random_.pick(shapes_); }
  DType any_dtype(DTypeSet set);
  // A number that a launch knows: the start of a slice, say.
  SymInt launch_number(int64_t value);
  bool is_dynamic(const SymInt& size) const;
  bool is_dynamic(const SymInts& shape) const;
  const std::vector<uint32_t>& dynamic_symbols() const { return dynamic_; }
  // A size of 0 counts as 1: without it there would be so many.
  static int64_t elements(const SymInts& shape);
  // Is it small enough for tests?
  static bool fits(const SymInts& shape) { return elements(shape) <= 2000; }
  std::vector<int64_t> any_dims(size_t rank, size_t most);  // at least one, increasing

  // --- values ---
  using Wanted = std::function<bool(ValueId)>;
  // One in scope, late ones rather than early ones.
  std::optional<ValueId> any(const Wanted& wanted);
  std::optional<ValueId> any(DTypeSet dtypes, size_t least_rank = 0);
  // The next one that is asked for, if it is of the kind that is wanted.
  void suggest(ValueId v) { suggested_ = v; }
  // One of this type: in scope, a view or conversion of such a one, or a new one.
  ValueId like(DType t, const SymInts& shape);
  ValueId number(DType t) { return like(t, {}); }
  // Integers from 0 up to but not including the size.
  ValueId indices(const SymInts& shape, const SymInt& size);
  // Made of what devices compute bit for bit: it may decide what is checked or run.
  bool is_exact(ValueId v) const { return v < exact_.size() && exact_[v]; }
  ValueId exact_like(DType t, const SymInts& shape);
  ValueId constant(DType t, const SymInts& shape);

  // --- nodes ---
  Values add(Prim p, Values operands, std::vector<prims::Attr> attrs = {},
             std::vector<prims::Region> regions = {});
  ValueId tensor_input(DType t, const SymInts& shape);
  using Body = std::function<Values(std::span<const ValueId>)>;
  prims::Region region(const std::vector<prims::ValueType>& params, const Body& body);
  // A program over numbers, which sees its parameters alone.
  prims::Region scalar_region(const std::vector<prims::ValueType>& params, const Body& body);
  bool in_scalar_region() const { return scalar_; }
  size_t depth() const { return depth_; }

 private:
  void choose_sizes();
  void choose_shapes();
  void choose_dtypes();
  ValueId late(const std::vector<ValueId>& candidates);
  std::optional<ValueId> converted(DType t, const SymInts& shape);
  std::optional<ValueId> broadcast(DType t, const SymInts& shape);
  std::optional<ValueId> sliced(DType t, const SymInts& shape);
  ValueId made(DType t, const SymInts& shape);
  void note(ValueId v, bool exact);

  prims::Builder& b_;
  Random& random_;
  SymInts sizes_;
  std::vector<SymInts> shapes_;
  std::vector<DType> dtypes_;
  std::vector<ValueId> scope_;
  ValueId suggested_ = prims::kNoValue;
  std::vector<bool> exact_;        // by value
  std::vector<uint32_t> dynamic_;  // symbols
  size_t depth_ = 0;               // of regions
  bool scalar_ = false;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_VALUES_H_
