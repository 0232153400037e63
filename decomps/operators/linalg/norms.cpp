// Norms of vectors.
#include "decomps/operators/linalg.h"

#include <fmt/format.h>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

// The dtype asked for holds what the input holds.
void require_wider(DType from, DType to) {
  require(is_floating(to) || is_complex(to), ErrorCode::runtime,
          fmt::format("linalg.vector_norm: dtype should be floating point or complex, but got {}",
                      aten_name(to)));
  require(is_complex(from) == is_complex(to), ErrorCode::runtime,
          fmt::format("linalg.vector_norm: dtype should be {} for {} inputs, but got {}",
                      is_complex(from) ? "complex" : "real", is_complex(from) ? "complex" : "real",
                      aten_name(to)));
  require(promote_types(from, to) == to, ErrorCode::runtime,
          fmt::format("linalg.vector_norm: the dtype of the input ({}) should be convertible "
                      "without narrowing to the specified dtype ({})",
                      aten_name(from), aten_name(to)));
}

// Norms of order infinity and below 0 have no value for nothing.
void require_some(const Val& x, const std::vector<int64_t>& dims, double ord) {
  if (!(std::isinf(ord) || ord < 0)) return;
  const char* name = std::isinf(ord) ? (ord > 0 ? "inf" : "-inf") : nullptr;
  for (int64_t d : dims) {
    require(!(x.size(d) == SymInt(0)), ErrorCode::runtime,
            fmt::format("linalg.vector_norm cannot compute the {} norm on {} because the operation "
                        "does not have an identity",
                        name ? name : fmt::format("{}", ord),
                        static_cast<int64_t>(dims.size()) == x.rank()
                            ? "an empty tensor"
                            : fmt::format("the dimension {}", d)));
  }
}

}  // namespace

Val linalg_vector_norm::decompose(Tracer& t, const Val& self, const ScalarArg& ord,
                                  const std::optional<std::vector<int64_t>>& dim, bool keepdim,
                                  const std::optional<DType>& dtype) {
  require_floating_or_complex("linalg.vector_norm", self);
  if (dtype) require_wider(self.dtype(), *dtype);
  const std::vector<int64_t> dims =
      wrap_dims(dim.value_or(std::vector<int64_t>{}), self.rank(), true);
  const double order = ord.known().to_double();
  require_some(self, dims, order);
  const Val v = dtype ? convert(self, *dtype) : self;
  const Val a = is_complex(v.dtype()) ? unary(Prim::abs, v) : v;
  const Val r = t.prim1(Prim::vector_norm, {a}, {{"p", Scalar(order)}, {"dims", dims}});
  return keepdim ? restore_dims(r, self.shape(), dims) : r;
}

}  // namespace primset::decomps
