#include <string_view>

#include "backends/cpu/pooling/max_gradients.h"
#include "backends/cpu/pooling/max_windows.h"
#include "backends/cpu/primitives.h"
#include "backends/cpu/wide_type.h"

namespace primset_cpu {
namespace {

template <std::vector<DimWindows> (*kWindows)(const primset_primitive_call&, const int64_t*),
          size_t (*kDims)(const primset_primitive_call&)>
primset_status* run_max(primset_stream stream, const void*, const primset_primitive_call* call) {
  return primset_backend::guarded("max_pool", [&]() -> primset_status* {
    const primset_tensor& x = call->operands[0];
    with_wide_type(x.dtype, [&]<typename T, typename Wide>(T, Wide) {
      MaxWindows<T, Wide>(*call, kWindows(*call, x.sizes + x.rank - kDims(*call)))
          .run(*stream->device->pool);
    });
    return nullptr;
  });
}

primset_status* run_gradients(primset_stream stream, const void*,
                              const primset_primitive_call* call) {
  return primset_backend::guarded("max_pool_backward", [&]() -> primset_status* {
    with_wide_type(call->operands[0].dtype, [&]<typename T, typename Wide>(T, Wide) {
      MaxGradients<T, Wide>(*call).run(*stream->device->pool);
    });
    return nullptr;
  });
}

size_t regular_dims(const primset_primitive_call& call) {
  return integers(call, "window").size();
}

size_t bounded_dims(const primset_primitive_call& call) {
  return (call.operand_count - 1) / 2;
}

// Windows of few rows are as fast as kernels, which fuse; places are found in 32 bits.
bool has_many_rows(const std::vector<int64_t>& window) {
  constexpr int64_t kRows = 4, kTaps = 16;
  const int64_t rows = product(window.data(), window.size() - 1);
  return rows >= kRows && rows * window.back() >= kTaps;
}

bool fits_places(const int64_t* sizes, size_t dims) {
  return product(sizes, dims) <= INT32_MAX;
}

bool is_regular_max(const primset_primitive_call& call) {
  const primset_tensor& x = call.operands[0];
  const auto window = integers(call, "window");
  return window.size() > 1 && has_many_rows(window) &&
         fits_places(x.sizes + x.rank - window.size(), window.size());
}

bool is_bounded_max(const primset_primitive_call& call) {
  const primset_tensor& x = call.operands[0];
  const auto reach = integers(call, "reach");
  const auto is_bound = [](const primset_tensor& t) {
    return t.rank == 1 && (t.dtype == PRIMSET_I32 || t.dtype == PRIMSET_I64);
  };
  return primset_backend::text(call, "reduce") == "max" && reach.size() > 1 &&
         has_many_rows(reach) && reach.size() == bounded_dims(call) &&
         std::all_of(call.operands + 1, call.operands + call.operand_count, is_bound) &&
         fits_places(x.sizes + x.rank - reach.size(), reach.size());
}

bool is_gradient(const primset_primitive_call& call) {
  const auto shape = integers(call, "shape");
  return call.operand_count == 2 && fits_places(shape.data(), shape.size());
}

struct PooledPrimitive {
  std::string_view name;
  bool (*is_ours)(const primset_primitive_call&);
  decltype(primset_primitive::run) run;
};

constexpr PooledPrimitive kPooledPrimitives[] = {
    {"max_pool", is_regular_max, run_max<regular_windows, regular_dims>},
    {"variable_window_reduce", is_bounded_max, run_max<bounded_windows, bounded_dims>},
    {"max_pool_backward", is_gradient, run_gradients},
};

}  // namespace

bool find_pooling(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  for (const PooledPrimitive& p : kPooledPrimitives) {
    if (p.name != name) continue;
    if (call.operand_count == 0 || !has_wide_type(call.operands[0].dtype) || !p.is_ours(call))
      return false;
    return answer(out, p.run, 0);
  }
  return false;
}

}  // namespace primset_cpu
