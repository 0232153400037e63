// View operators, stated once: a view function gives the steps from a tensor to its view, and three
// things follow from the steps. The view's sizes, strides and offset (eager calls); the view as
// primitives on a traced value (graphs); and the base after the view was written (functionalised
// writes).
#ifndef PRIMSET_DECOMPS_ENGINE_ALIASING_VIEW_STEPS_H_
#define PRIMSET_DECOMPS_ENGINE_ALIASING_VIEW_STEPS_H_

#include <optional>
#include <vector>

#include "decomps/engine/apply.h"
#include "decomps/engine/engine.h"

namespace primset::decomps {

struct ViewStep {
  enum class Kind : uint8_t {
    permute,    // dims: the permutation
    reshape,    // sizes; `inserts`, `drops` and others alike, where strides allow it
    squeeze,    // dims, of size 1, go away
    unsqueeze,  // a dim of size 1 before dims[0]
    slice,      // along dims[0]: start, step, count
    expand,     // sizes, of no lower rank
    diagonal,   // dims: the two, count: its length, start: its signed offset
    unfold,     // windows of `count` at every `step` along dims[0], as a new last dim
    strided,    // sizes, strides and start (from the first element)
    real,
    imag,        // parts of complex values
    as_real,     // a new last dim of the two parts
    as_complex,  // the inverse
    conj,
    neg,   // flip a bit
    bits,  // the same bytes as dtype; the last dim grows or shrinks
  };
  Kind kind;
  std::vector<int64_t> dims = {};
  SymInts sizes = {}, strides = {};
  SymInt start = 0, step = 1, count = 0;
  DType dtype = DType::f32;
};

struct View {
  std::vector<ViewStep> steps;
  bool returns_self = false;  // without a step the result is the tensor itself, as of contiguous()
  bool may_copy = false;      // where strides do not allow it, or the format differs, it is a copy
  bool must_copy = false;
  bool unannotated = false;  // an alias though the schema does not say so, as of atleast_2d
  std::optional<MemoryFormat> format = {};  // of the result
  bool any_strides = false;           // all but channels last count as contiguous, as to() takes it
  std::optional<DType> convert = {};  // to(): another dtype makes a copy
  uint32_t element = 0;               // of the list that is viewed
};

// Where a view stands in the memory of its base.
struct ViewGeometry {
  DType dtype;
  SymInts sizes, strides;
  SymInt offset = 0;  // in elements of dtype, from the base's first one
  bool conj = false, neg = false;
};

ViewGeometry geometry_of(const TensorMeta& t);
// False when strides do not allow the step.
bool advance(ViewGeometry& at, const ViewStep& step);
bool advance(ViewGeometry& at, const View& view);

// Refuses, in ATen's words, a strided view that leaves a storage of so many elements. An empty view
// lies anywhere.
void require_in_storage(const SymInts& sizes, const SymInts& strides, const SymInt& offset,
                        DType dtype, const SymInt& elements);

Val view_of(const Val& x, const ViewStep& step);
Val view_of(const Val& x, const View& view);
// The base after `written`, of the view's shape, was stored through the view.
Val write_through(const Val& base, const View& view, const Val& written);

// A contiguous tensor of the value's shape, for view functions that are asked about a value.
TensorMeta meta_of(const Val& x);
// The tensors that a view operator's first argument holds.
std::vector<TensorMeta> viewed_metas(const Actual& argument);
std::vector<Val> viewed_values(const Tracer::Argument& argument);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_ALIASING_VIEW_STEPS_H_
