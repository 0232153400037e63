// Substitution: column by column where the matrix is small, else by blocks of rows, of which the
// blocks on the diagonal are inverted, all at once.
#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/matrices.h"

namespace primset::decomps::prim {
namespace {

// Each step divides row j of x by the diagonal and subtracts its multiples from the rows below.
Val substituted(Tracer& t, const Val& lower, const Val& b, bool unit_diagonal) {
  const SymInts shape = b.shape();
  const auto step = [&](const Val& j, const std::vector<Val>& carried) -> std::vector<Val> {
    const Val &x = carried[0], zero = mat::zero_index(t), row = mat::row_numbers(x);
    const Val above = mat::block(x, j, zero, {shape[0], 1, shape[2]});
    const Val solved = unit_diagonal ? above : above / mat::block(lower, j, j, {shape[0], 1, 1});
    const Val factor = mat::block(lower, zero, j, {shape[0], shape[1], 1});
    return {
        where(eq(row, j), broadcast_to(solved, shape), where(gt(row, j), x - factor * solved, x))};
  };
  return mat::loop(t, shape[1], {b}, step)[0];
}

// The inverses of the blocks on the diagonal, [blocks, count, kBlock, kBlock].
Val inverted_blocks(Tracer& t, const Val& lower, const SymInt& blocks, bool unit_diagonal) {
  const SymInt count = lower.size(0), all = blocks * count;
  const Val parts = reshape(lower, {count, blocks, mat::kBlock, blocks, mat::kBlock});
  const Val place = t.iota({blocks}, 0, index_type(t));
  const Val diagonal =
      t.wrap(t.builder().gather(parts.id(), {place.id(), place.id()}, {1, 3}, true, "blocks"));
  const Val inverse = substituted(t, reshape(diagonal, {all, mat::kBlock, mat::kBlock}),
                                  mat::identity(t, all, mat::kBlock, lower.dtype()), unit_diagonal);
  return reshape(inverse, {blocks, count, mat::kBlock, mat::kBlock});
}

Val substituted_by_blocks(Tracer& t, const Val& a, const Val& right, bool unit_diagonal) {
  const SymInt n = a.size(1), blocks = ceil_div(n, mat::kBlock), order = blocks * mat::kBlock;
  const SymInt count = a.size(0), columns = right.size(2);
  const Val lower = mat::padded_by_identity(a, order), b = mat::padded(right, order, columns);
  const Val inverses = inverted_blocks(t, lower, blocks, unit_diagonal);
  const auto step = [&](const Val& k, const std::vector<Val>& carried) -> std::vector<Val> {
    const Val& x = carried[0];
    const Val first = k * Scalar(mat::kBlock), zero = mat::zero_index(t);
    const Val rows = mat::block(lower, first, zero, {count, mat::kBlock, order});
    const Val known = where(lt(mat::column_numbers(rows), first), rows, full_like(rows, Scalar(0)));
    const Val rest =
        mat::block(b, first, zero, {count, mat::kBlock, columns}) - mat::product(known, x);
    const Val inverse = t.wrap(t.builder().dynamic_slice(
        inverses.id(), mat::starts({k, zero, zero, zero}), {1, count, mat::kBlock, mat::kBlock}));
    const Val solved = mat::product(reshape(inverse, {count, mat::kBlock, mat::kBlock}), rest);
    return {mat::updated(x, solved, first, zero)};
  };
  return mat::cut(mat::loop(t, blocks, {full_like(b, Scalar(0))}, step)[0], n, columns);
}

Val read_backwards(const Val& x, std::vector<int64_t> dims) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().reverse(x.id(), std::move(dims)));
}

}  // namespace

// An upper matrix is a lower one read from its end.
Val triangular_solve::decompose(Tracer& t, const Val& a, const Val& b, bool upper,
                                bool unit_diagonal) {
  const SymInts shape = b.shape();
  if (known_equal(shape[shape.size() - 2], 0) == true) return b;
  const Val lower = upper ? read_backwards(mat::as_matrices(a), {1, 2}) : mat::as_matrices(a);
  const Val right = upper ? read_backwards(mat::as_matrices(b), {1}) : mat::as_matrices(b);
  const Val x = lower.size(1) <= SymInt(mat::kOneBlock)
                    ? substituted(t, lower, right, unit_diagonal)
                    : substituted_by_blocks(t, lower, right, unit_diagonal);
  return reshape(upper ? read_backwards(x, {1}) : x, shape);
}

}  // namespace primset::decomps::prim
