// linspace and logspace: numbers at equal distances between two ends, and powers of a base of them.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/creation.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

using Type = std::optional<DType>;
using Place = std::optional<Layout>;
using Device = std::optional<DeviceArg>;
using Pin = std::optional<bool>;

struct Spacing {
  const char* name;
  Val start, end;  // numbers
  int64_t steps;
  Type dtype;

  // What is asked for, or what the ends are as ATen infers it.
  DType type() const {
    const bool complex = is_complex(start.dtype()) || is_complex(end.dtype());
    const DType inferred = complex ? DType::c64 : DType::f32;
    const DType type = dtype.value_or(inferred);
    require(!complex || is_complex(type), ErrorCode::runtime,
            fmt::format("torch.{}(): inferred dtype {} can't be safely cast to passed dtype {}",
                        name, cpp_name(inferred), aten_name(type)));
    if (is_bool(type)) not_implemented_for(fmt::format("{}_cpu", name), type);
    return type;
  }
};

// "start with 1 dimension(s)" of a tensor.
std::string dims_text(const char* name, const Val& end) {
  return end.wrapped_number() ? "" : fmt::format("{} with {} dimension(s)", name, end.rank());
}

void require_numbers(const Spacing& s) {
  const std::string start = dims_text("start", s.start), end = dims_text("end", s.end);
  const bool both = !start.empty() && !end.empty();
  require(s.start.rank() == 0 && s.end.rank() == 0, ErrorCode::runtime,
          fmt::format("{} only supports 0-dimensional start and end tensors, but got {}{}{}.",
                      s.name, start, both ? " and " : "", end));
  require(s.steps >= 0, ErrorCode::runtime,
          fmt::format("number of steps must be non-negative; found steps {}", s.steps));
}

// The dtype that an integer or a floating type is stepped through in.
DType stepping_type(DType t) {
  return is_integral(t) ? DType::f64 : opmath_type(t);
}

// From both ends to the middle, so that the last value is end itself. Integers are cut first, then
// stepped between in double.
Val spaced(const Spacing& s, DType type) {
  Tracer& t = s.start.tracer();
  const DType compute = stepping_type(type), ends = is_integral(type) ? type : compute;
  const SymInts shape{SymInt(s.steps)};
  const Val from = broadcast_to(convert(convert(s.start, ends), compute), shape);
  if (s.steps == 1) return from;
  const Val to = broadcast_to(convert(convert(s.end, ends), compute), shape);
  const Val step = (to - from) / full_like(to, static_cast<double>(s.steps - 1));
  const DType real = real_type(compute);
  const Val i = t.iota(shape, 0, real);
  const Val back = full_like(i, static_cast<double>(s.steps - 1)) - i;
  const Val first = lt(i, static_cast<double>(s.steps / 2));
  return where(first, from + step * convert(i, compute), to - step * convert(back, compute));
}

Val linear(const Spacing& s) {
  require_numbers(s);
  const DType type = s.type();
  // A u64 near the end of its range is none of f64.
  if (s.steps == 1) return broadcast_to(convert(s.start, type), {SymInt(1)});
  return convert(spaced(s, type), type);
}

// An integer's power is whole; what its error leaves of it must not be cut to the number below.
Val whole_where_near(const Val& y) {
  constexpr double kFewUlps = 0x1p-48;
  const Val whole = unary(Prim::round_even, y), error = math::abs(y - whole);
  const Val allowed = math::abs(y) * Scalar(y.dtype() == DType::f64 ? kFewUlps : kFewUlps * 0x1p29);
  return where(le(error, allowed), whole, y);
}

// The powers are taken in double where it is fast: a float exponent has the error of its base's
// logarithm many times.
Val logarithmic(const Spacing& s, double base) {
  require_numbers(s);
  const DType type = s.type();
  const Val exponent = wide_opmath(spaced(s, type));
  const Val b = full_like(exponent, base);
  if (is_complex(type)) return convert(power(b, exponent), type);
  const Val y = math::pow(b, exponent);
  return convert(is_integral(type) ? whole_where_near(y) : y, type);
}

Val number(const ScalarArg& s) {
  return s.value;
}

}  // namespace

Val linspace::decompose(Tracer&, const ScalarArg& start, const ScalarArg& end, int64_t steps,
                        const Type& dtype, const Place&, const Device&, const Pin&) {
  return linear({"linspace", number(start), number(end), steps, dtype});
}
Val linspace_scalar_tensor::decompose(Tracer&, const ScalarArg& start, const Val& end,
                                      int64_t steps, const Type& dtype, const Place&, const Device&,
                                      const Pin&) {
  return linear({"linspace", number(start), end, steps, dtype});
}
Val linspace_tensor_scalar::decompose(Tracer&, const Val& start, const ScalarArg& end,
                                      int64_t steps, const Type& dtype, const Place&, const Device&,
                                      const Pin&) {
  return linear({"linspace", start, number(end), steps, dtype});
}
Val linspace_tensor_tensor::decompose(Tracer&, const Val& start, const Val& end, int64_t steps,
                                      const Type& dtype, const Place&, const Device&, const Pin&) {
  return linear({"linspace", start, end, steps, dtype});
}

Val logspace::decompose(Tracer&, const ScalarArg& start, const ScalarArg& end, int64_t steps,
                        double base, const Type& dtype, const Place&, const Device&, const Pin&) {
  return logarithmic({"logspace", number(start), number(end), steps, dtype}, base);
}
Val logspace_scalar_tensor::decompose(Tracer&, const ScalarArg& start, const Val& end,
                                      int64_t steps, double base, const Type& dtype, const Place&,
                                      const Device&, const Pin&) {
  return logarithmic({"logspace", number(start), end, steps, dtype}, base);
}
Val logspace_tensor_scalar::decompose(Tracer&, const Val& start, const ScalarArg& end,
                                      int64_t steps, double base, const Type& dtype, const Place&,
                                      const Device&, const Pin&) {
  return logarithmic({"logspace", start, number(end), steps, dtype}, base);
}
Val logspace_tensor_tensor::decompose(Tracer&, const Val& start, const Val& end, int64_t steps,
                                      double base, const Type& dtype, const Place&, const Device&,
                                      const Pin&) {
  return logarithmic({"logspace", start, end, steps, dtype}, base);
}

}  // namespace primset::decomps
