#include "backends/cuda/linalg/primitives.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "backends/cuda/linalg/linalg_call.h"

namespace primset_cuda {
namespace {

// Whether matrices of these sizes are computed at once when there are many.
using TakesBatch = bool (*)(const MatrixSizes& sizes, const CusolverApi& solver);

struct LinalgPrimitive {
  const char* name;
  uint32_t operands, results;
  void (*run)(LinalgCall& call);
  TakesBatch takes_batch;
  bool (*has_functions)(const CusolverApi& solver);
};

bool never(const MatrixSizes&, const CusolverApi&) {
  return false;
}
bool always(const MatrixSizes&, const CusolverApi&) {
  return true;
}
bool of_square_ones(const MatrixSizes& s, const CusolverApi&) {
  return s.rows == s.columns;
}
bool of_tiny_ones(const MatrixSizes& s, const CusolverApi&) {
  return s.most() <= kMostBatchedRotations;
}
bool of_tiny_ones_or_new_libraries(const MatrixSizes& s, const CusolverApi& solver) {
  return s.most() <= kMostBatchedRotations || solver.has_batched_syev();
}
bool any_library(const CusolverApi&) {
  return true;
}
bool library_with_geev(const CusolverApi& solver) {
  return solver.has_geev();
}

constexpr LinalgPrimitive kLinalgPrimitives[] = {
    {"lu", 1, 4, run_lu, of_square_ones, any_library},
    {"cholesky", 1, 2, run_cholesky, always, any_library},
    {"triangular_solve", 2, 1, run_triangular_solve, always, any_library},
    {"qr", 1, 2, run_qr, always, any_library},
    {"householder_product", 2, 1, run_householder_product, never, any_library},
    {"apply_reflectors", 3, 1, run_apply_reflectors, never, any_library},
    {"svd", 1, 4, run_svd, of_tiny_ones, any_library},
    {"eigh", 1, 3, run_eigh, of_tiny_ones_or_new_libraries, any_library},
    {"eig", 1, 3, run_eig, never, library_with_geev},
};

primset_status* run_linalg(primset_stream stream, const void* data,
                           const primset_primitive_call* call) {
  const auto& primitive = *static_cast<const LinalgPrimitive*>(data);
  return guarded(primitive.name, [&] {
    const ContextScope scope(*stream->device);
    const auto type = number_type(call->operands[0].dtype);
    if (!type || !stream->device->linalg())
      throw BackendError(PRIMSET_INVALID_ARGUMENT, "find refuses this call");
    try {
      LinalgCall running(*stream, *call, *type);
      primitive.run(running);
    } catch (const BackendError& e) {
      if (e.code() == PRIMSET_INTERNAL) throw_if_lost(*stream, primitive.name);
      throw;
    }
  });
}

// What the libraries and copies count in 32 bits.
bool fits(const primset_tensor& t) {
  if (!std::all_of(t.sizes, t.sizes + t.rank, [](int64_t size) { return size > 0; })) return false;
  for (uint32_t d = t.rank < 2 ? 0 : t.rank - 2; d < t.rank; ++d)
    if (t.sizes[d] * std::max<int64_t>(t.strides[d], 1) > std::numeric_limits<int32_t>::max())
      return false;
  return StridedCopy::from_tensor(t, StridedCopy::dense_strides(t)).launches() <=
             kMostCopyLaunches &&
         (t.rank < 2 ||
          StridedCopy::from_tensor(t, strides_by_columns(t)).launches() <= kMostCopyLaunches);
}

// Many matrices one after another take longer than kernels that compute them side by side.
bool are_few_calls(const LinalgPrimitive& p, const MatrixSizes& s, const CusolverApi& solver,
                   const LibraryTuning& tuning) {
  if (is_batch(s, tuning) && p.takes_batch(s, solver))
    return s.count <= std::numeric_limits<int32_t>::max();
  return s.count <= tuning.linalg_most_calls;
}

bool takes(primset_device_t& device, const LinalgPrimitive& p, const primset_primitive_call& call) {
  const primset_tensor& a = call.operands[0];
  if (!number_type(a.dtype) || a.rank < 2) return false;
  for (uint32_t i = 0; i < p.operands; ++i)
    if (!fits(call.operands[i])) return false;
  const ContextScope scope(device);
  const LinalgLibraries* libraries = device.linalg();
  if (!libraries || !p.has_functions(libraries->solver())) return false;
  if (!are_few_calls(p, MatrixSizes(a), libraries->solver(), device.tuning)) return false;
  device.kernels();
  return true;
}

}  // namespace

bool find_linalg(primset_device_t& device, const char* name, const primset_primitive_call& call,
                 primset_primitive* out) {
  for (const LinalgPrimitive& p : kLinalgPrimitives) {
    if (std::string_view(name) != p.name || call.operand_count != p.operands ||
        call.result_count != p.results)
      continue;
    if (!takes(device, p, call)) return false;
    out->flags = PRIMSET_PRIMITIVE_STRIDED | PRIMSET_PRIMITIVE_UNRECORDED;
    out->run = run_linalg;
    out->data = &p;
    if (out->struct_size >= sizeof(primset_primitive))
      out->least_products = static_cast<uint64_t>(device.tuning.linalg_elements);
    return true;
  }
  return false;
}

}  // namespace primset_cuda
