#include "codegen/schedule/testing/random/random_graph.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/testing/random/cut.h"
#include "codegen/schedule/testing/random/random_nodes.h"

namespace primset::schedule {
namespace {

using prims::SymInt;
using prims::SymInts;
using prims::ValueId;
using prims::reference::Array;

// --- outputs -------------------------------------------------------------------------------------

class Outputs {
 public:
  Outputs(prims::Builder& b, RandomValues& values, RandomNodes& nodes)
      : b_(b), values_(values), nodes_(nodes), random_(values.random()) {}

  void choose() {
    find_uses();
    const size_t wanted = 1 + random_.below(5);
    for (size_t i = 0; i < wanted; ++i) {
      if (random_.chance(30)) overwrite_an_input();
      if (const auto v = random_.chance(70) ? ends() : values_.any([](ValueId) { return true; }))
        add(random_.chance(25) ? nodes_.view_of(*v) : *v);
    }
    if (b_.graph().outputs.empty()) add(values_.constant(DType::i32, values_.any_shape()));
  }

 private:
  // Of each value that a node reads.
  void find_uses() {
    for (prims::NodeId n = 0; n < b_.graph().node_count(); ++n) {
      for (ValueId v : b_.graph().node(n).operands) used_.insert(v);
    }
  }

  // What nothing is made of.
  std::optional<ValueId> ends() {
    return values_.any([&](ValueId v) { return !used_.contains(v); });
  }

  // A result that lies in an input's memory where its type is an input's.
  void add(ValueId v) {
    used_.insert(v);
    std::optional<uint32_t> input;
    for (uint32_t i = 0; i < b_.graph().inputs.size(); ++i) {
      if (can_write(i, v) && random_.chance(60)) input = i;
    }
    if (input) written_.insert(*input);
    b_.output("y" + std::to_string(b_.graph().outputs.size()), v, input);
  }

  bool can_write(uint32_t i, ValueId v) const {
    const prims::Input& in = b_.graph().inputs[i];
    const bool same =
        b_.dtype(in.value) == b_.dtype(v) &&
        std::ranges::equal(b_.shape(in.value), b_.shape(v),
                           [](const SymInt& x, const SymInt& y) { return x.same(y); });
    return in.kind == prims::Input::Kind::tensor && same && !written_.contains(i);
  }

  // The next contents of some input.
  void overwrite_an_input() {
    std::vector<uint32_t> free;
    for (uint32_t i = 0; i < b_.graph().inputs.size(); ++i) {
      if (can_write(i, b_.graph().inputs[i].value)) free.push_back(i);
    }
    if (free.empty()) return;
    const uint32_t i = random_.pick(free);
    const ValueId old = b_.graph().inputs[i].value;
    const ValueId next = nodes_.elementwise(b_.dtype(old), SymInts(b_.shape(old)));
    written_.insert(i);
    b_.output("y" + std::to_string(b_.graph().outputs.size()), next, i);
  }

  prims::Builder& b_;
  RandomValues& values_;
  RandomNodes& nodes_;
  Random& random_;
  std::set<ValueId> used_;
  std::set<uint32_t> written_;
};

// --- layouts -------------------------------------------------------------------------------------

// Dims from the innermost one on; a gap behind some of them.
SymInts permuted(const SymInts& shape, Random& random, prims::SymContext& context) {
  std::vector<size_t> order;
  for (size_t d = shape.size(); d-- > 0;) order.push_back(d);
  if (random.chance(50)) {
    for (size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  }
  const bool empty = std::ranges::any_of(shape, [](const SymInt& s) { return s.hint() == 0; });
  const bool gaps = !empty && random.chance(50);
  SymInts strides(shape.size());
  SymInt stride = gaps && random.chance(30) ? 2 : 1;
  for (size_t d : order) {
    strides[d] = stride;
    stride *= prims::max(shape[d], 1);
    if (gaps && random.chance(40)) stride += random.between(1, 3);
    if (random.chance(15) && stride.hint() > 1)
      stride = context.symbol("t" + std::to_string(context.symbol_count()), stride.hint(), 2);
  }
  return strides;
}

// Elements that are there once for a whole dim, as expand() has them.
void repeat(SymInts& strides, Random& random) {
  if (!strides.empty()) strides[random.below(strides.size())] = 0;
}

// Results whose sizes the run makes are dense.
void choose_layouts(RandomCase& c, const RandomValues& values, Random& random) {
  const prims::Graph& g = *c.graph;
  std::set<uint32_t> written;
  for (const prims::Output& o : g.outputs) {
    if (o.writes_input) written.insert(*o.writes_input);
  }
  for (uint32_t i = 0; i < g.inputs.size(); ++i) {
    const SymInts& shape = g.type(g.inputs[i].value).shape;
    const bool plain = g.inputs[i].kind == prims::Input::Kind::scalar || random.chance(50);
    SymInts strides = plain ? dense_strides(shape) : permuted(shape, random, g.context());
    if (!plain && !written.contains(i) && random.chance(20)) repeat(strides, random);
    c.options.inputs.push_back({std::move(strides)});
  }
  for (const prims::Output& o : g.outputs) {
    const SymInts& shape = g.type(o.value).shape;
    const bool plain = random.chance(60) || values.is_dynamic(shape);
    c.options.outputs.push_back({o.writes_input ? c.options.inputs[*o.writes_input].strides
                                 : plain        ? dense_strides(shape)
                                                : permuted(shape, random, g.context())});
  }
}

// --- contents ------------------------------------------------------------------------------------

void set_number(prims::reference::Element& e, DType t, Random& random, int64_t most) {
  if (is_bool(t)) {
    e.integer = random.chance(50) ? 1 : 0;
  } else if (is_integral(t)) {
    e.integer = random.between(is_unsigned_integer(t) ? 0 : -most, most);
  } else {
    // Numbers that halves hold too.
    e.re = static_cast<long double>(random.between(-32, 32)) / 4;
    if (is_complex(t)) e.im = static_cast<long double>(random.between(-32, 32)) / 4;
  }
}

// One element that is seen at many places holds one number.
void repeat_elements(Array& a, const SymInts& strides) {
  size_t inner = a.data.size();
  for (size_t d = 0; d < a.shape.size() && inner > 0; ++d) {
    const auto size = static_cast<size_t>(a.shape[d]);
    const size_t outer = inner;
    inner /= size;
    if (!strides[d].same(SymInt(0))) continue;
    for (size_t i = 0; i < a.data.size(); ++i) {
      const size_t first = i - i % outer + i % inner;
      a.data[i] = a.data[first];
    }
  }
}

}  // namespace

Array random_array(DType dtype, std::vector<int64_t> shape, uint64_t seed) {
  Random random(seed);
  const int64_t most = random.chance(50) ? 100 : 7;
  Array a{dtype, std::move(shape), {}};
  a.data.resize(static_cast<size_t>(a.size()));
  for (auto& e : a.data) set_number(e, dtype, random, most);
  return prims::reference::from_bytes(dtype, a.shape, prims::reference::to_bytes(a));
}

RandomCase random_case(uint64_t seed) {
  Random random(seed);
  RandomCase c;
  c.seed = seed;
  c.graph = std::make_shared<prims::Graph>();
  prims::Builder b(*c.graph);
  RandomValues values(b, random);
  const size_t inputs = 1 + random.below(4);
  for (size_t i = 0; i < inputs; ++i) {
    const prims::SymInts shape = values.any_shape();
    using enum DType;
    const DType t = values.any_dtype({i32, i64, f32, f64, u8, f16, boolean});
    values.tensor_input(t, shape);
  }
  RandomNodes nodes(values);
  const std::vector<size_t> lengths = {1, 2, 3, 4, 6, 8, 12, 16, 24, 40};
  nodes.add(random.pick(lengths));
  Outputs(b, values, nodes).choose();
  c.dynamic = values.dynamic_symbols();
  choose_layouts(c, values, random);
  c.options.fuse = !random.chance(4);
  c.options.index32 = random.chance(80);
  const prims::SymContext& context = c.graph->context();
  for (size_t s = 0; s < context.symbol_count(); ++s) c.symbols.push_back(context.symbol_hint(s));
  for (uint32_t i = 0; i < c.graph->inputs.size(); ++i) {
    const prims::ValueType& t = c.graph->type(c.graph->inputs[i].value);
    std::vector<int64_t> shape;
    for (const SymInt& s : t.shape) shape.push_back(s.hint());
    c.inputs.push_back(random_array(t.dtype, std::move(shape), seed * 31 + i));
    repeat_elements(c.inputs.back(), c.options.inputs[i].strides);
  }
  // Most graphs have been rid of what nobody asks for.
  return random.chance(80) ? without(c, {}) : c;
}

}  // namespace primset::schedule
