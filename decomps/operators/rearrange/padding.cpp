// Padding with what is there already: reflected, repeated at the border, or going around. Every
// place of the result reads one place of the input.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/rearrange.h"
#include "decomps/primitives/spatial/window_taps.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

enum class Border : uint8_t { reflect, replicate, circular };

// `count`: padded dims. A batch may be there, and may be empty.
void require_padded_input(const Val& x, const SymInts& padding, int64_t count) {
  require(static_cast<int64_t>(padding.size()) == 2 * count, ErrorCode::runtime,
          fmt::format("padding size is expected to be {}, but got: {}", 2 * count, padding.size()));
  bool fits = x.rank() == count + 1 || x.rank() == count + 2;
  for (int64_t d = x.rank() == count + 2 ? 1 : 0; fits && d < x.rank(); ++d)
    fits = !(x.size(d) == SymInt(0));
  require(
      fits, ErrorCode::runtime,
      fmt::format("Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other "
                  "non-zero dimensions for input, but got: {}",
                  count + 1, count + 2, shape_text(x.shape())));
}

// The padding of the last dims, innermost first in ATen's list, outermost first here.
struct Padding {
  Dims dims;
  SymInts low, high;
};

Padding padding_of(int64_t rank, const SymInts& list) {
  Padding p;
  const auto count = static_cast<int64_t>(list.size() / 2);
  for (int64_t i = 0; i < count; ++i) {
    const auto from_end = static_cast<size_t>(count - 1 - i);
    p.dims.push_back(rank - count + i);
    p.low.push_back(list[2 * from_end]);
    p.high.push_back(list[2 * from_end + 1]);
  }
  return p;
}

bool crops(const Padding& p) {
  const auto negative = [](const SymInt& size) { return size < SymInt(0); };
  return std::ranges::any_of(p.low, negative) || std::ranges::any_of(p.high, negative);
}

SymInts padded_sizes(const SymInts& shape, const Padding& p) {
  SymInts out = shape;
  for (size_t i = 0; i < p.dims.size(); ++i)
    out[static_cast<size_t>(p.dims[i])] += p.low[i] + p.high[i];
  return out;
}

// Where along a dim of this size the place `at` of the padded one is read.
Val source_of(Border border, const Val& at, const SymInt& low, const SymInt& size) {
  const Val place = at - full_like(at, low), last = full_like(at, size - 1);
  // It goes around once at most.
  if (border == Border::circular)
    return place + where(lt(place, Scalar(0)), full_like(at, size),
                         where(lt(last, place), full_like(at, -size), full_like(at, 0)));
  if (border == Border::replicate)
    return binary(Prim::min, binary(Prim::max, place, full_like(at, 0)), last);
  return last - unary(Prim::abs, last - unary(Prim::abs, place));
}

// One index a padded dim, over the padded dims of the result.
std::vector<Val> sources(Tracer& t, Border border, const SymInts& shape, const Padding& p) {
  const SymInts out = padded_sizes(shape, p);
  SymInts grid;
  for (int64_t d : p.dims) grid.push_back(out[static_cast<size_t>(d)]);
  std::vector<Val> places;
  for (size_t i = 0; i < p.dims.size(); ++i) {
    const Val at = t.iota(grid, static_cast<int64_t>(i), DType::i64);
    places.push_back(source_of(border, at, p.low[i], shape[static_cast<size_t>(p.dims[i])]));
  }
  return places;
}

// The padded dims are the last ones; gather puts what it indexes in front.
Dims rotation(int64_t rank, int64_t by) {
  Dims order;
  for (int64_t d = 0; d < rank; ++d) order.push_back((d + by) % rank);
  return order;
}

// What a border of this width holds, which lies before or behind all of x's last dim.
Val border_of_rows(const Val& x, Border border, const SymInt& width, bool before) {
  Tracer& t = x.tracer();
  const int64_t dim = x.rank() - 1;
  const SymInt size = x.size(dim);
  const auto part = [&](const SymInt& from, const SymInt& to) {
    return slice(x, dim, from, to, 1);
  };
  if (border == Border::circular) return before ? part(size - width, size) : part(0, width);
  if (border == Border::reflect) {
    const Val across = before ? part(1, width + 1) : part(size - 1 - width, size - 1);
    return t.wrap(t.builder().reverse(across.id(), {dim}));
  }
  SymInts shape = x.shape();
  shape.back() = width;
  return broadcast_to(before ? part(0, 1) : part(size - 1, size), shape);
}

// A processor copies a row of neighbours in a fraction of the time in which it gathers them one by
// one: the borders of rows and what lies between are written each on its own, and only of the dims
// before them are there indices, one a row.
Val padded_by_rows(const Val& x, Border border, const Padding& p) {
  Padding outer = p;
  outer.dims.pop_back(), outer.low.pop_back(), outer.high.pop_back();
  const auto none = [](const SymInts& sizes) {
    return std::ranges::all_of(sizes, [](const SymInt& size) { return size == SymInt(0); });
  };
  const bool rows_alone = none(outer.low) && none(outer.high);
  // Of rows, what is gathered by the dims before the last; those are moved to the front.
  const auto whole = [&](const Val& rows) {
    if (rows_alone) return rows;
    Tracer& t = x.tracer();
    std::vector<ValueId> places;
    for (const Val& place : sources(t, border, x.shape(), outer)) places.push_back(place.id());
    const Val front = t.wrap(t.builder().gather(rows.id(), places, outer.dims, true, "index"));
    const auto count = static_cast<int64_t>(outer.dims.size()), first = outer.dims[0];
    Dims order;
    for (int64_t d = 0; d < first; ++d) order.push_back(count + d);
    for (int64_t d = 0; d < count; ++d) order.push_back(d);
    order.push_back(x.rank() - 1);
    return transpose(front, order);
  };
  const SymInt &low = p.low.back(), &high = p.high.back();
  std::vector<Val> parts;
  if (SymInt(0) < low) parts.push_back(whole(border_of_rows(x, border, low, true)));
  parts.push_back(whole(x));
  if (SymInt(0) < high) parts.push_back(whole(border_of_rows(x, border, high, false)));
  return parts.size() == 1 ? parts[0] : concatenate(parts, x.rank() - 1);
}

// Elements of a row from which on it is worth being copied by itself.
constexpr int64_t kCopiedRow = 16;

Val padded(const Val& x, Border border, const SymInts& list) {
  Tracer& t = x.tracer();
  const Padding p = padding_of(x.rank(), list);
  if (x.is_empty()) return zeros(t, padded_sizes(x.shape(), p), x.dtype());
  const bool by_rows = t.device().fast_launch && !crops(p) && SymInt(kCopiedRow) <= x.size(-1);
  return by_rows ? padded_by_rows(x, border, p)
                 : at_places(x, p.dims, sources(t, border, x.shape(), p));
}

// --- what the forward directions require ---

void require_room(const Val& x, const SymInts& padding, int64_t count) {
  constexpr std::array<const char*, 3> kNames = {"W", "H", "D"};
  bool fits = count == 1;
  std::string sizes, outputs;
  for (int64_t i = count; i-- > 0;) {
    const auto at = static_cast<size_t>(i);
    const SymInt size = x.size(-1 - i), out = size + padding[2 * at] + padding[2 * at + 1];
    fits = count == 1 ? out >= SymInt(1) : fits || out >= SymInt(1);
    const char* gap = sizes.empty() ? "" : count == 2 ? ", " : " ";
    sizes += fmt::format("{}{}: {}", gap, kNames[at], size.hint());
    outputs += fmt::format("{}{}: {}", outputs.empty() ? "" : " ", kNames[at], out.hint());
  }
  require(fits, ErrorCode::runtime,
          fmt::format("input ({}) is too small. Calculated output {}", sizes, outputs));
}

// Nothing is reflected twice.
void require_reflectable(const Val& x, const SymInts& padding, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const SymInt &low = padding[2 * at], &high = padding[2 * at + 1], size = x.size(-1 - i);
    require(
        low < size && high < size, ErrorCode::runtime,
        fmt::format("Argument #{}: Padding size should be less than the corresponding input "
                    "dimension, but got: padding ({}, {}) at dimension {} of input {}",
                    4 + 2 * i, low.hint(), high.hint(), x.rank() - 1 - i, shape_text(x.shape())));
  }
}

Val reflected(const Val& x, const SymInts& padding, int64_t count) {
  require_padded_input(x, padding, count);
  require_reflectable(x, padding, count);
  require_room(x, padding, count);
  if (is_bool(x.dtype())) not_implemented_for(fmt::format("reflection_pad{}d", count), x.dtype());
  return padded(x, Border::reflect, padding);
}

Val replicated(const Val& x, const SymInts& padding, int64_t count) {
  require_padded_input(x, padding, count);
  require_room(x, padding, count);
  if (is_bool(x.dtype())) not_implemented_for(fmt::format("replication_pad{}d", count), x.dtype());
  return padded(x, Border::replicate, padding);
}

// Around once at most.
Val circular(const Val& x, const SymInts& padding) {
  const auto rank = static_cast<size_t>(x.rank());
  const size_t count = padding.size() / 2;
  require(padding.size() % 2 == 0 && count > 0 && count + 2 == rank, ErrorCode::runtime,
          fmt::format("Invalid padding size, expected {} but got {}", rank > 2 ? 2 * (rank - 2) : 0,
                      padding.size()));
  for (size_t i = 0; i < count; ++i) {
    const SymInt size = x.size(-1 - static_cast<int64_t>(i));
    require(padding[2 * i] <= size && padding[2 * i + 1] <= size, ErrorCode::runtime,
            "Padding value causes wrapping around more than once.");
    require(size + padding[2 * i] + padding[2 * i + 1] >= SymInt(0), ErrorCode::runtime,
            "Negative padding value is resulting in an empty dimension");
  }
  // What is cut off is gone before the rest goes around.
  Val kept = x;
  SymInts added;
  for (size_t i = 0; i < padding.size(); ++i) {
    const bool crops = padding[i] < SymInt(0);
    added.push_back(crops ? SymInt(0) : padding[i]);
    if (!crops) continue;
    const int64_t dim = x.rank() - 1 - static_cast<int64_t>(i / 2);
    const SymInt low = i % 2 == 0 ? -padding[i] : SymInt(0);
    const SymInt high = kept.size(dim) - (i % 2 == 0 ? SymInt(0) : -padding[i]);
    kept = slice(kept, dim, low, high, 1);
  }
  return padded(kept, Border::circular, added);
}

int64_t padded_dims(const SymInts& padding) {
  return static_cast<int64_t>(padding.size() / 2);
}

Val padded_by_mode(Tracer& t, const Val& self, const SymInts& pad, const std::string& mode,
                   const std::optional<double>& value) {
  require(pad.size() % 2 == 0, ErrorCode::runtime,
          fmt::format("Padding length must be divisible by 2; found pad of length {}", pad.size()));
  require(static_cast<int64_t>(pad.size()) <= self.rank() * 2, ErrorCode::runtime,
          fmt::format("Padding length should be less than or equal to two times the input "
                      "dimension but got padding length {} and input of dimension {}",
                      pad.size(), self.rank()));
  if (mode == "constant")
    return t.call1("constant_pad_nd", {self, pad, t.literal(value.value_or(0.0))});
  require(!value || *value == 0, ErrorCode::runtime,
          fmt::format("Padding mode \"{}\" doesn't take in value argument", mode));
  const int64_t count = padded_dims(pad);
  const bool fits =
      count >= 1 && count <= 3 && (self.rank() == count + 1 || self.rank() == count + 2);
  if (fits && mode == "reflect") return reflected(self, pad, count);
  if (fits && mode == "replicate") return replicated(self, pad, count);
  if (fits && mode == "circular")
    return self.rank() == count + 1 ? squeeze(circular(unsqueeze(self, 0), pad), 0)
                                    : circular(self, pad);
  require(!fits, ErrorCode::not_implemented,
          fmt::format("Unrecognised padding mode {}; expected constant, reflect, replicate or "
                      "circular",
                      mode));
  fail(ErrorCode::not_implemented,
       fmt::format("Padding size {} is not supported for {}D input tensor.", pad.size(),
                   self.rank()));
}

// --- the gradient ---

// In ATen's words and order: a missing dim, the reflection, then the sizes of the gradient.
void require_gradient(const Val& grad, const Val& self, const SymInts& list, Border border) {
  constexpr std::array<const char*, 3> kNames = {"width", "height", "depth"};
  const auto count = static_cast<int64_t>(list.size() / 2);
  const bool reflect = border == Border::reflect;
  require(!reflect || count < 3 || self.rank() > 3, ErrorCode::runtime,
          "Expected input.dim() > 3 to be true, but got false.");
  wrap_dim(count, self.rank());
  require(self.rank() <= count + 2 && grad.rank() == self.rank(), ErrorCode::runtime,
          fmt::format("grad_output of size {} does not fit an input of size {} with this padding",
                      shape_text(grad.shape()), shape_text(self.shape())));
  if (reflect) require_reflectable(self, list, count);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const SymInt wanted = self.size(-1 - i) + list[2 * at] + list[2 * at + 1];
    require(grad.size(-1 - i) == wanted, ErrorCode::runtime,
            fmt::format("grad_output {} unexpected. Expected: {}, Got: {}", kNames[at],
                        wanted.hint(), grad.size(-1 - i).hint()));
  }
  for (int64_t d = 0; d < self.rank() - count; ++d)
    require(grad.size(d) == self.size(d), ErrorCode::runtime,
            fmt::format("grad_output of size {} does not fit an input of size {}",
                        shape_text(grad.shape()), shape_text(self.shape())));
}

Val among_zeros(const Val& x, int64_t dim, const SymInt& before, const SymInt& behind) {
  Tracer& t = x.tracer();
  const SymInts none(static_cast<size_t>(x.rank()), SymInt(0));
  SymInts low = none, high = none;
  low[static_cast<size_t>(dim)] = before;
  high[static_cast<size_t>(dim)] = behind;
  const Val zero = zeros(t, {}, x.dtype());
  return t.wrap(t.builder().pad(x.id(), zero.id(), low, high, none));
}

// The part of a gradient along a dim that comes from one of its borders or from between them, and
// how many elements before and behind it have none of it.
struct GradientPart {
  Val of;
  SymInt before, behind;
};

// In the order of the elements of the gradient.
std::vector<GradientPart> reflected_parts(const Val& grad, int64_t dim, const SymInt& low,
                                          const SymInt& high) {
  Tracer& t = grad.tracer();
  const SymInt end = grad.size(dim) - high, size = end - low;
  const auto border = [&](const SymInt& from, const SymInt& to) {
    return t.wrap(t.builder().reverse(slice(grad, dim, from, to, 1).id(), {dim}));
  };
  // What is reflected leaves out the first or the last element.
  std::vector<GradientPart> parts;
  if (SymInt(0) < low) parts.push_back({border(0, low), 1, size - 1 - low});
  parts.push_back({slice(grad, dim, low, end, 1), 0, 0});
  if (SymInt(0) < high) parts.push_back({border(end, grad.size(dim)), size - 1 - high, 1});
  return parts;
}

// What each part adds, over the whole of the input. The last dim's parts change fastest, as in a
// walk over the gradient, so each element's sum has ATen's order.
std::vector<Val> reflected_terms(const Val& grad, const Padding& p, size_t i) {
  if (i == p.dims.size()) return {grad};
  std::vector<Val> terms;
  for (const GradientPart& part : reflected_parts(grad, p.dims[i], p.low[i], p.high[i]))
    for (const Val& term : reflected_terms(part.of, p, i + 1))
      terms.push_back(among_zeros(term, p.dims[i], part.before, part.behind));
  return terms;
}

// Each number of a gradient is added where it was read, one after the other as ATen does.
Val scattered_gradient(const Val& grad, Border border, const SymInts& shape, const Padding& p) {
  Tracer& t = grad.tracer();
  const std::vector<Val> places = sources(t, border, shape, p);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto outer = rank - static_cast<int64_t>(p.dims.size());
  return scattered(Prim::scatter_add, zeros(t, shape, grad.dtype()), places, p.dims,
                   transpose(grad, rotation(rank, outer)));
}

// The gradient by the dims from the i-th on, of an input that is as large as `shape` there. All
// that borders repeat, and what stands beside it, goes to the input's first and last plane: only
// these are scattered, each with all it gets, so in ATen's order. The planes between have one
// reader each.
Val replicated_gradient(const Val& grad, const SymInts& shape, const Padding& p, size_t i) {
  if (i == p.dims.size()) return grad;
  const int64_t dim = p.dims[i];
  const SymInt &low = p.low[i], &high = p.high[i], &size = shape[static_cast<size_t>(dim)];
  const bool first = SymInt(0) < low, last = SymInt(0) < high;
  if (!first && !last) return replicated_gradient(grad, shape, p, i + 1);
  const auto rest = [i](const auto& list) {
    return std::decay_t<decltype(list)>(list.begin() + static_cast<std::ptrdiff_t>(i), list.end());
  };
  const auto plane = [&](const SymInt& from, const SymInt& to, const SymInt& before) {
    Padding q = {rest(p.dims), rest(p.low), rest(p.high)};
    q.low[0] = before;
    q.high[0] = to - from - before - 1;
    SymInts one = shape;
    for (int64_t d = 0; d < dim; ++d) one[static_cast<size_t>(d)] = grad.size(d);
    one[static_cast<size_t>(dim)] = 1;
    return scattered_gradient(slice(grad, dim, from, to, 1), Border::replicate, one, q);
  };
  if (!(SymInt(1) < size)) return plane(0, grad.size(dim), low);
  std::vector<Val> planes;
  const SymInt from = first ? low + 1 : SymInt(0), to = low + size - (last ? 1 : 0);
  if (first) planes.push_back(plane(0, from, low));
  if (from < to)
    planes.push_back(replicated_gradient(slice(grad, dim, from, to, 1), shape, p, i + 1));
  if (last) planes.push_back(plane(to, grad.size(dim), 0));
  return concatenate(planes, dim);
}

// Borders are few numbers beside what they surround: what they read is added where it came from,
// and all else is copied. A GPU scatters all as fast as it launches a kernel for each border.
Val padded_backward(const Val& grad, const Val& self, Border border, const SymInts& list) {
  Tracer& t = grad.tracer();
  require_gradient(grad, self, list, border);
  const Padding p = padding_of(self.rank(), list);
  if (self.is_empty() || grad.is_empty()) return zeros(t, self.shape(), grad.dtype());
  if (!crops(p) && border == Border::reflect) {
    const std::vector<Val> terms = reflected_terms(opmath(grad), p, 0);
    Val sum = terms[0];
    for (size_t k = 1; k < terms.size(); ++k) sum = sum + terms[k];
    return convert(sum, grad.dtype());
  }
  if (!crops(p) && border == Border::replicate && t.device().fast_scatter)
    return replicated_gradient(grad, self.shape(), p, 0);
  return scattered_gradient(grad, border, self.shape(), p);
}

}  // namespace

Val reflection_pad::decompose(Tracer& t, const Val& self, const SymInts& padding) {
  return reflected(self, padding, padded_dims(padding));
}
Val replication_pad::decompose(Tracer& t, const Val& self, const SymInts& padding) {
  return replicated(self, padding, padded_dims(padding));
}
Val reflection_pad_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                       const SymInts& padding) {
  return padded_backward(grad_output, self, Border::reflect, padding);
}
Val replication_pad_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                        const SymInts& padding) {
  return padded_backward(grad_output, self, Border::replicate, padding);
}

Val _pad_circular::decompose(Tracer& t, const Val& self, const SymInts& pad) {
  return circular(self, pad);
}

Val pad::decompose(Tracer& t, const Val& self, const SymInts& pad, const std::string& mode,
                   const std::optional<double>& value) {
  return padded_by_mode(t, self, pad, mode, value);
}

Val _pad_enum::decompose(Tracer& t, const Val& self, const SymInts& pad, int64_t mode,
                         const std::optional<double>& value) {
  constexpr std::array<const char*, 4> kModes = {"reflect", "replicate", "circular", "constant"};
  require(mode >= 0 && mode < 4, ErrorCode::not_implemented,
          fmt::format("Unrecognised padding mode {}", mode));
  return padded_by_mode(t, self, pad, kModes[static_cast<size_t>(mode)], value);
}

}  // namespace primset::decomps
