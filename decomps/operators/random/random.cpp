// Random numbers: each operator takes its counters of the generator and hands them to a random_*
// primitive; what is not uniform, normal or an integer is made of uniform numbers.
#include "decomps/operators/random.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <limits>
#include <numbers>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Generator = std::optional<RngArg>;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

SymInts checked_size(const SymInts& size) {
  for (const SymInt& s : size)
    require(s >= SymInt(0), ErrorCode::runtime,
            fmt::format("Trying to create tensor with negative dimension {}: {}", s.hint(),
                        shape_text(size)));
  return size;
}

// --- streams ---

Val standard_uniform(Tracer& t, const Generator& g, const SymInts& shape, DType dtype) {
  const RngArg stream = t.draw(prims::product(shape), g);
  return t.prim1(Prim::random_uniform, {stream.seed, stream.offset},
                 {{"shape", shape}, {"dtype", dtype}, {"low", Scalar(0.0)}, {"high", Scalar(1.0)}});
}

Val standard_normal(Tracer& t, const Generator& g, const SymInts& shape, DType dtype) {
  const RngArg stream = t.draw(prims::product(shape), g);
  return t.prim1(Prim::random_normal, {stream.seed, stream.offset},
                 {{"shape", shape}, {"dtype", dtype}, {"mean", Scalar(0.0)}, {"std", Scalar(1.0)}});
}

// From low up to but not including high; both may be any SymInt, and high one more than the
// greatest i64, wrapped.
Val integers_between(Tracer& t, const Generator& g, const SymInts& shape, DType dtype,
                     const SymInt& low, const SymInt& high) {
  const RngArg stream = t.draw(prims::product(shape), g);
  return t.prim1(Prim::random_integers, {stream.seed, stream.offset},
                 {{"shape", shape}, {"dtype", dtype}, {"low", low}, {"high", high}});
}

// What uniform numbers for a distribution over dtype are drawn in.
DType drawing_type(DType t) {
  return t == DType::f64 ? DType::f64 : DType::f32;
}

void require_uniform_type(DType t) {
  if (!is_floating(t) && !is_complex(t)) not_implemented_for("check_uniform_bounds", t);
}
void require_normal_type(DType t) {
  if (!is_floating(t) && !is_complex(t)) not_implemented_for("normal_kernel_cpu", t);
}

// The parts of complex values are drawn one after the other.
template <typename Draw>
Val real_or_complex(DType t, Draw draw) {
  if (!is_complex(t)) return draw(t);
  const Val re = draw(real_type(t));
  return complex(re, draw(real_type(t)));
}

Val uniform_values(Tracer& t, const Generator& g, const SymInts& shape, DType dtype) {
  require_uniform_type(dtype);
  return real_or_complex(dtype, [&](DType r) { return standard_uniform(t, g, shape, r); });
}

// The variance of a complex value is shared by its parts.
Val normal_values(Tracer& t, const Generator& g, const SymInts& shape, DType dtype) {
  require_normal_type(dtype);
  const Val z =
      real_or_complex(dtype, [&](DType r) { return standard_normal(t, g, shape, opmath_type(r)); });
  if (!is_complex(dtype)) return z;
  const Scalar half(0.7071067811865476);
  return complex(real(z) * half, imag(z) * half);
}

void check_positive(const Val& v, const char* message) {
  check(gt(v, Scalar(0.0)), convert(v, DType::i64), ErrorCode::runtime, message);
}
void check_not_negative(const Val& v, const char* message) {
  check(ge(v, Scalar(0.0)), convert(v, DType::i64), ErrorCode::runtime, message);
}

}  // namespace

// --- uniform ---

Val rand::decompose(Tracer& t, const SymInts& size, const std::optional<DType>& dtype,
                    const std::optional<Layout>&, const std::optional<DeviceArg>&,
                    const std::optional<bool>&) {
  return uniform_values(t, {}, checked_size(size), dtype.value_or(DType::f32));
}

Val rand_generator::decompose(Tracer& t, const SymInts& size, const RngArg& generator,
                              const std::optional<DType>& dtype, const std::optional<Layout>&,
                              const std::optional<DeviceArg>&, const std::optional<bool>&) {
  return uniform_values(t, generator, checked_size(size), dtype.value_or(DType::f32));
}

Val rand_like::decompose(Tracer& t, const Val& self, const std::optional<DType>& dtype,
                         const std::optional<Layout>&, const std::optional<DeviceArg>&,
                         const std::optional<bool>&, const std::optional<MemoryFormat>&) {
  return uniform_values(t, {}, self.shape(), dtype.value_or(self.dtype()));
}

Val rand_like_generator::decompose(Tracer& t, const Val& self, const RngArg& generator,
                                   const std::optional<DType>& dtype, const std::optional<Layout>&,
                                   const std::optional<DeviceArg>&, const std::optional<bool>&,
                                   const std::optional<MemoryFormat>&) {
  return uniform_values(t, generator, self.shape(), dtype.value_or(self.dtype()));
}

namespace {

// From low up to high; what rounds to high becomes low.
Val between(Tracer& t, const Val& u, const ScalarArg& low, const ScalarArg& high, DType dtype) {
  const Val wide = opmath(u);
  const Val from = t.scalar(low, wide.dtype()), to = t.scalar(high, wide.dtype());
  const Val y = convert(wide * (to - from) + from, dtype);
  return where(ge(y, convert(to, dtype)), convert(from, dtype), y);
}

}  // namespace

Val uniform::decompose(Tracer& t, const Val& self, const ScalarArg& from, const ScalarArg& to,
                       const RngArg& generator) {
  const DType type = self.dtype();
  require_uniform_type(type);
  const Val low = t.scalar(from, DType::f64), high = t.scalar(to, DType::f64);
  check(le(low, high), convert(low, DType::i64), ErrorCode::runtime,
        "uniform_ expects to return a [from, to) range, but found from > to");
  return real_or_complex(type, [&](DType r) {
    return between(t, standard_uniform(t, generator, self.shape(), r), from, to, r);
  });
}

// --- normal ---

Val randn::decompose(Tracer& t, const SymInts& size, const std::optional<DType>& dtype,
                     const std::optional<Layout>&, const std::optional<DeviceArg>&,
                     const std::optional<bool>&) {
  const DType type = dtype.value_or(DType::f32);
  return convert(normal_values(t, {}, checked_size(size), type), type);
}

Val randn_generator::decompose(Tracer& t, const SymInts& size, const RngArg& generator,
                               const std::optional<DType>& dtype, const std::optional<Layout>&,
                               const std::optional<DeviceArg>&, const std::optional<bool>&) {
  const DType type = dtype.value_or(DType::f32);
  return convert(normal_values(t, generator, checked_size(size), type), type);
}

Val randn_like::decompose(Tracer& t, const Val& self, const std::optional<DType>& dtype,
                          const std::optional<Layout>&, const std::optional<DeviceArg>&,
                          const std::optional<bool>&, const std::optional<MemoryFormat>&) {
  const DType type = dtype.value_or(self.dtype());
  return convert(normal_values(t, {}, self.shape(), type), type);
}

Val randn_like_generator::decompose(Tracer& t, const Val& self, const RngArg& generator,
                                    const std::optional<DType>& dtype, const std::optional<Layout>&,
                                    const std::optional<DeviceArg>&, const std::optional<bool>&,
                                    const std::optional<MemoryFormat>&) {
  const DType type = dtype.value_or(self.dtype());
  return convert(normal_values(t, generator, self.shape(), type), type);
}

namespace {

// mean + std * z, rounded once.
Val normal_of(Tracer& t, const Generator& g, const SymInts& shape, const Val& mean, const Val& std,
              DType dtype) {
  const Val z = normal_values(t, g, shape, dtype);
  const DType wide = real_type(z.dtype());
  const Val scale = convert(std, wide);
  const Val shift = convert(mean, is_complex(mean.dtype()) ? z.dtype() : wide);
  if (!is_complex(z.dtype())) return convert(z * scale + shift, dtype);
  return convert(complex(real(z) * scale + real(shift), imag(z) * scale + imag(shift)), dtype);
}

Val number_of(Tracer& t, const ScalarArg& s, DType like) {
  return t.scalar(s, real_type(opmath_type(like)));
}

constexpr const char* kStd = "normal expects std >= 0.0";
constexpr const char* kStds = "normal expects all elements of std >= 0.0";

void require_real_std(const Val& std) {
  require(!is_complex(std.dtype()), ErrorCode::runtime,
          "normal expects standard deviation to be non-complex");
}

}  // namespace

Val normal_functional::decompose(Tracer& t, const Val& self, const ScalarArg& mean,
                                 const ScalarArg& std, const RngArg& generator) {
  const DType type = self.dtype();
  require_normal_type(type);
  const Val scale = number_of(t, std, type);
  check_not_negative(scale, kStd);
  return normal_of(t, generator, self.shape(), number_of(t, mean, type), scale, type);
}

Val normal_of_tensors::decompose(Tracer& t, const Val& mean, const Val& std,
                                 const RngArg& generator) {
  require_real_std(std);
  require_normal_type(mean.dtype());
  check_not_negative(std, kStds);
  const std::array<SymInts, 2> shapes = {mean.shape(), std.shape()};
  return normal_of(t, generator, broadcast_shapes(shapes), mean, std, mean.dtype());
}

Val normal_of_means::decompose(Tracer& t, const Val& mean, const ScalarArg& std,
                               const RngArg& generator) {
  require_normal_type(mean.dtype());
  const Val scale = number_of(t, std, mean.dtype());
  check_not_negative(scale, kStd);
  return normal_of(t, generator, mean.shape(), mean, scale, mean.dtype());
}

Val normal_of_stds::decompose(Tracer& t, const ScalarArg& mean, const Val& std,
                              const RngArg& generator) {
  require_real_std(std);
  require_normal_type(std.dtype());
  check_not_negative(std, kStds);
  return normal_of(t, generator, std.shape(), number_of(t, mean, std.dtype()), std, std.dtype());
}

Val normal_of_size::decompose(Tracer& t, const ScalarArg& mean, const ScalarArg& std,
                              const SymInts& size, const RngArg& generator,
                              const std::optional<DType>& dtype, const std::optional<Layout>&,
                              const std::optional<DeviceArg>&, const std::optional<bool>&) {
  const DType type = dtype.value_or(DType::f32);
  require_normal_type(type);
  const Val scale = number_of(t, std, type);
  check_not_negative(scale, kStd);
  return normal_of(t, generator, checked_size(size), number_of(t, mean, type), scale, type);
}

// --- integers ---

namespace {

// How many bits of an integer a floating type holds: 24 of f32.
int significand_bits(DType t) {
  return float_format(t).mantissa_bits + 1;
}

struct Range {
  int64_t least, greatest;
};

// What an integer dtype holds, as far as i64 does; of floating types all of i64 but f16's.
Range range_of(DType t) {
  if (is_bool(t)) return {0, 1};
  if (t == DType::f16) return {-65504, 65504};
  if (is_floating(t) || t == DType::u64) return {is_floating(t) ? kLeast : 0, kGreatest};
  if (is_unsigned_integer(t)) return {0, (int64_t{1} << bits(t)) - 1};
  const int64_t greatest = kGreatest >> (64 - bits(t));
  return {-greatest - 1, greatest};
}

// The ends of i64 are never compared with: the difference would overflow.
bool holds(DType t, const SymInt& v) {
  const Range range = range_of(t);
  return (range.least == kLeast || v >= SymInt(range.least)) &&
         (range.greatest == kGreatest || v <= SymInt(range.greatest));
}

void require_integer_range(const SymInt& from, const SymInt& to, DType t) {
  require(from < to, ErrorCode::runtime,
          fmt::format("random_ expects 'from' to be less than 'to', but got from={} >= to={}",
                      from.hint(), to.hint()));
  require(!is_complex(t), ErrorCode::runtime,
          "check_random_bounds handles only integral, floating-point and boolean types");
  require(holds(t, from), ErrorCode::runtime,
          fmt::format("from is out of bounds for {}", cpp_name(t)));
  require(holds(t, to - 1), ErrorCode::runtime,
          fmt::format("to - 1 is out of bounds for {}", cpp_name(t)));
}

Val random_integers_in(Tracer& t, const Generator& g, const SymInts& shape, DType dtype,
                       const SymInt& from, const SymInt& to) {
  require_integer_range(from, to, dtype);
  return integers_between(t, g, shape, dtype, from, to);
}

// The highest `n` of 64 random bits an element, up to 63.
Val random_bits(Tracer& t, const Generator& g, const SymInts& shape, int n) {
  const RngArg stream = t.draw(prims::product(shape), g);
  const Val words = t.prim1(Prim::philox_bits, {stream.seed, stream.offset}, {{"shape", shape}});
  const auto shifted = [](Prim shift, const Val& x, int by) {
    return binary(shift, x, full_like(x, Scalar(int64_t{by})));
  };
  const auto word = [&](int64_t i) { return select(words, words.rank() - 1, SymInt(i)); };
  if (n <= 32) return shifted(Prim::shift_right, word(3), 32 - n);
  const Val low = convert(word(2), DType::u64), high = convert(word(3), DType::u64);
  return shifted(Prim::shift_right, low | shifted(Prim::shift_left, high, 32), 64 - n);
}

// Up to the greatest number that stands beside all lesser ones in the dtype. From 0 that is as many
// bits as the dtype has above 0.
Val random_integers_from(Tracer& t, const Generator& g, const SymInts& shape, DType dtype,
                         const SymInt& from) {
  if (is_complex(dtype)) not_implemented_for("random_kernel_cpu", dtype);
  if (is_floating(dtype))
    return integers_between(t, g, shape, dtype, from,
                            SymInt((int64_t{1} << significand_bits(dtype)) + 1));
  const Range range = range_of(dtype);
  require(holds(dtype, from), ErrorCode::runtime,
          fmt::format("from is out of bounds for {}", cpp_name(dtype)));
  if (from == SymInt(0)) {
    const int n = std::bit_width(static_cast<uint64_t>(range.greatest));
    return convert(random_bits(t, g, shape, n), dtype);
  }
  const int64_t end = range.greatest == kGreatest ? kLeast : range.greatest + 1;
  return integers_between(t, g, shape, dtype, from, SymInt(end));
}

// Up to a number that only the run knows, as ATen takes it: what is left of 63 random bits.
Val random_integers_to(Tracer& t, const Generator& g, const SymInts& shape, DType dtype,
                       const Val& to) {
  require(to.rank() == 0, ErrorCode::runtime, "high must be a scalar tensor and on CPU");
  require(!is_complex(dtype), ErrorCode::runtime,
          "check_random_bounds handles only integral, floating-point and boolean types");
  const Val high = convert(real(to), DType::i64);
  check(gt(high, Scalar(0)), high, ErrorCode::runtime,
        "random_ expects 'from' to be less than 'to', but got from=0 >= to");
  const int64_t greatest = range_of(dtype).greatest;
  check(le(high - Scalar(1), Scalar(greatest)), high, ErrorCode::runtime,
        fmt::format("to - 1 is out of bounds for {}", cpp_name(dtype)));
  const Val drawn = integers_between(t, g, shape, DType::i64, 0, SymInt(kLeast));
  const Val divisor = where(gt(high, Scalar(0)), high, full_like(high, 1));
  return convert(binary(Prim::rem, drawn, broadcast_to(divisor, shape)), dtype);
}

}  // namespace

Val randint::decompose(Tracer& t, SymInt high, const SymInts& size,
                       const std::optional<DType>& dtype, const std::optional<Layout>&,
                       const std::optional<DeviceArg>&, const std::optional<bool>&) {
  return random_integers_in(t, {}, checked_size(size), dtype.value_or(DType::i64), 0, high);
}

Val randint_generator::decompose(Tracer& t, SymInt high, const SymInts& size,
                                 const RngArg& generator, const std::optional<DType>& dtype,
                                 const std::optional<Layout>&, const std::optional<DeviceArg>&,
                                 const std::optional<bool>&) {
  return random_integers_in(t, generator, checked_size(size), dtype.value_or(DType::i64), 0, high);
}

Val randint_low::decompose(Tracer& t, SymInt low, SymInt high, const SymInts& size,
                           const std::optional<DType>& dtype, const std::optional<Layout>&,
                           const std::optional<DeviceArg>&, const std::optional<bool>&) {
  return random_integers_in(t, {}, checked_size(size), dtype.value_or(DType::i64), low, high);
}

Val randint_low_generator::decompose(Tracer& t, SymInt low, SymInt high, const SymInts& size,
                                     const RngArg& generator, const std::optional<DType>& dtype,
                                     const std::optional<Layout>&, const std::optional<DeviceArg>&,
                                     const std::optional<bool>&) {
  return random_integers_in(t, generator, checked_size(size), dtype.value_or(DType::i64), low,
                            high);
}

Val randint_like::decompose(Tracer& t, const Val& self, SymInt high,
                            const std::optional<DType>& dtype, const std::optional<Layout>&,
                            const std::optional<DeviceArg>&, const std::optional<bool>&,
                            const std::optional<MemoryFormat>&) {
  return random_integers_in(t, {}, self.shape(), dtype.value_or(self.dtype()), 0, high);
}

Val randint_like_generator::decompose(Tracer& t, const Val& self, SymInt high,
                                      const RngArg& generator, const std::optional<DType>& dtype,
                                      const std::optional<Layout>&, const std::optional<DeviceArg>&,
                                      const std::optional<bool>&,
                                      const std::optional<MemoryFormat>&) {
  return random_integers_in(t, generator, self.shape(), dtype.value_or(self.dtype()), 0, high);
}

Val randint_like_low::decompose(Tracer& t, const Val& self, SymInt low, SymInt high,
                                const std::optional<DType>& dtype, const std::optional<Layout>&,
                                const std::optional<DeviceArg>&, const std::optional<bool>&,
                                const std::optional<MemoryFormat>&) {
  return random_integers_in(t, {}, self.shape(), dtype.value_or(self.dtype()), low, high);
}

Val randint_like_low_generator::decompose(Tracer& t, const Val& self, SymInt low, SymInt high,
                                          const RngArg& generator,
                                          const std::optional<DType>& dtype,
                                          const std::optional<Layout>&,
                                          const std::optional<DeviceArg>&,
                                          const std::optional<bool>&,
                                          const std::optional<MemoryFormat>&) {
  return random_integers_in(t, generator, self.shape(), dtype.value_or(self.dtype()), low, high);
}

Val randint_like_tensor::decompose(Tracer& t, const Val& self, const Val& high,
                                   const std::optional<DType>& dtype, const std::optional<Layout>&,
                                   const std::optional<DeviceArg>&, const std::optional<bool>&,
                                   const std::optional<MemoryFormat>&) {
  return random_integers_to(t, {}, self.shape(), dtype.value_or(self.dtype()), high);
}

Val randint_like_tensor_generator::decompose(Tracer& t, const Val& self, const Val& high,
                                             const RngArg& generator,
                                             const std::optional<DType>& dtype,
                                             const std::optional<Layout>&,
                                             const std::optional<DeviceArg>&,
                                             const std::optional<bool>&,
                                             const std::optional<MemoryFormat>&) {
  return random_integers_to(t, generator, self.shape(), dtype.value_or(self.dtype()), high);
}

Val random::decompose(Tracer& t, const Val& self, const RngArg& generator) {
  return random_integers_from(t, generator, self.shape(), self.dtype(), 0);
}

Val random_from::decompose(Tracer& t, const Val& self, int64_t from,
                           const std::optional<int64_t>& to, const RngArg& generator) {
  if (!to) return random_integers_from(t, generator, self.shape(), self.dtype(), from);
  return random_integers_in(t, generator, self.shape(), self.dtype(), from, *to);
}

Val random_to::decompose(Tracer& t, const Val& self, int64_t to, const RngArg& generator) {
  return random_integers_in(t, generator, self.shape(), self.dtype(), 0, to);
}

namespace {

Val permutation(Tracer& t, const Generator& g, const SymInt& n, DType dtype) {
  require(
      n >= SymInt(0), ErrorCode::runtime,
      fmt::format("Trying to create tensor with negative dimension {}: [{}]", n.hint(), n.hint()));
  if (is_bool(dtype) || is_complex(dtype)) not_implemented_for("randperm", dtype);
  const Range range = range_of(dtype);
  if (is_half(dtype)) {
    const int64_t most = (int64_t{1} << significand_bits(dtype)) + 1;
    require(n <= SymInt(most), ErrorCode::runtime,
            fmt::format("n cannot be greater than {} for {} type.", most, aten_name(dtype)));
  } else if (is_integral(dtype) && range.greatest != kGreatest) {
    require(
        n <= SymInt(range.greatest), ErrorCode::runtime,
        fmt::format("value cannot be converted to type {}_t without overflow", torch_name(dtype)));
  }
  const RngArg stream = t.draw(n, g);
  return convert(t.prim1(Prim::random_permutation, {stream.seed, stream.offset}, {{"n", n}}),
                 dtype);
}

}  // namespace

Val randperm::decompose(Tracer& t, SymInt n, const std::optional<DType>& dtype,
                        const std::optional<Layout>&, const std::optional<DeviceArg>&,
                        const std::optional<bool>&) {
  return permutation(t, {}, n, dtype.value_or(DType::i64));
}

Val randperm_generator::decompose(Tracer& t, SymInt n, const RngArg& generator,
                                  const std::optional<DType>& dtype, const std::optional<Layout>&,
                                  const std::optional<DeviceArg>&, const std::optional<bool>&) {
  return permutation(t, generator, n, dtype.value_or(DType::i64));
}

// --- bernoulli ---

namespace {

// True with probability p, which is broadcast to the shape.
Val coins(Tracer& t, const Generator& g, const SymInts& shape, const Val& p) {
  const DType type = drawing_type(p.dtype());
  return lt(standard_uniform(t, g, shape, type), convert(p, type));
}

void check_probability(const Val& p, const char* message) {
  check(ge(p, Scalar(0.0)) & le(p, Scalar(1.0)), convert(p, DType::i64), ErrorCode::runtime,
        message);
}

constexpr const char* kProbabilities = "Expected p_in >= 0 && p_in <= 1 to be true, but got false.";

}  // namespace

Val bernoulli::decompose(Tracer& t, const Val& self, const RngArg& generator) {
  if (!is_floating(self.dtype())) not_implemented_for("bernoulli_tensor_cpu_p_", self.dtype());
  check_probability(self, kProbabilities);
  return convert(coins(t, generator, self.shape(), self), self.dtype());
}

Val bernoulli_tensor::decompose(Tracer& t, const Val& self, const Val& p, const RngArg& generator) {
  if (self.numel() == SymInt(0)) return self;  // whatever p is
  if (!is_floating(p.dtype())) not_implemented_for("bernoulli_tensor_cpu_p_", p.dtype());
  require_expandable(p.shape(), self.shape());
  check_probability(p, kProbabilities);
  return convert(coins(t, generator, self.shape(), p), self.dtype());
}

Val bernoulli_p::decompose(Tracer& t, const Val& self, const ScalarArg& p,
                           const RngArg& generator) {
  const Val share = t.scalar(p, drawing_type(self.dtype()));
  check_probability(share, "bernoulli_ expects p to be in [0, 1]");
  return convert(coins(t, generator, self.shape(), share), self.dtype());
}

// --- other distributions ---

namespace {

// Uniform in (0, 1], for logarithms.
Val positive_uniform(Tracer& t, const Generator& g, const Val& like) {
  return Scalar(1.0) - standard_uniform(t, g, like.shape(), drawing_type(like.dtype()));
}

Val parameter(Tracer& t, const ScalarArg& s, const Val& like) {
  return t.scalar(s, drawing_type(like.dtype()));
}

}  // namespace

Val exponential::decompose(Tracer& t, const Val& self, const ScalarArg& lambd,
                           const RngArg& generator) {
  require(is_floating(self.dtype()), ErrorCode::runtime,
          fmt::format("Exponential distribution is a continuous probability distribution. dtype "
                      "must be a floating point but you specified {}",
                      aten_name(self.dtype())));
  const Val rate = parameter(t, lambd, self);
  check_positive(rate, "exponential_ expects lambda > 0.0");
  const Val u = positive_uniform(t, generator, self);
  return convert(-unary(Prim::log, u) / rate, self.dtype());
}

Val geometric::decompose(Tracer& t, const Val& self, const ScalarArg& p, const RngArg& generator) {
  if (is_bool(self.dtype()) || is_complex(self.dtype()))
    not_implemented_for("geometric_cpu", self.dtype());
  const Val share = parameter(t, p, self);
  check(gt(share, Scalar(0.0)) & lt(share, Scalar(1.0)), convert(share, DType::i64),
        ErrorCode::runtime, "geometric_ expects p to be in (0, 1)");
  const Val u = positive_uniform(t, generator, self);
  const Val trials = unary(Prim::ceil, unary(Prim::log, u) / unary(Prim::log1p, -share));
  // A uniform number of just 1 succeeds at the first trial too.
  return convert(binary(Prim::max, trials, full_like(trials, 1.0)), self.dtype());
}

Val cauchy::decompose(Tracer& t, const Val& self, const ScalarArg& median, const ScalarArg& sigma,
                      const RngArg& generator) {
  require(is_floating(self.dtype()), ErrorCode::runtime,
          fmt::format("Cauchy distribution is a continuous probability distribution. dtype must be "
                      "a floating point but you specified {}",
                      cpp_name(self.dtype())));
  const Val spread = parameter(t, sigma, self);
  check_positive(spread, "cauchy_ expects sigma > 0.0");
  const Val u = standard_uniform(t, generator, self.shape(), drawing_type(self.dtype()));
  const Val angle = (u - Scalar(0.5)) * Scalar(std::numbers::pi);
  return convert(parameter(t, median, self) + spread * unary(Prim::tan, angle), self.dtype());
}

Val log_normal::decompose(Tracer& t, const Val& self, const ScalarArg& mean, const ScalarArg& std,
                          const RngArg& generator) {
  if (!is_floating(self.dtype())) not_implemented_for("log_normal_cpu", self.dtype());
  const Val scale = parameter(t, std, self);
  check_positive(scale, "log_normal_ expects std > 0.0");
  const Val z = standard_normal(t, generator, self.shape(), drawing_type(self.dtype()));
  return convert(unary(Prim::exp, parameter(t, mean, self) + scale * z), self.dtype());
}

Val multinomial::decompose(Tracer& t, const Val& self, SymInt num_samples, bool replacement,
                           const RngArg& generator) {
  require(self.rank() == 1 || self.rank() == 2, ErrorCode::runtime, "prob_dist must be 1 or 2 dim");
  require(is_floating(self.dtype()), ErrorCode::runtime,
          fmt::format("multinomial only supports floating-point dtypes for input, got: {}",
                      aten_name(self.dtype())));
  require(
      num_samples > SymInt(0), ErrorCode::runtime,
      fmt::format("cannot sample n_sample <= 0 samples; found num_samples {}", num_samples.hint()));
  require(self.size(-1) > SymInt(0), ErrorCode::runtime,
          "multinomial: expected a probability to choose from, but the last dim is empty");
  require(replacement || num_samples <= self.size(-1), ErrorCode::runtime,
          "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  const DType type = drawing_type(self.dtype());
  const Val p = convert(self.rank() == 1 ? unsqueeze(self, 0) : self, type);
  const Val finite = lt(p, Scalar(std::numeric_limits<double>::infinity()));
  check(ge(p, Scalar(0.0)) & finite, zeros(t, p.shape(), DType::i64), ErrorCode::runtime,
        "probability tensor contains either `inf`, `nan` or element < 0");
  const Val total = reduce(Prim::reduce_sum, p, {1}, false);
  check(gt(total, Scalar(0.0)), zeros(t, total.shape(), DType::i64), ErrorCode::runtime,
        "invalid multinomial distribution (sum of probabilities <= 0)");
  // A counter a sample, or, without replacement, a weight.
  const RngArg stream = t.draw(replacement ? p.size(0) * num_samples : p.numel(), generator);
  const Val y = t.prim1(Prim::multinomial, {stream.seed, stream.offset, p},
                        {{"samples", num_samples}, {"replacement", replacement}});
  return self.rank() == 1 ? squeeze(y, 0) : y;
}

}  // namespace primset::decomps
