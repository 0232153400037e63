// Derived shapes, reductions, normalisations and random numbers.
#include <algorithm>

#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

Types diagonal(const Call& c) {
  int64_t dim1 = c.attr<int64_t>("dim1"), dim2 = c.attr<int64_t>("dim2");
  int64_t offset = c.attr<int64_t>("offset");
  c.require(valid_dims({dim1, dim2}, c.rank(0)), "diagonal_c1: dim1 and dim2 are two dims of x");
  SymInt rows = c.shape(0)[static_cast<size_t>(dim1)],
         columns = c.shape(0)[static_cast<size_t>(dim2)];
  SymInts shape = without_dims(c.shape(0), {dim1, dim2});
  SymInt size = offset >= 0 ? min(rows, columns - offset) : min(rows + offset, columns);
  shape.push_back(max(size, 0));
  return {{c.dtype(0), shape}};
}

Types as_strided(const Call& c) {
  const SymInts& sizes = c.attr<SymInts>("sizes");
  c.require(sizes.size() == c.attr<SymInts>("strides").size(), "as_strided_c1: one stride a size");
  c.attr<SymInt>("offset");
  return {{c.dtype(0), sizes}};
}

Types reduced(const Call& c) {
  c.require_signature_dtypes();
  const Ints& dims = c.attr<Ints>("dims");
  c.require_shared(valid_dims(dims, c.rank(0)), "_c1: dims are dims of x");
  ValueType type{c.dtype(0), without_dims(c.shape(0), dims)};
  if (c.prim == Prim::var_mean) return {type, type};
  return {type};
}

Types along_dim(const Call& c) {
  c.require_signature_dtypes();
  c.require_shared(valid_dims({c.attr<int64_t>("dim")}, c.rank(0)), "_c1: dim is a dim of x");
  return {c.type(0)};
}

// y, and statistics over the last `dims` dims, which they lack.
Types normalized(const Call& c) {
  c.require_signature_dtypes();
  int64_t dims = c.attr<int64_t>("dims");
  c.require_shared(dims >= 0 && dims <= static_cast<int64_t>(c.rank(0)), "_c1: x has `dims` dims");
  SymInts outer(c.shape(0).begin(), c.shape(0).end() - dims);
  SymInts inner(c.shape(0).end() - dims, c.shape(0).end());
  for (size_t i = 1; i < c.count(); ++i) {
    if (c.has(i))
      c.require_shared(equal_shapes(c.shape(i), inner),
                       "_c3: weight and bias have the normalised shape");
  }
  ValueType statistic{c.dtype(0), outer};
  if (c.prim == Prim::layer_norm) return {c.type(0), statistic, statistic};
  return {c.type(0), statistic};
}

void require_gradient(const Call& c) {
  c.require_signature_dtypes();
  c.require_shared(equal_shapes(c.shape(0), c.shape(1)), "_c1: x and its gradient have one shape");
}

Types gradient_along_dim(const Call& c) {
  require_gradient(c);
  return along_dim(c);
}

// Behind the gradient and x come the statistics, then the weight.
Types normalized_gradient(const Call& c) {
  require_gradient(c);
  const int64_t dims = c.attr<int64_t>("dims");
  c.require_shared(dims >= 0 && dims <= static_cast<int64_t>(c.rank(1)), "_c2: x has `dims` dims");
  const SymInts outer(c.shape(1).begin(), c.shape(1).end() - dims);
  const SymInts inner(c.shape(1).end() - dims, c.shape(1).end());
  const size_t weight = c.count() - 1;
  for (size_t i = 2; i < c.count(); ++i) {
    if (c.has(i))
      c.require_shared(equal_shapes(c.shape(i), i == weight ? inner : outer),
                       "_c3: statistics have the outer shape, the weight the normalised one");
  }
  const ValueType parameter{c.dtype(1), inner};
  if (c.prim == Prim::layer_norm_backward) return {c.type(1), parameter, parameter};
  return {c.type(1), parameter};
}

// A batch of channels.
const SymInts& batch_shape(const Call& c, size_t x) {
  c.require_shared(c.rank(x) >= 2, "_c1: x has a batch and channels");
  return c.shape(x);
}

void require_norm_shape(const Call& c, size_t from, size_t end, const SymInts& shape,
                        const char* rule) {
  for (size_t i = from; i < end; ++i) {
    if (c.has(i)) c.require_shared(equal_shapes(c.shape(i), shape), rule);
  }
}

SymInts group_shape(const Call& c, const SymInts& x) {
  const int64_t groups = c.attr<int64_t>("groups");
  c.require_shared(groups > 0 && mod(x[1], groups) == SymInt(0),
                   "_c2: the groups divide the channels");
  return {x[0], SymInt(groups)};
}

constexpr const char* kPerChannel = "_c3: parameters have a number for each channel";

Types group_norm(const Call& c) {
  c.require_signature_dtypes();
  const SymInts& x = batch_shape(c, 0);
  require_norm_shape(c, 1, 3, {x[1]}, kPerChannel);
  const ValueType statistic{c.dtype(0), group_shape(c, x)};
  return {c.type(0), statistic, statistic};
}

Types group_norm_backward(const Call& c) {
  require_gradient(c);
  const SymInts& x = batch_shape(c, 1);
  require_norm_shape(c, 2, 4, group_shape(c, x), "_c4: statistics have a number for each group");
  require_norm_shape(c, 4, 5, {x[1]}, kPerChannel);
  const ValueType parameter{c.dtype(1), {x[1]}};
  return {c.type(1), parameter, parameter};
}

Types batch_norm(const Call& c) {
  c.require_signature_dtypes();
  c.require_shared(c.has(1) == c.has(2), "_c4: mean and variance are given, or neither");
  const SymInts& x = batch_shape(c, 0);
  require_norm_shape(c, 1, 5, {x[1]}, kPerChannel);
  const ValueType statistic{c.dtype(0), {x[1]}};
  return {c.type(0), statistic, statistic};
}

Types batch_norm_backward(const Call& c) {
  require_gradient(c);
  const SymInts& x = batch_shape(c, 1);
  require_norm_shape(c, 2, 5, {x[1]}, kPerChannel);
  const ValueType parameter{c.dtype(1), {x[1]}};
  return {c.type(1), parameter, parameter};
}

void require_key(const Call& c) {
  for (size_t i : {0u, 1u}) {
    c.require_shared(c.rank(i) == 0 && c.dtype(i) == DType::i64,
                     "_c1: key and offset are i64 numbers");
  }
}

Types philox_bits(const Call& c) {
  require_key(c);
  SymInts shape = c.attr<SymInts>("shape");
  shape.push_back(4);
  return {{DType::u32, shape}};
}

Types random_values(const Call& c) {
  require_key(c);
  return {{c.attr<DType>("dtype"), c.attr<SymInts>("shape")}};
}

Types dropout(const Call& c) {
  require_key(c);
  c.require(is_floating(c.dtype(2)), "dropout_c2: x is floating");
  return {c.type(2), {DType::boolean, c.shape(2)}};
}

// One number for each element of the parameters.
Types random_samples(const Call& c) {
  require_key(c);
  for (size_t i = 2; i < c.count(); ++i)
    c.require_shared(
        is_floating(c.dtype(i)) && c.dtype(i) == c.dtype(2) && equal_shapes(c.shape(i), c.shape(2)),
        "_c2: the parameters are floating, of one dtype and shape");
  return {c.type(2)};
}

Types random_permutation(const Call& c) {
  require_key(c);
  return {{DType::i64, {c.attr<SymInt>("n")}}};
}

Types multinomial(const Call& c) {
  require_key(c);
  c.require(is_floating(c.dtype(2)) && c.rank(2) == 2,
            "multinomial_c2: weights are floating and have two dims");
  c.attr<bool>("replacement");
  return {{DType::i64, {c.shape(2)[0], c.attr<SymInt>("samples")}}};
}

Types sample_gradients(const Call& c) {
  for (size_t i = 0; i < c.count(); ++i)
    c.require_shared(
        is_floating(c.dtype(i)) && c.dtype(i) == c.dtype(0) && equal_shapes(c.shape(i), c.shape(0)),
        "_c1: the operands are floating, of one dtype and shape");
  return {c.type(0)};
}

}  // namespace

void add_derived_array_rules(RuleTable& t) {
  using enum Prim;
  t.set(Prim::diagonal, primset::prims::diagonal);
  t.set(Prim::as_strided, primset::prims::as_strided);
  t.set({mean, var_mean, vector_norm, log_sum_exp}, reduced);
  t.set({softmax, log_softmax, scan_log_add_exp}, along_dim);
  t.set({softmax_backward, log_softmax_backward}, gradient_along_dim);
  t.set({layer_norm, rms_norm}, normalized);
  t.set({layer_norm_backward, rms_norm_backward}, normalized_gradient);
  t.set(Prim::group_norm, primset::prims::group_norm);
  t.set(Prim::group_norm_backward, primset::prims::group_norm_backward);
  t.set(Prim::batch_norm, primset::prims::batch_norm);
  t.set(Prim::batch_norm_backward, primset::prims::batch_norm_backward);
  t.set(Prim::philox_bits, primset::prims::philox_bits);
  t.set({random_uniform, random_normal, random_integers}, random_values);
  t.set(Prim::dropout, primset::prims::dropout);
  t.set({random_gamma, random_poisson, random_binomial}, random_samples);
  t.set(Prim::random_permutation, primset::prims::random_permutation);
  t.set(Prim::multinomial, primset::prims::multinomial);
  t.set({gamma_grad, dirichlet_grad}, sample_gradients);
}

}  // namespace primset::prims
