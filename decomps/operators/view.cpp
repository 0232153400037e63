// Gradients of views: zeros of the input's sizes with the gradient written through the view. And
// narrow() from a place that only a run knows, as values; an eager call makes the view.
#include "decomps/operators/view.h"

#include <fmt/format.h>

#include "decomps/engine/functionalization/view_functions.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

Val written_into_zeros(Tracer& t, const Val& grad, const SymInts& sizes, const char* view,
                       Arguments rest) {
  const Val zeros = t.constant(0, grad.dtype(), sizes);
  rest.insert(rest.begin(), Tracer::Argument(zeros));
  const View made = find_view(view)(t, {{meta_of(zeros)}}, rest)[0];
  ViewGeometry at = geometry_of(meta_of(zeros));
  advance(at, made);
  require_expandable(grad.shape(), at.sizes);
  return write_through(zeros, made, broadcast_to(grad, at.sizes));
}

}  // namespace

Val diagonal_backward::decompose(Tracer& t, const Val& grad, const SymInts& sizes, int64_t offset,
                                 int64_t dim1, int64_t dim2) {
  return written_into_zeros(t, grad, sizes, "diagonal", {offset, dim1, dim2});
}

Val select_backward::decompose(Tracer& t, const Val& grad, const SymInts& sizes, int64_t dim,
                               SymInt index) {
  return written_into_zeros(t, grad, sizes, "select", {dim, index});
}

Val slice_backward::decompose(Tracer& t, const Val& grad, const SymInts& sizes, int64_t dim,
                              SymInt start, SymInt end, SymInt step) {
  return written_into_zeros(t, grad, sizes, "slice", {dim, start, end, step});
}

// Windows overlap, so that their gradients add up.
namespace {

// In a dtype that sums are computed in.
Val summand(const Val& x) {
  if (is_bool(x.dtype())) return convert(x, DType::i32);
  return x.dtype() == DType::c32 || is_float8(x.dtype()) ? opmath(x) : x;
}

}  // namespace

Val unfold_backward::decompose(Tracer& t, const Val& grad, const SymInts& sizes, int64_t dim,
                               int64_t size, int64_t step) {
  const auto rank = static_cast<int64_t>(sizes.size());
  require(grad.rank() == rank + 1, ErrorCode::runtime,
          fmt::format("unfold_backward: expected grad_in of {} dims for input_sizes {}, but got {}",
                      rank + 1, shape_text(sizes), shape_text(grad.shape())));
  require(size >= 0, ErrorCode::runtime, fmt::format("size is {} but must be >= 0", size));
  require(step > 0, ErrorCode::runtime, fmt::format("step is {} but must be > 0", step));
  const int64_t d = wrap_dim(dim, rank);
  SymInts windows = sizes;
  if (!sizes.empty()) {
    SymInt& places = windows[static_cast<size_t>(d)];
    require(SymInt(size) <= places, ErrorCode::runtime,
            fmt::format("maximum size for tensor at dimension {} is {} but size is {}", d,
                        places.hint(), size));
    places = floor_div(places - size, step) + 1;
  }
  windows.emplace_back(size);
  require(equal_sizes(grad.shape(), windows), ErrorCode::runtime,
          fmt::format("unfold_backward: expected grad_in of size {} for input_sizes {}, but got {}",
                      shape_text(windows), shape_text(sizes), shape_text(grad.shape())));
  const Val x = summand(grad);
  if (sizes.empty()) return convert(reduce(Prim::reduce_sum, x, {0}, false), grad.dtype());
  if (size == 0) return zeros(t, sizes, grad.dtype());
  const Val sum = t.prim1(Prim::window_scatter_add, {x},
                          {{"dims", std::vector<int64_t>{d}},
                           {"sizes", SymInts{size}},
                           {"strides", SymInts{step}},
                           {"dilations", SymInts{1}},
                           {"shape", sizes}});
  return convert(sum, grad.dtype());
}

Val narrow_tensor::decompose(Tracer& t, const Val& self, int64_t dim, const Val& start,
                             SymInt length) {
  require(start.rank() == 0 && is_integral(start.dtype()), ErrorCode::runtime,
          "start must be an 0-dim integral Tensor.");
  require(self.rank() > 0, ErrorCode::runtime, "narrow() cannot be applied to a 0-dim tensor.");
  require(length >= SymInt(0), ErrorCode::runtime,
          fmt::format("narrow(): length must be non-negative. Found length {}", length.hint()));
  const int64_t d = wrap_dim(dim, self.rank());
  const SymInt size = self.size(d);
  const Val from = wrapped_index(convert(start, DType::i64), size);
  const Val room = t.constant(size - length, DType::i64);
  check(ge(from, Scalar(0)) & le(from, room), from, ErrorCode::runtime,
        "narrow(): start + length exceeds the dimension's size");
  if (length == SymInt(0)) return slice(self, d, 0, 0, 1);
  const Val places = t.iota({length}, 0, DType::i64) + broadcast_to(from, {length});
  return t.prim1(Prim::index_select, {self, places}, {{"dim", d}});
}

}  // namespace primset::decomps
