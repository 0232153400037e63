// Resampling: each element of the result is a weighted sum of a few neighbours. Interpolation reads
// them at computed places, in one pass over all dims. Antialiasing filters and adjoints are passes
// over one dim after the other, each a band of weights that moves along the dim; the adjoint
// gathers for an element of x what it has a part in, so that it adds in a fixed order.
#include "decomps/primitives/resampling.h"

#include <fmt/format.h>

#include "decomps/primitives/math.h"
#include "decomps/primitives/spatial/resampling_neighbours.h"
#include "decomps/primitives/spatial/window_taps.h"

namespace primset::decomps::prim {
namespace {

using Ints = std::vector<int64_t>;
using Axis = ResampledAxis;

Val times_scale(const Val& x, const Val& scale) {
  return x * broadcast_to(scale, x.shape());
}

// --- antialiasing ---

Val sinc(const Val& x) {
  const Val u = x * Scalar(3.14159265358979323846);
  return where(eq(x, Scalar(0.0)), full_like(x, 1), math::sin(u) / u);
}

Val cubic_filter(const Val& x, double a) {
  const Val far = where(lt(x, Scalar(2.0)), cubic_far(x, a), full_like(x, 0));
  return where(lt(x, Scalar(1.0)), cubic_near(x, a), far);
}

struct Filter {
  std::string_view name;
  int64_t width;
  Val (*weight)(const Val& distance);  // of its magnitude
};

constexpr Filter kFilters[] = {
    {"linear", 2, [](const Val& x) { return math::max(Scalar(1.0) - x, full_like(x, 0)); }},
    {"cubic", 4, [](const Val& x) { return cubic_filter(x, -0.5); }},
    {"lanczos", 6, [](const Val& x) {
       return where(lt(x, Scalar(3.0)), sinc(x) * sinc(x / Scalar(3.0)), full_like(x, 0));
     }}};

const Filter& find_filter(std::string_view name) {
  for (const Filter& f : kFilters) {
    if (f.name == name) return f;
  }
  fail(ErrorCode::internal, fmt::format("there is no antialiasing filter '{}'", name));
}

// What the filter covers around an element of y, and its weights there, which do not add up to 1.
struct Cover {
  const Axis& axis;
  const Filter& filter;

  Val center(const Val& at) const {
    return times_scale(convert(at, axis.scale.dtype()) + Scalar(0.5), axis.scale);
  }
  Val stretch() const { return math::max(axis.scale, full_like(axis.scale, 1)); }
  Val support() const { return stretch() * Scalar(static_cast<double>(filter.width) / 2); }
  // The first element covered, and the one behind the last.
  Val first(const Val& at) const {
    const Val begin = center(at) - broadcast_to(support(), at.shape()) + Scalar(0.5);
    return convert(math::max(begin, full_like(begin, 0)), axis.places);
  }
  Val end(const Val& at) const {
    const Val behind = center(at) + broadcast_to(support(), at.shape()) + Scalar(0.5);
    return convert(math::min(behind, full_like(behind, axis.in)), axis.places);
  }
  Val weight(const Val& at, const Val& index) const {
    const Val distance = convert(index, axis.scale.dtype()) - center(at) + Scalar(0.5);
    return filter.weight(math::abs(distance / broadcast_to(stretch(), distance.shape())));
  }
};

// --- bands ---

// Weights of `reach` neighbours for each place of a dim: the first one's index, and tables
// [reach, places] of weights and of which count, so that a neighbour's lie side by side.
struct Band {
  SymInt reach;
  Val first, weight, counts;
};

Val table_cell(const Val& table, const Tap& tap) {
  return tap.written.empty() ? transpose(table, {1, 0}) : select(table, 0, tap.written[0]);
}

// x with dim replaced by the band's places.
Val banded(const Val& x, int64_t dim, const Band& band) {
  Tracer& t = x.tracer();
  const DType places = band.first.dtype();
  const SymInt last = x.size(dim) - 1;
  const Val weight = convert(band.weight, x.dtype());
  const Val y = WindowTaps(t, {band.first.size(0)}, {band.reach}, places).sum([&](const Tap& tap) {
    const Val first =
        tap.written.empty() ? broadcast_to(unsqueeze(band.first, 1), tap.grid) : band.first;
    const Val read =
        at_places(x, {dim}, {math::min(first + tap.offset[0], full_like(tap.offset[0], last))});
    const Val term = read * table_cell(weight, tap);
    return where(table_cell(band.counts, tap), term, zero_like(term));
  });
  Ints order;
  for (int64_t d = 0; d < y.rank() - 1; ++d) order.push_back(d);
  order.insert(order.begin() + dim, y.rank() - 1);
  return transpose(y, order);
}

// x as it is, with a dim that goes by its other name for the same size.
Val copied_dim(const Val& x, int64_t dim, const SymInt& size) {
  SymInts start(static_cast<size_t>(x.rank()), SymInt(0)), limit = x.shape();
  limit[static_cast<size_t>(dim)] = size;
  return x.tracer().wrap(
      x.tracer().builder().slice(x.id(), start, limit, SymInts(start.size(), 1)));
}

// Of neighbours at `index`, the weights for `position`, and whether any is there.
std::pair<Val, Val> weight_at(const std::vector<Neighbour>& list, const Val& position, DType type) {
  Val sum, any;
  for (const Neighbour& n : list) {
    const Val here = eq(n.index, position);
    const Val one = full_like(convert(here, type), 1);
    const Val weight = where(here, n.weight.valid() ? n.weight : one, zero_like(one));
    sum = sum.valid() ? sum + weight : weight;
    any = any.valid() ? any | here : here;
  }
  return {sum, any};
}

// The places and the neighbours that a table's elements are for.
struct WeightTable {
  Val row, column;
};

WeightTable weight_table(Tracer& t, const SymInt& rows, const SymInt& columns, DType type) {
  return {t.iota({columns, rows}, 1, type), t.iota({columns, rows}, 0, type)};
}

Band antialiasing_band(Tracer& t, const Axis& a, const Filter& filter, const SymInt& bound) {
  const Cover cover{a, filter};
  const SymInt reach = known_if_few({bound})[0];
  const WeightTable at = weight_table(t, a.out, reach, a.places);
  const Val index = cover.first(at.row) + at.column;
  const Val counts = lt(index, cover.end(at.row));
  const Val plain = cover.weight(at.row, index);
  const Val weight = where(counts, plain, zero_like(plain));
  const Val total = reduce(Prim::reduce_sum, weight, {0}, true);
  const Val divisor = where(eq(total, Scalar(0.0)), full_like(total, 1), total);
  return {reach, cover.first(t.iota({a.out}, 0, a.places)), weight / divisor, counts};
}

// The same of an interpolation: neighbours beyond the border add to the one at the border.
Band interpolation_band(Tracer& t, const Axis& a, const std::string& filter) {
  const auto count =
      static_cast<int64_t>(neighbours(filter, a, t.iota({a.out}, 0, a.places)).size());
  const WeightTable at = weight_table(t, a.out, count, a.places);
  const auto list = neighbours(filter, a, at.row);
  const Val position = list[0].index + at.column;
  const auto [weight, counts] = weight_at(list, position, a.scale.dtype());
  return {count, neighbours(filter, a, t.iota({a.out}, 0, a.places))[0].index, weight,
          le(position, list.back().index)};
}

// ATen's arithmetic of bytes: weights as 16-bit integers of as many binary places as fit, sums
// rounded to the nearest byte.
Val banded_bytes(const Val& x, int64_t dim, Band band) {
  Tracer& t = x.tracer();
  const Val greatest = reduce(Prim::reduce_max, band.weight, {0, 1}, false);
  Val digits = t.constant(0, DType::i32);
  for (int64_t d = 1; d <= 22; ++d) {
    const Val next = greatest * Scalar(static_cast<double>(int64_t{1} << d)) + Scalar(0.5);
    digits = digits + convert(lt(next, Scalar(32768.0)), DType::i32);
  }
  const Val one = t.constant(1, DType::i32);
  const Val unit = convert(binary(Prim::shift_left, one, digits), band.weight.dtype());
  const Val fixed = times_scale(band.weight, unit);
  const Val half = where(lt(fixed, Scalar(0.0)), full_like(fixed, -0.5), full_like(fixed, 0.5));
  band.weight = convert(fixed + half, DType::i32);
  const Val sum = banded(convert(x, DType::i32), dim, band);
  const Val bias = binary(Prim::shift_left, one, digits - one);
  const Val rounded = binary(Prim::shift_right, sum + broadcast_to(bias, sum.shape()),
                             broadcast_to(digits, sum.shape()));
  return convert(bounded(rounded, 0, 255), DType::u8);
}

Val interpolation(Tracer& t, const Val& x, const std::vector<Val>& scales, const SymInts& size,
                  bool align_corners, const std::string& filter) {
  const auto axes = resampled_axes(x, scales, last_sizes(x, size.size()), size, align_corners);
  if (!is_floating(x.dtype())) {
    Val y = x;
    for (size_t d = axes.size(); d-- > 0;) {
      const Axis& a = axes[d];
      y = a.in == a.out ? copied_dim(y, a.dim, a.out)
                        : banded_bytes(y, a.dim, interpolation_band(t, a, filter));
    }
    return y;
  }
  return interpolated(x, axes, filter);
}

}  // namespace

Val resample_linear::decompose(Tracer& t, const Val& x, const std::vector<Val>& scales,
                               const SymInts& size, bool align_corners) {
  return interpolation(t, x, scales, size, align_corners, "linear");
}

Val resample_cubic::decompose(Tracer& t, const Val& x, const std::vector<Val>& scales,
                              const SymInts& size, bool align_corners) {
  return interpolation(t, x, scales, size, align_corners, "cubic");
}

namespace {

// Bytes are rounded between two dims, for which ATen begins with the last one.
std::vector<size_t> filter_order(const Val& x, const SymInts& size) {
  if (is_floating(x.dtype())) return order_by_growth(last_sizes(x, size.size()), size);
  std::vector<size_t> order;
  for (size_t d = size.size(); d-- > 0;) order.push_back(d);
  return order;
}

}  // namespace

Val resample_antialias::decompose(Tracer& t, const Val& x, const std::vector<Val>& scales,
                                  const SymInts& size, const std::string& filter,
                                  const SymInts& reach) {
  const auto axes = resampled_axes(x, scales, last_sizes(x, size.size()), size, false);
  Val y = x;
  for (const size_t d : filter_order(x, size)) {
    const Axis& a = axes[d];
    if (a.in == a.out) {
      y = copied_dim(y, a.dim, a.out);
      continue;
    }
    const Band band = antialiasing_band(t, a, find_filter(filter), reach[d]);
    y = is_floating(x.dtype()) ? banded(y, a.dim, band) : banded_bytes(y, a.dim, band);
  }
  return y;
}

namespace {

// Which elements of y one of x has a part in, as far as the sizes' ratio tells: those between
// (2 i + offset) * y - shift over 2 x and `width` * y / x behind it.
struct RatioParts {
  SymInt x, y;  // steps between the outermost elements, or edges
  int64_t offset;
  SymInt shift, width;  // width in elements of y
};

RatioParts ratio_parts(const Axis& a, std::string_view filter, bool antialiased) {
  const bool aligned = a.align_corners;
  RatioParts p{aligned ? a.in - 1 : a.in, aligned ? a.out - 1 : a.out, 0, 0, 0};
  if (antialiased) {
    const int64_t width = find_filter(filter).width;
    const bool stretched = p.x > p.y;
    p.offset = stretched ? 1 : 1 - width;
    p.shift = stretched ? p.x * (width + 1) : p.x;
    p.width = stretched ? SymInt(width) : ceil_div(p.y * width, p.x);
    return p;
  }
  const int64_t width = filter == "cubic" ? 4 : filter == "linear" ? 2 : 1;
  p.offset = aligned ? -width : filter == "nearest" ? 0 : 1 - width;
  p.shift = aligned || filter == "nearest" ? SymInt(0) : p.x;
  p.width = ceil_div(p.y * width, p.x);
  return p;
}

struct Coverage {
  SymInt reach;
  Val first;  // of each element of x
};

Coverage coverage(Tracer& t, const Axis& a, std::string_view filter, bool antialiased,
                  int64_t slack) {
  if (filter == "nearest" && a.in * 2 == a.out) slack = 0;
  const bool anywhere = slack < 0 || (a.align_corners && (a.in == SymInt(1) || a.out == SymInt(1)));
  const Val at = t.iota({a.in}, 0, a.places);
  if (anywhere) return {known_if_few({a.out})[0], zero_like(at)};
  const RatioParts p = ratio_parts(a, filter, antialiased);
  const SymInt reach = known_if_few({min(p.width + 2 * slack, a.out)})[0];
  // Rounded up; below 0 it is 0 anyhow.
  const Val numerator = (at * Scalar(2) + Scalar(p.offset)) * full_like(at, p.y) -
                        full_like(at, p.shift - 2 * p.x + 1);
  const Val begin =
      quotient(math::max(numerator, zero_like(at)), 2 * p.x, 2 * (a.in + 1) * (p.y + 1) + 2 * p.x) -
      Scalar(slack);
  return {reach, bounded(begin, 0, a.out - reach)};
}

// The adjoint of a resampling along one dim, as a band over the elements of x.
Band adjoint_band(Tracer& t, const Axis& a, const std::string& filter, const SymInt& reach,
                  int64_t slack) {
  constexpr std::string_view kAntialias = "antialias_";
  const bool antialiased = filter.starts_with(kAntialias);
  const std::string plain = antialiased ? filter.substr(kAntialias.size()) : filter;
  const Coverage c = coverage(t, a, plain, antialiased, slack);
  const WeightTable at = weight_table(t, a.in, c.reach, a.places);
  const Val y = broadcast_to(unsqueeze(c.first, 0), at.row.shape()) + at.column;
  if (!antialiased) {
    const auto [weight, counts] = weight_at(neighbours(plain, a, y), at.row, a.scale.dtype());
    return {c.reach, c.first, weight, counts};
  }
  const Cover cover{a, find_filter(plain)};
  const Band forward = antialiasing_band(t, a, cover.filter, reach);
  const Val begin = at_places(forward.first, {0}, {y}), column = at.row - begin;
  const Val counts = ge(column, Scalar(0)) & lt(at.row, cover.end(y));
  const Val kept = bounded(column, 0, forward.reach - 1);
  return {c.reach, c.first, at_places(forward.weight, {0, 1}, {kept, y}), counts};
}

}  // namespace

Val resample_backward::decompose(Tracer& t, const Val& grad, const std::vector<Val>& scales,
                                 const SymInts& size, const std::string& filter, bool align_corners,
                                 const SymInts& reach, int64_t slack) {
  const auto axes =
      resampled_axes(grad, scales, size, last_sizes(grad, size.size()), align_corners);
  Val x = grad;
  bool same = true;
  for (const Axis& a : axes) same = same && a.in == a.out;
  const bool copies = filter == "nearest" || filter == "linear" || (filter == "cubic" && same);
  for (const size_t d : order_by_growth(last_sizes(grad, size.size()), size)) {
    const Axis& a = axes[d];
    x = copies && a.in == a.out ? copied_dim(x, a.dim, a.in)
                                : banded(x, a.dim, adjoint_band(t, a, filter, reach[d], slack));
  }
  return x;
}

}  // namespace primset::decomps::prim
