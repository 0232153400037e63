#include "backends/cuda/testing/fake_dnn_attention.h"

#include <cmath>
#include <limits>
#include <utility>

namespace fake_toolkit {
namespace {

using primset_cuda::DnnPointwiseMode;
using primset_cuda::DnnReductionMode;
using enum primset_cuda::DnnAttribute;

int64_t elements_of(const FakeTensor& t) {
  int64_t n = 1;
  for (const int64_t size : t.sizes) n *= size;
  return n;
}

size_t row_major(const FakeTensor& t, const Index& i) {
  int64_t at = 0;
  for (size_t d = 0; d < 5; ++d) at = at * t.sizes[d] + i[d];
  return static_cast<size_t>(at);
}

// What is in no memory has its type's precision all the same.
double rounded(DnnType type, double value) {
  const auto narrow = static_cast<float>(value);
  if (type == DnnType::bf16)
    return primset_backend_test::from_bf16(primset_backend_test::to_bf16(narrow));
  return type == DnnType::f32 ? narrow : value;
}

std::vector<FakeTensor> tensors_of(const Description& operation) {
  std::vector<FakeTensor> out;
  for (const auto a : {matmul_operation_a, matmul_operation_b, matmul_operation_c,
                       pointwise_operation_x, pointwise_operation_b, pointwise_operation_condition,
                       pointwise_operation_y, reduction_operation_x, reduction_operation_y})
    if (operation.has(a)) out.emplace_back(operation.part(a));
  return out;
}

}  // namespace

bool is_attention(const Description& first) {
  return first.kind == DnnKind::matmul_operation;
}

bool has_attention(const std::vector<Known>& operations) {
  const Description &scores = *operations.front(), &values = *operations.back();
  const FakeTensor q(scores.part(matmul_operation_a)), k(scores.part(matmul_operation_b)),
      v(values.part(matmul_operation_b)), y(values.part(matmul_operation_c));
  return q.strides[3] == 1 && k.strides[2] == 1 && v.strides[3] == 1 && y.strides[3] == 1 &&
         q.sizes[3] % 8 == 0 && v.sizes[3] % 8 == 0;
}

FakeAttention::FakeAttention(Call& call, std::vector<Known> operations, Addresses at)
    : operations_(std::move(operations)), at_(std::move(at)) {
  for (const Known& operation : operations_)
    for (const FakeTensor& t : tensors_of(*operation)) {
      if (t.is_virtual) continue;
      call.needs(at_.contains(t.id), "an address for each tensor");
      if (call.status != 0) return;
      void* const address = at_.at(t.id);
      if (t.is_by_value)
        numbers_[t.id] = *static_cast<const float*>(address);
      else
        call.reads(address, t.bytes())
            .needs(reinterpret_cast<uintptr_t>(address) % 16 == 0, "addresses as aligned as said");
    }
}

void FakeAttention::run() {
  for (const Known& operation : operations_) {
    if (operation->kind == DnnKind::matmul_operation)
      multiply(*operation);
    else if (operation->kind == DnnKind::reduction_operation)
      reduce(*operation);
    else
      apply(*operation);
  }
}

double FakeAttention::load(const FakeTensor& t, Index i) const {
  if (t.is_by_value) return numbers_.at(t.id);
  for (size_t d = 0; d < 5; ++d)
    if (t.sizes[d] == 1) i[d] = 0;
  return t.is_virtual ? virtual_.at(t.id)[row_major(t, i)] : t.load(at_.at(t.id), i);
}

void FakeAttention::store(const FakeTensor& t, const Index& i, double value) {
  if (!t.is_virtual) return t.store(at_.at(t.id), i, value);
  auto& values = virtual_[t.id];
  values.resize(static_cast<size_t>(elements_of(t)));
  values[row_major(t, i)] = rounded(t.type, value);
}

void FakeAttention::multiply(const Description& operation) {
  const FakeTensor a(operation.part(matmul_operation_a)), b(operation.part(matmul_operation_b)),
      to(operation.part(matmul_operation_c));
  each(to.sizes, [&](const Index& i) {
    double sum = 0;
    for (int64_t k = 0; k < a.sizes[3]; ++k)
      sum += load(a, {i[0], i[1], i[2], k, 0}) * load(b, {i[0], i[1], k, i[3], 0});
    store(to, i, sum);
  });
}

void FakeAttention::reduce(const Description& operation) {
  const FakeTensor x(operation.part(reduction_operation_x)),
      to(operation.part(reduction_operation_y));
  const bool greatest =
      operation.part(reduction_operation_reduction).one<DnnReductionMode>(reduction_mode) ==
      DnnReductionMode::max;
  each(to.sizes, [&](Index i) {
    double result = greatest ? -std::numeric_limits<double>::infinity() : 0;
    for (i[3] = 0; i[3] < x.sizes[3]; ++i[3]) {
      const double value = load(x, i);
      result = greatest ? std::max(result, value) : result + value;
    }
    i[3] = 0;
    store(to, i, result);
  });
}

void FakeAttention::apply(const Description& operation) {
  const Description& how = operation.part(pointwise_operation_mode);
  const auto mode = how.one<DnnPointwiseMode>(pointwise_mode);
  const FakeTensor x(operation.part(pointwise_operation_x)),
      b(operation.part(pointwise_operation_b)),
      condition(operation.part(pointwise_operation_condition)),
      to(operation.part(pointwise_operation_y));
  const auto axis = static_cast<size_t>(how.one<int64_t>(pointwise_axis));
  const auto value = [&](const Index& i) -> double {
    switch (mode) {
      case DnnPointwiseMode::add:
        return load(x, i) + load(b, i);
      case DnnPointwiseMode::subtract:
        return load(x, i) - load(b, i);
      case DnnPointwiseMode::multiply:
        return load(x, i) * load(b, i);
      case DnnPointwiseMode::divide:
        return load(x, i) / load(b, i);
      case DnnPointwiseMode::exp:
        return std::exp(load(x, i));
      case DnnPointwiseMode::log:
        return std::log(load(x, i));
      case DnnPointwiseMode::greater_or_equal:
        return load(x, i) >= load(b, i) ? 1 : 0;
      case DnnPointwiseMode::index:
        return static_cast<double>(i[axis]);
      case DnnPointwiseMode::select:
        return load(condition, i) != 0 ? load(x, i) : load(b, i);
    }
    return std::numeric_limits<double>::quiet_NaN();
  };
  each(to.sizes, [&](const Index& i) { store(to, i, value(i)); });
}

}  // namespace fake_toolkit
