// Distances between rows, and the losses that compare them.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/loss.h"
#include "decomps/operators/loss/terms.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

Val row_sum(const Val& x) {
  return reduce(Prim::reduce_sum, x, {x.rank() - 1}, false);
}

struct RowPairs {
  Val x, y;  // [..., n, k] and [..., m, k] of one batch
};

void require_rows(const Val& x, const char* name) {
  require(is_floating(x.dtype()), ErrorCode::runtime,
          fmt::format("cdist only supports floating-point dtypes, {} got: {}", name,
                      aten_name(x.dtype())));
  require(x.rank() >= 2, ErrorCode::runtime,
          fmt::format("cdist only supports at least 2D tensors, {} got: {}D", name, x.rank()));
}

void require_same_columns(const Val& x1, const Val& x2) {
  require(x1.size(-1) == x2.size(-1), ErrorCode::runtime,
          fmt::format("X1 and X2 must have the same number of columns. X1: {} X2: {}",
                      x1.size(-1).hint(), x2.size(-1).hint()));
}

RowPairs row_pairs(const Val& x1, const Val& x2) {
  const auto batched = [&](const Val& x, SymInts shape) {
    shape.push_back(x.size(-2));
    shape.push_back(x.size(-1));
    return broadcast_to(x, shape);
  };
  const auto batch_of = [](const Val& x) {
    const SymInts shape = x.shape();
    return SymInts(shape.begin(), shape.end() - 2);
  };
  const std::array<SymInts, 2> shapes = {batch_of(x1), batch_of(x2)};
  const SymInts batch = broadcast_shapes(shapes);
  return {batched(x1, batch), batched(x2, batch)};
}

// sqrt(x x + y y - 2 x y) of all pairs by one product; below 0 it may be by rounding only.
Val euclidean(Tracer& t, const RowPairs& r) {
  const Val x = opmath(r.x), y = opmath(r.y);
  const int64_t rank = x.rank();
  const std::vector<int64_t> batch = dims_from(0, rank - 2);
  const Val product = t.wrap(
      t.builder().dot_general(r.x.id(), r.y.id(), {rank - 1}, {rank - 1}, batch, batch, x.dtype()));
  const Val squares = unsqueeze(row_sum(x * x), rank - 1) + unsqueeze(row_sum(y * y), rank - 2);
  const Val d = squares - product * Scalar(2.0);
  return convert(math::sqrt(math::max(d, math::number(d, 0.0))), r.x.dtype());
}

Val distances(Tracer& t, const Val& x1, const Val& x2, double p, std::optional<int64_t> mode) {
  require_rows(x1, "X1");
  require_rows(x2, "X2");
  require_same_columns(x1, x2);
  require(p >= 0, ErrorCode::runtime, "cdist only supports non-negative p values");
  require(!mode || (*mode >= 0 && *mode <= 2), ErrorCode::runtime,
          fmt::format("possible modes: 0, 1, 2, but was: {}", mode.value_or(0)));
  require(x1.dtype() == x2.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(x1.dtype()),
                      aten_name(x2.dtype())));
  if (is_float8(x1.dtype())) not_implemented_for("cdist", x1.dtype());
  const RowPairs r = row_pairs(x1, x2);
  // Many rows are worth a matrix product, unless mode 2 forbids it; mode 1 asks for it.
  const bool many = mode.value_or(0) == 0 && (x1.size(-2) > SymInt(25) || x2.size(-2) > SymInt(25));
  if (p == 2 && (many || mode == 1)) return euclidean(t, r);
  return convert(t.prim1(Prim::cdist, {opmath(r.x), opmath(r.y)}, {{"p", Scalar(p)}}), x1.dtype());
}

}  // namespace

Val cdist::decompose(Tracer& t, const Val& x1, const Val& x2, double p,
                     const std::optional<int64_t>& compute_mode) {
  return distances(t, x1, x2, p, compute_mode);
}

Val _euclidean_dist::decompose(Tracer& t, const Val& x1, const Val& x2) {
  require(x1.dtype() == x2.dtype(), ErrorCode::runtime,
          fmt::format("expected m1 and m2 to have the same dtype, but got: {} != {}",
                      cpp_name(x1.dtype()), cpp_name(x2.dtype())));
  require(is_floating(x1.dtype()), ErrorCode::runtime,
          fmt::format("result type Float can't be cast to the desired output type {}; expected "
                      "matrices of a floating dtype",
                      aten_name(x1.dtype())));
  require(x1.rank() >= 2 && x2.rank() >= 2 && x1.size(-1) == x2.size(-1), ErrorCode::runtime,
          fmt::format("_euclidean_dist: expected matrices with as many columns, but got {} and {}",
                      shape_text(x1.shape()), shape_text(x2.shape())));
  return euclidean(t, row_pairs(x1, x2));
}

Val _cdist_backward::decompose(Tracer& t, const Val& grad, const Val& x1, const Val& x2, double p,
                               const Val& cdist) {
  require_rows(x1, "X1");
  require_rows(x2, "X2");
  const DType type = x1.dtype();
  if (type != DType::f32 && type != DType::f64) not_implemented_for("cdist_backward", type);
  require_same_columns(x1, x2);
  const RowPairs r = row_pairs(x1, x2);
  SymInts shape = r.x.shape();
  shape.back() = r.y.size(-2);
  constexpr const char* kName = "_cdist_backward";
  require_dtype(kName, "grad", grad, type);
  require_dtype(kName, "cdist", cdist, type);
  require_dtype(kName, "x2", x2, type);
  // ATen gives no other batch to the gradient of nothing.
  if (r.x.is_empty() || r.y.is_empty()) return zeros(t, x1.shape(), type);
  require_sizes(kName, "grad", grad, "the pairs of x1 and x2", shape);
  require_sizes(kName, "cdist", cdist, "the pairs of x1 and x2", shape);
  return t.prim1(Prim::cdist_backward, {grad, r.x, r.y, cdist}, {{"p", Scalar(p)}});
}

namespace {

// --- between the rows of one matrix: each pair once, in the order of the upper triangle ---

void require_row_matrix(const Val& self, double p, const char* kernel) {
  require(self.rank() == 2, ErrorCode::runtime,
          fmt::format("pdist only supports 2D tensors, got: {}D", self.rank()));
  require(is_floating(self.dtype()), ErrorCode::runtime,
          "pdist only supports floating-point dtypes");
  require(p >= 0, ErrorCode::runtime, "pdist only supports non-negative p values");
  if (self.dtype() != DType::f32 && self.dtype() != DType::f64)
    not_implemented_for(kernel, self.dtype());
}

// How many pairs of n rows there are.
SymInt pair_count(const SymInt& n) {
  return floor_div(n * (n - 1), 2);
}

// The first and the second row of each pair. Row i has its first pair at i n - i (i + 1) / 2: i is
// the root of a quadratic, which is less than one off in f32 where the pairs fit any memory.
std::array<Val, 2> rows_of_pairs(Tracer& t, const SymInt& n) {
  const Val number = t.iota({pair_count(n)}, 0, DType::i64), twice = full_like(number, 2 * n - 1);
  const auto first_pair = [&](const Val& i) { return i * (twice - i) / Scalar(2); };
  const Val root = unary(Prim::sqrt, convert(twice * twice - number * Scalar(8), DType::f32));
  const Val place = (convert(twice, DType::f32) - root) * Scalar(0.5);
  const Val rounded = convert(convert(place, DType::i32), DType::i64);
  // What is known to fit 32 bits also runs where there are no wider integers.
  const Val near = binary(Prim::max, binary(Prim::min, rounded, full_like(rounded, n - 1)),
                          full_like(rounded, 0));
  const Val after = near + Scalar(1);
  const Val row = where(lt(number, first_pair(near)), near - Scalar(1),
                        where(lt(number, first_pair(after)), near, after));
  return {row, number - first_pair(row) + row + Scalar(1)};
}

// Rows of x as [pair, 1, ...].
Val rows_at(Tracer& t, const Val& x, const Val& index) {
  return unsqueeze(t.wrap(t.builder().gather(x.id(), {index.id()}, {0}, true, "pair")), 1);
}

// The symmetric matrix with a pair's number at both its places, and zeros on the diagonal. The pair
// (i, j), i < j, has the number i n - i (i + 1) / 2 + j - i - 1.
Val symmetric(Tracer& t, const Val& pairs, const SymInt& n) {
  const SymInts shape = {n, n};
  const Val row = t.iota(shape, 0, DType::i64), column = t.iota(shape, 1, DType::i64);
  const Val i = binary(Prim::min, row, column), j = binary(Prim::max, row, column);
  const Val number = i * full_like(i, n) - i * (i + Scalar(1)) / Scalar(2) + j - i - Scalar(1);
  const Val diagonal = eq(row, column);
  const Val at = where(diagonal, full_like(number, 0), number);
  const Val values = t.wrap(t.builder().gather(pairs.id(), {at.id()}, {0}, true, "pair"));
  return where(diagonal, full_like(values, 0), values);
}

Val distances_within(Tracer& t, const Val& self, double p) {
  require_row_matrix(self, p, "pdist");
  if (self.size(0) <= SymInt(1)) return zeros(t, {SymInt(0)}, self.dtype());
  const auto [first, second] = rows_of_pairs(t, self.size(0));
  const Val apart =
      t.prim1(Prim::cdist, {rows_at(t, self, first), rows_at(t, self, second)}, {{"p", Scalar(p)}});
  return flattened(apart);
}

}  // namespace

Val pdist::decompose(Tracer& t, const Val& self, double p) {
  return distances_within(t, self, p);
}

Val _pdist_backward::decompose(Tracer& t, const Val& grad, const Val& self, double p,
                               const Val& pdist) {
  require_row_matrix(self, p, "pdist_backward");
  const SymInt n = self.size(0);
  if (n <= SymInt(1)) return zeros(t, self.shape(), self.dtype());
  for (const Val* v : {&grad, &pdist}) {
    require(v->rank() == 1 && v->size(0) == pair_count(n), ErrorCode::runtime,
            fmt::format("_pdist_backward: expected a number for each of {} pairs, but got {}",
                        pair_count(n).hint(), shape_text(v->shape())));
    require_dtype("_pdist_backward", v == &grad ? "grad" : "pdist", *v, self.dtype());
  }
  return t.prim1(Prim::cdist_backward, {symmetric(t, grad, n), self, self, symmetric(t, pdist, n)},
                 {{"p", Scalar(p)}});
}

// --- between rows at one place ---

namespace {

// The norm of a - b + eps over the last dim, in opmath.
Val distance_between(Tracer& t, const Val& a, const Val& b, double p, const ScalarArg& eps,
                     bool keepdim) {
  const bool exact = is_integral(a.dtype());
  const Val apart = exact ? in_float(a - b) : opmath(a) - opmath(b);
  const Val x = apart + convert(t.scalar(eps, DType::f64), apart.dtype());
  return t.call1("linalg_vector_norm", {x, p, std::vector<int64_t>{-1}, keepdim});
}

}  // namespace

Val pairwise_distance::decompose(Tracer& t, const Val& x1, const Val& x2, double p,
                                 const ScalarArg& eps, bool keepdim) {
  return convert(distance_between(t, x1, x2, p, eps, keepdim), float_type(x1));
}

Val triplet_margin_loss::decompose(Tracer& t, const Val& anchor, const Val& positive,
                                   const Val& negative, const ScalarArg& margin, double p,
                                   const ScalarArg& eps, bool swap, int64_t reduction) {
  const int64_t rank = anchor.rank();
  require(positive.rank() == rank && negative.rank() == rank, ErrorCode::runtime,
          fmt::format("The anchor, positive, and negative tensors are expected to have the same "
                      "number of dimensions, but got: anchor {}D, positive {}D, and negative {}D "
                      "inputs",
                      rank, positive.rank(), negative.rank()));
  const Val near = distance_between(t, anchor, positive, p, eps, false);
  Val far = distance_between(t, anchor, negative, p, eps, false);
  if (swap) far = math::min(far, distance_between(t, positive, negative, p, eps, false));
  const Val miss = near - far + t.scalar(margin, near.dtype());
  return reduced_loss(math::max(miss, math::number(miss, 0.0)), reduction, float_type(anchor));
}

Val cosine_similarity::decompose(Tracer& t, const Val& x1, const Val& x2, int64_t dim,
                                 const ScalarArg& eps) {
  require(is_floating(x1.dtype()), ErrorCode::runtime,
          fmt::format("expected common dtype to be floating point, yet common dtype is {}",
                      aten_name(x1.dtype())));
  const Val x = at_least_1d(opmath(x1)), y = at_least_1d(opmath(x2));
  const int64_t at = wrap_dim(dim, x1.rank());
  const Val least = t.scalar(eps, x.dtype());
  const auto direction = [&](const Val& v) {
    const Val size = math::sqrt(reduce(Prim::reduce_sum, v * v, {at}, true));
    return v / math::max(size, least);
  };
  const Val cosine = reduce(Prim::reduce_sum, direction(x) * direction(y), {at}, false);
  return convert(x1.rank() == 0 ? reshape(cosine, {}) : cosine, x1.dtype());
}

Val cosine_embedding_loss::decompose(Tracer& t, const Val& input1, const Val& input2,
                                     const Val& target, const ScalarArg& margin,
                                     int64_t reduction) {
  require(target.rank() <= 1, ErrorCode::runtime,
          "0D or 1D target tensor expected, multi-target not supported");
  const auto fits = [&](const Val& x) { return x.rank() == target.rank() + 1; };
  require(fits(input1) && fits(input2), ErrorCode::runtime,
          fmt::format("{}D target tensor expects {}D input tensors, but found inputs with sizes {} "
                      "and {}.",
                      target.rank(), target.rank() + 1, shape_text(input1.shape()),
                      shape_text(input2.shape())));
  const auto product = [](const Val& x, const Val& y) {
    if (is_bool(x.dtype())) return in_float(row_sum(convert(x & y, DType::i64)));
    const bool exact = is_integral(x.dtype());
    return in_float(row_sum(exact ? convert(x * y, DType::i64) : opmath(x) * opmath(y)));
  };
  constexpr double kLeast = 1e-12;
  const Val scale = math::sqrt((product(input1, input1) + Scalar(kLeast)) *
                               (product(input2, input2) + Scalar(kLeast)));
  const Val cosine = product(input1, input2) / scale, none = math::number(cosine, 0.0);
  const Val apart = math::max(cosine - t.scalar(margin, cosine.dtype()), none);
  const Val together = Scalar(1.0) - cosine;
  const Val term =
      where(eq(target, Scalar(1)), together, none) + where(eq(target, Scalar(-1)), apart, none);
  const bool reduces = reduction == kMean || reduction == kSum;
  return reduced_loss(term, reduces ? reduction : kNone, float_type(input1));
}

}  // namespace primset::decomps
