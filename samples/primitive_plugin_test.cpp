// The primitives of samples/primitive_plugin, called as the SDK calls them, through the validation
// layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>

#include <cmath>
#include <limits>

#include "sdk/runtime/plugin/loader.h"

namespace primset::plugin {
namespace {

using testing::ElementsAre;

struct Tensor {
  uint32_t dtype = PRIMSET_F32;
  std::vector<int64_t> sizes, strides;
  DeviceBuffer buffer;
  int64_t count = 1;

  primset_tensor get(bool with_buffer) const {
    primset_tensor t{};
    t.struct_size = sizeof(t);
    t.dtype = dtype;
    t.buffer = with_buffer ? buffer.handle() : nullptr;
    t.rank = static_cast<uint32_t>(sizes.size());
    t.sizes = sizes.data();
    t.strides = strides.data();
    return t;
  }
};

struct Ints {
  const char* name;
  std::vector<int64_t> values;
};

class PrimitivePlugin : public testing::Test {
 protected:
  PrimitivePlugin() {
    LoaderOptions options;
    options.path = {std::filesystem::path(PRIMSET_TEST_PLUGIN_DIR)};
    options.validation = ValidationOptions{};
    registry = std::make_unique<Registry>(std::move(options));
    device = registry->open("primitive:0");
    stream = device->create_stream();
  }
  ~PrimitivePlugin() override {
    EXPECT_THAT(registry->plugin("primitive")->validation()->findings(), testing::IsEmpty());
  }

  Tensor tensor(std::vector<int64_t> sizes, uint32_t dtype = PRIMSET_F32) {
    Tensor t;
    t.dtype = dtype;
    t.strides.resize(sizes.size());
    for (size_t d = sizes.size(); d-- > 0;) {
      t.strides[d] = t.count;
      t.count *= sizes[d];
    }
    t.sizes = std::move(sizes);
    const uint64_t bytes = static_cast<uint64_t>(t.count) * (dtype == PRIMSET_I64 ? 8 : 4);
    t.buffer = device->alloc(std::max<uint64_t>(bytes, 1));
    return t;
  }
  template <typename T>
  Tensor tensor(std::vector<int64_t> sizes, const std::vector<T>& values) {
    Tensor t = tensor(std::move(sizes), sizeof(T) == 8 ? PRIMSET_I64 : PRIMSET_F32);
    stream.copy_in(t.buffer.handle(), 0, values.data(), values.size() * sizeof(T));
    return t;
  }
  template <typename T = float>
  std::vector<T> read(const Tensor& t) {
    std::vector<T> values(static_cast<size_t>(t.count));
    stream.copy_out(t.buffer.handle(), 0, values.data(), values.size() * sizeof(T));
    return values;
  }

  // Finds and runs; throws what find throws.
  void run(const char* name, const std::vector<const Tensor*>& operands, const Tensor& result,
           const std::vector<Ints>& ints = {}) {
    std::vector<primset_attr> attrs;
    for (const Ints& list : ints) {
      primset_attr a{};
      a.name = list.name;
      a.kind = PRIMSET_ATTR_INTS;
      a.count = static_cast<uint32_t>(list.values.size());
      a.value.ints = list.values.data();
      attrs.push_back(a);
    }
    primset_primitive primitive{};
    for (bool with_buffers : {false, true}) {
      std::vector<primset_tensor> in;
      for (const Tensor* t : operands) in.push_back(t->get(with_buffers));
      const primset_tensor out = result.get(with_buffers);
      primset_primitive_call call{};
      call.struct_size = sizeof(call);
      call.operand_count = static_cast<uint32_t>(in.size());
      call.operands = in.data();
      call.result_count = 1;
      call.results = &out;
      call.attr_count = static_cast<uint32_t>(attrs.size());
      call.attrs = attrs.data();
      if (with_buffers) return stream.run(primitive, call, name);
      primitive.struct_size = sizeof(primitive);
      check(device->primitives()->find(device->handle(), name, &call, &primitive), device->name(),
            name);
    }
  }

  std::unique_ptr<Registry> registry;
  std::shared_ptr<PluginDevice> device;
  StreamHandle stream;
};

TEST_F(PrimitivePlugin, Elementwise) {
  const float nan = std::nanf("");
  const Tensor x = tensor<float>({4}, {1, -2, nan, 4}), y = tensor<float>({4}, {3, 5, 7, nan});
  const Tensor z = tensor({4});
  run("add", {&x, &y}, z);
  EXPECT_EQ(read(z)[1], 3);
  run("mul", {&x, &y}, z);
  EXPECT_EQ(read(z)[1], -10);
  run("sub", {&x, &y}, z);
  EXPECT_EQ(read(z)[0], -2);
  run("neg", {&x}, z);
  EXPECT_EQ(read(z)[3], -4);
  run("max", {&x, &y}, z);
  const std::vector<float> max = read(z);
  EXPECT_EQ(max[0], 3);
  EXPECT_TRUE(std::isnan(max[2]) && std::isnan(max[3]));
}

TEST_F(PrimitivePlugin, Convert) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = tensor<float>({4}, {-1.9f, 2.5f, inf, std::nanf("")});
  const Tensor i = tensor({4}, PRIMSET_I64), z = tensor({4});
  run("convert", {&x}, i);
  EXPECT_THAT(read<int64_t>(i), ElementsAre(-1, 2, testing::_, testing::_));
  run("convert", {&i}, z);
  EXPECT_EQ(read(z)[0], -1);
}

TEST_F(PrimitivePlugin, Shape) {
  const Tensor x = tensor<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor t = tensor({3, 2}), b = tensor({2, 2, 3}), r = tensor({6});
  run("transpose", {&x}, t, {{"permutation", {1, 0}}});
  EXPECT_THAT(read(t), ElementsAre(0, 3, 1, 4, 2, 5));
  run("reshape", {&x}, r);
  EXPECT_THAT(read(r), ElementsAre(0, 1, 2, 3, 4, 5));
  run("broadcast_in_dim", {&x}, b, {{"dims", {1, 2}}});
  EXPECT_THAT(read(b), ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
  const Tensor column = tensor<float>({2, 1}, {7, 8}), wide = tensor({2, 3});
  run("broadcast_in_dim", {&column}, wide, {{"dims", {0, 1}}});
  EXPECT_THAT(read(wide), ElementsAre(7, 7, 7, 8, 8, 8));
}

TEST_F(PrimitivePlugin, Sum) {
  const Tensor x = tensor<float>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Tensor middle = tensor({2, 2}), all = tensor({}), ends = tensor({3});
  run("reduce_sum", {&x}, middle, {{"dims", {1}}});
  EXPECT_THAT(read(middle), ElementsAre(6, 9, 24, 27));
  run("reduce_sum", {&x}, all, {{"dims", {0, 1, 2}}});
  EXPECT_THAT(read(all), ElementsAre(66));
  run("reduce_sum", {&x}, ends, {{"dims", {0, 2}}});
  EXPECT_THAT(read(ends), ElementsAre(14, 22, 30));
}

TEST_F(PrimitivePlugin, MatrixProduct) {
  const Tensor a = tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = tensor<float>({3, 2}, {1, 0, 0, 1, 2, 2}), c = tensor({2, 2});
  run("dot_general", {&a, &b}, c, {{"a_contract", {1}}, {"b_contract", {0}}});
  EXPECT_THAT(read(c), ElementsAre(7, 8, 16, 17));
  const Tensor t = tensor<float>({3, 2}, {1, 4, 2, 5, 3, 6});
  run("dot_general", {&t, &b}, c, {{"a_contract", {0}}, {"b_contract", {0}}});
  EXPECT_THAT(read(c), ElementsAre(7, 8, 16, 17));
}

TEST_F(PrimitivePlugin, TheRestIsRefused) {
  const Tensor x = tensor({4}), i = tensor({4}, PRIMSET_I64);
  for (const char* name : {"sin", "add"}) {
    try {
      run(name, {&i}, x);
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::not_implemented);
    }
  }
}

}  // namespace
}  // namespace primset::plugin
