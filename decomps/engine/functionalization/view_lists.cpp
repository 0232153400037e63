// Views that other tensors have a say in: of lists, each element's own; of one tensor as the
// tensors of a list, or as what a slice of it was; and what is another view under its own name.
#include "decomps/engine/functionalization/view_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "decomps/engine/boxing.h"
#include "decomps/engine/shape_ops.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Kind = ViewStep::Kind;
using Views = std::vector<View>;
using Metas = std::span<const TensorMeta>;

Views each_at_least(Tracer& t, Metas viewed, const char* one) {
  Views out;
  for (size_t i = 0; i < viewed.size(); ++i) {
    out.push_back(find_view(one)(t, viewed.subspan(i, 1), {Tracer::Argument()})[0]);
    out.back().element = static_cast<uint32_t>(i);
  }
  return out;
}

Views atleast_1d_each(Tracer& t, Metas viewed, const Arguments&) {
  return each_at_least(t, viewed, "atleast_1d");
}
Views atleast_2d_each(Tracer& t, Metas viewed, const Arguments&) {
  return each_at_least(t, viewed, "atleast_2d");
}
Views atleast_3d_each(Tracer& t, Metas viewed, const Arguments&) {
  return each_at_least(t, viewed, "atleast_3d");
}

View of_element(size_t i, std::vector<ViewStep> steps) {
  View v{std::move(steps)};
  v.unannotated = true;
  v.element = static_cast<uint32_t>(i);
  return v;
}

Views broadcast_tensors(Tracer&, Metas viewed, const Arguments&) {
  std::vector<SymInts> shapes;
  for (const TensorMeta& m : viewed) shapes.push_back(m.sizes);
  const SymInts shape = broadcast_shapes(shapes);
  Views out;
  for (size_t i = 0; i < viewed.size(); ++i)
    out.push_back(of_element(i, {{Kind::expand, {}, shape}}));
  return out;
}

// Vector i along dim i of a grid; "xy" swaps the first two.
Views grid(Metas viewed, bool swapped) {
  require(!viewed.empty(), ErrorCode::runtime, "meshgrid expects a non-empty TensorList");
  SymInts shape;
  for (const TensorMeta& m : viewed) {
    require(m.sizes.size() <= 1, ErrorCode::runtime,
            fmt::format("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {}",
                        shape_text(m.sizes)));
    require(m.dtype == viewed[0].dtype, ErrorCode::runtime,
            "meshgrid expects all tensors to have the same dtype");
    shape.push_back(m.sizes.empty() ? SymInt(1) : m.sizes[0]);
  }
  const size_t rank = shape.size();
  swapped = swapped && rank >= 2;
  Views out;
  for (size_t i = 0; i < rank; ++i) {
    SymInts own(rank, SymInt(1));
    own[i] = shape[i];
    std::vector<ViewStep> steps = {{Kind::reshape, {}, own}, {Kind::expand, {}, shape}};
    if (swapped) {
      std::vector<int64_t> order = dims_from(0, static_cast<int64_t>(rank));
      std::swap(order[0], order[1]);
      steps.push_back({Kind::permute, order});
    }
    out.push_back(of_element(i, std::move(steps)));
  }
  return out;
}

Views meshgrid(Tracer&, Metas viewed, const Arguments&) {
  return grid(viewed, false);
}

// The first two vectors change places for "xy", so that the first goes along the columns.
Views meshgrid_indexed(Tracer& t, Metas viewed, const Arguments& args) {
  const auto indexing = unbox<std::string>(t, args[1]);
  require(indexing == "ij" || indexing == "xy", ErrorCode::runtime,
          fmt::format("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {}",
                      indexing));
  return grid(viewed, indexing == "xy");
}

// Slices of a vector, each in the shape of one tensor.
Views unflatten_dense_tensors(Tracer& t, Metas viewed, const Arguments& args) {
  require(viewed[0].sizes.size() == 1, ErrorCode::runtime,
          "unflatten_dense_tensors: expected a flat tensor");
  SymInt at = 0;
  Views out;
  for (const Val& like : unbox<std::vector<Val>>(t, args[1])) {
    const SymInt count = like.numel();
    out.push_back(of_element(
        0, {{Kind::slice, {0}, {}, {}, at, 1, count}, {Kind::reshape, {}, like.shape()}}));
    at += count;
    require(at <= viewed[0].sizes[0], ErrorCode::runtime,
            fmt::format("start ({}) + length ({}) exceeds dimension size ({}).",
                        (at - count).hint(), count.hint(), viewed[0].sizes[0].hint()));
  }
  return out;
}

// What a slice was taken of, seen as the slice is.
Views slice_inverse(Tracer& t, Metas viewed, const Arguments& args) {
  const Val src = unbox<Val>(t, args[1]);
  const MemoryPlace place = t.place_of(src);
  return find_view("as_strided")(t, viewed, {args[0], src.shape(), place.strides, place.offset});
}

// to(), of a dtype that the schema does not name; it may be the tensor itself.
Views chalf(Tracer& t, Metas viewed, const Arguments& args) {
  Views views = find_view("to_dtype")(t, viewed, {args[0], DType::c32, false, false, args[1]});
  views[0].unannotated = true;
  return views;
}

}  // namespace

ViewFunction find_list_view(std::string_view function) {
  static const auto* table = new std::unordered_map<std::string_view, ViewFunction>{
      {"atleast_1d_each", &atleast_1d_each},
      {"atleast_2d_each", &atleast_2d_each},
      {"atleast_3d_each", &atleast_3d_each},
      {"broadcast_tensors", &broadcast_tensors},
      {"chalf", &chalf},
      {"meshgrid", &meshgrid},
      {"meshgrid_indexed", &meshgrid_indexed},
      {"slice_inverse", &slice_inverse},
      {"unflatten_dense_tensors", &unflatten_dense_tensors},
  };
  const auto found = table->find(function);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace primset::decomps
