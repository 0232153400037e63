#include "decomps/operators/copy_and_cast.h"

#include <fmt/format.h>

#include <array>

#include "decomps/operators/operator_support.h"

namespace primset::decomps {

Val clone::decompose(Tracer& t, const Val& self, const std::optional<MemoryFormat>& format) {
  return self;
}

Val _to_copy::decompose(Tracer& t, const Val& self, const std::optional<DType>& dtype,
                        const std::optional<Layout>& layout, const std::optional<DeviceArg>& device,
                        const std::optional<bool>& pin_memory, bool non_blocking,
                        const std::optional<MemoryFormat>& format) {
  return dtype ? convert(self, *dtype) : self;
}

Val cast_float::decompose(Tracer& t, const Val& self, bool non_blocking) {
  return convert(self, DType::f32);
}

// copy_ converts whatever there is: even a fraction to an integer.
Val copy::decompose(Tracer& t, const Val& self, const Val& src, bool non_blocking) {
  const std::array<SymInts, 2> shapes = {self.shape(), src.shape()};
  const SymInts joint = broadcast_shapes(shapes);
  require(equal_sizes(joint, self.shape()), ErrorCode::runtime,
          fmt::format("output with shape {} doesn't match the broadcast shape {}",
                      shape_text(self.shape()), shape_text(joint)));
  return broadcast_to(convert(src, self.dtype()), self.shape());
}

}  // namespace primset::decomps
