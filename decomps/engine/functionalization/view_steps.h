// View operators are stated once: a view function (view_functions.h) gives the steps from a tensor
// to its view, and three things follow from the steps:
//   advance()        the view's sizes, strides and offset, for eager calls
//   view_of()        the view as primitives on a traced value, for graphs
//   write_through()  the base after a write to the view: functionalization
#ifndef PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_STEPS_H_
#define PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_STEPS_H_

#include <optional>
#include <vector>

#include "decomps/engine/apply.h"
#include "decomps/engine/engine.h"

namespace primset::decomps {

struct ViewStep {
  enum class Kind : uint8_t {
    permute,    // dims: the permutation
    reshape,    // sizes, where strides allow it
    squeeze,    // removes dims, which have size 1
    unsqueeze,  // inserts a dim of size 1 before dims[0]
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
  bool returns_self = false;  // without steps the result is the tensor itself, as of contiguous()
  bool may_copy = false;      // a copy where strides do not allow it, or the format differs
  bool must_copy = false;
  bool unannotated = false;  // an alias that the schema does not declare, as of atleast_2d
  std::optional<MemoryFormat> format = {};  // of the result
  bool any_strides = false;           // all but channels last count as contiguous, as to() takes it
  std::optional<DType> convert = {};  // to(): another dtype makes a copy
  uint32_t element = 0;               // of the list that is viewed
};

// The geometry of a view in the memory of its base.
struct ViewGeometry {
  DType dtype;
  SymInts sizes, strides;
  SymInt offset = 0;  // in elements of dtype, from the base's first one
  bool conj = false, neg = false;
};

ViewGeometry geometry_of(const TensorMeta& t);
// Applies a step, or all of a view. False: strides do not allow it.
bool advance(ViewGeometry& at, const ViewStep& step);
bool advance(ViewGeometry& at, const View& view);

// Throws, in ATen's words, for a strided view outside a storage of `elements` elements. An empty
// view is always inside.
void require_in_storage(const SymInts& sizes, const SymInts& strides, const SymInt& offset,
                        DType dtype, const SymInt& elements);

Val view_of(const Val& x, const ViewStep& step);
Val view_of(const Val& x, const View& view);
// The base after `written`, of the view's shape, was stored through the view.
Val write_through(const Val& base, const View& view, const Val& written);

// The description of a contiguous tensor of the value's shape, for view functions applied to a
// value.
TensorMeta meta_of(const Val& x);
// The tensors of a view operator's first argument: one, or those of a list.
std::vector<TensorMeta> viewed_metas(const Actual& argument);
std::vector<Val> viewed_values(const Tracer::Argument& argument);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_FUNCTIONALIZATION_VIEW_STEPS_H_
