#include "codegen/schedule/testing/schedule_test_util.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "codegen/schedule/testing/program_runner.h"
#include "prims/reference/reference.h"

namespace primset::schedule {

using prims::SymInt;
using prims::SymInts;
using prims::reference::Array;

SymInts row_major(const SymInts& shape) {
  SymInts out(shape.size());
  SymInt stride = 1;
  for (size_t d = shape.size(); d-- > 0;) out[d] = stride, stride *= shape[d];
  return out;
}

SymInts column_major(const SymInts& shape) {
  SymInts out(shape.size());
  SymInt stride = 1;
  for (size_t d = 0; d < shape.size(); ++d) out[d] = stride, stride *= shape[d];
  return out;
}

Options row_major_options(const prims::Graph& g) {
  Options options;
  for (const auto& i : g.inputs) options.inputs.push_back({row_major(g.type(i.value).shape)});
  for (const auto& o : g.outputs) options.outputs.push_back({row_major(g.type(o.value).shape)});
  return options;
}

namespace {

int64_t value(const SymInt& s, const prims::SymContext& c, std::span<const int64_t> symbols) {
  return s.is_constant() ? s.constant() : c.evaluate(s.poly(), symbols);
}

Array random_array(DType dtype, std::vector<int64_t> shape, std::mt19937_64& rng, int64_t bound) {
  Array a{dtype, std::move(shape), {}};
  a.data.resize(static_cast<size_t>(a.size()));
  for (auto& e : a.data) {
    if (dtype == DType::bf16) {  // numbers that it holds
      e.re = static_cast<long double>(static_cast<int64_t>(rng() % 255) - 127) / 32;
    } else if (is_floating(dtype) || is_complex(dtype)) {
      e.re =
          static_cast<long double>(static_cast<float>(static_cast<int64_t>(rng() % 2001) - 1000)) /
          256;
      if (is_complex(dtype))
        e.im = static_cast<long double>(static_cast<int64_t>(rng() % 2001) - 1000) / 256;
    } else if (is_bool(dtype)) {
      e.integer = static_cast<int64_t>(rng() & 1);
    } else {
      e.integer = bound > 0 ? static_cast<int64_t>(rng() % static_cast<uint64_t>(bound))
                            : static_cast<int64_t>(rng() % 200) - 100;
      if (is_unsigned_integer(dtype) && e.integer < 0) e.integer = -e.integer;
    }
  }
  return a;
}

// Row-major bytes to a buffer with the given strides.
std::vector<std::byte> strided(const Array& a, const std::vector<int64_t>& strides) {
  const auto dense = prims::reference::to_bytes(a);
  const size_t w = byte_size(a.dtype);
  int64_t last = 0;
  for (size_t d = 0; d < strides.size(); ++d) last += (a.shape[d] - 1) * strides[d];
  std::vector<std::byte> out(static_cast<size_t>(last + 1) * w);
  std::vector<int64_t> index(a.shape.size());
  for (int64_t i = 0; i < a.size(); ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    std::memcpy(out.data() + static_cast<size_t>(at) * w, dense.data() + static_cast<size_t>(i) * w,
                w);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < a.shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

void expect_close(const Array& want, const std::vector<std::byte>& bytes, const std::string& what) {
  const Array got = prims::reference::from_bytes(
      want.dtype, want.shape,
      {bytes.data(), static_cast<size_t>(want.size()) * byte_size(want.dtype)});
  for (size_t i = 0; i < want.data.size(); ++i) {
    const auto& w = want.data[i];
    const auto& g = got.data[i];
    if (w.undecided) continue;
    if (!is_floating(want.dtype) && !is_complex(want.dtype)) {
      ASSERT_EQ(w.integer, g.integer) << what << " element " << i;
      continue;
    }
    // The reference's own bound, and half a unit for the rounding of the result to its dtype.
    const long double unit =
        std::abs(w.re) * (is_half(want.dtype)                                    ? 0x1p-8L
                          : want.dtype == DType::f32 || want.dtype == DType::c64 ? 0x1p-23L
                                                                                 : 0x1p-52L);
    const long double bound = w.error * 1.01L + unit + 1e-30L;
    ASSERT_TRUE(w.re == g.re || (std::isnan(w.re) && std::isnan(g.re)) ||
                std::abs(w.re - g.re) <= bound)
        << what << " element " << i << ": want " << static_cast<double>(w.re) << " +- "
        << static_cast<double>(bound) << ", got " << static_cast<double>(g.re);
    ASSERT_TRUE(w.im == g.im || std::abs(w.im - g.im) <= bound + std::abs(w.im) * 0x1p-23L)
        << what << " element " << i;
  }
}

}  // namespace

void check_program(const prims::Graph& g, const Program& program, const Options& options,
                   const kir::TargetModel& target, const std::vector<int64_t>& symbols,
                   const CheckedRun& run) {
  std::mt19937_64 rng(run.seed);
  std::vector<Array> arrays;
  std::vector<RunnerTensor> tensors;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    const auto& t = g.type(g.inputs[i].value);
    std::vector<int64_t> shape, strides;
    for (const SymInt& s : t.shape) shape.push_back(value(s, g.context(), symbols));
    for (const SymInt& s : options.inputs[i].strides)
      strides.push_back(value(s, g.context(), symbols));
    arrays.push_back(random_array(t.dtype, shape, rng, run.index_bound));
    tensors.push_back({strided(arrays.back(), strides)});
  }
  const auto want = prims::reference::run(g, arrays, symbols);
  const RunnerResult got = run_program(program, target, tensors, symbols,
                                       {.in_tables = run.in_tables, .shift = run.shift});
  for (size_t j = 0; j < want.outputs.size(); ++j) {
    if (options.outputs[j].strides.size() > 1 && g.outputs[j].writes_input &&
        !options.outputs[j].strides.back().same(SymInt(1))) {
      continue;  // compared in the row-major run
    }
    expect_close(want.outputs[j], got.outputs[j].bytes,
                 run.name + " output " + std::to_string(j) + "\n" + print(program));
  }
  EXPECT_EQ(got.error.code != 0, !want.failures.empty());
}

}  // namespace primset::schedule
