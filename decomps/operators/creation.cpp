// Factories. Uninitialised tensors are zeros here: a constant costs a graph nothing.
#include "decomps/operators/creation.h"

#include <fmt/format.h>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Type = std::optional<DType>;
using Device = std::optional<DeviceArg>;
using Place = std::optional<Layout>;
using Pin = std::optional<bool>;
using Format = std::optional<MemoryFormat>;

void require_sizes(const SymInts& size) {
  for (const SymInt& s : size)
    require(s >= SymInt(0), ErrorCode::runtime,
            fmt::format("Trying to create tensor with negative dimension {}: [{}]; expected sizes "
                        "of at least 0",
                        s.hint(), s.hint()));
}

Val filled(Tracer& t, const SymInts& size, Scalar v, DType dtype) {
  require_sizes(size);
  return t.constant(v, dtype, size);
}

// The dtype that a literal asks for by its kind.
DType literal_type(Scalar::Kind kind) {
  constexpr DType kTypes[] = {DType::boolean, DType::i64, DType::f32, DType::c64};
  return kTypes[static_cast<size_t>(kind)];
}

Val filled(Tracer& t, const SymInts& size, const ScalarArg& v, DType dtype) {
  require_sizes(size);
  return broadcast_to(t.fitting_scalar(v, dtype), size);
}

bool is_integer(const Scalar& s) {
  return s.is_integral();
}

constexpr const char* kTooManySteps = "invalid size, possible overflow?";

// How many steps lie between; with end itself where it counts as one, as range has it.
SymInt steps_between(const Scalar& start, const Scalar& end, const Scalar& step,
                     bool with_end = false) {
  const double from = start.to_double(), to = end.to_double(), by = step.to_double();
  require(by != 0, with_end ? ErrorCode::runtime : ErrorCode::value,
          "step must be nonzero; found 0");
  require(std::isfinite(from) && std::isfinite(to), ErrorCode::runtime,
          fmt::format("unsupported range: {} -> {}", from, to));
  require(
      (by > 0 && to >= from) || (by < 0 && to <= from), ErrorCode::runtime,
      fmt::format("upper bound and lower bound inconsistent with step sign; found start {}, end {} "
                  "and step {}",
                  from, to, by));
  if (is_integer(start) && is_integer(end) && is_integer(step)) {
    const __int128 span = static_cast<__int128>(end.to_int()) - start.to_int();
    const __int128 stride = step.to_int();
    const __int128 beyond = with_end ? stride : stride - (stride > 0 ? 1 : -1);
    const __int128 steps = (span + beyond) / stride;
    require(steps <= INT64_MAX, ErrorCode::runtime, kTooManySteps);
    return static_cast<int64_t>(steps);
  }
  const double span = (to - from) / by;
  const double steps = with_end ? std::floor(span) + 1 : std::ceil(span);
  require(steps < 0x1p63, ErrorCode::runtime, kTooManySteps);
  return static_cast<int64_t>(steps);
}

Val ranged(Tracer& t, const Scalar& start, const Scalar& end, const Scalar& step, const Type& dtype,
           bool with_end = false) {
  const bool whole = is_integer(start) && is_integer(end) && is_integer(step);
  const DType type = dtype.value_or(whole && !with_end ? DType::i64 : DType::f32);
  if (is_bool(type) || is_complex(type))
    not_implemented_for(with_end ? "range_cpu" : "arange_cpu", type);
  // As ATen has it, i64 is counted between integers, in range() all integers.
  const bool counted = type == DType::i64 || (with_end && is_integral(type));
  const auto cut = [&](const Scalar& s) { return counted ? Scalar(s.to_int()) : s; };
  const SymInt n = steps_between(cut(start), cut(end), cut(step), with_end);
  const DType compute = is_integral(type) ? DType::i64 : opmath_type(type);
  const Val i = t.iota({n}, 0, compute);
  const Scalar from = is_integral(type) ? Scalar(start.to_int()) : Scalar(start.to_double());
  const Scalar by = is_integral(type) ? Scalar(step.to_int()) : Scalar(step.to_double());
  return convert(i * t.constant(by, compute, {n}) + t.constant(from, compute, {n}), type);
}

Val identity(Tracer& t, const SymInt& n, const SymInt& m, const Type& dtype) {
  require(n >= SymInt(0), ErrorCode::runtime,
          fmt::format("n must be greater or equal to 0, got {}", n.hint()));
  require(m >= SymInt(0), ErrorCode::runtime,
          fmt::format("m must be greater or equal to 0, got {}", m.hint()));
  const SymInts shape{n, m};
  const Val here = eq(t.iota(shape, 0, DType::i64), t.iota(shape, 1, DType::i64));
  return convert(here, dtype.value_or(DType::f32));
}

void require_permutation(const std::vector<int64_t>& layout) {
  const auto rank = static_cast<int64_t>(layout.size());
  std::vector<bool> seen(layout.size());
  for (size_t i = 0; i < layout.size(); ++i) {
    require(layout[i] >= 0 && layout[i] < rank, ErrorCode::runtime,
            fmt::format("Dimension out of range (expected to be between 0 and {}, but got {} at "
                        "index {}).  NB: negative dims not currently supported; file an issue if "
                        "you want it.",
                        rank - 1, layout[i], i));
    require(!seen[static_cast<size_t>(layout[i])], ErrorCode::runtime, "Duplicate dim not allowed");
    seen[static_cast<size_t>(layout[i])] = true;
  }
}

void require_strides(const SymInts& size, const SymInts& stride) {
  require(stride.size() == size.size(), ErrorCode::runtime,
          fmt::format("dimensionality of sizes ({}) must match dimensionality of strides ({})",
                      size.size(), stride.size()));
}

}  // namespace

Val empty::decompose(Tracer& t, const SymInts& size, const Type& dtype, const Place&, const Device&,
                     const Pin&, const Format&) {
  return filled(t, size, 0, dtype.value_or(DType::f32));
}
Val empty_like::decompose(Tracer& t, const Val& self, const Type& dtype, const Place&,
                          const Device&, const Pin&, const Format&) {
  return filled(t, self.shape(), 0, dtype.value_or(self.dtype()));
}
Val empty_permuted::decompose(Tracer& t, const SymInts& size, const std::vector<int64_t>& layout,
                              const Type& dtype, const Place&, const Device&, const Pin&) {
  require(layout.size() == size.size(), ErrorCode::runtime,
          fmt::format("Number of dimensions in size does not match the length of the "
                      "physical_layout; i.e. len(size) = {} is not equal to len(physical_layout) = "
                      "{}",
                      size.size(), layout.size()));
  require_permutation(layout);
  return filled(t, size, 0, dtype.value_or(DType::f32));
}
Val empty_strided::decompose(Tracer& t, const SymInts& size, const SymInts& stride,
                             const Type& dtype, const Place&, const Device&, const Pin&) {
  require_strides(size, stride);
  return filled(t, size, 0, dtype.value_or(DType::f32));
}
Val zeros::decompose(Tracer& t, const SymInts& size, const Type& dtype, const Place&, const Device&,
                     const Pin&) {
  for (const SymInt& s : size)
    require(
        s >= SymInt(0), ErrorCode::runtime,
        fmt::format("zeros: Dimension size must be non-negative. Found size {}", shape_text(size)));
  return filled(t, size, 0, dtype.value_or(DType::f32));
}
Val ones::decompose(Tracer& t, const SymInts& size, const Type& dtype, const Place&, const Device&,
                    const Pin&) {
  return filled(t, size, 1, dtype.value_or(DType::f32));
}
Val full::decompose(Tracer& t, const SymInts& size, const ScalarArg& value, const Type& dtype,
                    const Place&, const Device&, const Pin&) {
  return filled(t, size, value, dtype.value_or(literal_type(value.kind)));
}
Val zeros_like::decompose(Tracer& t, const Val& self, const Type& dtype, const Place&,
                          const Device&, const Pin&, const Format&) {
  return filled(t, self.shape(), 0, dtype.value_or(self.dtype()));
}
Val ones_like::decompose(Tracer& t, const Val& self, const Type& dtype, const Place&, const Device&,
                         const Pin&, const Format&) {
  return filled(t, self.shape(), 1, dtype.value_or(self.dtype()));
}
Val full_like_tensor::decompose(Tracer& t, const Val& self, const ScalarArg& value,
                                const Type& dtype, const Place&, const Device&, const Pin&,
                                const Format&) {
  return filled(t, self.shape(), value, dtype.value_or(self.dtype()));
}
Val new_empty::decompose(Tracer& t, const Val& self, const SymInts& size, const Type& dtype,
                         const Place&, const Device&, const Pin&) {
  return filled(t, size, 0, dtype.value_or(self.dtype()));
}
Val new_empty_strided::decompose(Tracer& t, const Val& self, const SymInts& size,
                                 const SymInts& stride, const Type& dtype, const Place&,
                                 const Device&, const Pin&) {
  require_strides(size, stride);
  return filled(t, size, 0, dtype.value_or(self.dtype()));
}
Val new_zeros::decompose(Tracer& t, const Val& self, const SymInts& size, const Type& dtype,
                         const Place&, const Device&, const Pin&) {
  return filled(t, size, 0, dtype.value_or(self.dtype()));
}
Val new_ones::decompose(Tracer& t, const Val& self, const SymInts& size, const Type& dtype,
                        const Place&, const Device&, const Pin&) {
  return filled(t, size, 1, dtype.value_or(self.dtype()));
}
Val new_full::decompose(Tracer& t, const Val& self, const SymInts& size, const ScalarArg& value,
                        const Type& dtype, const Place&, const Device&, const Pin&) {
  return filled(t, size, value, dtype.value_or(self.dtype()));
}

Val arange_to::decompose(Tracer& t, const ScalarArg& end, const Type& dtype, const Place&,
                         const Device&, const Pin&) {
  return ranged(t, 0, end.known(), 1, dtype);
}
Val arange_from::decompose(Tracer& t, const ScalarArg& start, const ScalarArg& end,
                           const Type& dtype, const Place&, const Device&, const Pin&) {
  return ranged(t, start.known(), end.known(), 1, dtype);
}
Val arange_by::decompose(Tracer& t, const ScalarArg& start, const ScalarArg& end,
                         const ScalarArg& step, const Type& dtype, const Place&, const Device&,
                         const Pin&) {
  return ranged(t, start.known(), end.known(), step.known(), dtype);
}

// With the end, and f32 where nothing else is asked for.
Val range::decompose(Tracer& t, const ScalarArg& start, const ScalarArg& end, const Type& dtype,
                     const Place&, const Device&, const Pin&) {
  return ranged(t, start.known(), end.known(), 1, dtype, true);
}
Val range_by::decompose(Tracer& t, const ScalarArg& start, const ScalarArg& end,
                        const ScalarArg& step, const Type& dtype, const Place&, const Device&,
                        const Pin&) {
  return ranged(t, start.known(), end.known(), step.known(), dtype, true);
}

Val eye::decompose(Tracer& t, SymInt n, const Type& dtype, const Place&, const Device&,
                   const Pin&) {
  return identity(t, n, n, dtype);
}
Val eye_rectangular::decompose(Tracer& t, SymInt n, SymInt m, const Type& dtype, const Place&,
                               const Device&, const Pin&) {
  return identity(t, n, m, dtype);
}

Val vander::decompose(Tracer& t, const Val& x, const std::optional<int64_t>& n, bool increasing) {
  require(x.rank() == 1, ErrorCode::runtime, "x must be a one-dimensional tensor.");
  const SymInt count = n ? SymInt(*n) : x.size(0);
  require(count >= SymInt(0), ErrorCode::runtime, "N must be non-negative.");
  const SymInts shape = {x.size(0), count};
  const bool exact = is_integral(x.dtype()) || is_bool(x.dtype());
  const Val base = exact ? convert(x, DType::i64) : x;
  const Val first = eq(t.iota(shape, 1, DType::i64), Scalar(0));
  const Val column = broadcast_to(unsqueeze(base, 1), shape);
  const Val powers =
      t.call1("cumprod", {where(first, full_like(column, Scalar(1)), column), int64_t{1}});
  return increasing ? powers : t.call1("flip", {powers, std::vector<int64_t>{1}});
}

Val scalar_tensor::decompose(Tracer& t, const ScalarArg& s, const Type& dtype, const Place&,
                             const Device&, const Pin&) {
  return t.fitting_scalar(s, dtype.value_or(DType::f32));
}

Val complex_of_parts::decompose(Tracer& t, const Val& re, const Val& im) {
  const auto allowed = [](DType d) {
    return d == DType::f16 || d == DType::f32 || d == DType::f64;
  };
  require(allowed(re.dtype()) && allowed(im.dtype()), ErrorCode::runtime,
          fmt::format("Expected both inputs to be Half, Float or Double tensors but got {} and {}",
                      aten_name(re.dtype()), aten_name(im.dtype())));
  require(
      re.dtype() == im.dtype(), ErrorCode::runtime,
      fmt::format("Expected object of scalar type {} but got scalar type {} for second argument",
                  aten_name(re.dtype()), aten_name(im.dtype())));
  if (re.dtype() == DType::f16) return convert(complex(opmath(re), opmath(im)), DType::c32);
  return complex(re, im);
}

Val polar::decompose(Tracer& t, const Val& abs, const Val& angle) {
  require(
      abs.dtype() == angle.dtype(), ErrorCode::runtime,
      fmt::format("Expected object of scalar type {} but got scalar type {} for second argument",
                  aten_name(abs.dtype()), aten_name(angle.dtype())));
  return complex(abs * unary(Prim::cos, angle), abs * unary(Prim::sin, angle));
}

Val fill_scalar::decompose(Tracer& t, const Val& self, const ScalarArg& value) {
  return filled(t, self.shape(), value, self.dtype());
}
Val fill_tensor::decompose(Tracer& t, const Val& self, const Val& value) {
  require(value.rank() == 0, ErrorCode::runtime,
          fmt::format("fill_ only supports 0-dimension value tensor but got tensor with {} "
                      "dimensions.",
                      value.rank()));
  return broadcast_to(convert(value, self.dtype()), self.shape());
}
Val zero::decompose(Tracer& t, const Val& self) {
  return full_like(self, Scalar(0));
}

}  // namespace primset::decomps
