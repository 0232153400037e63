// Which calls of linear algebra run over a BLAS, and over LAPACK.
#include <limits>
#include <string_view>

#include "backends/cpu/linalg/cholesky.h"
#include "backends/cpu/linalg/eig.h"
#include "backends/cpu/linalg/eigh.h"
#include "backends/cpu/linalg/ldl.h"
#include "backends/cpu/linalg/lu.h"
#include "backends/cpu/linalg/qr.h"
#include "backends/cpu/linalg/svd.h"
#include "backends/cpu/linalg/triangular_solve.h"
#include "backends/cpu/primitives.h"

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
  bool by_lapack;  // which takes no empty matrices
};

constexpr Primitive kPrimitives[] = {
    {"lu", 1, 4, run<LuCall>, false},
    {"cholesky", 1, 2, run<CholeskyCall>, false},
    {"triangular_solve", 2, 1, run<TriangularSolveCall>, false},
    {"qr", 1, 2, run<QrCall>, true},
    {"householder_product", 2, 1, run<HouseholderProductCall>, true},
    {"apply_reflectors", 3, 1, run<ApplyReflectorsCall>, true},
    {"svd", 1, 4, run<SvdCall>, true},
    {"eigh", 1, 3, run<EighCall>, true},
    {"eig", 1, 3, run<EigCall>, true},
    {"ldl_factor", 1, 3, run<LdlFactorCall>, true},
    {"ldl_solve", 3, 1, run<LdlSolveCall>, true},
};

bool is_number(uint32_t dtype) {
  return dtype == PRIMSET_F32 || dtype == PRIMSET_F64 || dtype == PRIMSET_C64 ||
         dtype == PRIMSET_C128;
}

// The last two dims of a matrix, or the one of tau and pivots.
bool fits(const primset_tensor& t) {
  for (uint32_t d = t.rank < 2 ? 0 : t.rank - 2; d < t.rank; ++d) {
    const int64_t extent = std::max<int64_t>(t.sizes[d], 1) * std::max<int64_t>(t.strides[d], 1);
    if (extent > std::numeric_limits<int32_t>::max()) return false;
  }
  return true;
}

bool has_elements(const primset_tensor& t) {
  return std::all_of(t.sizes, t.sizes + t.rank, [](int64_t size) { return size > 0; });
}

bool takes(const Primitive& p, const primset_primitive_call& call) {
  const primset_tensor& a = call.operands[0];
  if (!is_number(a.dtype) || a.rank < 2) return false;
  for (uint32_t i = 0; i < p.operands; ++i) {
    if (!fits(call.operands[i])) return false;
    if (p.by_lapack && !has_elements(call.operands[i])) return false;
  }
  return p.by_lapack ? lapack_library() != nullptr : blas_library() != nullptr;
}

}  // namespace

bool find_linalg_primitive(const char* name, const primset_primitive_call& call,
                           primset_primitive* out) {
  for (const Primitive& p : kPrimitives) {
    if (name != p.name || call.operand_count != p.operands || call.result_count != p.results)
      continue;
    if (!takes(p, call)) return false;
    return answer(out, p.run);
  }
  return false;
}

}  // namespace primset_cpu
