// Windows of images as columns of a matrix, and back.
#include <fmt/format.h>

#include "decomps/operators/convolution.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

struct Blocks {
  Dims kernel, dilation, padding, stride;
};

void require_pair(const Dims& list, const char* name) {
  require(list.size() == 2, ErrorCode::runtime,
          fmt::format("It is expected {} equals to 2, but got size {}", name, list.size()));
}

void require_positive(const Dims& list, const char* name, const char* what = "") {
  require(list[0] > 0 && list[1] > 0, ErrorCode::runtime,
          fmt::format("{}{} should be greater than zero, but got {}_height: {} {}_width: {}", name,
                      what, name, list[0], name, list[1]));
}

void require_blocks(const Blocks& b) {
  require_pair(b.kernel, "kernel_size");
  require_pair(b.dilation, "dilation");
  require_pair(b.padding, "padding");
  require_pair(b.stride, "stride");
  require_positive(b.kernel, "kernel", " size");
  require_positive(b.dilation, "dilation");
  require(b.padding[0] >= 0 && b.padding[1] >= 0, ErrorCode::runtime,
          fmt::format("padding should be non-negative, but got pad_height: {} pad_width: {}",
                      b.padding[0], b.padding[1]));
  require_positive(b.stride, "stride");
}

SymInts symbolic(const Dims& list) {
  return {list.begin(), list.end()};
}

// How many blocks fit along spatial dim i of this size.
SymInt blocks_along(const Blocks& b, size_t i, const SymInt& size) {
  const SymInt reach = SymInt(b.dilation[i]) * (SymInt(b.kernel[i]) - 1) + 1;
  return floor_div(size + (SymInt(2) * b.padding[i] - reach), b.stride[i]) + 1;
}

Val bordered(const Val& x, const Blocks& b, int64_t sign) {
  Tracer& t = x.tracer();
  const SymInts margin = {0, 0, sign * b.padding[0], sign * b.padding[1]};
  const Val zero = t.constant(0, x.dtype());
  return t.wrap(t.builder().pad(x.id(), zero.id(), margin, margin, SymInts(4, SymInt(0))));
}

// Of `rank` dims, or of one more: a batch, which alone may be empty.
void require_elements(const Val& x, int64_t rank, const char* what) {
  bool fits = x.rank() == rank || x.rank() == rank + 1;
  for (int64_t d = x.rank() - rank; fits && d < x.rank(); ++d) fits = !(x.size(d) == SymInt(0));
  require(fits, ErrorCode::runtime,
          fmt::format("Expected {}, but got: {}", what, shape_text(x.shape())));
}

void refuse_integers(const Val& x, const char* kernel) {
  if (is_integral(x.dtype())) not_implemented_for(kernel, x.dtype());
}

// [batch, channels, high, wide], [batch, channels * kernel, blocks]
struct Columns {
  SymInt high, wide;  // blocks along both dims
  SymInt channels;
};

void require_columns(const Val& x, const SymInts& size, const Blocks& b, const Columns& c) {
  require(x.size(2) == c.high * c.wide, ErrorCode::runtime,
          fmt::format("Given output_size=({}, {}), kernel_size=({}, {}), dilation=({}, {}), "
                      "padding=({}, {}), stride=({}, {}), expected size of input's dimension 2 to "
                      "match the calculated number of sliding blocks {} * {} = {}, but got "
                      "input.size(2)={}.",
                      size[0].hint(), size[1].hint(), b.kernel[0], b.kernel[1], b.dilation[0],
                      b.dilation[1], b.padding[0], b.padding[1], b.stride[0], b.stride[1],
                      c.high.hint(), c.wide.hint(), (c.high * c.wide).hint(), x.size(2).hint()));
}

// Of batched columns, in a dtype that can be summed.
Val image_of(Tracer& t, const Val& x, const SymInts& size, const Blocks& b, const Columns& c) {
  const Val windows = transpose(
      reshape(x, {x.size(0), c.channels, SymInt(b.kernel[0]), SymInt(b.kernel[1]), c.high, c.wide}),
      {0, 1, 4, 5, 2, 3});
  const SymInts field = {x.size(0), c.channels, size[0] + 2 * b.padding[0],
                         size[1] + 2 * b.padding[1]};
  const Val sum = t.prim1(Prim::window_scatter_add, {windows},
                          {{"dims", Dims{2, 3}},
                           {"sizes", symbolic(b.kernel)},
                           {"strides", symbolic(b.stride)},
                           {"dilations", symbolic(b.dilation)},
                           {"shape", field}});
  return bordered(sum, b, -1);
}

}  // namespace

Val im2col::decompose(Tracer& t, const Val& self, const Dims& kernel_size, const Dims& dilation,
                      const Dims& padding, const Dims& stride) {
  const Blocks b{kernel_size, dilation, padding, stride};
  require_blocks(b);
  const bool batched = self.rank() == 4;
  require_elements(self, 3,
                   "3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
                   "dimensions for input");
  const Val x = batched ? self : unsqueeze(self, 0);
  const SymInt high = blocks_along(b, 0, x.size(2)), wide = blocks_along(b, 1, x.size(3));
  require(high >= SymInt(1) && wide >= SymInt(1), ErrorCode::runtime,
          fmt::format("Given input with spatial size ({}, {}), kernel_size=({}, {}), dilation=({}, "
                      "{}), padding=({}, {}), calculated shape of the array of sliding blocks as "
                      "({}, {}), but its components must be at least one.",
                      x.size(2).hint(), x.size(3).hint(), b.kernel[0], b.kernel[1], b.dilation[0],
                      b.dilation[1], b.padding[0], b.padding[1], high.hint(), wide.hint()));
  refuse_integers(self, "im2col_out_cpu");
  const Val windows = t.wrap(t.builder().window(bordered(x, b, 1).id(), {2, 3}, symbolic(b.kernel),
                                                symbolic(b.stride), symbolic(b.dilation)));
  const SymInt rows = x.size(1) * (b.kernel[0] * b.kernel[1]);
  const Val columns =
      reshape(transpose(windows, {0, 1, 4, 5, 2, 3}), {x.size(0), rows, high * wide});
  return batched ? columns : squeeze(columns, 0);
}

Val col2im::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                      const Dims& kernel_size, const Dims& dilation, const Dims& padding,
                      const Dims& stride) {
  const Blocks b{kernel_size, dilation, padding, stride};
  require(
      output_size.size() == 2, ErrorCode::runtime,
      fmt::format("It is expected output_size equals to 2, but got size {}", output_size.size()));
  require_blocks(b);
  const bool batched = self.rank() == 3;
  require_elements(self, 2,
                   "2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                   "dimensions for input");
  const Val x = batched ? self : unsqueeze(self, 0);
  const SymInt block = SymInt(b.kernel[0]) * b.kernel[1];
  require(mod(x.size(1), block) == SymInt(0), ErrorCode::runtime,
          fmt::format("Expected size of input's dimension 1 to be divisible by the product of "
                      "kernel_size, but got input.size(1)={} and kernel_size=({}, {}).",
                      x.size(1).hint(), b.kernel[0], b.kernel[1]));
  const Columns c{blocks_along(b, 0, output_size[0]), blocks_along(b, 1, output_size[1]),
                  floor_div(x.size(1), block)};
  require_columns(x, output_size, b, c);
  refuse_integers(self, "col2im_out_cpu");
  Val image;
  if (is_complex(x.dtype())) {
    image =
        complex(image_of(t, real(x), output_size, b, c), image_of(t, imag(x), output_size, b, c));
  } else {
    const DType type = is_bool(x.dtype()) ? DType::i32 : opmath_type(x.dtype());
    image = convert(image_of(t, convert(x, type), output_size, b, c), x.dtype());
  }
  return batched ? image : squeeze(image, 0);
}

}  // namespace primset::decomps
