#include "codegen/schedule/testing/random/random_nodes.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "codegen/schedule/families/fft/radices.h"
#include "codegen/schedule/testing/random/random_graph.h"
#include "prims/graph/signature.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

using prims::Attr;
using prims::OpPattern;
using prims::Prim;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;
using Values = prims::Builder::Values;
using Ints = std::vector<int64_t>;

// Attributes by their types: dims are dims of a value of this rank.
std::vector<Attr> attributes(RandomNodes& nodes, Prim p, size_t rank) {
  RandomValues& v = nodes.values();
  std::vector<Attr> out;
  for (const prims::AttributeInfo& a : prims::signature(p).attributes) {
    switch (a.type) {
      case prims::AttributeType::integer:
        out.push_back({a.name, static_cast<int64_t>(nodes.random().below(rank))});
        break;
      case prims::AttributeType::ints:
        out.push_back({a.name, v.any_dims(rank, rank)});
        break;
      case prims::AttributeType::boolean:
        out.push_back({a.name, nodes.random().chance(50)});
        break;
      default:
        throw std::logic_error("no random attributes of this type");
    }
  }
  return out;
}

bool is_one(DTypeSet set) {
  return (set.mask() & (set.mask() - 1)) == 0;
}

DType only(DTypeSet set) {
  return static_cast<DType>(std::countr_zero(set.mask()));
}

// Functions of several numbers jump at zeros whose signs are nobody's to expect.
void make_positive(RandomNodes& nodes, Values& in) {
  RandomValues& v = nodes.values();
  for (ValueId& x : in) {
    if (!is_floating(v.dtype(x))) continue;
    const ValueId some =
        v.add(Prim::constant, {},
              {{"value", Scalar(0.25)}, {"dtype", v.dtype(x)}, {"shape", v.shape(x)}})[0];
    x = v.add(Prim::add, {v.add(Prim::abs, {x})[0], some})[0];
  }
}

// Operands of one shape; those of one kind have one dtype.
void elementwise_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto& operands = prims::signature(p).operands;
  const DTypeSet set = operands.back().dtypes;
  const auto x = v.any([&](ValueId u) {
    if (!RandomValues::fits(v.shape(u))) return false;
    return set.contains(v.dtype(u)) || operands.size() > 1;
  });
  if (!x) return;
  const SymInts shape = v.shape(*x);
  const DType t = set.contains(v.dtype(*x)) ? v.dtype(*x) : v.any_dtype(set);
  Values in;
  for (const prims::OperandInfo& o : operands)
    in.push_back(v.like(is_one(o.dtypes) ? only(o.dtypes) : t, shape));
  const size_t place = nodes.random().below(in.size());
  if (v.dtype(*x) == v.dtype(in[place])) in[place] = *x;
  if (in.size() > 1 && prims::is_transcendental(p)) make_positive(nodes, in);
  v.add(p, in);
}

// Of a floating value that an integer cannot hold some number is made.
void conversion_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const DTypeSet set = prims::signature(p).operands[0].dtypes;
  const DType t = v.any_dtype(set);
  const auto x = v.any([&](ValueId u) {
    return set.contains(v.dtype(u)) &&
           (v.is_exact(u) || !is_integral(t) || is_integral(v.dtype(u)));
  });
  if (x) v.add(p, {*x}, {{prims::signature(p).attributes[0].name, t}});
}

// --- one operand along dims ----------------------------------------------------------------------

void along_dims(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x) return;
  std::vector<Attr> attrs = attributes(nodes, p, v.rank(*x));
  // Along one dim there is a first greatest one, if there is one at all.
  if (prims::is_reduction(p) && attrs[0].value.index() == 0) {
    const SymInt size = v.shape(*x)[static_cast<size_t>(std::get<int64_t>(attrs[0].value))];
    if (size.hint() == 0 || v.is_dynamic(size)) return;
  }
  const Values made = v.add(p, {*x}, std::move(attrs));
  // What is made of rows often meets them again.
  if (!prims::is_reduction(p) || !nodes.random().chance(50)) return;
  const DType t = v.dtype(*x);
  const Ints dims = [&] {
    Ints kept;
    const SymInts from = v.shape(*x), to = v.shape(made[0]);
    for (size_t d = 0; d < from.size(); ++d) {
      if (kept.size() < to.size() && from[d].same(to[kept.size()]))
        kept.push_back(static_cast<int64_t>(d));
    }
    return kept;
  }();
  if (dims.size() != v.rank(made[0])) return;
  v.add(Prim::broadcast_in_dim, {made[0]}, {{"shape", v.shape(*x)}, {"dims", dims}});
  if (v.dtype(made[0]) == t) nodes.elementwise(t, v.shape(*x));
}

void sort_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x) return;
  Values in{*x};
  const size_t payloads = nodes.random().below(3);
  for (size_t i = 0; i < payloads; ++i)
    in.push_back(v.like(v.any_dtype(prims::signature(p).operands[1].dtypes), v.shape(*x)));
  std::vector<Attr> attrs = attributes(nodes, p, v.rank(*x));
  v.add(p, std::move(in), std::move(attrs));
}

// Derived, and expanded where no family finds the elements.
void select_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x) return;
  const size_t dim = nodes.random().below(v.rank(*x));
  const SymInt size = v.shape(*x)[dim];
  if (size.hint() == 0 || v.is_dynamic(size)) return;
  std::vector<Attr> attrs{{"dim", static_cast<int64_t>(dim)}};
  if (p == Prim::kth_value) {
    const auto k = static_cast<int64_t>(nodes.random().below(static_cast<size_t>(size.hint())));
    attrs.insert(attrs.begin(), {"k", v.launch_number(k + 1)});
  } else {
    attrs.push_back({"ignore_nan", nodes.random().chance(50)});
  }
  v.add(p, {*x}, std::move(attrs));
}

// Derived, but never expanded where its family computes it: along one dim whose length is a product
// of small numbers. Other lengths are replaced by such a one. Those of real values are expanded
// where their length or the machine has no kernels.
void fft_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  SymInts shape = x ? v.shape(*x) : v.any_shape();
  if (shape.empty()) shape.push_back(1);
  const size_t dim = nodes.random().below(shape.size());
  const int64_t length = shape[dim].hint();
  if (length < 2 || !is_smooth(length) || v.is_dynamic(shape[dim]))
    shape[dim] = nodes.random().pick(Ints{2, 4, 5, 6, 8, 9, 12, 16, 30, 64});
  if (!RandomValues::fits(shape)) return;
  const DType t = x ? v.dtype(*x) : v.any_dtype(prims::signature(p).operands[0].dtypes);
  std::vector<Attr> attrs{{"dims", Ints{static_cast<int64_t>(dim)}}};
  if (p == Prim::fft_c2c) attrs.push_back({"forward", nodes.random().chance(50)});
  if (p == Prim::fft_c2r) {
    const int64_t n = shape[dim].hint();
    attrs.push_back({"n", SymInt(n)});
    shape[dim] = n / 2 + 1;
  }
  v.add(p, {v.like(t, shape)}, std::move(attrs));
}

// --- contractions --------------------------------------------------------------------------------

// Dims of a: [batch, m.., k]; of b: [batch, k, n] or [batch, n, k].
void dot_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto a = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!a) return;
  const DType t = v.dtype(*a);
  const SymInts shape = v.shape(*a);
  const auto contract = static_cast<int64_t>(shape.size() - 1);
  const bool batch = shape.size() > 1 && nodes.random().chance(30);
  const bool columns = nodes.random().chance(80), transposed = nodes.random().chance(50);
  SymInts other;
  if (batch) other.push_back(shape[0]);
  const auto b_contract = static_cast<int64_t>(other.size() + (columns && transposed ? 1 : 0));
  if (columns && transposed) other.push_back(v.any_size());
  other.push_back(shape.back());
  if (columns && !transposed) other.push_back(v.any_size());
  const int64_t across =
      columns ? v.elements(other) / std::max<int64_t>(1, shape.back().hint()) : 1;
  const int64_t down = v.elements(shape) / std::max<int64_t>(1, shape.back().hint());
  if (v.elements(shape) * across > 60000 || down * across > 20000 || !v.fits(other)) return;
  const ValueId b = v.like(t, other);
  const bool wider = nodes.random().chance(50);
  const DType accumulate = is_half(t) || (wider && t == DType::f16) ? DType::f32
                           : wider && is_signed_integer(t)          ? DType::i64
                           : wider && t == DType::f32               ? DType::f64
                                                                    : t;
  const Ints batches = batch ? Ints{0} : Ints{};
  v.add(p, {*a, b},
        {{"a_contract", Ints{contract}},
         {"b_contract", Ints{b_contract}},
         {"a_batch", batches},
         {"b_batch", batches},
         {"accumulate", accumulate}});
}

// --- effects -------------------------------------------------------------------------------------

// Most hold.
void check_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (v.depth() > 0 || nodes.random().chance(50)) return;
  const SymInts shape = v.any_shape();
  const ValueId value = v.exact_like(DType::i64, shape);
  ValueId holds = v.add(Prim::eq, {value, value})[0];
  if (nodes.random().chance(15)) holds = v.exact_like(DType::boolean, shape);
  v.add(p, {holds, value},
        {{"code", std::string(kCheckCode)}, {"message", std::string("{value} is refused")}});
}

const NodeRules& rules() {
  static const NodeRules* table = [] {
    auto* t = new NodeRules;
    for (int i = 0; i < prims::prim_count(); ++i) {
      const auto p = static_cast<Prim>(i);
      if (prims::traits(p).tier != specs::Tier::core) continue;
      const bool converts = !prims::signature(p).attributes.empty();
      if (prims::is_elementwise(p)) t->set(p, converts ? conversion_node : elementwise_node);
      if (prims::is_reduction(p) || prims::is_scan(p)) t->set(p, along_dims);
    }
    t->set(Prim::sort, sort_node);
    for (const Prim p : {Prim::kth_value, Prim::median}) t->set(p, select_node);
    for (const Prim p : {Prim::fft_c2c, Prim::fft_r2c, Prim::fft_c2r}) t->set(p, fft_node);
    t->set(Prim::dot_general, dot_node);
    t->set(Prim::check, check_node);
    add_shape_rules(*t);
    add_indexing_rules(*t);
    add_region_rules(*t);
    return t;
  }();
  return *table;
}

uint32_t weight_of(OpPattern pattern) {
  switch (pattern) {
    case OpPattern::elementwise:
      return 300;
    case OpPattern::view:
      return 200;
    case OpPattern::indexable:
      return 100;
    case OpPattern::reduction:
      return 130;
    case OpPattern::scan:
    case OpPattern::scatter:
    case OpPattern::contraction:
      return 30;
    case OpPattern::opaque:
      return 40;
    case OpPattern::control:
      return 60;
    default:
      return 0;
  }
}

}  // namespace

NodeRule node_rule(Prim p) {
  return rules().find(p);
}

RandomNodes::RandomNodes(RandomValues& values) : values_(values) {
  choose_weights();
}

// Patterns by weight, and their primitives alike, functions that take long apart. Each graph has
// more of some patterns and none of others.
void RandomNodes::choose_weights() {
  constexpr size_t kPatterns = specs::TraitNames<OpPattern>::values.size();
  std::vector<uint32_t> weight(kPatterns), count(kPatterns);
  for (size_t i = 0; i < kPatterns; ++i) {
    const uint64_t emphasis = random().below(8);
    weight[i] = weight_of(static_cast<OpPattern>(i)) *
                (emphasis == 0  ? 0
                 : emphasis < 6 ? 1
                                : static_cast<uint32_t>(2 * emphasis - 9));
  }
  const auto pattern = [](Prim p) { return static_cast<size_t>(prims::traits(p).pattern); };
  const auto share = [](Prim p) { return prims::is_transcendental(p) ? 1u : 4u; };
  for (int i = 0; i < prims::prim_count(); ++i) {
    const auto p = static_cast<Prim>(i);
    if (node_rule(p)) count[pattern(p)] += share(p);
  }
  for (int i = 0; i < prims::prim_count(); ++i) {
    const auto p = static_cast<Prim>(i);
    if (!node_rule(p)) continue;
    const uint32_t w = std::max(1u, 100 * weight[pattern(p)] * share(p) / count[pattern(p)]);
    choices_.push_back({p, w});
    total_ += w;
  }
}

Prim RandomNodes::draw() {
  uint64_t at = random().below(total_);
  for (const Choice& c : choices_) {
    if (at < c.weight) return c.prim;
    at -= c.weight;
  }
  return choices_.back().prim;
}

void RandomNodes::add() {
  const Prim p = draw();
  // Programs over numbers hold what is computed elementwise.
  if (values_.in_scalar_region() && !prims::is_elementwise(p)) return;
  node_rule(p)(*this, p);
}

ValueId RandomNodes::view_of(ValueId v) {
  std::vector<Prim> views;
  for (const Choice& c : choices_) {
    if (prims::is_view(c.prim)) views.push_back(c.prim);
  }
  const size_t before = values_.builder().graph().node_count();
  values_.suggest(v);
  const Prim p = random().pick(views);
  node_rule(p)(*this, p);
  values_.suggest(prims::kNoValue);
  const prims::Graph& g = values_.builder().graph();
  if (g.node_count() == before) return v;
  const prims::Node& n = g.node(static_cast<prims::NodeId>(g.node_count() - 1));
  return n.prim == p && n.operands[0] == v ? n.results[0] : v;
}

// Another order of the same elements, of the same type.
ValueId RandomNodes::rearranged(ValueId v) {
  const SymInts shape = values_.shape(v);
  if (shape.empty()) return v;
  const size_t last = shape.size() - 1;
  if (last == 0 || !shape[0].same(shape[last]) || random().chance(30))
    return values_.add(Prim::reverse, {v}, {{"dims", values_.any_dims(shape.size(), 2)}})[0];
  Ints permutation(shape.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[0], permutation[last]);
  return values_.add(Prim::transpose, {v}, {{"permutation", permutation}})[0];
}

ValueId RandomNodes::elementwise(DType t, const SymInts& shape) {
  if (!values_.in_scalar_region() && random().chance(10)) return rearranged(values_.like(t, shape));
  std::vector<Prim> fitting;
  for (const Choice& c : choices_) {
    const prims::Signature& s = prims::signature(c.prim);
    const bool same = prims::is_elementwise(c.prim) && s.attributes.empty() &&
                      s.results[0].dtype == s.operands.back().name &&
                      s.operands.back().dtypes.contains(t);
    if (same && (!prims::is_transcendental(c.prim) || random().chance(20)))
      fitting.push_back(c.prim);
  }
  if (fitting.empty()) return values_.like(t, shape);
  const Prim p = random().pick(fitting);
  Values in;
  for (const prims::OperandInfo& o : prims::signature(p).operands)
    in.push_back(values_.like(is_one(o.dtypes) ? only(o.dtypes) : t, shape));
  if (in.size() > 1 && prims::is_transcendental(p)) make_positive(*this, in);
  return values_.add(p, in)[0];
}

}  // namespace primset::schedule
