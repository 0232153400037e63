// Values back at the places that max pooling chose them from, zeros elsewhere.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/operators/operator_support.h"
#include "decomps/operators/pooling.h"
#include "decomps/operators/pooling/chosen_places.h"
#include "decomps/operators/pooling/geometry.h"

namespace primset::decomps {
namespace {

Val unpooled(Tracer& t, int64_t dims, const Val& x, const Val& indices, const SymInts& size) {
  require(static_cast<int64_t>(size.size()) == dims, ErrorCode::runtime,
          fmt::format("There should be exactly {} elements in output_size, but got {} elements.",
                      dims == 2 ? "two" : "three", size.size()));
  require(indices.dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("elements in indices should be type int64 but got: {}",
                      aten_name(indices.dtype())));
  const std::string name = fmt::format("max_unpooling{}d", dims);
  require(x.rank() == dims + 1 || x.rank() == dims + 2, ErrorCode::runtime,
          fmt::format("Input to {} should be a {}d or {}d Tensor, but got a tensor with {} "
                      "dimensions.",
                      name, dims + 1, dims + 2, x.rank()));
  require(indices.rank() == x.rank() && equal_sizes(indices.shape(), x.shape()), ErrorCode::runtime,
          fmt::format("Expected shape of indices to be same as that of the input tensor ({}) but "
                      "got indices tensor with shape: {}",
                      shape_text(x.shape()), shape_text(indices.shape())));
  require_pooled_input(name, dims, x);
  const SymInt count = prims::product(size);
  check(ge(indices, Scalar(0)) & lt(indices, full_like(indices, count)), indices,
        ErrorCode::runtime,
        fmt::format("Found an invalid max index: {{value}} (output volumes are of size {})",
                    fmt::join(hints_of(size), "x")));
  return at_chosen_places(Prim::scatter, x, indices, size);
}

}  // namespace

Val max_unpool2d::decompose(Tracer& t, const Val& self, const Val& indices,
                            const SymInts& output_size) {
  return unpooled(t, 2, self, indices, output_size);
}

Val max_unpool3d::decompose(Tracer& t, const Val& self, const Val& indices,
                            const SymInts& output_size, const std::vector<int64_t>& stride,
                            const std::vector<int64_t>& padding) {
  for (const auto& [name, list] : {std::pair("stride", &stride), std::pair("padding", &padding)}) {
    require(list->size() == 3, ErrorCode::runtime,
            fmt::format("There should be exactly three elements (depth, height, width) in {}, but "
                        "got: {} elements.",
                        name, list->size()));
  }
  require(std::all_of(stride.begin(), stride.end(), [](int64_t s) { return s > 0; }),
          ErrorCode::runtime,
          fmt::format("strides should be greater than zero, but got stride: [{}]",
                      fmt::join(stride, ", ")));
  return unpooled(t, 3, self, indices, output_size);
}

}  // namespace primset::decomps
