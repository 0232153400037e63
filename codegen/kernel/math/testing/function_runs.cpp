#include "codegen/kernel/math/testing/function_runs.h"

#include <cstring>

#include "codegen/kernel/verifier/verifier.h"

namespace primset::kir::math_test {
namespace {

Device device(std::string name, bool fused, bool f64, bool exact_division) {
  Device d{std::move(name), {}, {}};
  d.target.fused_fma = d.options.fused_fma = fused;
  d.target.f64 = f64;
  d.target.exact_div_sqrt_f32 = d.target.exact_div_sqrt_f64 = exact_division;
  d.options.div_sqrt_error_ulps = exact_division ? 0 : 2;
  d.options.check_races = false;
  d.options.max_steps = UINT64_MAX;
  return d;
}

void append(std::vector<std::byte>& out, uint64_t bits, int size) {
  const size_t at = out.size();
  out.resize(at + static_cast<size_t>(size));
  std::memcpy(out.data() + at, &bits, static_cast<size_t>(size));
}

// out[i] = f(args[0][i], ...) for every i below n.
Kernel loop_kernel(const Device& device, const Function& f, Scalar argument, Scalar result,
                   uint16_t lanes, size_t arguments) {
  Builder b("math", device.target);
  std::vector<Value> in;
  for (size_t k = 0; k < arguments; ++k) {
    in.push_back(b.pointer_param("x" + std::to_string(k), true, false));
  }
  Value out = b.pointer_param("out", false, true);
  Value n = b.scalar_param("n", kI64);
  auto align = [](Scalar s) { return static_cast<uint32_t>(bytes(s)); };
  b.for_loop(b.i64(0), n, b.i64(lanes), {}, [&](Value i, std::span<const Value>) {
    std::vector<Value> x;
    for (Value p : in) x.push_back(b.load({argument, lanes}, p, i, align(argument)));
    b.store(out, i, f(b, x), align(result));
    return Builder::Values{};
  });
  return std::move(b).finish();
}

}  // namespace

const std::vector<Device>& devices() {
  static const std::vector<Device> kDevices = [] {
    std::vector<Device> v = {
        device("fused", true, true, true),
        device("unfused", false, true, true),
        device("unfused_no_f64", false, false, true),
        device("sloppy_division", true, true, false),
        device("fast_exp2", true, true, true),
        device("flushes", true, true, true),
        device("quick_root", true, true, false),
    };
    for (Device& d : std::span(v).last(3)) d.target.fast_exp2 = true;
    for (Device& d : std::span(v).last(2)) d.target.flush_denormals_f32 = true;
    return v;
  }();
  return kDevices;
}

std::vector<uint64_t> evaluate(const Device& device, const Function& f, Scalar argument,
                               Scalar result, uint16_t lanes,
                               const std::vector<std::vector<uint64_t>>& arguments) {
  const Kernel kernel = loop_kernel(device, f, argument, result, lanes, arguments.size());
  verify_or_throw(kernel, device.target);
  const size_t n = arguments[0].size(), padded = (n + lanes - 1) / lanes * lanes;
  std::vector<std::vector<std::byte>> storage;
  for (const auto& values : arguments) {
    auto& bytes_in = storage.emplace_back();
    for (uint64_t v : values) append(bytes_in, v, bytes(argument));
    for (size_t i = n; i < padded; ++i) append(bytes_in, values.back(), bytes(argument));
  }
  const auto size = static_cast<size_t>(bytes(result));
  storage.emplace_back(padded * size);
  std::vector<InterpreterBuffer> buffers;
  for (auto& s : storage) buffers.push_back({s, {}});
  const uint64_t scalars[] = {padded};
  interpret(kernel, buffers, scalars, device.options);
  std::vector<uint64_t> results(n);
  for (size_t i = 0; i < n; ++i) std::memcpy(&results[i], &storage.back()[i * size], size);
  return results;
}

}  // namespace primset::kir::math_test
