// Which calls on sparse matrices run over loops of their own: by element type and type of indices.
#include <string_view>

#include "backends/cpu/primitives.h"
#include "backends/cpu/sparse/coo_coalesce.h"
#include "backends/cpu/sparse/row_numbers.h"
#include "backends/cpu/sparse/sampled_matmul.h"
#include "backends/cpu/sparse/sparse_matmul.h"
#include "backends/cpu/sparse/sparse_sparse_matmul.h"

namespace primset_cpu {
namespace {

using primset_backend::guarded;

using SparseRun = primset_status* (*)(primset_stream, const void*, const primset_primitive_call*);

template <typename Call>
primset_status* run_sparse(primset_stream stream, const void*, const primset_primitive_call* call) {
  return guarded("sparse", [&]() -> primset_status* {
    Call(*call).run(*stream->device->pool);
    return nullptr;
  });
}

template <template <typename, typename> typename Call, typename Index>
SparseRun sparse_run_of_type(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_F32:
      return run_sparse<Call<float, Index>>;
    case PRIMSET_F64:
      return run_sparse<Call<double, Index>>;
    // Integers wrap: as unsigned ones.
    case PRIMSET_BOOL:
    case PRIMSET_I8:
    case PRIMSET_U8:
      return run_sparse<Call<uint8_t, Index>>;
    case PRIMSET_I16:
      return run_sparse<Call<uint16_t, Index>>;
    case PRIMSET_I32:
      return run_sparse<Call<uint32_t, Index>>;
    case PRIMSET_I64:
      return run_sparse<Call<uint64_t, Index>>;
    case PRIMSET_C64:
      return run_sparse<Call<Complex<float>, Index>>;
    case PRIMSET_C128:
      return run_sparse<Call<Complex<double>, Index>>;
    default:
      return nullptr;
  }
}

template <template <typename, typename> typename Call>
SparseRun sparse_run_of_types(uint32_t dtype, uint32_t index) {
  return index == PRIMSET_I32 ? sparse_run_of_type<Call, int32_t>(dtype)
                              : sparse_run_of_type<Call, int64_t>(dtype);
}

template <int64_t step>
SparseRun counts_run_of_types(uint32_t, uint32_t index) {
  return index == PRIMSET_I32 ? run_sparse<CountsBelowCall<int32_t, step>>
                              : run_sparse<CountsBelowCall<int64_t, step>>;
}

struct SparsePrimitive {
  std::string_view name;
  uint32_t operands, results;
  uint32_t values;                          // the operand whose dtype counts
  std::initializer_list<uint32_t> columns;  // the operands that are columns, of one type
  SparseRun (*find)(uint32_t dtype, uint32_t index);
};

const SparsePrimitive kSparsePrimitives[] = {
    {"coo_coalesce", 2, 3, 1, {0}, sparse_run_of_types<CooCoalesceCall>},
    {"compress_rows", 1, 1, 0, {0}, counts_run_of_types<0>},
    {"expand_rows", 1, 1, 0, {0}, counts_run_of_types<1>},
    {"sparse_matmul", 4, 1, 0, {2}, sparse_run_of_types<SparseMatmulCall>},
    {"sampled_matmul", 4, 1, 0, {3}, sparse_run_of_types<SampledMatmulCall>},
    {"sparse_sparse_matmul", 6, 3, 0, {2, 5}, sparse_run_of_types<SparseSparseMatmulCall>},
};

}  // namespace

bool find_sparse_primitive(const char* name, const primset_primitive_call& call,
                           primset_primitive* out) {
  for (const SparsePrimitive& p : kSparsePrimitives) {
    if (name != p.name || call.operand_count != p.operands || call.result_count != p.results)
      continue;
    const uint32_t index = call.operands[*p.columns.begin()].dtype;
    for (const uint32_t i : p.columns)
      if (call.operands[i].dtype != index) return false;
    return answer(out, p.find(call.operands[p.values].dtype, index));
  }
  return false;
}

}  // namespace primset_cpu
