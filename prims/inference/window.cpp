#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

struct WindowDims {
  const Ints& dims;
  const SymInts &sizes, &strides, &dilations;
};

WindowDims window_dims(const Call& c, size_t rank) {
  WindowDims w{c.attr<Ints>("dims"), c.attr<SymInts>("sizes"), c.attr<SymInts>("strides"),
               c.attr<SymInts>("dilations")};
  c.require_shared(valid_dims(w.dims, rank), "_c1: dims are dims of the windowed array");
  size_t n = w.dims.size();
  c.require_shared(w.sizes.size() == n && w.strides.size() == n && w.dilations.size() == n,
                   "_c2: sizes, strides and dilations have one entry a windowed dim");
  for (size_t i = 0; i < n; ++i) {
    c.require_shared(
        w.sizes[i].hint() >= 1 && w.strides[i].hint() >= 1 && w.dilations[i].hint() >= 1,
        "_c3: sizes, strides and dilations are positive");
  }
  return w;
}

SymInts windowed_shape(const Call& c, const WindowDims& w, const SymInts& shape) {
  SymInts out = shape;
  for (size_t i = 0; i < w.dims.size(); ++i) {
    auto d = static_cast<size_t>(w.dims[i]);
    SymInt last = shape[d] - (w.sizes[i] - 1) * w.dilations[i] - 1;
    out[d] = floor_div(last, w.strides[i]) + 1;
    c.require_shared(out[d].hint() >= 0, "_c4: windows are not wider than the array");
  }
  out.insert(out.end(), w.sizes.begin(), w.sizes.end());
  return out;
}

Types window(const Call& c) {
  WindowDims w = window_dims(c, c.rank(0));
  return {{c.dtype(0), windowed_shape(c, w, c.shape(0))}};
}

Types window_scatter_add(const Call& c) {
  const SymInts& shape = c.attr<SymInts>("shape");
  WindowDims w = window_dims(c, shape.size());
  c.require(equal_shapes(windowed_shape(c, w, shape), c.shape(0)),
            "window_scatter_add_c5: y has the shape of window's result");
  c.require(!is_bool(c.dtype(0)), "window_scatter_add_c6: y is a number");
  return {{c.dtype(0), shape}};
}

}  // namespace

void add_window_rules(RuleTable& t) {
  t.set(Prim::window, window);
  t.set(Prim::window_scatter_add, window_scatter_add);
}

}  // namespace primset::prims
