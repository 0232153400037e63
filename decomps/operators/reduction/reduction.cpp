// Reductions: which dims, which dtype is accumulated in, and what ATen says of empty ones.
#include "decomps/operators/reduction.h"

#include <fmt/format.h>
#include <limits>

#include <numeric>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"
#include "decomps/primitives/wide_sums.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

Dims all_dims(const Val& x) {
  Dims dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Dims dims_of(const Val& x, const std::optional<Dims>& dims) {
  return wrap_dims(dims.value_or(Dims{}), x.rank(), true);
}

// A sum or product: over bool, or and and.
Val reduced(Prim kind, const Val& x, const Dims& dims, bool keepdim) {
  if (!is_bool(x.dtype())) return reduce(kind, x, dims, keepdim);
  return reduce(kind == Prim::reduce_sum ? Prim::reduce_or : Prim::reduce_and, x, dims, keepdim);
}

// `named`: the caller named the dims.
void require_not_empty(const Val& x, const Dims& dims, const char* op, bool named = true) {
  require(named || !(x.numel() == SymInt(0)), ErrorCode::runtime,
          fmt::format("{}(): Expected reduction dim to be specified for input.numel() == 0. "
                      "Specify the reduction dim with the 'dim' argument.",
                      op));
  for (int64_t d : dims)
    require(!(x.size(d) == SymInt(0)), ErrorCode::index,
            fmt::format("{}(): Expected reduction dim {} to have non-zero size.", op, d));
}

void refuse_complex(const Val& x, const char* kernel) {
  if (is_complex(x.dtype())) not_implemented_for(kernel, x.dtype());
}

Val extreme(Prim kind, const Val& x, const Dims& dims, bool keepdim) {
  return reduce(kind, x, dims, keepdim);
}

// Values and indices of the extreme along one dim.
std::tuple<Val, Val> extreme_along(Prim kind, Prim arg, const Val& x, int64_t dim, bool keepdim,
                                   const char* op) {
  Tracer& t = x.tracer();
  const int64_t d = wrap_dim(dim, x.rank());
  require(!is_complex(x.dtype()), ErrorCode::runtime,
          fmt::format("{}(): does not support complex input", op));
  if (x.rank() == 0) return {x, t.constant(0, DType::i64)};
  require_not_empty(x, {d}, op);
  const Val index = t.wrap(t.builder().arg_reduce(arg, x.id(), d));
  const Val value = extreme(kind, x, {d}, false);
  if (!keepdim) return {value, index};
  return {unsqueeze(value, d), unsqueeze(index, d)};
}

Val arg_extreme(Prim arg, const Val& x, const std::optional<int64_t>& dim, bool keepdim,
                const char* op) {
  Tracer& t = x.tracer();
  require(!is_complex(x.dtype()), ErrorCode::runtime,
          fmt::format("{}(): does not support complex input", op));
  require(!is_bool(x.dtype()), ErrorCode::runtime,
          fmt::format("{}(): does not support bool input", op));
  if (!dim) {
    require(
        !(x.numel() == SymInt(0)), ErrorCode::index,
        fmt::format("{}(): Expected reduction dim to be specified for input.numel() == 0.", op));
    const Val flat = reshape(x, {x.numel()});
    const Val index = t.wrap(t.builder().arg_reduce(arg, flat.id(), 0));
    return keepdim ? reshape(index, SymInts(static_cast<size_t>(x.rank()), SymInt(1))) : index;
  }
  const int64_t d = wrap_dim(*dim, x.rank());
  if (x.rank() == 0) return t.constant(0, DType::i64);
  require_not_empty(x, {d}, op);
  const Val index = t.wrap(t.builder().arg_reduce(arg, x.id(), d));
  return keepdim ? unsqueeze(index, d) : index;
}

Val extreme_of_all(Prim kind, const Val& x, const char* op) {
  refuse_complex(x, kind == Prim::reduce_max ? "max_all" : "min_all");
  require(!(x.numel() == SymInt(0)), ErrorCode::runtime,
          fmt::format("{}(): Expected reduction dim to be specified for input.numel() == 0. "
                      "Specify the reduction dim with the 'dim' argument.",
                      op));
  return extreme(kind, x, all_dims(x), false);
}

// The result is bool, but u8 stays u8.
Val quantified(Prim kind, const Val& x, const Dims& dims, bool keepdim) {
  const Val r = reduce(kind, logical(x), dims, keepdim);
  return x.dtype() == DType::u8 ? convert(r, DType::u8) : r;
}

Val mean_of(const Val& x, const Dims& dims, bool keepdim, const std::optional<DType>& dtype) {
  const DType type = dtype.value_or(x.dtype());
  require(is_floating(type) || is_complex(type), ErrorCode::runtime,
          fmt::format("mean(): could not infer output dtype. {} dtype must be either a floating "
                      "point or complex dtype. Got: {}",
                      dtype ? "Optional" : "Input", aten_name(type)));
  const Val v = convert(x, type);
  Tracer& t = x.tracer();
  const auto part = [&](const Val& p) {
    const Val m = t.prim1(Prim::mean, {p}, {{"dims", dims}});
    return keepdim ? restore_dims(m, x.shape(), dims) : m;
  };
  if (is_complex(type)) return complex(part(real(v)), part(imag(v)));
  return part(v);
}

struct Moments {
  Val variance, mean;
  Val scale;  // of the numbers that the variance is of; invalid: 1

  Val unscaled_variance() const { return scale.valid() ? variance / scale / scale : variance; }
  Val deviation() const {
    const Val root = unary(Prim::sqrt, variance);
    return scale.valid() ? root / scale : root;
  }
};

// Squares of great and small f32 are beyond f32: where no f64 is at hand, such numbers are scaled
// by a power of two first. With these limits no square that counts is beyond f32 either way.
Val scale_for_squares(const Val& x, const Dims& dims) {
  const Val greatest = reduce(Prim::reduce_max, unary(Prim::abs, x), dims, true);
  const Val one = full_like(greatest, 1.0);
  const Val up = where(lt(greatest, 0x1p-20), full_like(greatest, 0x1p70), one);
  return where(ge(greatest, 0x1p45) & lt(greatest, std::numeric_limits<double>::infinity()),
               full_like(greatest, 0x1p-80), up);
}

// In wide_opmath, as ATen computes them, or in f64, whose squares need no scale; not yet rounded.
Moments moments(const Val& x, const Dims& dims, const std::optional<ScalarArg>& correction,
                bool keepdim, const char* op) {
  require(is_floating(x.dtype()) || is_complex(x.dtype()), ErrorCode::runtime,
          fmt::format("{} only support floating point and complex dtypes", op));
  Tracer& t = x.tracer();
  const Scalar c = correction ? correction->known() : Scalar(1);
  const bool empty = count_along(x, dims) == SymInt(0);
  const auto part = [&](const Val& p) {
    const Val wide = prim::sums_in_f64(p, dims) ? convert(p, DType::f64) : wide_opmath(p);
    const bool scaled = wide.dtype() == DType::f32 && p.dtype() != DType::f16 && !empty;
    const Val scale = scaled ? scale_for_squares(wide, dims) : Val();
    auto out =
        t.prim(Prim::var_mean, {scaled ? wide * scale : wide}, {{"dims", dims}, {"correction", c}});
    // Those of nothing are no numbers, whatever the correction.
    if (empty) {
      for (size_t i : {0, 1}) out[i] = full_like(out[i], std::numeric_limits<double>::quiet_NaN());
    }
    if (keepdim) {
      for (Val& v : out) v = restore_dims(v, x.shape(), dims);
    }
    if (!scaled) return Moments{out[0], out[1], {}};
    const Val unit = reshape(scale, out[0].shape());
    return Moments{out[0], out[1] / unit, unit};
  };
  if (!is_complex(x.dtype())) return part(x);
  const Moments re = part(real(x)), im = part(imag(x));
  return {re.unscaled_variance() + im.unscaled_variance(), complex(re.mean, im.mean), {}};
}

Val variance_of(const Val& x, const Dims& dims, const std::optional<ScalarArg>& correction,
                bool keepdim, bool root) {
  const Moments m = moments(x, dims, correction, keepdim, "std and var");
  return convert(root ? m.deviation() : m.unscaled_variance(), real_type(x.dtype()));
}

std::tuple<Val, Val> variance_and_mean(const Val& x, const Dims& dims,
                                       const std::optional<ScalarArg>& correction, bool keepdim,
                                       bool root) {
  const Moments m = moments(x, dims, correction, keepdim, root ? "std_mean" : "var_mean");
  return {convert(root ? m.deviation() : m.unscaled_variance(), real_type(x.dtype())),
          convert(m.mean, x.dtype())};
}

std::optional<ScalarArg> unbiased_correction(Tracer& t, bool unbiased) {
  return t.literal(unbiased ? 1 : 0);
}

Val counted(const Val& x, const Dims& dims) {
  return reduce(Prim::reduce_sum, convert(logical(x), DType::i64), dims, false);
}

Val without_nan(const Val& x) {
  return is_exact(x.dtype()) ? x : where(is_nan(x), full_like(x, Scalar(0)), x);
}

}  // namespace

Val sum_of_all::decompose(Tracer& t, const Val& self, const std::optional<DType>& dtype) {
  return reduced(Prim::reduce_sum, accumulated(self, dtype), all_dims(self), false);
}

Val sum_over::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim, bool keepdim,
                        const std::optional<DType>& dtype) {
  return reduced(Prim::reduce_sum, accumulated(self, dtype), dims_of(self, dim), keepdim);
}

Val prod_of_all::decompose(Tracer& t, const Val& self, const std::optional<DType>& dtype) {
  return reduced(Prim::reduce_prod, accumulated(self, dtype), all_dims(self), false);
}

Val prod_along::decompose(Tracer& t, const Val& self, int64_t dim, bool keepdim,
                          const std::optional<DType>& dtype) {
  return reduced(Prim::reduce_prod, accumulated(self, dtype), dims_of(self, Dims{dim}), keepdim);
}

Val mean_of_all::decompose(Tracer& t, const Val& self, const std::optional<DType>& dtype) {
  return mean_of(self, all_dims(self), false, dtype);
}

Val mean_over::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim, bool keepdim,
                         const std::optional<DType>& dtype) {
  return mean_of(self, dims_of(self, dim), keepdim, dtype);
}

Val nansum::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim, bool keepdim,
                      const std::optional<DType>& dtype) {
  require(!is_complex(self.dtype()), ErrorCode::runtime,
          "nansum on CPU does not support complex inputs");
  return sum_over::decompose(t, without_nan(self), dim, keepdim, dtype);
}

Val nanmean::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim, bool keepdim,
                       const std::optional<DType>& dtype) {
  require(
      is_floating(self.dtype()), ErrorCode::runtime,
      fmt::format("nanmean(): expected input to have floating point or complex dtype but got {}",
                  aten_name(self.dtype())));
  if (dtype && !is_floating(*dtype)) not_implemented_for("nansum_cpu", *dtype);
  const Dims dims = dims_of(self, dim);
  const Val x = opmath(dtype ? convert(self, *dtype) : self);
  const Val sum = reduce(Prim::reduce_sum, without_nan(x), dims, keepdim);
  const Val count = reduce(Prim::reduce_sum, convert(~is_nan(x), x.dtype()), dims, keepdim);
  return convert(sum / count, dtype.value_or(self.dtype()));
}

Val amax::decompose(Tracer& t, const Val& self, const Dims& dim, bool keepdim) {
  const Dims dims = wrap_dims(dim, self.rank(), true);
  require_not_empty(self, dims, "amax", !dim.empty());
  refuse_complex(self, "max_values_cpu");
  return extreme(Prim::reduce_max, self, dims, keepdim);
}

// The bits that an f32 has as an f64, by integers alone: not every device has f64, and what flushes
// denormals may do so on the way. What is denormal
// in f32 is its mantissa times 2^-149, and the mantissa as a number is normal.
Val widened_bits(const Val& x, const Val& bits) {
  const auto number = [&](uint64_t n) {
    return full_like(convert(bits, DType::u64), Scalar(static_cast<int64_t>(n)));
  };
  const auto shift = [&](Prim which, const Val& v, uint64_t by) {
    return binary(which, v, number(by));
  };
  const auto assembled = [&](const Val& b, uint64_t bias) {
    const Val exponent = shift(Prim::shift_right, b, 23) & number(0xff);
    return shift(Prim::shift_left, exponent + number(bias), 52) |
           shift(Prim::shift_left, b & number(0x7fffff), 29);
  };
  const Val b = convert(bits, DType::u64), magnitude = b & number(0x7fffffff);
  const Val mantissa = convert(convert(magnitude, DType::i32), DType::f32);
  const Val of_mantissa = convert(
      bits.tracer().wrap(bits.tracer().builder().bitcast(mantissa.id(), DType::u32)), DType::u64);
  Val wide = assembled(magnitude, 1023 - 127);
  wide = where(lt(magnitude, Scalar(0x800000)), assembled(of_mantissa, 1023 - 127 - 149), wide);
  wide = where(
      ge(magnitude, Scalar(0x7f800000)),
      number(uint64_t{0x7ff} << 52) | shift(Prim::shift_left, magnitude & number(0x7fffff), 29),
      wide);
  wide = where(eq(magnitude, Scalar(0)), number(0), wide);
  return wide | shift(Prim::shift_left, shift(Prim::shift_right, b, 31), 63);
}

// The xor of all elements' bits: of floating values those as f64, of integers those as i64. NaN is
// one NaN, for which of its patterns a device makes is its own affair.
Val hash_tensor::decompose(Tracer& t, const Val& self, const Dims& dim, bool keepdim,
                           int64_t mode) {
  require(mode == 0, ErrorCode::runtime, fmt::format("Unknown hash_tensor mode: {}", mode));
  const Dims dims = wrap_dims(dim, self.rank(), true);
  require_not_empty(self, dims, "hash_tensor", !dim.empty());
  refuse_complex(self, "xor_sum_cpu");
  if (is_exact(self.dtype()))
    return reduce(Prim::reduce_xor, convert(convert(self, DType::i64), DType::u64), dims, keepdim);
  const auto bits_of = [&](const Val& x, DType bits) {
    return t.wrap(t.builder().bitcast(x.id(), bits));
  };
  const bool widens = t.device().f64 && !t.device().flush_f32;
  const Val x = widens ? convert(self, DType::f64) : opmath(self);
  const Val nan = full_like(x, Scalar(std::numeric_limits<double>::quiet_NaN()));
  const Val one_nan = where(is_nan(x), nan, x);
  const Val bits = x.dtype() == DType::f64 ? bits_of(one_nan, DType::u64)
                                           : widened_bits(one_nan, bits_of(one_nan, DType::u32));
  return reduce(Prim::reduce_xor, bits, dims, keepdim);
}

Val amin::decompose(Tracer& t, const Val& self, const Dims& dim, bool keepdim) {
  const Dims dims = wrap_dims(dim, self.rank(), true);
  require_not_empty(self, dims, "amin", !dim.empty());
  refuse_complex(self, "min_values_cpu");
  return extreme(Prim::reduce_min, self, dims, keepdim);
}

std::tuple<Val, Val> aminmax::decompose(Tracer& t, const Val& self,
                                        const std::optional<int64_t>& dim, bool keepdim) {
  require(dim || !(self.numel() == SymInt(0)), ErrorCode::runtime,
          "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
          "identity.");
  const Dims dims = dim ? wrap_dims(Dims{*dim}, self.rank(), false) : all_dims(self);
  require_not_empty(self, dims, "aminmax");
  refuse_complex(self, "aminmax_cpu");
  return {extreme(Prim::reduce_min, self, dims, keepdim),
          extreme(Prim::reduce_max, self, dims, keepdim)};
}

std::tuple<Val, Val> aminmax_all::decompose(Tracer& t, const Val& self) {
  return aminmax::decompose(t, self, std::nullopt, false);
}

std::tuple<Val, Val> aminmax_dim::decompose(Tracer& t, const Val& self, int64_t dim, bool keepdim) {
  return aminmax::decompose(t, self, dim, keepdim);
}

Val max_of_all::decompose(Tracer& t, const Val& self) {
  return extreme_of_all(Prim::reduce_max, self, "max");
}

Val min_of_all::decompose(Tracer& t, const Val& self) {
  return extreme_of_all(Prim::reduce_min, self, "min");
}

std::tuple<Val, Val> max_along::decompose(Tracer& t, const Val& self, int64_t dim, bool keepdim) {
  return extreme_along(Prim::reduce_max, Prim::argmax, self, dim, keepdim, "max");
}

std::tuple<Val, Val> min_along::decompose(Tracer& t, const Val& self, int64_t dim, bool keepdim) {
  return extreme_along(Prim::reduce_min, Prim::argmin, self, dim, keepdim, "min");
}

Val argmax::decompose(Tracer& t, const Val& self, const std::optional<int64_t>& dim, bool keepdim) {
  return arg_extreme(Prim::argmax, self, dim, keepdim, "argmax");
}

Val argmin::decompose(Tracer& t, const Val& self, const std::optional<int64_t>& dim, bool keepdim) {
  return arg_extreme(Prim::argmin, self, dim, keepdim, "argmin");
}

Val all_of_all::decompose(Tracer& t, const Val& self) {
  return quantified(Prim::reduce_and, self, all_dims(self), false);
}

Val any_of_all::decompose(Tracer& t, const Val& self) {
  return quantified(Prim::reduce_or, self, all_dims(self), false);
}

Val all_along::decompose(Tracer& t, const Val& self, int64_t dim, bool keepdim) {
  return quantified(Prim::reduce_and, self, wrap_dims(Dims{dim}, self.rank(), false), keepdim);
}

Val any_along::decompose(Tracer& t, const Val& self, int64_t dim, bool keepdim) {
  return quantified(Prim::reduce_or, self, wrap_dims(Dims{dim}, self.rank(), false), keepdim);
}

// An empty list reduces nothing; None reduces everything.
Val all_over::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim, bool keepdim) {
  return quantified(Prim::reduce_and, self,
                    dim ? wrap_dims(*dim, self.rank(), false) : all_dims(self), keepdim);
}

Val any_over::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim, bool keepdim) {
  return quantified(Prim::reduce_or, self,
                    dim ? wrap_dims(*dim, self.rank(), false) : all_dims(self), keepdim);
}

Val count_nonzero::decompose(Tracer& t, const Val& self, const std::optional<int64_t>& dim) {
  return counted(self, dim ? wrap_dims(Dims{*dim}, self.rank(), false) : all_dims(self));
}

Val count_nonzero_dims::decompose(Tracer& t, const Val& self, const Dims& dim) {
  return counted(self, wrap_dims(dim, self.rank(), true));
}

namespace {

// Shifted by the greatest real part.
Val complex_log_sum_exp(const Val& z, const Dims& dims) {
  const Val top = reduce(Prim::reduce_max, real(z), dims, true);
  const Val shift = where(math::is_infinite(top), math::number(top, 0.0), top);
  const Val sum = reduce(Prim::reduce_sum, unary(Prim::exp, z - shift), dims, false);
  return unary(Prim::log, sum) + reshape(shift, sum.shape());
}

}  // namespace

Val logsumexp::decompose(Tracer& t, const Val& self, const Dims& dim, bool keepdim) {
  const Val x = is_exact(self.dtype()) ? convert(self, DType::f32) : self;
  const Dims dims = wrap_dims(dim, self.rank(), true);
  const Val r = is_complex(x.dtype()) ? complex_log_sum_exp(x, dims)
                                      : t.prim1(Prim::log_sum_exp, {x}, {{"dims", dims}});
  return keepdim ? restore_dims(r, self.shape(), dims) : r;
}

Val var_of_all::decompose(Tracer& t, const Val& self, bool unbiased) {
  return variance_of(self, all_dims(self), unbiased_correction(t, unbiased), false, false);
}
Val std_of_all::decompose(Tracer& t, const Val& self, bool unbiased) {
  return variance_of(self, all_dims(self), unbiased_correction(t, unbiased), false, true);
}
Val var_over::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim, bool unbiased,
                        bool keepdim) {
  return variance_of(self, dims_of(self, dim), unbiased_correction(t, unbiased), keepdim, false);
}
Val std_over::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim, bool unbiased,
                        bool keepdim) {
  return variance_of(self, dims_of(self, dim), unbiased_correction(t, unbiased), keepdim, true);
}
Val var_corrected::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim,
                             const std::optional<ScalarArg>& correction, bool keepdim) {
  return variance_of(self, dims_of(self, dim), correction, keepdim, false);
}
Val std_corrected::decompose(Tracer& t, const Val& self, const std::optional<Dims>& dim,
                             const std::optional<ScalarArg>& correction, bool keepdim) {
  return variance_of(self, dims_of(self, dim), correction, keepdim, true);
}
std::tuple<Val, Val> var_mean_of_all::decompose(Tracer& t, const Val& self, bool unbiased) {
  return variance_and_mean(self, all_dims(self), unbiased_correction(t, unbiased), false, false);
}
std::tuple<Val, Val> std_mean_of_all::decompose(Tracer& t, const Val& self, bool unbiased) {
  return variance_and_mean(self, all_dims(self), unbiased_correction(t, unbiased), false, true);
}
std::tuple<Val, Val> var_mean_over::decompose(Tracer& t, const Val& self,
                                              const std::optional<Dims>& dim, bool unbiased,
                                              bool keepdim) {
  return variance_and_mean(self, dims_of(self, dim), unbiased_correction(t, unbiased), keepdim,
                           false);
}
std::tuple<Val, Val> std_mean_over::decompose(Tracer& t, const Val& self,
                                              const std::optional<Dims>& dim, bool unbiased,
                                              bool keepdim) {
  return variance_and_mean(self, dims_of(self, dim), unbiased_correction(t, unbiased), keepdim,
                           true);
}
std::tuple<Val, Val> var_mean_corrected::decompose(Tracer& t, const Val& self,
                                                   const std::optional<Dims>& dim,
                                                   const std::optional<ScalarArg>& correction,
                                                   bool keepdim) {
  return variance_and_mean(self, dims_of(self, dim), correction, keepdim, false);
}
std::tuple<Val, Val> std_mean_corrected::decompose(Tracer& t, const Val& self,
                                                   const std::optional<Dims>& dim,
                                                   const std::optional<ScalarArg>& correction,
                                                   bool keepdim) {
  return variance_and_mean(self, dims_of(self, dim), correction, keepdim, true);
}

Val sum_to_size::decompose(Tracer& t, const Val& self, const SymInts& size) {
  const SymInts shape = self.shape();
  bool fits = size.size() <= shape.size();
  const size_t lead = fits ? shape.size() - size.size() : 0;
  for (size_t d = 0; fits && d < size.size(); ++d)
    fits = size[d] == SymInt(1) || size[d] == shape[lead + d];
  require(fits, ErrorCode::runtime,
          fmt::format("size {{{}}} is not expandable to size {{{}}}.", shape_text(size),
                      shape_text(shape)));
  Dims dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool summed = d < lead || (size[d - lead] == SymInt(1) && !(shape[d] == SymInt(1)));
    if (summed) dims.push_back(static_cast<int64_t>(d));
  }
  // To no dims at all is a sum like any other, which widens integers, even of a number alone.
  if (dims.empty() && size.size() == shape.size() && !size.empty()) return self;
  return reshape(reduced(Prim::reduce_sum, accumulated(self, std::nullopt), dims, false), size);
}

Val trace::decompose(Tracer& t, const Val& self) {
  require(self.rank() == 2, ErrorCode::runtime,
          "trace: expected a matrix, but self has shape " + shape_text(self.shape()));
  const Val diagonal = t.prim1(
      Prim::diagonal, {self}, {{"offset", int64_t{0}}, {"dim1", int64_t{0}}, {"dim2", int64_t{1}}});
  return reduced(Prim::reduce_sum, accumulated(diagonal, std::nullopt), {0}, false);
}

}  // namespace primset::decomps
