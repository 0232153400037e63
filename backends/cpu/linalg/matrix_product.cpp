#include "backends/cpu/linalg/matrix_product.h"

#include <limits>
#include <string_view>

#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

template <typename T>
primset_status* run_product(primset_stream stream, const void*,
                            const primset_primitive_call* call) {
  return primset_backend::guarded("dot_general", [&]() -> primset_status* {
    const auto dims = primset_backend::contraction_dims(*call);
    if (!dims)
      return primset_backend::make_status(PRIMSET_INVALID_ARGUMENT,
                                          "dot_general: find refuses this call");
    MatrixProductCall<T>(*call, *dims).run(*stream->device->pool);
    return nullptr;
  });
}

decltype(primset_primitive::run) run_of(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_F64:
      return run_product<double>;
    case PRIMSET_C64:
      return run_product<Complex<float>>;
    case PRIMSET_C128:
      return run_product<Complex<double>>;
    default:
      return nullptr;
  }
}

// Of fewer multiplications a generated kernel is the faster way.
constexpr uint64_t kLeastProducts = uint64_t{1} << 14;

}  // namespace

bool find_wide_product(const char* name, const primset_primitive_call& call,
                       primset_primitive* out) {
  if (std::string_view(name) != "dot_general") return false;
  const auto dims = primset_backend::contraction_dims(call);
  if (!dims || call.results[0].dtype != call.operands[0].dtype) return false;
  // A vector times a matrix is a generated reduction, which reads the matrix once.
  if (dims->m == 1 || dims->n == 1 || dims->n > std::numeric_limits<int32_t>::max()) return false;
  return blas_library() &&
         answer(out, run_of(call.operands[0].dtype), PRIMSET_PRIMITIVE_STRIDED, kLeastProducts);
}

}  // namespace primset_cpu
