// Gradients of views: zeros of the input's sizes with the gradient written through the view.
#include "decomps/view.h"

#include "decomps/views.h"

namespace primset::decomps {
namespace {

Val written_into_zeros(Tracer& t, const Val& grad, const SymInts& sizes, const char* view,
                       Arguments rest) {
  const Val zeros = t.constant(0, grad.dtype(), sizes);
  rest.insert(rest.begin(), Tracer::Argument(zeros));
  return write_through(zeros, find_view(view)(t, {{meta_of(zeros)}}, rest)[0], grad);
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
Val unfold_backward::decompose(Tracer& t, const Val& grad, const SymInts& sizes, int64_t dim,
                               int64_t size, int64_t step) {
  if (sizes.empty()) return reduce(Prim::reduce_sum, grad, {0}, false);
  return t.prim1(Prim::window_scatter_add, {grad},
                 {{"dims", std::vector<int64_t>{wrap_dim(dim, static_cast<int64_t>(sizes.size()))}},
                  {"sizes", SymInts{size}},
                  {"strides", SymInts{step}},
                  {"dilations", SymInts{1}},
                  {"shape", sizes}});
}

}  // namespace primset::decomps
