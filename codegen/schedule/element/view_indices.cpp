#include "codegen/schedule/element/view_indices.h"

namespace primset::schedule {
namespace {

using prims::Node;
using prims::Prim;
using Ints = std::vector<int64_t>;

// factor * i + offset.
Index transformed(const Index& i, const SymInt& factor, const SymInt& offset,
                  IndexArithmetic& arithmetic) {
  return affine_index(arithmetic.scale(arithmetic.affine(i), factor) + offset);
}

Indices through_broadcast(const Node& n, const SymInts& from, const Indices& at) {
  const auto& dims = n.attr<Ints>("dims");
  Indices out;
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto r = static_cast<size_t>(dims[d]);
    out.push_back(from[d].same(SymInt(1)) ? affine_index({}) : at[r]);
  }
  return out;
}

Indices through_transpose(const Node& n, const Indices& at) {
  const auto& permutation = n.attr<Ints>("permutation");
  Indices out(permutation.size());
  for (size_t d = 0; d < permutation.size(); ++d) out[static_cast<size_t>(permutation[d])] = at[d];
  return out;
}

Indices through_slice(const Node& n, const Indices& at, IndexArithmetic& arithmetic) {
  const auto& start = n.attr<SymInts>("start");
  const auto& stride = n.attr<SymInts>("stride");
  Indices out;
  for (size_t d = 0; d < at.size(); ++d) {
    const bool whole = start[d].same(SymInt(0)) && stride[d].same(SymInt(1));
    out.push_back(whole ? at[d] : transformed(at[d], stride[d], start[d], arithmetic));
  }
  return out;
}

Indices through_reverse(const Node& n, const SymInts& from, const Indices& at,
                        IndexArithmetic& arithmetic) {
  Indices out = at;
  for (int64_t d : n.attr<Ints>("dims")) {
    const auto i = static_cast<size_t>(d);
    out[i] = transformed(at[i], -1, from[i] - 1, arithmetic);
  }
  return out;
}

// position * stride + offset * dilation, along each dim with a window.
Indices through_window(const Node& n, const SymInts& from, const Indices& at,
                       IndexArithmetic& arithmetic) {
  const auto& dims = n.attr<Ints>("dims");
  const auto& strides = n.attr<SymInts>("strides");
  const auto& dilations = n.attr<SymInts>("dilations");
  Indices out(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(from.size()));
  for (size_t k = 0; k < dims.size(); ++k) {
    const auto d = static_cast<size_t>(dims[k]);
    const Affine position = arithmetic.scale(arithmetic.affine(out[d]), strides[k]);
    const Affine offset = arithmetic.scale(arithmetic.affine(at[from.size() + k]), dilations[k]);
    out[d] = affine_index(arithmetic.add(position, offset));
  }
  return out;
}

// Are they equal, structurally or by a guard that is there?
bool are_equal(const SymInt& a, const SymInt& b) {
  return a.same(b) || prims::known_equal(a, b) == true || prims::known_equal(b, a) == true;
}

// A reshape partitions both shapes, from the left, into groups of dims with equally many elements.
// Where both groups are one dim, its index is passed on. Several result dims of one operand dim
// combine affinely. Anything else delinearises the linear index.
class Reshape {
 public:
  Reshape(const SymInts& from, const SymInts& to, const Indices& at, IndexArithmetic& arithmetic)
      : from_(from), to_(to), at_(at), arithmetic_(arithmetic), out_(from.size()) {}

  Indices indices() {
    while (i_ < from_.size() || j_ < to_.size()) {
      if (i_ < from_.size() && from_[i_].same(SymInt(1)))
        out_[i_++] = affine_index({});
      else if (j_ < to_.size() && to_[j_].same(SymInt(1)))
        ++j_;
      else
        run();
    }
    return std::move(out_);
  }

 private:
  void run() {
    const size_t i0 = i_, j0 = j_;
    SymInt a = i_ < from_.size() ? from_[i_++] : SymInt(1);
    SymInt b = j_ < to_.size() ? to_[j_++] : SymInt(1);
    while (!are_equal(a, b) && (i_ < from_.size() || j_ < to_.size())) {
      // Extend the side with fewer elements, as far as the hints tell.
      if (j_ >= to_.size() || (i_ < from_.size() && a.hint() <= b.hint()))
        a *= from_[i_++];
      else
        b *= to_[j_++];
    }
    if (i_ - i0 == 1 && j_ - j0 == 1) {
      out_[i0] = at_[j0];
    } else if (i_ - i0 == 1) {
      out_[i0] = affine_index(linear(j0, j_));
    } else {
      split(i0, linear(j0, j_));
    }
  }

  // Result dims [begin, end) as one linear index. Those that are all parts of one split, in order,
  // are the linear index that was split.
  Affine linear(size_t begin, size_t end) {
    Affine sum;
    SymInt inner = 1;
    for (size_t d = end; d > begin;) {
      const size_t first = whole_split_before(begin, d);
      if (first < d) {
        sum = arithmetic_.add(sum, arithmetic_.scale(at_[first].split->linear, inner));
      } else if (!to_[d - 1].same(SymInt(1))) {
        sum = arithmetic_.add(sum, arithmetic_.scale(arithmetic_.affine(at_[d - 1]), inner));
      }
      const size_t next = first < d ? first : d - 1;
      while (d > next) inner *= to_[--d];
    }
    return sum;
  }

  // Where the parts of one split begin that are all of it and end at `end`; `end` if there are
  // none.
  size_t whole_split_before(size_t begin, size_t end) const {
    const auto& split = at_[end - 1].split;
    if (!split || split->sizes.size() > end - begin) return end;
    const size_t first = end - split->sizes.size();
    for (size_t k = first; k < end; ++k) {
      if (at_[k].split != split || at_[k].part != k - first) return end;
      if (!to_[k].same(split->sizes[k - first])) return end;
    }
    return first;
  }

  void split(size_t begin, Affine whole) {
    auto split = std::make_shared<Index::Split>();
    split->linear = std::move(whole);
    for (size_t k = begin; k < i_; ++k) split->sizes.push_back(from_[k]);
    for (size_t k = begin; k < i_; ++k) {
      out_[k].split = split;
      out_[k].part = k - begin;
    }
  }

  const SymInts &from_, &to_;
  const Indices& at_;
  IndexArithmetic& arithmetic_;
  Indices out_;
  size_t i_ = 0, j_ = 0;
};

}  // namespace

std::optional<Indices> view_indices(const prims::Graph& g, const Node& n, const Indices& at,
                                    IndexArithmetic& arithmetic) {
  if (n.operands.empty()) return std::nullopt;
  const SymInts& from = g.type(n.operands[0]).shape;
  switch (n.prim) {
    case Prim::broadcast_in_dim:
      return through_broadcast(n, from, at);
    case Prim::transpose:
      return through_transpose(n, at);
    case Prim::slice:
      return through_slice(n, at, arithmetic);
    case Prim::reverse:
      return through_reverse(n, from, at, arithmetic);
    case Prim::window:
      return through_window(n, from, at, arithmetic);
    case Prim::set_dim:
      return at;  // a cut array has the same elements
    case Prim::reshape:
      return Reshape(from, g.type(n.results[0]).shape, at, arithmetic).indices();
    default:
      return std::nullopt;
  }
}

namespace {

// Do the parts of the split that begin at dimension `d` lie densely, all of them and in order?
bool lies_densely(const Placement& p, const Indices& at, size_t d) {
  const Index& i = at[d];
  const auto& sizes = i.split->sizes;
  if (i.part != 0 || d + sizes.size() > at.size()) return false;
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (at[d + k].split != i.split || at[d + k].part != k) return false;
    if (k + 1 < sizes.size() && !p.strides[d + k].same(p.strides[d + k + 1] * sizes[k + 1]))
      return false;
  }
  return true;
}

}  // namespace

bool same(const Placement& a, const Placement& b) {
  return a.buffer == b.buffer && a.offset.same(b.offset) &&
         std::ranges::equal(a.strides, b.strides,
                            [](const SymInt& x, const SymInt& y) { return x.same(y); });
}

Affine element_address(const Placement& p, const Indices& at, IndexArithmetic& arithmetic) {
  Affine address;
  address.constant = p.offset;
  for (size_t d = 0; d < at.size(); ++d) {
    const Index& i = at[d];
    Affine step = i.affine;
    size_t last = d;
    if (i.split && lies_densely(p, at, d)) {
      step = i.split->linear;
      last = d + i.split->sizes.size() - 1;
    } else if (i.split) {
      step = arithmetic.divide_out(i);
    }
    address = arithmetic.add(address, arithmetic.scale(step, p.strides[last]));
    d = last;
  }
  return address;
}

Indices identity_indices(const SymInts& domain) {
  Indices out;
  for (size_t d = 0; d < domain.size(); ++d)
    out.push_back(affine_index(domain[d].same(SymInt(1)) ? Affine{} : loop_variable(d)));
  return out;
}

}  // namespace primset::schedule
