// Sobol sequences: point n is the exclusive or of direction numbers, those at the bits of n's Gray
// code n ^ (n >> 1) (Antonov and Saleev, 1979). A state has a row a dim and a column a bit.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/random.h"
#include "decomps/primitives/random/philox.h"

namespace primset::decomps {
namespace {

constexpr int64_t kBits = 30;

// Points are counted modulo 2^64.
int64_t later(int64_t point, int64_t steps) {
  return static_cast<int64_t>(static_cast<uint64_t>(point) + static_cast<uint64_t>(steps));
}

Val gray_code(const Val& n) {
  return n ^ philox::shifted_right(n, 1);
}

// The first of the dims, and the others behind what becomes of these.
Val first_dims(const Val& x, const SymInt& count) {
  return x.size(0) == count ? x : slice(x, 0, 0, count, 1);
}
Val with_other_dims(const Val& first, const Val& x) {
  const SymInt count = first.size(0);
  if (x.size(0) == count) return first;
  return concatenate({first, slice(x, 0, count, x.size(0), 1)}, 0);
}

// A number for each dim, and its direction numbers; what is behind the dims and bits stays.
void require_sobol_state(const char* op, const Val& quasi, const Val& state, int64_t dimension) {
  require(state.dtype() == DType::i64, ErrorCode::runtime,
          "sobolstate needs to be of type at::kLong");
  require(quasi.dtype() == DType::i64, ErrorCode::runtime, "quasi needs to be of type at::kLong");
  require_rank(op, "quasi", quasi, 1);
  const SymInt dims = dimension;
  require(dimension >= 0 && quasi.size(0) >= dims, ErrorCode::runtime,
          fmt::format("{}: expected quasi to have a number for each of {} dims, but got {}", op,
                      dimension, shape_text(quasi.shape())));
  require(state.rank() == 2 && state.size(0) >= dims && state.size(1) >= SymInt(kBits),
          ErrorCode::runtime,
          fmt::format("{}: expected a sobolstate of {} columns for each of {} dims, but got {}", op,
                      kBits, dimension, shape_text(state.shape())));
}

// [rows, dims]: the exclusive or of the direction numbers from column `first` on at which a row of
// `bits` has ones.
Val chosen_directions(Tracer& t, const Val& bits, const Val& state, int64_t first, int64_t count) {
  const Val direction = transpose(slice(state, 1, first, first + count, 1), {1, 0});
  const Val place = t.iota({SymInt(count), SymInt(1)}, 0, DType::i64);
  const Val rows = reshape(bits, {bits.size(0), SymInt(1), SymInt(1)});
  const Val bit = binary(Prim::shift_right, rows, unsqueeze(place, 0)) & full_like(rows, 1);
  const Val chosen = -bit & unsqueeze(direction, 0);
  const auto region =
      t.scalar_region({DType::i64, DType::i64},
                      [](const std::vector<Val>& v) -> std::vector<Val> { return {v[0] ^ v[1]}; });
  return t.prim(Prim::reduce, {chosen, t.constant(0, DType::i64)},
                {{"dims", std::vector<int64_t>{1}}}, {region})[0];
}

// What is left of `quasi`, a number a dim, after going from point `from` to the points `to`, which
// are its rows. Of many points the Gray code's parts are looked up in tables of all that a part can
// choose.
Val moved_on(const Val& quasi, const Val& state, const Val& from, const Val& to) {
  constexpr int64_t kPart = 10, kRows = int64_t{1} << kPart;
  Tracer& t = to.tracer();
  const Val passed = gray_code(to) ^ gray_code(broadcast_to(from, to.shape()));
  const Val start = broadcast_to(unsqueeze(quasi, 0), {to.size(0), quasi.size(0)});
  if (to.size(0) < SymInt(4 * kRows)) return start ^ chosen_directions(t, passed, state, 0, kBits);
  const Val all = t.iota({SymInt(kRows)}, 0, DType::i64);
  Val point = start;
  for (int64_t b = 0; b < kBits; b += kPart) {
    const Val table = chosen_directions(t, all, state, b, kPart);
    const Val row = philox::shifted_right(passed, b) & full_like(passed, Scalar(kRows - 1));
    point = point ^ t.wrap(t.builder().gather(table.id(), {row.id()}, {0}, true, "index"));
  }
  return point;
}

}  // namespace

std::tuple<Val, Val> _sobol_engine_draw::decompose(Tracer& t, const Val& quasi, int64_t n,
                                                   const Val& sobolstate, int64_t dimension,
                                                   int64_t num_generated,
                                                   const std::optional<DType>& dtype) {
  const DType type = dtype.value_or(DType::f32);
  require_sobol_state("_sobol_engine_draw", quasi, sobolstate, dimension);
  require(n >= 0, ErrorCode::runtime, "n must be at least 0");
  const Val from = t.constant(num_generated, DType::i64);
  const Val to = t.iota({SymInt(n)}, 0, DType::i64) + Scalar(later(num_generated, 1));
  const Val points =
      moved_on(first_dims(quasi, dimension), first_dims(sobolstate, dimension), from, to);
  const Val last = n == 0 ? quasi : with_other_dims(select(points, 0, n - 1), quasi);
  const DType wide = type == DType::f64 ? type : DType::f32;
  return {convert(convert(points, wide) * Scalar(philox::power_of_two(-kBits)), type), last};
}

Val _sobol_engine_ff_::decompose(Tracer& t, const Val& self, int64_t n, const Val& sobolstate,
                                 int64_t dimension, int64_t num_generated) {
  require_sobol_state("_sobol_engine_ff_", self, sobolstate, dimension);
  const Val from = t.constant(num_generated, DType::i64);
  const Val to = t.constant(later(num_generated, n), DType::i64, {SymInt(1)});
  const Val moved =
      moved_on(first_dims(self, dimension), first_dims(sobolstate, dimension), from, to);
  return with_other_dims(squeeze(moved, 0), self);
}

// The bits of each direction number, the highest first, times the dim's matrix of bits modulo 2,
// whose diagonal is ones whatever it holds.
Val _sobol_engine_scramble_::decompose(Tracer& t, const Val& self, const Val& ltm, int64_t) {
  require(self.dtype() == DType::i64, ErrorCode::runtime,
          "sobolstate needs to be of type at::kLong");
  constexpr const char* kName = "_sobol_engine_scramble_";
  require_rank(kName, "self", self, 2);
  require(is_exact(ltm.dtype()), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}: {} takes ltm of integers",
                      aten_name(DType::i64), aten_name(ltm.dtype()), kName));
  const SymInt dims = self.size(0);
  const SymInts bits_shape = {dims, kBits, kBits};
  require_sizes(kName, "self", self, "the direction numbers", {dims, SymInt(kBits)});
  require_sizes(kName, "ltm", ltm, "the matrices of bits", bits_shape);
  const Val places = Scalar(kBits - 1) - t.iota(bits_shape, 2, DType::i64);
  const Val one = full_like(places, Scalar(int64_t{1}));
  const Val bits =
      binary(Prim::shift_right, broadcast_to(unsqueeze(self, 2), bits_shape), places) & one;
  const Val on_diagonal = eq(t.iota(bits_shape, 1, DType::i64), t.iota(bits_shape, 2, DType::i64));
  const Val matrices = where(on_diagonal, one, convert(ltm, DType::i64));
  const SymInts all = {dims, kBits, kBits, kBits};  // dim, column, row of the matrix, bit
  const Val products =
      broadcast_to(unsqueeze(bits, 2), all) * broadcast_to(unsqueeze(matrices, 1), all);
  const Val parity = reduce(Prim::reduce_sum, products, {3}, false) & one;
  return reduce(Prim::reduce_sum, binary(Prim::shift_left, parity, places), {2}, false);
}

}  // namespace primset::decomps
