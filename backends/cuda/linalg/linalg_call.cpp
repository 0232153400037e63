#include "backends/cuda/linalg/linalg_call.h"

#include <utility>

namespace primset_cuda {

MatrixSizes::MatrixSizes(const primset_tensor& t)
    : rows(t.sizes[t.rank - 2]), columns(t.sizes[t.rank - 1]) {
  for (uint32_t d = 0; d + 2 < t.rank; ++d) count *= t.sizes[d];
}

std::vector<int64_t> strides_by_columns(const primset_tensor& t) {
  std::vector<int64_t> strides = StridedCopy::dense_strides(t);
  strides[t.rank - 2] = 1;
  strides[t.rank - 1] = t.sizes[t.rank - 2];
  return strides;
}

bool is_batch(const MatrixSizes& sizes, const LibraryTuning& tuning) {
  return sizes.count > 1 && sizes.least() <= tuning.linalg_batched_most;
}

LinalgCall::LinalgCall(primset_stream_t& stream_, const primset_primitive_call& call_,
                       const NumberType& type_)
    : stream(stream_),
      call(call_),
      type(type_),
      libraries_(*stream.device->linalg()),
      handles_(linalg_handles(stream)),
      kernels_(stream.device->kernels()),
      scratch_(stream) {}

DevicePointer LinalgCall::zeroed(int64_t count) {
  const DevicePointer at = scratch(4 * count);
  PRIMSET_CUDA(stream.cu, cuMemsetD8Async, at, 0, static_cast<size_t>(4 * count), stream.handle);
  return at;
}

DevicePointer LinalgCall::copied_by_columns(uint32_t i) {
  const MatrixSizes s(operand(i));
  const DevicePointer to = scratch(s.count * s.elements() * type.bytes());
  copy_strided(kernels_, stream,
               StridedCopy::from_tensor(operand(i), strides_by_columns(operand(i))), to,
               address_of(operand(i)), type.words);
  return to;
}

DevicePointer LinalgCall::copied(uint32_t i) {
  int64_t elements = 1;
  for (uint32_t d = 0; d < operand(i).rank; ++d) elements *= operand(i).sizes[d];
  const DevicePointer to = scratch(elements * type.bytes());
  copy_to(to, i);
  return to;
}

void LinalgCall::copy_to(DevicePointer to, uint32_t i) {
  copy_strided(kernels_, stream,
               StridedCopy::from_tensor(operand(i), StridedCopy::dense_strides(operand(i))), to,
               address_of(operand(i)), type.words);
}

void LinalgCall::copy_out(DevicePointer from, uint32_t i, const ScratchLayout& layout) {
  const primset_tensor& t = result(i);
  std::vector<int64_t> strides(t.rank);
  strides[t.rank - 1] = layout.column_stride;
  strides[t.rank - 2] = layout.row_stride;
  int64_t stride = layout.matrix_stride;
  for (size_t d = t.rank - 2; d-- > 0; stride *= t.sizes[d]) strides[d] = stride;
  const int64_t negated = layout.conjugated && type.is_complex() ? type.words - 1 : -1;
  copy_strided(kernels_, stream, StridedCopy::to_tensor(t, std::move(strides)), result_at(i), from,
               type.words, negated);
}

DevicePointer LinalgCall::addresses(DevicePointer first, int64_t stride_bytes, int64_t count) {
  const DevicePointer table = scratch(8 * count);
  kernels_.addresses(stream, table, first, stride_bytes, count);
  return table;
}

LinalgCall::Work LinalgCall::work(size_t device_bytes, size_t host_bytes) {
  return {pointer(scratch(static_cast<int64_t>(device_bytes))), device_bytes,
          handles_.host_memory(stream, host_bytes), host_bytes};
}

}  // namespace primset_cuda
