#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

Types matmul(const Call& c) {
  c.require_signature_dtypes();
  size_t r = c.rank(0);
  c.require(r >= 2 && c.rank(1) == r, "matmul_c1: a and b are matrices in batches of one rank");
  const SymInts &a = c.shape(0), &b = c.shape(1);
  SymInts shape(a.begin(), a.end() - 2);
  for (size_t d = 0; d + 2 < r; ++d) {
    c.require(a[d] == b[d], "matmul_c2: batch dims have equal sizes");
  }
  c.require(a[r - 1] == b[r - 2], "matmul_c3: contracted dims have equal sizes");
  shape.push_back(a[r - 2]);
  shape.push_back(b[r - 1]);
  return {{c.dtype(0), shape}};
}

struct Spatial {
  SymInts stride, padding, dilation, output_padding;
};

SymInt convolved(const Spatial& s, size_t i, const SymInt& n, const SymInt& kernel) {
  SymInt span = s.dilation[i] * (kernel - 1) + 1;
  return floor_div(n + 2 * s.padding[i] - span, s.stride[i]) + 1;
}

SymInt deconvolved(const Spatial& s, size_t i, const SymInt& n, const SymInt& kernel) {
  return (n - 1) * s.stride[i] - 2 * s.padding[i] + s.dilation[i] * (kernel - 1) +
         s.output_padding[i] + 1;
}

// x is [batch, channels, spatial...]; w is [out, in / groups, kernel...], or when transposed
// [in, out / groups, kernel...].
Types convolution(const Call& c) {
  c.require_signature_dtypes();
  size_t r = c.rank(0);
  c.require(r >= 3 && r <= 5 && c.rank(1) == r, "convolution_c1: 1 to 3 spatial dims");
  Spatial s{c.attr<SymInts>("stride"), c.attr<SymInts>("padding"), c.attr<SymInts>("dilation"),
            c.attr<SymInts>("output_padding")};
  bool transposed = c.attr<bool>("transposed");
  const SymInt& groups = c.attr<SymInt>("groups");
  size_t n = r - 2;
  c.require(s.stride.size() == n && s.padding.size() == n && s.dilation.size() == n &&
                s.output_padding.size() == n,
            "convolution_c2: one entry a spatial dim");
  const SymInts &x = c.shape(0), &w = c.shape(1);
  SymInt channels = transposed ? w[0] : w[1] * groups;
  c.require(x[1] == channels, "convolution_c3: x and w agree about the channels");
  SymInts shape{x[0], transposed ? w[1] * groups : w[0]};
  for (size_t i = 0; i < n; ++i) {
    SymInt size =
        transposed ? deconvolved(s, i, x[i + 2], w[i + 2]) : convolved(s, i, x[i + 2], w[i + 2]);
    c.require(size.hint() >= 0, "convolution_c4: the kernel fits");
    shape.push_back(size);
  }
  if (c.has(2)) {
    c.require(c.rank(2) == 1 && c.shape(2)[0] == shape[1], "convolution_c5: one bias a channel");
  }
  return {{c.dtype(0), shape}};
}

// q is [..., queries, k], k is [..., keys, k], v is [..., keys, v].
Types attention(const Call& c) {
  size_t r = c.rank(0);
  c.require(r >= 2 && c.rank(1) == r && c.rank(2) == r, "attention_c1: q, k and v have one rank");
  const SymInts &q = c.shape(0), &k = c.shape(1), &v = c.shape(2);
  c.require(q[r - 1] == k[r - 1], "attention_c2: q and k agree about their last dim");
  c.require(k[r - 2] == v[r - 2], "attention_c3: as many keys as values");
  SymInts rows(q.begin(), q.end() - 1), shape = rows;
  shape.push_back(v[r - 1]);
  return {{c.dtype(0), shape}, {DType::f32, rows}};
}

// The gradients of q, k and v, and of the scores [..., queries, keys].
Types attention_backward(const Call& c) {
  size_t r = c.rank(1);
  c.require(r >= 2 && c.rank(2) == r && c.rank(3) == r,
            "attention_backward_c1: q, k and v have one rank");
  c.require(equal_shapes(c.shape(0), c.shape(4)), "attention_backward_c2: grad has y's shape");
  SymInts scores = c.shape(1);
  scores.back() = c.shape(2)[r - 2];
  return {c.type(1), c.type(2), c.type(3), {c.dtype(1), scores}};
}

void require_product(const Call& c) {
  c.require_shared(c.rank(0) == 2 && c.rank(1) == 2, "_c1: a and b are matrices");
  c.require_shared(c.shape(0)[1] == c.shape(1)[0], "_c2: contracted dims have equal sizes");
}

Types int8_matmul(const Call& c) {
  c.require_signature_dtypes();
  require_product(c);
  return {{DType::i32, {c.shape(0)[0], c.shape(1)[1]}}};
}

Types scaled_matmul(const Call& c) {
  require_product(c);
  return {{c.attr<DType>("to"), {c.shape(0)[0], c.shape(1)[1]}}};
}

Types grouped_matmul(const Call& c) {
  size_t a = c.rank(0), b = c.rank(1);
  c.require((a == 2 || a == 3) && (b == 2 || b == 3),
            "grouped_matmul_c1: a and b are matrices or batches of them");
  c.require(c.dtype(0) == c.dtype(1), "grouped_matmul_c2: a and b have one dtype");
  c.require(c.has(2) == (a == 2 || b == 2), "grouped_matmul_c3: ends where a matrix has groups");
  SymInts shape = {c.shape(0)[a - 2], c.shape(1)[b - 1]};
  if (a == b) shape.insert(shape.begin(), a == 3 ? c.shape(0)[0] : c.shape(2)[0]);
  return {{c.dtype(0), shape}};
}

// Of convolution by one operand, whose sizes are given.
Types convolution_gradient(const Call& c) {
  c.require_signature_dtypes();
  const SymInts& sizes = c.attr<SymInts>("sizes");
  size_t r = c.rank(0), n = c.attr<SymInts>("stride").size();
  c.require_shared(r >= 3 && r <= 5 && c.rank(1) == r && sizes.size() == r,
                   "_c1: 1 to 3 spatial dims");
  c.require_shared(n == r - 2 && c.attr<SymInts>("padding").size() == n &&
                       c.attr<SymInts>("dilation").size() == n,
                   "_c2: one entry a spatial dim");
  return {{c.dtype(0), sizes}};
}

}  // namespace

void add_derived_contraction_rules(RuleTable& t) {
  t.set(Prim::matmul, matmul);
  t.set(Prim::convolution, convolution);
  t.set(Prim::attention, attention);
  t.set(Prim::attention_backward, attention_backward);
  t.set(Prim::int8_matmul, int8_matmul);
  t.set(Prim::scaled_matmul, scaled_matmul);
  t.set(Prim::grouped_matmul, grouped_matmul);
  t.set({Prim::convolution_backward_input, Prim::convolution_backward_weight},
        convolution_gradient);
}

}  // namespace primset::prims
