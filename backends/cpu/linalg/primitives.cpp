// Which calls of linear algebra run over a BLAS.
#include <limits>
#include <string_view>

#include "backends/cpu/cholesky.h"
#include "backends/cpu/lu.h"
#include "backends/cpu/primitives.h"
#include "backends/cpu/triangular_solve.h"

namespace primset_cpu {
namespace {

using primset_backend::guarded;
using primset_backend::make_status;

using Run = primset_status* (*)(primset_stream, const void*, const primset_primitive_call*);

template <template <typename> typename Call>
primset_status* run(primset_stream stream, const void*, const primset_primitive_call* call) {
  return guarded("linalg", [&]() -> primset_status* {
    ThreadPool& pool = *stream->device->pool;
    switch (call->operands[0].dtype) {
      case PRIMSET_F32:
        Call<float>(*call).run(pool);
        break;
      case PRIMSET_F64:
        Call<double>(*call).run(pool);
        break;
      case PRIMSET_C64:
        Call<Complex<float>>(*call).run(pool);
        break;
      case PRIMSET_C128:
        Call<Complex<double>>(*call).run(pool);
        break;
      default:
        return make_status(PRIMSET_INVALID_ARGUMENT, "linalg: find refuses this call");
    }
    return nullptr;
  });
}

struct Primitive {
  std::string_view name;
  uint32_t operands, results;
  Run run;
};

constexpr Primitive kPrimitives[] = {
    {"lu", 1, 4, run<LuCall>},
    {"cholesky", 1, 2, run<CholeskyCall>},
    {"triangular_solve", 2, 1, run<TriangularSolveCall>},
};

bool fits(const primset_tensor& t) {
  const bool known = t.dtype == PRIMSET_F32 || t.dtype == PRIMSET_F64 || t.dtype == PRIMSET_C64 ||
                     t.dtype == PRIMSET_C128;
  if (!known || t.rank < 2) return false;
  for (uint32_t d = t.rank - 2; d < t.rank; ++d) {
    const int64_t extent = std::max<int64_t>(t.sizes[d], 1) * std::max<int64_t>(t.strides[d], 1);
    if (extent > std::numeric_limits<int32_t>::max()) return false;
  }
  return true;
}

}  // namespace

bool find_linalg_primitive(const char* name, const primset_primitive_call& call,
                           primset_primitive* out) {
  for (const Primitive& p : kPrimitives) {
    if (name != p.name || call.operand_count != p.operands || call.result_count != p.results)
      continue;
    for (uint32_t i = 0; i < p.operands; ++i)
      if (!fits(call.operands[i])) return false;
    if (!blas_library()) return false;
    out->flags = PRIMSET_PRIMITIVE_STRIDED;
    out->run = p.run;
    out->data = nullptr;
    out->least_products = 0;
    return true;
  }
  return false;
}

}  // namespace primset_cpu
