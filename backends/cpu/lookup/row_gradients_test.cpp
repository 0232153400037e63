// Gradients of rows that many, one or no indices name, by several threads, against sums one by one.
#include "backends/cpu/lookup/row_gradients.h"

#include <gtest/gtest.h>

#include <random>

namespace primset_cpu {
namespace {

struct Lookups {
  std::vector<int64_t> indices;
  int64_t rows, columns, padding;
};

template <typename T, typename Wide>
std::vector<T> found(const Lookups& l, std::vector<T> grad) {
  ThreadPool pool(3);
  std::vector<int64_t> indices = l.indices;
  std::vector<T> out(static_cast<size_t>(l.rows * l.columns), T(7));
  primset_buffer_t buffers[3] = {};
  const auto count = static_cast<int64_t>(indices.size());
  const int64_t grad_sizes[] = {count, l.columns}, sizes[] = {l.rows, l.columns};
  const int64_t strides[] = {l.columns, 1}, one = 1;
  const auto tensor = [&](size_t i, void* data, uint32_t rank, const int64_t* sizes,
                          const int64_t* strides, uint32_t dtype) {
    buffers[i].address = static_cast<char*>(data);
    return primset_tensor{sizeof(primset_tensor), dtype, &buffers[i], 0, rank, 0, sizes, strides};
  };
  const primset_tensor operands[] = {tensor(0, grad.data(), 2, grad_sizes, strides, 0),
                                     tensor(1, indices.data(), 1, &count, &one, PRIMSET_I64)};
  const primset_tensor result = tensor(2, out.data(), 2, sizes, strides, 0);
  primset_attr padding{"padding_idx", PRIMSET_ATTR_INT, 1, {}};
  padding.value.i = l.padding;
  primset_primitive_call call{};
  call.operands = operands, call.results = &result;
  call.attrs = &padding, call.attr_count = 1;
  RowGradients<T, Wide>(call).run(pool);
  return out;
}

template <typename T>
std::vector<float> expected(const Lookups& l, const std::vector<T>& grad) {
  std::vector<float> sums(static_cast<size_t>(l.rows * l.columns));
  for (size_t i = 0; i < grad.size(); ++i) {
    const auto columns = static_cast<size_t>(l.columns);
    const int64_t row = l.indices[i / columns];
    if (row != l.padding && row >= 0 && row < l.rows)
      sums[static_cast<size_t>(row) * columns + i % columns] += float_of(grad[i]);
  }
  return sums;
}

Lookups lookups(int64_t count, int64_t named, int64_t rows, int64_t columns, int64_t padding) {
  std::mt19937_64 random(7);
  Lookups l{{}, rows, columns, padding};
  for (int64_t i = 0; i < count; ++i)
    l.indices.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(named)));
  return l;
}

template <typename T>
void expect_sums(const Lookups& l) {
  std::mt19937_64 random(8);
  std::vector<T> grad(l.indices.size() * static_cast<size_t>(l.columns));
  for (T& g : grad) put(static_cast<float>(random() % 2001) / 1000 - 1, g);
  const std::vector<float> want = expected(l, grad);
  const std::vector<T> got = found<T, float>(l, grad);
  for (size_t i = 0; i < want.size(); ++i) {
    T rounded;
    put(want[i], rounded);
    ASSERT_EQ(got[i], rounded) << i << " of " << l.rows << " x " << l.columns;
  }
}

TEST(RowGradients, AreSumsInTheOrderOfIndices) {
  for (const Lookups& l :
       {lookups(100, 40, 60, 5, -1), lookups(300, 2, 2, 200, 1), lookups(1000, 1, 1, 70, -1),
        lookups(3, 9, 9, 1, 4), lookups(0, 1, 4, 3, -1), lookups(50, 80, 60, 33, 2)}) {
    expect_sums<float>(l);
    expect_sums<uint16_t>(l);
  }
}

}  // namespace
}  // namespace primset_cpu
