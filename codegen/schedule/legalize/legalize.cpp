#include "codegen/schedule/legalize/legalize.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/loops/loops.h"
#include "codegen/schedule/tuning/contraction_tiles.h"
#include "codegen/schedule/tuning/summation_order.h"
#include "prims/graph/builder.h"
#include "prims/graph/traits.h"
#include "primset/error.h"

namespace primset::schedule {

using prims::Graph;
using prims::Node;
using prims::Prim;
using prims::Region;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;
using prims::ValueType;
using Ints = std::vector<int64_t>;
using ValueIds = std::vector<ValueId>;

namespace {

class Legalizer {
 public:
  Legalizer(const Graph& from, const Machine& machine,
            const std::function<bool(const Graph&, prims::NodeId)>& native)
      : from_(from),
        machine_(machine),
        target_(machine.target),
        native_(native),
        to_(from.shared_context()),
        b_(to_),
        map_(from.value_count(), prims::kNoValue) {}

  Legalized run() {
    for (const prims::Input& in : from_.inputs) {
      const ValueType& t = from_.type(in.value);
      map_[in.value] = in.kind == prims::Input::Kind::tensor ? b_.tensor_input(in.name, t)
                                                             : b_.scalar_input(in.name, t.dtype);
    }
    for (prims::NodeId id : from_.body.nodes) rewrite(id);
    for (const prims::Output& out : from_.outputs)
      b_.output(out.name, map_[out.value], out.writes_input);
    return {std::move(to_), std::move(reread_), std::move(unrounded_)};
  }

 private:
  void rewrite(prims::NodeId id);
  ValueIds rewritten(const Node& n, prims::NodeId id, const ValueIds& in);
  ValueIds copied(const Node& n, const ValueIds& in);
  ValueIds legalized(const Node& n, const ValueIds& in);
  Region copy_region(const Region& r);
  ValueIds copy_body(const Region& r, std::span<const ValueId> args);
  ValueIds cond(const Node& n, const ValueIds& in);
  struct ProductDomain;
  ProductDomain product_domain(const Node& n, const ValueIds& in) const;
  ValueId over_domain(ValueId v, DType dtype, const Ints& dims, const SymInts& shape);
  ValueIds dot(const Node& n, const ValueIds& in);
  DType added_up_in(DType said, DType operands, const SymInt& products) const;
  void note_reread(ValueId v);
  void note_number(ValueId v);
  bool costly(ValueId v);
  ValueIds reduce(const Node& n, const ValueIds& in);
  ValueIds reduce_dim(const Node& n, const ValueIds& xs, const ValueIds& inits, size_t dim);
  ValueIds reduce_step(const Node& n, const ValueIds& xs, const ValueIds& inits, size_t dim);
  ValueId extremum_of_bits(const Node& n, ValueId x, size_t dim);
  ValueIds var_mean(const Node& n, const ValueIds& in);
  ValueIds arg_reduce(const Node& n, const ValueIds& in);
  ValueIds scan_extremum(const Node& n, const ValueIds& in);
  ValueIds scan(const Node& n, const ValueIds& in);
  ValueIds scan_dim(Prim prim, const ValueIds& xs, const ValueIds& inits, const Region* combine,
                    int64_t dim);
  ValueIds scan_chunks(Prim prim, const ValueIds& xs, const ValueIds& inits, const Region* combine,
                       int64_t dim);
  ValueIds combined(Prim prim, const ValueIds& a, const ValueIds& b, const Region* combine);
  Region copy_built(const Region& r);
  ValueIds compact(const ValueIds& in);
  ValueIds set_dim(const Node& n, const ValueIds& in);
  DType accumulated_in(const Node& n, ValueId operand) const;
  bool few_terms(const Node& n, ValueId operand) const;
  ValueIds widened(const Node& n, ValueIds in);
  Region extremum_region(DType dtype, bool maximum, bool later_wins);

  const Graph& from_;
  const Machine& machine_;
  const kir::TargetModel& target_;
  const std::function<bool(const Graph&, prims::NodeId)>& native_;
  Graph to_;
  std::unordered_set<ValueId> reread_, unrounded_;
  std::unordered_map<ValueId, bool> costly_;
  prims::Builder b_;
  ValueIds map_;
};

bool is_short_float(DType t) {
  return is_floating(t) && bits(t) < 32;
}

void Legalizer::rewrite(prims::NodeId id) {
  const Node& n = from_.node(id);
  ValueIds in;
  // An optional operand that is absent stays so.
  for (ValueId v : n.operands) in.push_back(v == prims::kNoValue ? v : map_[v]);
  ValueIds out = rewritten(n, id, in);
  for (size_t k = 0; k < n.results.size(); ++k) map_[n.results[k]] = out[k];
}

ValueIds Legalizer::rewritten(const Node& n, prims::NodeId id, const ValueIds& in) {
  if (native_ && native_(from_, id)) {
    // It reads memory: what else is made of an operand may read the same.
    for (ValueId v : in) {
      if (v != prims::kNoValue) note_reread(v);
    }
    return copied(n, in);
  }
  return accumulates(n.prim) ? widened(n, in) : legalized(n, in);
}

ValueIds Legalizer::copied(const Node& n, const ValueIds& in) {
  std::vector<Region> regions;
  for (const Region& r : n.regions) regions.push_back(copy_region(r));
  return b_.add(n.prim, in, n.attrs, std::move(regions));
}

ValueIds Legalizer::legalized(const Node& n, const ValueIds& in) {
  switch (n.prim) {
    case Prim::dot_general:
      if (!tiles_contraction(n, b_.shape(in[0]), b_.shape(in[1]), machine_)) return dot(n, in);
      // Each operand is read once for every tile that the other one has.
      note_reread(in[0]);
      note_reread(in[1]);
      break;
    case Prim::reduce:
    case Prim::reduce_sum:
    case Prim::reduce_prod:
    case Prim::reduce_min:
    case Prim::reduce_max:
    case Prim::reduce_and:
    case Prim::reduce_or:
    case Prim::reduce_xor:
      return reduce(n, in);
    case Prim::var_mean:
      return var_mean(n, in);
    case Prim::argmin:
    case Prim::argmax:
      return arg_reduce(n, in);
    case Prim::scan_min:
    case Prim::scan_max:
      return scan_extremum(n, in);
    case Prim::compact:
      return compact(in);
    case Prim::set_dim:
      return set_dim(n, in);
    case Prim::cond:
      return cond(n, in);
    case Prim::broadcast_in_dim:
      if (!prims::product(n.attr<SymInts>("shape")).same(SymInt(1))) note_number(in[0]);
      break;
    default:
      break;
  }
  return copied(n, in);
}

Region Legalizer::copy_region(const Region& r) {
  std::vector<ValueType> params;
  for (ValueId p : r.params) params.push_back(from_.type(p));
  return b_.region(params, [&](std::span<const ValueId> args) { return copy_body(r, args); });
}

ValueIds Legalizer::copy_body(const Region& r, std::span<const ValueId> args) {
  for (size_t i = 0; i < args.size(); ++i) map_[r.params[i]] = args[i];
  for (prims::NodeId id : r.nodes) rewrite(id);
  ValueIds out;
  for (ValueId v : r.results) out.push_back(map_[v]);
  return out;
}

// A branch is run once at most, so it sees the operands themselves: none is copied to be a
// parameter, and what is given back as it was need not be touched.
ValueIds Legalizer::cond(const Node& n, const ValueIds& in) {
  const std::span<const ValueId> operands = std::span(in).subspan(1);
  std::vector<Region> regions;
  for (const Region& r : n.regions)
    regions.push_back(
        b_.region({}, [&](std::span<const ValueId>) { return copy_body(r, operands); }));
  return b_.add(Prim::cond, {in[0]}, {}, std::move(regions));
}

// What `v` is computed from, when that is arithmetic and not only a way of looking at memory.
void Legalizer::note_reread(ValueId v) {
  for (prims::NodeId p; (p = to_.producer(v)) != Graph::kNoNode; v = to_.node(p).operands[0]) {
    switch (to_.node(p).prim) {
      case Prim::reshape:
      case Prim::transpose:
      case Prim::slice:
      case Prim::reverse:
      case Prim::broadcast_in_dim:
      case Prim::convert:
      case Prim::pad:
      case Prim::window:
        continue;
      default:
        if (is_core_elementwise(to_.node(p).prim)) reread_.insert(v);
        return;
    }
  }
}

// A number that takes effort is computed once, and not with each of the elements it meets.
void Legalizer::note_number(ValueId v) {
  if (prims::product(b_.shape(v)).same(SymInt(1)) && costly(v)) note_reread(v);
}

// Does making an element of it take more than arithmetic?
bool Legalizer::costly(ValueId v) {
  const prims::NodeId p = v == prims::kNoValue ? Graph::kNoNode : to_.producer(v);
  if (p == Graph::kNoNode) return false;
  if (auto known = costly_.find(v); known != costly_.end()) return known->second;
  const Node& n = to_.node(p);
  const bool found = is_transcendental(n.prim) ||
                     (is_indexable(n.prim) &&
                      std::ranges::any_of(n.operands, [&](ValueId x) { return costly(x); }));
  costly_.emplace(v, found);
  return found;
}

// What products of `operands` are added up in where the primitive says `said`. Those of narrower
// operands are rounded to fewer digits anyway.
DType Legalizer::added_up_in(DType said, DType operands, const SymInt& products) const {
  const bool single = said == operands && (said == DType::f32 || said == DType::c64);
  if (!single || !target_.quick_f64() || !(products < SymInt(kFewProducts))) return said;
  return is_complex(said) ? DType::c128 : DType::f64;
}

// The dims of a product as one domain: [batch, rows, contracted, columns].
struct Legalizer::ProductDomain {
  SymInts shape;
  Ints a_dims, b_dims;  // by operand dimension: which of the domain
  Ints contracted;      // of the domain
  SymInt products = 1;  // that a matrix takes
  bool one_row = false, one_column = false;
};

Legalizer::ProductDomain Legalizer::product_domain(const Node& n, const ValueIds& in) const {
  const SymInts &a = b_.shape(in[0]), &b = b_.shape(in[1]);
  const ContractionRoles ar = contraction_roles(n, 0, a.size()),
                         br = contraction_roles(n, 1, b.size());
  ProductDomain d;
  d.a_dims.resize(a.size());
  d.b_dims.resize(b.size());
  const auto place = [&](const SymInts& from, const Ints& dims, Ints& to) {
    for (int64_t dim : dims) {
      to[static_cast<size_t>(dim)] = static_cast<int64_t>(d.shape.size());
      d.shape.push_back(from[static_cast<size_t>(dim)]);
    }
  };
  const auto stands_for = [](const Ints& dims, size_t first, Ints& to) {
    for (size_t k = 0; k < dims.size(); ++k)
      to[static_cast<size_t>(dims[k])] = static_cast<int64_t>(first + k);
  };
  place(a, ar.batch, d.a_dims);
  stands_for(br.batch, 0, d.b_dims);
  place(a, ar.free, d.a_dims);
  const size_t contracted = d.shape.size();
  for (size_t k = 0; k < ar.contract.size(); ++k)
    d.contracted.push_back(static_cast<int64_t>(contracted + k));
  place(a, ar.contract, d.a_dims);
  stands_for(br.contract, contracted, d.b_dims);
  place(b, br.free, d.b_dims);
  d.products = prims::product(std::span<const SymInt>(d.shape).subspan(ar.batch.size()));
  d.one_row = size_of(a, ar.free).same(SymInt(1));
  d.one_column = size_of(b, br.free).same(SymInt(1));
  return d;
}

// An operand over the whole domain. broadcast_in_dim wants rising dims: the operand's are brought
// into the domain's order first.
ValueId Legalizer::over_domain(ValueId v, DType dtype, const Ints& dims, const SymInts& shape) {
  Ints order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::ranges::sort(order, {}, [&](int64_t i) { return dims[static_cast<size_t>(i)]; });
  Ints rising;
  for (int64_t d : order) rising.push_back(dims[static_cast<size_t>(d)]);
  return b_.broadcast_in_dim(b_.transpose(b_.convert(v, dtype), order), shape, rising);
}

// sum over k of a[batch, m, k] * b[batch, k, n], as a product over [batch, m, k, n] summed along k:
// the walk along n is contiguous in b and the element of a is the same for all lanes.
ValueIds Legalizer::dot(const Node& n, const ValueIds& in) {
  const ProductDomain d = product_domain(n, in);
  const DType said = n.attr<DType>("accumulate");
  const DType accumulate = added_up_in(said, b_.dtype(in[0]), d.products);
  if (!d.one_column) note_reread(in[0]);
  if (!d.one_row) note_reread(in[1]);
  const ValueId x = over_domain(in[0], accumulate, d.a_dims, d.shape);
  const ValueId y = over_domain(in[1], accumulate, d.b_dims, d.shape);
  const auto summed = [&](ValueId v) {
    Node sum;
    sum.prim = Prim::reduce_sum;
    sum.attrs = {{"dims", d.contracted}};
    return reduce(sum, {v})[0];
  };
  if (!is_complex(accumulate)) return {b_.convert(summed(b_.binary(Prim::mul, x, y)), said)};
  const ValueId xr = b_.real(x), xi = b_.imag(x), yr = b_.real(y), yi = b_.imag(y);
  const ValueId re =
      b_.binary(Prim::sub, b_.binary(Prim::mul, xr, yr), b_.binary(Prim::mul, xi, yi));
  const ValueId im =
      b_.binary(Prim::add, b_.binary(Prim::mul, xr, yi), b_.binary(Prim::mul, xi, yr));
  return {b_.convert(b_.complex(summed(re), summed(im)), said)};
}

// Brings the reduced dimensions together, in logical order: [outer, R, inner], where inner are the
// kept dimensions behind the last reduced one.
ValueIds Legalizer::reduce(const Node& n, const ValueIds& in) {
  Ints dims = n.attr<Ints>("dims");
  std::sort(dims.begin(), dims.end());
  const size_t arity = n.prim == Prim::reduce ? in.size() / 2 : 1;
  ValueIds xs(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(arity));
  ValueIds inits(in.begin() + static_cast<std::ptrdiff_t>(arity), in.end());
  if (dims.empty()) return xs;
  if (dims.size() == 1) return reduce_dim(n, xs, inits, static_cast<size_t>(dims[0]));

  const SymInts shape = b_.shape(xs[0]);
  Ints order;
  SymInts merged, kept;
  SymInt length = 1;
  auto reduced = [&](int64_t d) { return std::binary_search(dims.begin(), dims.end(), d); };
  for (int64_t d = 0; d < dims.back(); ++d) {
    if (!reduced(d)) order.push_back(d), merged.push_back(shape[static_cast<size_t>(d)]);
  }
  const size_t at = merged.size();
  for (int64_t d : dims) order.push_back(d), length *= shape[static_cast<size_t>(d)];
  merged.push_back(length);
  for (auto d = static_cast<size_t>(dims.back()) + 1; d < shape.size(); ++d) {
    order.push_back(static_cast<int64_t>(d));
    merged.push_back(shape[d]);
  }
  for (ValueId& x : xs) x = b_.reshape(b_.transpose(x, order), merged);
  return reduce_dim(n, xs, inits, at);
}

ValueIds Legalizer::reduce_step(const Node& n, const ValueIds& xs, const ValueIds& inits,
                                size_t dim) {
  const Ints dims{static_cast<int64_t>(dim)};
  const bool extremum = n.prim == Prim::reduce_min || n.prim == Prim::reduce_max;
  const DType dtype = b_.dtype(xs[0]);
  if (extremum && target_.flush_denormals_f32 && (dtype == DType::f32 || is_short_float(dtype)))
    return {b_.convert(extremum_of_bits(n, b_.convert(xs[0], DType::f32), dim), dtype)};
  if (n.prim != Prim::reduce) return b_.add(n.prim, xs, {{"dims", dims}});
  ValueIds in = xs;
  in.insert(in.end(), inits.begin(), inits.end());
  return b_.add(Prim::reduce, in, {{"dims", dims}}, {copy_region(n.regions[0])});
}

// Where comparisons take denormals for zeros: three results of integers, which cost an instruction
// each. Of numbers without a sign the bits rise with the value, of those with one they fall as
// signed and rise as unsigned ones; NaN lies beyond the infinity of its sign.
ValueId Legalizer::extremum_of_bits(const Node& n, ValueId x, size_t dim) {
  const bool maximum = n.prim == Prim::reduce_max;
  constexpr int64_t kInfinity = 0x7f800000, kSign = 0x80000000, kNan = 0x7fc00000;
  // Of no elements it is the infinity that any other number beats.
  const int64_t none = maximum ? kInfinity | kSign : kInfinity;
  const ValueType i32{DType::i32, {}}, u32{DType::u32, {}};
  const Region combine = b_.region({i32, u32, u32, i32, u32, u32}, [&](std::span<const ValueId> p) {
    return ValueIds{b_.binary(Prim::max, p[0], p[3]), b_.binary(Prim::min, p[1], p[4]),
                    b_.binary(Prim::max, p[2], p[5])};
  });
  const ValueId falling = b_.bitcast(x, DType::i32), rising = b_.bitcast(x, DType::u32);
  const auto identity = [&](int64_t v, DType type) {
    return b_.constant(primset::Scalar(v), type);
  };
  const ValueIds found =
      b_.add(Prim::reduce,
             {falling, rising, rising, identity(std::numeric_limits<int32_t>::min(), DType::i32),
              identity(none, DType::u32), identity(0, DType::u32)},
             {{"dims", Ints{static_cast<int64_t>(dim)}}}, {combine});
  const auto number = [&](int64_t v, DType type) {
    return b_.constant(primset::Scalar(v), type, b_.shape(found[0]));
  };
  const ValueId is_nan =
      b_.binary(Prim::bit_or, b_.binary(Prim::lt, number(kInfinity, DType::i32), found[0]),
                b_.binary(Prim::lt, number(kInfinity | kSign, DType::u32), found[2]));
  const ValueId least = b_.bitcast(found[1], DType::i32), last = b_.bitcast(found[2], DType::i32);
  // All numbers have a sign, or one at least.
  const ValueId falls = b_.binary(Prim::lt, maximum ? found[0] : last, number(0, DType::i32));
  const ValueId best = maximum ? b_.select(falls, least, found[0]) : b_.select(falls, last, least);
  return b_.bitcast(b_.select(is_nan, number(kNan, DType::i32), best), DType::f32);
}

// A long row is padded with the identity to whole chunks; the chunks are reduced, then their
// results.
ValueIds Legalizer::reduce_dim(const Node& n, const ValueIds& xs, const ValueIds& inits,
                               size_t dim) {
  const SymInts shape = b_.shape(xs[0]);
  const SymInt chunk = kReductionChunk;
  if (!(chunk < shape[dim])) return reduce_step(n, xs, inits, dim);
  const SymInt chunks = prims::ceil_div(shape[dim], chunk);
  ValueIds parts;
  for (size_t k = 0; k < xs.size(); ++k) {
    const DType dtype = b_.dtype(xs[k]);
    const ValueId fill =
        n.prim == Prim::reduce ? inits[k] : b_.constant(combine_identity(n.prim, dtype), dtype);
    SymInts zero(shape.size(), SymInt(0)), high = zero;
    high[dim] = chunks * chunk - shape[dim];
    SymInts split = shape;
    split[dim] = chunk;
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(dim), chunks);
    parts.push_back(b_.reshape(b_.pad(xs[k], fill, zero, high, zero), split));
  }
  return reduce_dim(n, reduce_step(n, parts, inits, dim + 1), inits, dim);
}

// Where a row is at hand twice, two sums a time cost less than a quotient for each element. What
// the first sum's rounding left of the mean is in the elements' sum about it (Chan, Golub and
// LeVeque, 1979). Elements are divided before they are added up, so that no mean of finite ones
// overflows.
ValueIds Legalizer::var_mean(const Node& n, const ValueIds& in) {
  const DType narrow = b_.dtype(in[0]);
  const ValueId x = is_short_float(narrow) ? b_.convert(in[0], DType::f32) : in[0];
  const DType type = b_.dtype(x);
  const Ints& dims = n.attr<Ints>("dims");
  const SymInts shape = b_.shape(x);
  SymInt length = 1;
  for (int64_t d : dims) length *= shape[static_cast<size_t>(d)];
  Ints kept;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    if (std::ranges::find(dims, d) == dims.end()) kept.push_back(d);
  }
  Node sum;
  sum.prim = Prim::reduce_sum;
  sum.attrs = {{"dims", dims}};
  const auto along_rows = [&](ValueId v) { return b_.broadcast_in_dim(v, shape, kept); };
  const ValueId count = b_.convert(b_.constant(length, DType::i64), type);
  const ValueId share = b_.binary(Prim::div, b_.constant(primset::Scalar(1), type), count);
  const auto sum_of_products = [&](ValueId a, ValueId b) {
    const ValueId product = b_.binary(Prim::mul, a, b);
    unrounded_.insert(product);
    return reduce(sum, {product})[0];
  };
  const ValueId near = sum_of_products(x, b_.broadcast_in_dim(share, shape, {}));
  const ValueId apart = b_.binary(Prim::sub, x, along_rows(near));
  const ValueId rest = reduce(sum, {apart})[0];
  const ValueId squares = sum_of_products(apart, apart);
  const auto number = [&](ValueId v) { return b_.broadcast_in_dim(v, b_.shape(near), {}); };
  const ValueId left = b_.binary(Prim::mul, rest, number(share));
  // An infinite mean leaves no number.
  const ValueId mean =
      b_.select(b_.binary(Prim::eq, left, left), b_.binary(Prim::add, near, left), near);
  const ValueId zero = b_.constant(primset::Scalar(0), type);
  const ValueId about = b_.binary(
      Prim::max, b_.binary(Prim::sub, squares, b_.binary(Prim::mul, rest, left)), number(zero));
  const ValueId correction = b_.constant(n.attr<primset::Scalar>("correction"), type);
  const ValueId divisor = b_.binary(Prim::max, b_.binary(Prim::sub, count, correction), zero);
  return {b_.convert(b_.binary(Prim::div, about, number(divisor)), narrow),
          b_.convert(mean, narrow)};
}

// (value, index) pairs: the better value wins, NaN before all; of equals the first, or the later
// one.
Region Legalizer::extremum_region(DType dtype, bool maximum, bool later_wins) {
  const ValueType value{dtype, {}}, index{DType::i64, {}};
  return b_.region({value, index, value, index}, [&](std::span<const ValueId> p) {
    const ValueId a = p[0], ai = p[1], x = p[2], xi = p[3];
    ValueId a_better = maximum ? b_.binary(Prim::lt, x, a) : b_.binary(Prim::lt, a, x);
    ValueId equal = b_.binary(Prim::eq, a, x);
    if (is_floating(dtype)) {
      auto not_ = [&](ValueId v) { return b_.unary(Prim::bit_not, v); };
      const ValueId a_nan = not_(b_.binary(Prim::eq, a, a)),
                    x_nan = not_(b_.binary(Prim::eq, x, x));
      a_better = b_.binary(Prim::bit_or, a_better, b_.binary(Prim::bit_and, a_nan, not_(x_nan)));
      equal = b_.binary(Prim::bit_or, equal, b_.binary(Prim::bit_and, a_nan, x_nan));
    }
    const ValueId first = later_wins ? b_.binary(Prim::lt, xi, ai) : b_.binary(Prim::lt, ai, xi);
    const ValueId take_a =
        b_.binary(Prim::bit_or, a_better, b_.binary(Prim::bit_and, equal, first));
    return ValueIds{b_.select(take_a, a, x), b_.select(take_a, ai, xi)};
  });
}

ValueIds Legalizer::arg_reduce(const Node& n, const ValueIds& in) {
  const int64_t dim = n.attr<int64_t>("dim");
  const bool maximum = n.prim == Prim::argmax;
  const DType dtype = b_.dtype(in[0]);
  Node reduce_node;
  reduce_node.prim = Prim::reduce;
  const ValueId index = b_.iota(b_.shape(in[0]), dim, DType::i64);
  const Prim identity = maximum ? Prim::reduce_max : Prim::reduce_min;
  // The identity loses against every element, equal ones included, by its index.
  const ValueIds inits{
      b_.constant(combine_identity(identity, dtype), dtype),
      b_.constant(primset::Scalar(std::numeric_limits<int64_t>::max()), DType::i64)};
  Region combine = extremum_region(dtype, maximum, false);
  const SymInts shape = b_.shape(in[0]);
  auto step = [&](const ValueIds& xs, size_t d) {
    ValueIds all = xs;
    all.insert(all.end(), inits.begin(), inits.end());
    return b_.add(Prim::reduce, all, {{"dims", Ints{static_cast<int64_t>(d)}}}, {combine});
  };
  ValueIds xs{in[0], index};
  auto d = static_cast<size_t>(dim);
  while (SymInt(kReductionChunk) < b_.shape(xs[0])[d]) {
    const SymInts now = b_.shape(xs[0]);
    const SymInt chunks = prims::ceil_div(now[d], kReductionChunk);
    for (size_t k = 0; k < 2; ++k) {
      SymInts zero(now.size(), SymInt(0)), high = zero;
      high[d] = chunks * SymInt(kReductionChunk) - now[d];
      SymInts split = now;
      split[d] = kReductionChunk;
      split.insert(split.begin() + dim, chunks);
      xs[k] = b_.reshape(b_.pad(xs[k], inits[k], zero, high, zero), split);
    }
    xs = step(xs, d + 1);
    combine = extremum_region(dtype, maximum, false);
  }
  return {step(xs, d)[1]};
}

ValueIds Legalizer::scan_extremum(const Node& n, const ValueIds& in) {
  const bool maximum = n.prim == Prim::scan_max;
  const DType dtype = b_.dtype(in[0]);
  const int64_t dim = n.attr<int64_t>("dim");
  const Prim identity = maximum ? Prim::reduce_max : Prim::reduce_min;
  const ValueIds all{in[0], b_.iota(b_.shape(in[0]), dim, DType::i64),
                     b_.constant(combine_identity(identity, dtype), dtype),
                     b_.constant(primset::Scalar(-1), DType::i64)};
  const Region combine = extremum_region(dtype, maximum, true);
  return scan_dim(Prim::scan, {all[0], all[1]}, {all[2], all[3]}, &combine, dim);
}

ValueIds Legalizer::scan(const Node& n, const ValueIds& in) {
  const int64_t dim = n.attr<int64_t>("dim");
  if (n.prim != Prim::scan) return scan_dim(n.prim, in, {}, nullptr, dim);
  const auto arity = static_cast<std::ptrdiff_t>(in.size() / 2);
  const Region combine = copy_region(n.regions[0]);
  if (n.attr<bool>("ordered")) return b_.add(n.prim, in, n.attrs, {copy_built(combine)});
  return scan_dim(n.prim, {in.begin(), in.begin() + arity}, {in.begin() + arity, in.end()},
                  &combine, dim);
}

// A scalar region of the new graph once more, for another node.
Region Legalizer::copy_built(const Region& r) {
  std::vector<ValueType> params;
  for (ValueId p : r.params) params.push_back(b_.type(p));
  return b_.region(params, [&](std::span<const ValueId> args) {
    std::unordered_map<ValueId, ValueId> now;
    for (size_t i = 0; i < args.size(); ++i) now[r.params[i]] = args[i];
    for (prims::NodeId id : r.nodes) {
      const Node node = to_.node(id);  // a copy: adding nodes moves them
      ValueIds in;
      for (ValueId v : node.operands) in.push_back(now.at(v));
      std::vector<Region> regions;
      for (const Region& nested : node.regions) regions.push_back(copy_built(nested));
      const ValueIds out = b_.add(node.prim, in, node.attrs, std::move(regions));
      for (size_t k = 0; k < out.size(); ++k) now[node.results[k]] = out[k];
    }
    ValueIds out;
    for (ValueId v : r.results) out.push_back(now.at(v));
    return out;
  });
}

// One thread or group walks a row, so a long row is cut: every chunk is scanned, then the chunks'
// last elements, and each chunk takes up what the chunks before it came to.
ValueIds Legalizer::scan_dim(Prim prim, const ValueIds& xs, const ValueIds& inits,
                             const Region* combine, int64_t dim) {
  if (SymInt(kReductionChunk) < b_.shape(xs[0])[static_cast<size_t>(dim)]) {
    return scan_chunks(prim, xs, inits, combine, dim);
  }
  if (combine == nullptr) return b_.add(prim, xs, {{"dim", dim}});
  ValueIds in = xs;
  in.insert(in.end(), inits.begin(), inits.end());
  return b_.add(prim, in, {{"dim", dim}, {"ordered", false}}, {copy_built(*combine)});
}

ValueIds Legalizer::scan_chunks(Prim prim, const ValueIds& xs, const ValueIds& inits,
                                const Region* combine, int64_t dim) {
  const auto d = static_cast<size_t>(dim);
  const SymInts shape = b_.shape(xs[0]);
  const SymInt chunks = prims::ceil_div(shape[d], kReductionChunk);
  SymInts split = shape, padded = shape;
  split[d] = kReductionChunk;
  split.insert(split.begin() + dim, chunks);
  padded[d] = chunks * SymInt(kReductionChunk);
  auto fill = [&](size_t k) {
    const DType dtype = b_.dtype(xs[k]);
    return combine != nullptr ? inits[k] : b_.constant(combine_identity(prim, dtype), dtype);
  };
  ValueIds parts;
  for (size_t k = 0; k < xs.size(); ++k) {
    SymInts zero(shape.size(), SymInt(0)), high = zero;
    high[d] = padded[d] - shape[d];
    parts.push_back(b_.reshape(b_.pad(xs[k], fill(k), zero, high, zero), split));
  }
  parts = scan_dim(prim, parts, inits, combine, dim + 1);
  SymInts total_shape = split;
  total_shape.erase(total_shape.begin() + dim + 1);
  ValueIds totals;
  for (ValueId p : parts) {
    SymInts start(split.size(), SymInt(0)), one(split.size(), SymInt(1));
    start[d + 1] = kReductionChunk - 1;
    totals.push_back(b_.reshape(b_.slice(p, start, split, one), total_shape));
  }
  totals = scan_dim(prim, totals, inits, combine, dim);
  ValueIds carry;
  for (size_t k = 0; k < totals.size(); ++k) {
    SymInts zero(total_shape.size(), SymInt(0)), low = zero, high = zero;
    low[d] = 1;
    high[d] = -1;
    std::vector<int64_t> dims;
    for (int64_t i = 0; i < static_cast<int64_t>(split.size()); ++i) {
      if (i != dim + 1) dims.push_back(i);
    }
    carry.push_back(b_.broadcast_in_dim(b_.pad(totals[k], fill(k), low, high, zero), split, dims));
  }
  ValueIds out;
  for (ValueId v : combined(prim, carry, parts, combine)) {
    out.push_back(b_.slice(b_.reshape(v, padded), SymInts(shape.size(), SymInt(0)), shape,
                           SymInts(shape.size(), SymInt(1))));
  }
  return out;
}

ValueIds Legalizer::combined(Prim prim, const ValueIds& a, const ValueIds& b,
                             const Region* combine) {
  if (combine != nullptr) {
    ValueIds in = a;
    in.insert(in.end(), b.begin(), b.end());
    return b_.add(Prim::map, in, {}, {copy_built(*combine)});
  }
  if (is_complex(b_.dtype(a[0]))) {  // only sums: complex products are regions
    return {b_.complex(b_.binary(Prim::add, b_.real(a[0]), b_.real(b[0])),
                       b_.binary(Prim::add, b_.imag(a[0]), b_.imag(b[0])))};
  }
  return {b_.binary(prim == Prim::scan_sum ? Prim::add : Prim::mul, a[0], b[0])};
}

// Selected elements go to the place that the number of selected ones before them says, the others
// behind all selected ones: a permutation, so no two threads write one place.
ValueIds Legalizer::compact(const ValueIds& in) {
  const SymInt n = b_.shape(in[0])[0];
  const ValueId selected = b_.convert(in[1], DType::i64);
  const ValueId before = scan_dim(Prim::scan_sum, {selected}, {}, nullptr, 0)[0];
  Node sum;
  sum.prim = Prim::reduce_sum;
  sum.attrs = {{"dims", Ints{0}}};
  const ValueId count = reduce(sum, {selected})[0];
  const ValueId unselected = b_.binary(Prim::sub, b_.iota({n}, 0, DType::i64), before);
  const ValueId behind = b_.binary(Prim::add, b_.broadcast_in_dim(count, {n}, {}), unselected);
  const ValueId one = b_.constant(primset::Scalar(1), DType::i64, {n});
  const ValueId place = b_.select(in[1], b_.binary(Prim::sub, before, one), behind);
  const DType dtype = b_.dtype(in[0]);
  const ValueId empty = b_.constant(primset::Scalar(0), dtype, {n});
  return {b_.scatter(Prim::scatter, empty, {place}, in[0], {0}, true, false, ""), count};
}

// A count from elsewhere than compact may be any number. The result keeps its symbol: sizes outside
// of the graph are told in it.
ValueIds Legalizer::set_dim(const Node& n, const ValueIds& in) {
  const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  const prims::NodeId source = from_.producer(n.operands[1]);
  ValueId count = in[1];
  if (source == Graph::kNoNode || from_.node(source).prim != Prim::compact) {
    const ValueId zero = b_.constant(primset::Scalar(0), DType::i64);
    const ValueId size = b_.constant(b_.shape(in[0])[dim], DType::i64);
    const ValueId fits = b_.binary(Prim::bit_and, b_.binary(Prim::le, zero, count),
                                   b_.binary(Prim::le, count, size));
    b_.check(fits, count, "index", "set_dim: {value} elements do not fit its dimension");
    count = b_.binary(Prim::min, b_.binary(Prim::max, count, zero), size);
  }
  ValueIds out = b_.add(n.prim, {in[0], count}, n.attrs, {});
  to_.mutable_type(out[0]).shape[dim] = from_.type(n.results[0]).shape[dim];
  return out;
}

// Floats shorter than f32 accumulate in it. f32 does so in f64 where that is quick and each step
// would round: in a running sum and a sum of windows, where terms often cancel, and where few are
// reduced.
DType Legalizer::accumulated_in(const Node& n, ValueId operand) const {
  const DType dtype = b_.dtype(operand);
  if (is_short_float(dtype)) return DType::f32;
  const bool single = dtype == DType::f32 || dtype == DType::c64;
  if (!single || !target_.quick_f64()) return dtype;
  if (n.prim == Prim::reduce_sum || n.prim == Prim::reduce_prod) {
    if (!few_terms(n, operand)) return dtype;
    return is_complex(dtype) ? DType::c128 : DType::f64;
  }
  const bool each_step =
      n.prim == Prim::scan_sum || n.prim == Prim::scan_prod || n.prim == Prim::window_scatter_add;
  return each_step && dtype == DType::f32 ? DType::f64 : dtype;
}

bool Legalizer::few_terms(const Node& n, ValueId operand) const {
  SymInt terms = 1;
  for (int64_t d : n.attr<Ints>("dims")) terms *= b_.shape(operand)[static_cast<size_t>(d)];
  return terms < SymInt(kFewTerms);
}

ValueIds Legalizer::widened(const Node& n, ValueIds in) {
  const DType narrow = b_.dtype(in[0]), wide = accumulated_in(n, in[0]);
  if (wide == narrow) return legalized(n, in);
  for (ValueId& v : in) {
    if (v != prims::kNoValue && b_.dtype(v) == narrow) v = b_.convert(v, wide);
  }
  ValueIds out = legalized(n, in);
  for (ValueId& v : out) v = b_.convert(v, narrow);
  return out;
}

}  // namespace

Legalized legalize(const Graph& graph, const Machine& machine,
                   const std::function<bool(const Graph&, prims::NodeId)>& native) {
  return Legalizer(graph, machine, native).run();
}

}  // namespace primset::schedule
