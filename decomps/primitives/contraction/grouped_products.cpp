// Products of 8-bit numbers with scales, and of groups of rows.
#include "decomps/primitives/contraction.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

Val product(const Val& a, const Val& b, DType accumulate) {
  Tracer& t = a.tracer();
  const int64_t batch = a.rank() - 2;
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < batch; ++d) dims.push_back(d);
  return t.wrap(
      t.builder().dot_general(a.id(), b.id(), {batch + 1}, {batch}, dims, dims, accumulate));
}

}  // namespace

Val int8_matmul::decompose(Tracer&, const Val& a, const Val& b) {
  return product(a, b, DType::i32);
}

namespace {

// bf16 holds each value of the 8-bit formats, and matrix units take it.
Val unpacked(const Val& x) {
  return bits(x.dtype()) == 8 ? convert(x, DType::bf16) : x;
}

// A number for each block of the matrix as one for each element.
Val spread_over(const Val& scale, const SymInts& shape) {
  SymInts split, blocks;
  for (size_t d = 0; d < 2; ++d) {
    const SymInt count = scale.size(static_cast<int64_t>(d));
    split.insert(split.end(), {count, SymInt(1)});
    blocks.insert(blocks.end(), {count, prims::floor_div(shape[d], count)});
  }
  return reshape(broadcast_to(reshape(scale, split), blocks), shape);
}

// Does it change along the contracted dim?
bool is_constant_along(const Val& scale, int64_t dim) {
  return scale.rank() < 2 || known_equal(scale.size(dim), 1) == true;
}

Val as_factor(const Val& scale) {
  return scale.rank() < 2 ? reshape(scale, {}) : scale;
}

}  // namespace

// Scales of blocks of the contracted dim belong to the terms, others to the sum.
Val scaled_matmul::decompose(Tracer&, const Val& a, const Val& b, const Val& scale_a,
                             const Val& scale_b, const std::optional<Val>& bias, DType to) {
  Val c;
  if (is_constant_along(scale_a, 1) && is_constant_along(scale_b, 0)) {
    c = convert(product(unpacked(a), unpacked(b), DType::f32), DType::f32);
    const auto factor = [&](const Val& s, int64_t dim) {
      const bool blocks = s.rank() == 2 && known_equal(s.size(dim), 1) != true;
      if (!blocks) return as_factor(s);
      SymInts shape = {SymInt(1), SymInt(1)};
      shape[static_cast<size_t>(dim)] = c.size(dim);
      return spread_over(s, shape);
    };
    c = c * factor(scale_a, 0) * factor(scale_b, 1);
  } else {
    const auto scaled = [](const Val& x, const Val& s) {
      const Val wide = convert(x, DType::f32);
      return wide * (s.rank() < 2 ? as_factor(s) : spread_over(s, x.shape()));
    };
    c = product(scaled(a, scale_a), scaled(b, scale_b), DType::f32);
  }
  if (bias) c = c + convert(*bias, DType::f32);
  return convert(c, to);
}

namespace {

// The groups part a dim into runs, and each run into tiles of kTile, the last of a run not full.
// Tiles number floor(size / kTile) + groups at most.
constexpr int64_t kTile = 32;

struct Groups {
  Val starts, ends;  // [groups]
  Val tile_ends;     // the number of tiles up to the end of each group
  SymInt count, tiles;
};

Val running_sum(const Val& x) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().scan(Prim::scan_sum, x.id(), 0)[0]);
}

Val before(const Val& ends) {
  Tracer& t = ends.tracer();
  const Val zero = t.constant(0, ends.dtype());
  const Val moved = t.wrap(t.builder().pad(ends.id(), zero.id(), {1}, {0}, {0}));
  return slice(moved, 0, 0, ends.size(0), 1);
}

Groups groups_of(const Val& ends, const SymInt& size) {
  Tracer& t = ends.tracer();
  Groups g;
  const Val inside = binary(Prim::max, ends, full_like(ends, 0));
  g.ends =
      binary(Prim::min, convert(inside, DType::i64), t.constant(size, DType::i64, ends.shape()));
  g.starts = before(g.ends);
  const Val tiles = (g.ends - g.starts + Scalar(kTile - 1)) / Scalar(kTile);
  g.tile_ends = running_sum(binary(Prim::max, tiles, full_like(tiles, 0)));
  g.count = ends.size(0);
  g.tiles = prims::floor_div(size, kTile) + g.count;
  return g;
}

// How many of the ascending numbers are not above each value; as a vector of the values' shape.
Val groups_up_to(const Val& ascending, const Val& values) {
  const Val below = le(ascending, unsqueeze(values, values.rank()));
  return reduce(Prim::reduce_sum, convert(below, DType::i64), {values.rank()}, false);
}

Val at(const Val& numbers, const Val& index) {
  Tracer& t = numbers.tracer();
  return t.wrap(t.builder().gather(numbers.id(), {index.id()}, {0}, true, "group"));
}

// The group of a tile, and the places of its rows; behind the group's end there are none.
struct Tile {
  Val group;   // a number
  Val places;  // [kTile]
  Val inside;  // [kTile]
};

Tile tile_of(Tracer& t, const Groups& g, const Val& index, const SymInt& size) {
  const Val found = groups_up_to(g.tile_ends, index);
  const Val group = binary(Prim::min, found, full_like(found, g.count - 1));
  const Val first = at(g.starts, group) + (index - at(before(g.tile_ends), group)) * Scalar(kTile);
  const Val places = first + t.iota({SymInt(kTile)}, 0, DType::i64);
  const Val inside = lt(places, at(g.ends, group)) & lt(found, full_like(found, g.count));
  const Val last = full_like(places, max(size - 1, 0));
  return {group, binary(Prim::max, binary(Prim::min, places, last), full_like(places, 0)), inside};
}

// The rows of a tile, zeros where it has none.
Val rows_of(Tracer& t, const Val& x, const Tile& tile) {
  const Val rows = t.wrap(t.builder().gather(x.id(), {tile.places.id()}, {0}, true, "row"));
  return where(unsqueeze(tile.inside, 1), rows, full_like(rows, 0));
}

Val group_of(Tracer& t, const Val& x, const Val& group) {
  const Val zero = t.constant(0, DType::i64);
  const Val one = t.wrap(t.builder().dynamic_slice(x.id(), {group.id(), zero.id(), zero.id()},
                                                   {1, x.size(1), x.size(2)}));
  return squeeze(one, 0);
}

// Which group each row is of, and whether it is behind the last one's end; then the group is the
// last.
struct RowGroups {
  Val group, none;  // [m]
};
RowGroups groups_of_rows(Tracer& t, const Groups& g, const SymInt& size) {
  const Val found = groups_up_to(g.ends, t.iota({size}, 0, DType::i64));
  return {binary(Prim::min, found, full_like(found, g.count - 1)),
          ge(found, full_like(found, g.count))};
}

// [m, k] by [groups, k, n] as products of all rows with each group's matrix, of which each row
// takes that of its own group.
Val by_all_groups(Tracer& t, const Val& a, const Val& b, const Groups& g) {
  const Val rows = broadcast_to(unsqueeze(a, 0), {g.count, a.size(0), a.size(1)});
  const Val all = product(rows, b, opmath_type(a.dtype()));
  const RowGroups of = groups_of_rows(t, g, a.size(0));
  const Val row = t.iota({a.size(0)}, 0, DType::i64);
  const Val y =
      t.wrap(t.builder().gather(all.id(), {of.group.id(), row.id()}, {0, 1}, true, "row"));
  return convert(where(unsqueeze(of.none, 1), full_like(y, 0), y), a.dtype());
}

// A step of the loop over tiles is some kernels, that take 30 us to begin. In that a GPU multiplies
// so many numbers, of halves by its matrix units; and the product of all groups is not to take more
// memory than this.
constexpr int64_t kStepProducts = int64_t{700} << 20, kStepProductsOfHalves = int64_t{6} << 30,
                  kMostOfAllGroups = int64_t{1} << 26;  // numbers

bool is_faster_by_all_groups(Tracer& t, const Val& a, const Val& b, const Groups& g) {
  if (t.device().fast_launch) return false;
  const SymInt all = a.size(0) * g.count * b.size(2);
  const int64_t step = bits(a.dtype()) == 16 ? kStepProductsOfHalves : kStepProducts;
  return all <= SymInt(kMostOfAllGroups) && all * a.size(1) <= g.tiles * SymInt(step);
}

// [m, k] by [groups, k, n]: tile by tile, and then each row from its tile.
Val by_rows(Tracer& t, const Val& a, const Val& b, const Val& ends) {
  const SymInt size = a.size(0);
  if (known_equal(size, 0) == true || known_equal(ends.size(0), 0) == true)
    return t.constant(0, a.dtype(), {size, b.size(2)});
  const Groups g = groups_of(ends, size);
  if (is_faster_by_all_groups(t, a, b, g)) return by_all_groups(t, a, b, g);
  const DType wide = opmath_type(a.dtype());
  const auto body = [&](const std::vector<Val>& v) {
    const Tile tile = tile_of(t, g, v[0], size);
    return std::vector<Val>{
        convert(product(rows_of(t, a, tile), group_of(t, b, tile.group), wide), a.dtype())};
  };
  const Val tiles = t.prim(Prim::for_loop, {}, {{"count", g.tiles}, {"stacked", int64_t{1}}},
                           {t.region({{DType::i64, {}}}, body)})[0];
  const RowGroups rows = groups_of_rows(t, g, size);
  const Val row = t.iota({size}, 0, DType::i64);
  const Val place =
      at(before(g.tile_ends), rows.group) * Scalar(kTile) + row - at(g.starts, rows.group);
  const Val flat = reshape(tiles, {g.tiles * kTile, b.size(2)});
  const Val from = where(rows.none, full_like(place, 0), place);
  const Val y = t.wrap(t.builder().gather(flat.id(), {from.id()}, {0}, true, "row"));
  return where(unsqueeze(rows.none, 1), full_like(y, 0), y);
}

// [m, k] by [k, n] in groups of the contracted dim: each tile adds to its group's product.
Val by_terms(Tracer& t, const Val& a, const Val& b, const Val& ends) {
  const SymInt size = b.size(0);
  const Groups g = groups_of(ends, size);
  const DType wide = opmath_type(a.dtype());
  const Val columns = transpose(a, {1, 0});
  const Val none = t.constant(0, wide, {g.count, a.size(0), b.size(1)});
  if (known_equal(size, 0) == true || known_equal(g.count, 0) == true)
    return convert(none, a.dtype());
  const std::vector<prims::ValueType> params = {{DType::i64, {}}, {wide, none.shape()}};
  const auto body = [&](const std::vector<Val>& v) {
    const Tile tile = tile_of(t, g, v[0], size);
    const Val left = transpose(rows_of(t, columns, tile), {1, 0});
    const Val sum = group_of(t, v[1], tile.group) + product(left, rows_of(t, b, tile), wide);
    const Val zero = t.constant(0, DType::i64);
    return std::vector<Val>{t.wrap(t.builder().dynamic_update_slice(
        v[1].id(), unsqueeze(sum, 0).id(), {tile.group.id(), zero.id(), zero.id()}))};
  };
  const Val sums = t.prim(Prim::for_loop, {none}, {{"count", g.tiles}, {"stacked", int64_t{0}}},
                          {t.region(params, body)})[0];
  return convert(sums, a.dtype());
}

Val turned(const Val& x) {
  return x.rank() == 2 ? transpose(x, {1, 0}) : transpose(x, {0, 2, 1});
}

}  // namespace

Val grouped_matmul::decompose(Tracer& t, const Val& a, const Val& b,
                              const std::optional<Val>& ends) {
  if (!ends) return convert(product(a, b, opmath_type(a.dtype())), a.dtype());
  if (a.rank() == 2 && b.rank() == 2) return by_terms(t, a, b, *ends);
  return a.rank() == 2 ? by_rows(t, a, b, *ends) : turned(by_rows(t, turned(b), turned(a), *ends));
}

}  // namespace primset::decomps::prim
