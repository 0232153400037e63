#include "backends/cuda/testing/native_call.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

#include "backends/common/element_bytes.h"
#include "backends/common/testing/bf16.h"

namespace primset_cuda_test {
namespace {

using primset::plugin::DeviceBuffer;
using primset::plugin::PluginDevice;
using primset::plugin::StreamHandle;
using primset_backend::element_bytes;

void store(uint32_t dtype, Number x, char* to) {
  const float f[2] = {static_cast<float>(x.real()), static_cast<float>(x.imag())};
  const double d[2] = {x.real(), x.imag()};
  if (dtype == PRIMSET_BF16) {
    const uint16_t half = primset_backend_test::to_bf16(f[0]);
    std::memcpy(to, &half, 2);
    return;
  }
  const bool wide = dtype == PRIMSET_F64 || dtype == PRIMSET_C128;
  std::memcpy(to, wide ? static_cast<const void*>(d) : f, element_bytes(dtype));
}

Number load(uint32_t dtype, const char* from) {
  float f[2] = {};
  double d[2] = {};
  int32_t i = 0;
  uint16_t half = 0;
  switch (dtype) {
    case PRIMSET_BF16:
      std::memcpy(&half, from, 2);
      return primset_backend_test::from_bf16(half);
    case PRIMSET_I32:
      std::memcpy(&i, from, 4);
      return i;
    case PRIMSET_F32:
    case PRIMSET_C64:
      std::memcpy(f, from, element_bytes(dtype));
      return {f[0], f[1]};
    default:
      std::memcpy(d, from, element_bytes(dtype));
      return {d[0], d[1]};
  }
}

Sizes dense_strides_of(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  return strides;
}

// Where each element lies, in row-major order.
std::vector<int64_t> places_of(const Sizes& sizes, const Sizes& strides) {
  std::vector<int64_t> places{0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t p : places)
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(p + i * strides[d]);
    places = std::move(next);
  }
  return places;
}

}  // namespace

Numbers random_values(uint32_t dtype, int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Numbers out(static_cast<size_t>(count));
  for (Number& x : out) {
    x = normal(random);
    if (is_complex_dtype(dtype)) x += Number(0, normal(random));
  }
  return out;
}

int64_t product_of(const Sizes& sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

uint32_t real_dtype(uint32_t dtype) {
  return dtype == PRIMSET_C64 ? PRIMSET_F32 : dtype == PRIMSET_C128 ? PRIMSET_F64 : dtype;
}
uint32_t complex_dtype(uint32_t dtype) {
  return dtype == PRIMSET_F32 ? PRIMSET_C64 : dtype == PRIMSET_F64 ? PRIMSET_C128 : dtype;
}
bool is_complex_dtype(uint32_t dtype) {
  return dtype == PRIMSET_C64 || dtype == PRIMSET_C128;
}
double tolerance(uint32_t dtype) {
  if (dtype == PRIMSET_BF16) return 4e-3;
  return real_dtype(dtype) == PRIMSET_F32 ? 1e-3 : 1e-10;
}

NativeCall& NativeCall::operand(uint32_t dtype, Sizes sizes, Numbers values, Sizes strides,
                                int64_t first) {
  if (strides.empty()) strides = dense_strides_of(sizes);
  operands_.push_back(
      {dtype, std::move(sizes), std::move(strides), first, std::move(values), DeviceBuffer()});
  return *this;
}

NativeCall& NativeCall::result(uint32_t dtype, Sizes sizes, Sizes strides, int64_t first) {
  if (strides.empty()) strides = dense_strides_of(sizes);
  results_.push_back({dtype, std::move(sizes), std::move(strides), first, {}, DeviceBuffer()});
  return *this;
}

NativeCall& NativeCall::flag(const char* attribute, bool value) {
  return number(attribute, value ? 1 : 0);
}

NativeCall& NativeCall::number(const char* attribute, int64_t value) {
  primset_attr a{};
  a.name = attribute;
  a.kind = PRIMSET_ATTR_INT;
  a.value.i = value;
  attributes_.push_back(a);
  return *this;
}

NativeCall& NativeCall::real(const char* attribute, double value) {
  primset_attr a{};
  a.name = attribute;
  a.kind = PRIMSET_ATTR_FLOAT;
  a.value.f = value;
  attributes_.push_back(a);
  return *this;
}

NativeCall& NativeCall::dims(const char* attribute, Sizes values) {
  lists_.push_back(std::move(values));
  primset_attr a{};
  a.name = attribute;
  a.kind = PRIMSET_ATTR_INTS;
  a.count = static_cast<uint32_t>(lists_.back().size());
  a.value.ints = lists_.back().data();
  attributes_.push_back(a);
  return *this;
}

primset_primitive_call& NativeCall::call() {
  const auto fill = [](std::deque<Tensor>& from, std::vector<primset_tensor>& to) {
    to.clear();
    for (const Tensor& t : from) {
      primset_tensor c{};
      c.struct_size = sizeof(c);
      c.dtype = t.dtype;
      c.buffer = t.memory.handle();
      c.offset = static_cast<uint64_t>(t.first) * element_bytes(t.dtype);
      c.rank = static_cast<uint32_t>(t.sizes.size());
      c.sizes = t.sizes.data();
      c.strides = t.strides.data();
      to.push_back(c);
    }
  };
  fill(operands_, operand_table_);
  fill(results_, result_table_);
  call_.struct_size = sizeof(call_);
  call_.operand_count = static_cast<uint32_t>(operand_table_.size());
  call_.operands = operand_table_.data();
  call_.result_count = static_cast<uint32_t>(result_table_.size());
  call_.results = result_table_.data();
  call_.attr_count = static_cast<uint32_t>(attributes_.size());
  call_.attrs = attributes_.data();
  return call_;
}

std::optional<primset_primitive> NativeCall::find(PluginDevice& device) {
  primset_primitive primitive{};
  primitive.struct_size = sizeof(primitive);
  primset_status* status =
      device.primitives()->find(device.handle(), name_.c_str(), &call(), &primitive);
  if (!status) return primitive;
  if (status->code != PRIMSET_UNSUPPORTED)
    primset::plugin::raise_status(status, device.name(), "find");
  status->release(status);
  return std::nullopt;
}

void NativeCall::make_memory(PluginDevice& device, const StreamHandle& stream) {
  for (Tensor& t : operands_) {
    const std::vector<int64_t> places = places_of(t.sizes, t.strides);
    const int64_t last = places.empty() ? 0 : *std::ranges::max_element(places);
    std::vector<char> bytes(static_cast<size_t>(t.first + last + 1) * element_bytes(t.dtype), 0x7f);
    for (size_t i = 0; i < places.size(); ++i)
      store(t.dtype, t.values.at(i),
            &bytes[static_cast<size_t>(t.first + places[i]) * element_bytes(t.dtype)]);
    t.memory = device.alloc(bytes.size());
    stream.copy_in(t.memory.handle(), 0, bytes.data(), bytes.size());
  }
  for (Tensor& t : results_)
    t.memory = device.alloc(std::max<size_t>(
        static_cast<size_t>(t.first + product_of(t.sizes)) * element_bytes(t.dtype), 1));
}

void NativeCall::enqueue(const StreamHandle& stream, const primset_primitive& primitive) {
  stream.run(primitive, call(), name_);
}

std::vector<Numbers> NativeCall::read_results(const StreamHandle& stream) {
  std::vector<Numbers> out;
  for (Tensor& t : results_) {
    const size_t width = element_bytes(t.dtype);
    std::vector<char> bytes(static_cast<size_t>(product_of(t.sizes)) * width);
    stream.copy_out(t.memory.handle(), static_cast<uint64_t>(t.first) * width, bytes.data(),
                    bytes.size());
    Numbers& numbers = out.emplace_back();
    for (const int64_t at : places_of(t.sizes, t.strides))
      numbers.push_back(load(t.dtype, &bytes[static_cast<size_t>(at) * width]));
  }
  stream.synchronize();  // an empty copy_out waits for nothing
  return out;
}

std::vector<Numbers> NativeCall::run(PluginDevice& device, const StreamHandle& stream) {
  const auto primitive = find(device);
  if (!primitive) throw std::runtime_error(name_ + ": left to kernels");
  make_memory(device, stream);
  try {
    enqueue(stream, *primitive);
  } catch (...) {
    stream.synchronize();  // what was given to it before still uses the memory
    throw;
  }
  return read_results(stream);
}

}  // namespace primset_cuda_test
