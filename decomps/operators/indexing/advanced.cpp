// index and index_put: several tensors as indices, masks among them.
//
// A mask stands for the coordinates of its true elements, whose number is known at run time only.
// It is counted and packed; the one dim of unknown size that it gives is joined to what the other
// indices have as their last dim.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/indexing.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;
using OptionalVals = std::vector<std::optional<Val>>;

// The true elements of a mask: their places in its memory, packed, and how many they are.
struct Mask {
  SymInts shape;
  Val places, count;
  int64_t first_dim;  // of the indexed tensor
};

// What the indices of a call come down to.
struct Indexing {
  Dims dims;               // indexed ones, in order
  std::vector<Val> given;  // index tensors of dims that no mask covers; invalid Vals elsewhere
  std::vector<Mask> masks;
};

Mask mask_of(Tracer& t, const Val& self, const Val& index, int64_t first_dim) {
  for (int64_t j = 0; j < index.rank(); ++j) {
    const int64_t d = wrap_dim(first_dim + j, self.rank());
    require(index.size(j) == self.size(d), ErrorCode::index,
            fmt::format("The shape of the mask {} at index {} does not match the shape of the "
                        "indexed tensor {} at index {}",
                        shape_text(index.shape()), j, shape_text(self.shape()), d));
  }
  const SymInts flat = {index.numel()};
  const auto packed =
      t.prim(Prim::compact, {t.iota(flat, 0, DType::i64), logical(reshape(index, flat))});
  return {index.shape(), packed[0], packed[1], first_dim};
}

Indexing indexing_of(Tracer& t, const Val& self, const OptionalVals& indices) {
  require(static_cast<int64_t>(indices.size()) <= self.rank(), ErrorCode::index,
          fmt::format("too many indices for tensor of dimension {} (got {})", self.rank(),
                      indices.size()));
  Indexing out;
  int64_t dim = 0;
  for (const std::optional<Val>& given : indices) {
    if (!given) {
      ++dim;
      continue;
    }
    const Val& index = *given;
    const bool mask = is_bool(index.dtype()) || index.dtype() == DType::u8;
    require(
        mask || is_index(index.dtype()), ErrorCode::index,
        fmt::format("tensors used as indices must be long, int, byte or bool tensors; found {} for "
                    "dimension {}",
                    name(index.dtype()), dim));
    if (mask) {
      if (index.rank() > 0) out.masks.push_back(mask_of(t, self, index, dim));
      for (int64_t j = 0; j < index.rank(); ++j) {
        out.dims.push_back(dim++);
        out.given.emplace_back();
      }
    } else {
      out.dims.push_back(wrap_dim(dim++, self.rank()));
      out.given.push_back(index);
    }
  }
  return out;
}

SymInts given_shape(const Indexing& in) {
  std::vector<SymInts> shapes;
  std::string text;
  for (const Val& v : in.given) {
    if (!v.valid()) continue;
    shapes.push_back(v.shape());
    text += (text.empty() ? "" : ", ") + shape_text(v.shape());
  }
  try {
    return broadcast_shapes(shapes);
  } catch (const Error&) {
    fail(ErrorCode::index,
         "shape mismatch: indexing tensors could not be broadcast together with shapes " + text);
  }
}

// Where the lanes of a joint last dim find the places of a mask that has `count` of them, or one
// for all.
Val spread(Tracer& t, const Mask& m, const Val& lanes) {
  const Val last = binary(Prim::max, m.count - Scalar(1), full_like(m.count, 0));
  const Val at = binary(Prim::min, lanes, broadcast_to(last, lanes.shape()));
  const Val padded = concatenate({m.places, zeros(t, {1}, DType::i64)}, 0);
  const Val place = t.wrap(t.builder().gather(padded.id(), {at.id()}, {0}, true, "index"));
  // Without any, what stands in front is undefined.
  const Val some = broadcast_to(gt(m.count, Scalar(0)), place.shape());
  return where(some, place, full_like(place, 0));
}

constexpr const char* kMismatch =
    "shape mismatch: indexing tensors could not be broadcast together";

// The number of lanes of masks alone, and as many lanes.
Val lanes_of_masks(Tracer& t, const std::vector<Mask>& masks) {
  Val count = masks[0].count;
  SymInt most = masks[0].places.size(0);
  for (size_t i = 1; i < masks.size(); ++i) {
    const Val& other = masks[i].count;
    const Val one = eq(count, Scalar(1));
    check(one | eq(other, Scalar(1)) | eq(count, other), other, ErrorCode::index, kMismatch);
    count = where(one, other, count);
    most = max(most, masks[i].places.size(0));
  }
  const Val all = t.iota({most}, 0, DType::i64);
  return t.wrap(t.builder().set_dim(all.id(), count.id(), 0));
}

// The places of each mask along one joint dim: of size `known`, or as many as there turn out to be.
std::vector<Val> joined_masks(Tracer& t, const std::vector<Mask>& masks,
                              const std::optional<SymInt>& known) {
  if (masks.size() == 1 && !known)
    return {t.wrap(t.builder().set_dim(masks[0].places.id(), masks[0].count.id(), 0))};
  const Val lanes = known ? t.iota({*known}, 0, DType::i64) : lanes_of_masks(t, masks);
  std::vector<Val> out;
  for (const Mask& m : masks) out.push_back(spread(t, m, lanes));
  return out;
}

struct Coordinates {
  std::vector<Val> indices;  // of one shape
  Dims dims;
  SymInts shape;
};

// With masks, `wanted` is the size that the values of index_put have in the joint dim.
Coordinates coordinates_of(Tracer& t, const Val& self, const Indexing& in,
                           const std::optional<SymInt>& wanted) {
  SymInts shape = given_shape(in);
  std::vector<Val> indices = in.given;
  if (!in.masks.empty()) {
    std::optional<SymInt> known;
    if (!shape.empty() && known_equal(shape.back(), 1) != true) known = shape.back();
    if (known) {
      for (const Mask& m : in.masks)
        check(eq(m.count, t.constant(*known, DType::i64)) | eq(m.count, Scalar(1)), m.count,
              ErrorCode::index, kMismatch);
    }
    const std::vector<Val> places = joined_masks(t, in.masks, known ? known : wanted);
    for (size_t i = 0; i < places.size(); ++i) {
      const auto at = std::find(in.dims.begin(), in.dims.end(), in.masks[i].first_dim);
      std::ranges::copy(unraveled(places[i], in.masks[i].shape),
                        indices.begin() + (at - in.dims.begin()));
    }
    if (shape.empty()) shape.emplace_back(1);
    shape.back() = places[0].size(0);
  }
  for (Val& index : indices) index = broadcast_to(index, shape);
  return {std::move(indices), in.dims, std::move(shape)};
}

// Where the joint dims of the indices stand in the result: at the first indexed dim when the
// indexed dims are neighbours, else in front.
int64_t joint_position(const Dims& dims) {
  const auto n = static_cast<int64_t>(dims.size());
  return dims.back() - dims.front() == n - 1 ? dims.front() : 0;
}

// From the joint dims in front to their place, or back.
Dims joint_permutation(int64_t rank, int64_t joint, int64_t position, bool back) {
  Dims front = dims_from(0, joint), rest = dims_from(joint, rank), out;
  if (back) {
    front = dims_from(position, position + joint);
    rest = dims_from(0, position);
    const Dims behind = dims_from(position + joint, rank);
    rest.insert(rest.end(), behind.begin(), behind.end());
    out = front;
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }
  out.assign(rest.begin(), rest.begin() + position);
  out.insert(out.end(), front.begin(), front.end());
  out.insert(out.end(), rest.begin() + position, rest.end());
  return out;
}

// Sizes of the dims not indexed.
SymInts rest_of(const Val& self, const Dims& dims) {
  SymInts rest;
  for (int64_t d = 0; d < self.rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) rest.push_back(self.size(d));
  }
  return rest;
}

// An index into nothing, where something is asked for.
void require_something(const Val& self, const Coordinates& c) {
  const auto zero = [](const SymInt& s) { return s == SymInt(0); };
  if (std::none_of(c.dims.begin(), c.dims.end(), [&](int64_t d) { return zero(self.size(d)); }))
    return;
  for (const SymInt& s : c.shape) {
    if (s.is_constant() && s.constant() == 0) return;
  }
  const bool dynamic = std::any_of(c.shape.begin(), c.shape.end(), [](const SymInt& s) {
    return known_less(0, s) == std::nullopt;
  });
  require(dynamic, ErrorCode::index, "index is out of bounds for dimension with size 0");
}

}  // namespace

Val unsafe_index::decompose(Tracer& t, const Val& self, const OptionalVals& indices) {
  for (const auto& index : indices)
    require(!index || is_index(index->dtype()), ErrorCode::runtime,
            fmt::format("_unsafe_index found unexpected index type {}",
                        index ? aten_name(index->dtype()) : ""));
  return index_tensor::decompose(t, self, indices);
}

Val index_tensor::decompose(Tracer& t, const Val& self, const OptionalVals& indices) {
  require(!indices.empty(), ErrorCode::index, "at least one index must be provided");
  Indexing in = indexing_of(t, self, indices);
  if (in.dims.empty()) return self;
  for (size_t i = 0; i < in.given.size(); ++i) {
    Val& index = in.given[i];
    if (index.valid()) index = wrapped_index(index, self.size(in.dims[i]));
  }
  const Coordinates c = coordinates_of(t, self, in, std::nullopt);
  require_something(self, c);
  std::vector<ValueId> ids;
  for (const Val& v : c.indices) ids.push_back(v.id());
  const bool masks_only =
      std::none_of(in.given.begin(), in.given.end(), [](const Val& v) { return v.valid(); });
  const Val y = t.wrap(t.builder().gather(self.id(), ids, c.dims, masks_only, "index"));
  const auto joint = static_cast<int64_t>(c.shape.size());
  return transpose(y, joint_permutation(y.rank(), joint, joint_position(c.dims), false));
}

namespace {

// The size that values have in the last joint dim; nothing where they are broadcast along it.
std::optional<SymInt> wanted_size(const Val& self, const Indexing& in, const Val& values) {
  const int64_t behind =
      self.rank() - static_cast<int64_t>(in.dims.size()) - joint_position(in.dims);
  if (values.rank() <= behind) return std::nullopt;
  const SymInt size = values.size(-1 - behind);
  return known_equal(size, 1) == true ? std::nullopt : std::optional(size);
}

SymInts put_shape(const Val& self, const Dims& dims, const SymInts& joint) {
  SymInts shape = rest_of(self, dims);
  shape.insert(shape.begin() + joint_position(dims), joint.begin(), joint.end());
  return shape;
}

std::string put_mismatch(const Val& values, const std::string& result) {
  return fmt::format(
      "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}",
      shape_text(values.shape()), result);
}

// A mask gives exactly as many places as there are values.
void check_wanted(const Val& self, const Indexing& in, const Val& values, const SymInt& wanted) {
  const SymInts given = given_shape(in);
  if (!given.empty() && known_equal(given.back(), 1) != true) return;
  std::string shape;
  SymInts joint = given.empty() ? SymInts{1} : given;
  const SymInts whole = put_shape(self, in.dims, joint);
  const auto at = static_cast<size_t>(joint_position(in.dims)) + joint.size() - 1;
  for (size_t d = 0; d < whole.size(); ++d)
    shape += (d ? ", " : "") + (d == at ? "{value}" : std::to_string(whole[d].hint()));
  Tracer& t = self.tracer();
  for (const Mask& m : in.masks)
    check(eq(m.count, t.constant(wanted, DType::i64)), m.count, ErrorCode::runtime,
          put_mismatch(values, "[" + shape + "]"));
}

bool is_broadcast_to(const Val& values, const SymInts& shape) {
  if (values.rank() > static_cast<int64_t>(shape.size())) return false;
  const SymInts own = values.shape();
  for (size_t i = 0; i < own.size(); ++i) {
    const SymInt &from = own[own.size() - 1 - i], &to = shape[shape.size() - 1 - i];
    if (!from.same(to) && known_equal(from, 1) != true && !(from == to)) return false;
  }
  return true;
}

Val broadcast_values(const Val& values, const SymInts& shape) {
  require(is_broadcast_to(values, shape), ErrorCode::runtime,
          put_mismatch(values, shape_text(shape)));
  return broadcast_to(values, shape);
}

Val put_values(const Val& self, const Coordinates& c, const Val& values) {
  const SymInts shape = put_shape(self, c.dims, c.shape);
  const auto joint = static_cast<int64_t>(c.shape.size());
  const auto rank = static_cast<int64_t>(shape.size());
  return transpose(broadcast_values(values, shape),
                   joint_permutation(rank, joint, joint_position(c.dims), true));
}

}  // namespace

Val index_put::decompose(Tracer& t, const Val& self, const OptionalVals& indices, const Val& values,
                         bool accumulate) {
  require(self.dtype() == values.dtype(), ErrorCode::runtime,
          fmt::format("Index put requires the source and destination dtypes match, got {} for the "
                      "destination and {} for the source.",
                      aten_name(self.dtype()), aten_name(values.dtype())));
  const Indexing in = indexing_of(t, self, indices);
  if (in.dims.empty()) {
    const Val all = broadcast_values(values, self.shape());
    return accumulate ? self + all : all;
  }
  const std::optional<SymInt> wanted =
      in.masks.empty() ? std::nullopt : wanted_size(self, in, values);
  if (wanted) check_wanted(self, in, values, *wanted);
  const Coordinates c = coordinates_of(t, self, in, wanted);
  require_something(self, c);
  std::vector<Val> operands = {self};
  operands.insert(operands.end(), c.indices.begin(), c.indices.end());
  operands.push_back(put_values(self, c, values));
  return t.prim1(Prim::index_put, operands, {{"dims", c.dims}, {"accumulate", accumulate}});
}

Val _index_put_impl::decompose(Tracer& t, const Val& self, const OptionalVals& indices,
                               const Val& values, bool accumulate, bool) {
  return index_put::decompose(t, self, indices, values, accumulate);
}

}  // namespace primset::decomps
