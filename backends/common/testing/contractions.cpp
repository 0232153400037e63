#include "backends/common/testing/contractions.h"

#include <primset/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "backends/common/element_bytes.h"
#include "backends/common/testing/bf16.h"

namespace primset_backend_test {
namespace {

using primset::plugin::DeviceBuffer;
using primset::plugin::PluginDevice;
using primset::plugin::StreamHandle;
using primset_backend::element_bytes;

const TestContraction kContractions[] = {
    {"plain", {{5, 7}, {7, 1}, {1}, {}}, {{7, 3}, {3, 1}, {0}, {}}, 1, 5, 3, 7},
    {"by_fours", {{8, 20}, {20, 1}, {1}, {}}, {{20, 12}, {1, 20}, {0}, {}}, 1, 8, 12, 20},
    {"blocks", {{300, 70}, {70, 1}, {1}, {}}, {{70, 530}, {530, 1}, {0}, {}}, 1, 300, 530, 70},
    {"transposed", {{65, 33}, {33, 1}, {0}, {}}, {{40, 65}, {65, 1}, {1}, {}}, 1, 33, 40, 65},
    {"long", {{16, 4000}, {4000, 1}, {1}, {}}, {{4000, 16}, {1, 4000}, {0}, {}}, 1, 16, 16, 4000},
    {"batched", {{3, 4, 6}, {24, 6, 1}, {2}, {0}}, {{3, 6, 5}, {30, 5, 1}, {1}, {0}}, 3, 4, 5, 6},
    {"one_b", {{3, 4, 6}, {24, 6, 1}, {2}, {0}}, {{3, 6, 5}, {0, 5, 1}, {1}, {0}}, 3, 4, 5, 6},
    {"heads",
     {{2, 3, 5, 8}, {120, 8, 24, 1}, {3}, {0, 1}},
     {{2, 3, 7, 8}, {168, 8, 24, 1}, {3}, {0, 1}},
     6,
     5,
     7,
     8},
    {"batch_last",
     {{4, 6, 3}, {18, 3, 1}, {1}, {2}},
     {{6, 5, 3}, {15, 3, 1}, {0}, {2}},
     3,
     4,
     5,
     6},
    {"two_contracted",
     {{2, 3, 4}, {12, 4, 1}, {1, 2}, {}},
     {{3, 4, 5}, {20, 5, 1}, {0, 1}, {}},
     1,
     2,
     5,
     12},
    {"swapped_contracted",
     {{2, 3, 4}, {12, 4, 1}, {2, 1}, {}},
     {{4, 3, 5}, {15, 5, 1}, {0, 1}, {}},
     1,
     2,
     5,
     12},
    {"longer_rows", {{5, 7}, {20, 1}, {1}, {}}, {{7, 3}, {9, 1}, {0}, {}}, 1, 5, 3, 7},
    {"gaps", {{5, 7}, {20, 2}, {1}, {}}, {{7, 3}, {9, 3}, {0}, {}}, 1, 5, 3, 7},
    {"broadcast", {{5, 7}, {0, 1}, {1}, {}}, {{7, 3}, {1, 0}, {0}, {}}, 1, 5, 3, 7},
    {"row", {{1, 9}, {9, 1}, {1}, {}}, {{9, 4}, {4, 1}, {0}, {}}, 1, 1, 4, 9},
    {"column", {{6, 9}, {9, 1}, {1}, {}}, {{9, 1}, {1, 1}, {0}, {}}, 1, 6, 1, 9},
    {"outer", {{4, 1}, {1, 1}, {1}, {}}, {{1, 6}, {6, 1}, {0}, {}}, 1, 4, 6, 1},
    {"vectors", {{8}, {1}, {0}, {}}, {{8}, {1}, {0}, {}}, 1, 1, 1, 8},
    {"stepped_vectors", {{8}, {3}, {0}, {}}, {{8}, {2}, {0}, {}}, 1, 1, 1, 8},
    {"nothing_contracted", {{3, 0}, {1, 1}, {1}, {}}, {{0, 2}, {2, 1}, {0}, {}}, 1, 3, 2, 0},
    {"empty", {{0, 4}, {4, 1}, {1}, {}}, {{4, 2}, {2, 1}, {0}, {}}, 1, 0, 2, 4},
    {"no_batch", {{0, 2, 2}, {4, 2, 1}, {2}, {0}}, {{0, 2, 2}, {4, 2, 1}, {1}, {0}}, 0, 2, 2, 2},
};

using Number = std::complex<double>;

template <typename T>
T read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
template <typename T>
void write(T value, char* to) {
  std::memcpy(to, &value, sizeof(value));
}

Number load(uint32_t dtype, const char* at) {
  switch (dtype) {
    case PRIMSET_I8:
      return read<int8_t>(at);
    case PRIMSET_I32:
      return read<int32_t>(at);
    case PRIMSET_F16:
      return static_cast<double>(read<_Float16>(at));
    case PRIMSET_BF16:
      return from_bf16(read<uint16_t>(at));
    case PRIMSET_F32:
      return read<float>(at);
    case PRIMSET_C64:
      return read<std::complex<float>>(at);
    case PRIMSET_C128:
      return read<Number>(at);
    default:
      return read<double>(at);
  }
}

void store(uint32_t dtype, Number x, char* to) {
  const auto real = static_cast<float>(x.real());
  switch (dtype) {
    case PRIMSET_I8:
      return write(static_cast<int8_t>(x.real()), to);
    case PRIMSET_I32:
      return write(static_cast<int32_t>(x.real()), to);
    case PRIMSET_F16:
      return write(static_cast<_Float16>(real), to);
    case PRIMSET_BF16:
      return write(to_bf16(real), to);
    case PRIMSET_F32:
      return write(real, to);
    case PRIMSET_C64:
      return write(std::complex<float>(real, static_cast<float>(x.imag())), to);
    case PRIMSET_C128:
      return write(x, to);
    default:
      return write(x.real(), to);
  }
}

}  // namespace

std::span<const TestContraction> test_contractions() {
  return kContractions;
}

uint64_t elements(const TestOperand& o) {
  uint64_t last = 0;
  for (size_t d = 0; d < o.sizes.size(); ++d) {
    if (o.sizes[d] == 0) return 0;
    last += static_cast<uint64_t>((o.sizes[d] - 1) * o.strides[d]);
  }
  return last + 1;
}

std::vector<int64_t> places(const TestOperand& o) {
  std::vector<size_t> order(o.batch.begin(), o.batch.end());
  for (size_t d = 0; d < o.sizes.size(); ++d)
    if (std::ranges::count(o.batch, static_cast<int64_t>(d)) == 0 &&
        std::ranges::count(o.contract, static_cast<int64_t>(d)) == 0)
      order.push_back(d);
  order.insert(order.end(), o.contract.begin(), o.contract.end());
  std::vector<int64_t> at{0};
  for (size_t d : order) {
    std::vector<int64_t> next;
    for (int64_t base : at)
      for (int64_t i = 0; i < o.sizes[d]; ++i) next.push_back(base + i * o.strides[d]);
    at = next;
  }
  return at;
}

TestNumbers random_numbers(const TestOperand& operand, uint32_t dtype, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const uint64_t count = elements(operand), width = element_bytes(dtype);
  TestNumbers out{std::vector<char>(count * width), {}};
  for (uint64_t i = 0; i < count; ++i) {
    Number x = normal(random);
    if (dtype == PRIMSET_C64 || dtype == PRIMSET_C128) x = {x.real(), normal(random)};
    if (dtype == PRIMSET_I8) x = static_cast<double>(random() % 256) - 128;
    store(dtype, x, &out.bytes[i * width]);
  }
  out.values = numbers(out.bytes, dtype);
  return out;
}

std::vector<Number> numbers(std::span<const char> bytes, uint32_t dtype) {
  const uint64_t width = element_bytes(dtype);
  std::vector<Number> out;
  for (uint64_t i = 0; i < bytes.size(); i += width) out.push_back(load(dtype, &bytes[i]));
  return out;
}

std::vector<TestSum> sums(const TestContraction& c, const TestNumbers& a, const TestNumbers& b) {
  const std::vector<int64_t> in_a = places(c.a), in_b = places(c.b);
  std::vector<TestSum> out;
  for (int64_t i = 0; i < c.batch * c.m * c.n; ++i) {
    const int64_t batch = i / (c.m * c.n), row = i / c.n % c.m, col = i % c.n;
    TestSum sum;
    for (int64_t k = 0; k < c.k; ++k) {
      const auto p = static_cast<size_t>((batch * c.m + row) * c.k + k);
      const auto q = static_cast<size_t>((batch * c.n + col) * c.k + k);
      const Number x = a.values[static_cast<size_t>(in_a[p])];
      const Number y = b.values[static_cast<size_t>(in_b[q])];
      const Number term{x.real() * y.real() - x.imag() * y.imag(),
                        x.real() * y.imag() + x.imag() * y.real()};
      sum.value += term;
      sum.size += std::abs(term);
    }
    out.push_back(sum);
  }
  return out;
}

// --- calls ---------------------------------------------------------------------------------------

std::optional<TestContraction> as_matmul(const TestContraction& c) {
  // Dims in the order batch, rows, columns, if each of the last two is one.
  const auto ordered = [](const TestOperand& o, bool contract_last) -> std::optional<TestOperand> {
    std::vector<int64_t> free;
    for (int64_t d = 0; d < static_cast<int64_t>(o.sizes.size()); ++d)
      if (std::ranges::count(o.batch, d) == 0 && std::ranges::count(o.contract, d) == 0)
        free.push_back(d);
    if (free.size() != 1 || o.contract.size() != 1) return std::nullopt;
    TestOperand out{{}, {}, {}, {}};
    std::vector<int64_t> order = o.batch;
    order.push_back(contract_last ? free[0] : o.contract[0]);
    order.push_back(contract_last ? o.contract[0] : free[0]);
    for (const int64_t d : order) {
      out.sizes.push_back(o.sizes[static_cast<size_t>(d)]);
      out.strides.push_back(o.strides[static_cast<size_t>(d)]);
    }
    const auto rank = static_cast<int64_t>(order.size());
    for (int64_t d = 0; d < rank - 2; ++d) out.batch.push_back(d);
    out.contract = {contract_last ? rank - 1 : rank - 2};
    return out;
  };
  const auto a = ordered(c.a, true), b = ordered(c.b, false);
  if (!a || !b) return std::nullopt;
  return TestContraction{c.name, *a, *b, c.batch, c.m, c.n, c.k};
}

ContractionCall::ContractionCall(TestContraction given, uint32_t dtype, uint32_t result_dtype,
                                 Form form)
    : contraction_(std::move(given)),
      form_(form),
      sizes_{contraction_.batch, contraction_.m, contraction_.n},
      strides_{contraction_.m * contraction_.n, contraction_.n, 1},
      bias_sizes_{contraction_.n},
      bias_strides_{1} {
  const TestContraction& c = contraction_;
  const auto tensor = [](uint32_t type, const auto& sizes, const auto& strides) {
    primset_tensor t{};
    t.struct_size = sizeof(t);
    t.dtype = type;
    t.rank = static_cast<uint32_t>(sizes.size());
    t.sizes = sizes.data();
    t.strides = strides.data();
    return t;
  };
  const auto ints = [](const char* name, const std::vector<int64_t>& list) {
    primset_attr attr{};
    attr.name = name;
    attr.kind = PRIMSET_ATTR_INTS;
    attr.count = static_cast<uint32_t>(list.size());
    attr.value.ints = list.data();
    return attr;
  };
  operands[0] = tensor(dtype, c.a.sizes, c.a.strides);
  operands[1] = tensor(dtype, c.b.sizes, c.b.strides);
  result = tensor(result_dtype, sizes_, strides_);
  operands[2] = tensor(dtype, bias_sizes_, bias_strides_);
  if (form == Form::dot_general) {
    attrs_[0] = ints("a_contract", c.a.contract);
    attrs_[1] = ints("b_contract", c.b.contract);
    attrs_[2] = ints("a_batch", c.a.batch);
    attrs_[3] = ints("b_batch", c.b.batch);
  } else {
    attrs_[0].name = "scale";
    attrs_[0].kind = PRIMSET_ATTR_INT;
    attrs_[0].value.i = 1;
    attrs_[1].name = "activation";
    attrs_[1].kind = PRIMSET_ATTR_STRING;
    attrs_[1].value.string = "none";
  }
  call.struct_size = sizeof(call);
  call.operand_count = form == Form::matmul_with_bias ? 3 : 2;
  call.operands = operands;
  call.result_count = 1;
  call.results = &result;
  call.attr_count = form == Form::dot_general ? 4 : 2;
  call.attrs = attrs_;
}

const char* ContractionCall::name() const {
  return form_ == Form::dot_general ? "dot_general" : "matmul";
}

std::optional<primset_primitive> ContractionCall::find(const PluginDevice& device) {
  if (!device.primitives()) return std::nullopt;
  primset_primitive primitive{};
  primitive.struct_size = sizeof(primitive);
  primset_status* status = device.primitives()->find(device.handle(), name(), &call, &primitive);
  if (!status) return primitive;
  const bool refused = status->code == PRIMSET_UNSUPPORTED;
  if (!refused) primset::plugin::raise_status(status, device.name(), "find");
  status->release(status);
  return std::nullopt;
}

std::vector<char> ContractionCall::run(PluginDevice& device, const StreamHandle& stream,
                                       const primset_primitive& primitive, const TestNumbers& a,
                                       const TestNumbers& b, uint64_t first,
                                       const TestNumbers* bias) {
  const uint64_t width = element_bytes(operands[0].dtype), out_width = element_bytes(result.dtype);
  std::vector<char> out(static_cast<size_t>(sizes_[0] * sizes_[1] * sizes_[2]) * out_width);
  const auto room = [&](size_t bytes) { return device.alloc(bytes + (first + 1) * 16); };
  const DeviceBuffer in_a = room(a.bytes.size()), in_b = room(b.bytes.size()),
                     in_c = room(out.size());
  const DeviceBuffer in_bias = bias ? room(bias->bytes.size()) : DeviceBuffer();
  operands[0].buffer = in_a.handle();
  operands[1].buffer = in_b.handle();
  result.buffer = in_c.handle();
  operands[2].buffer = in_bias.handle();
  operands[0].offset = operands[1].offset = operands[2].offset = first * width;
  result.offset = first * out_width;
  stream.copy_in(in_a.handle(), first * width, a.bytes.data(), a.bytes.size());
  stream.copy_in(in_b.handle(), first * width, b.bytes.data(), b.bytes.size());
  if (bias) stream.copy_in(in_bias.handle(), first * width, bias->bytes.data(), bias->bytes.size());
  stream.run(primitive, call, name());
  stream.copy_out(in_c.handle(), first * out_width, out.data(), out.size());
  stream.synchronize();  // an empty copy_out waits for nothing
  return out;
}

}  // namespace primset_backend_test
