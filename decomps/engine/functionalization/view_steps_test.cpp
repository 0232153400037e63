// Writes through views: the base afterwards holds the written values just where the view's geometry
// says that its elements stand.
#include <gtest/gtest.h>

#include <set>

#include "decomps/engine/functionalization/view_functions.h"
#include "prims/reference/reference.h"
#include "specs/bundle/reader.h"

namespace primset::decomps {
namespace {

using prims::reference::Array;

struct Written {
  std::string function;
  std::vector<int64_t> sizes;
  Arguments args;
};

Array counted(const std::vector<int64_t>& shape, int64_t first) {
  Array a;
  a.dtype = DType::i64;
  a.shape = shape;
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  a.data.resize(static_cast<size_t>(n));
  for (auto& e : a.data) e.integer = first++;
  return a;
}

// The places of a view's elements in the contiguous base, in row-major order.
std::vector<int64_t> places(const ViewGeometry& g) {
  std::vector<int64_t> at{g.offset.constant()};
  for (size_t d = 0; d < g.sizes.size(); ++d) {
    std::vector<int64_t> next;
    for (int64_t base : at) {
      for (int64_t i = 0; i < g.sizes[d].constant(); ++i)
        next.push_back(base + i * g.strides[d].constant());
    }
    at = std::move(next);
  }
  return at;
}

void expect_written(const Written& w) {
  SCOPED_TRACE(w.function);
  prims::Graph graph;
  Tracer t(graph, specs::embedded_bundle());
  const SymInts sizes(w.sizes.begin(), w.sizes.end());
  const Val base = t.wrap(t.builder().tensor_input("base", {DType::i64, sizes}));
  Arguments args = w.args;
  args.insert(args.begin(), Tracer::Argument(base));
  const View view = find_view(w.function)(t, {{meta_of(base)}}, args)[0];
  ViewGeometry g = geometry_of(meta_of(base));
  ASSERT_TRUE(advance(g, view));
  const Val written = t.wrap(t.builder().tensor_input("written", {DType::i64, g.sizes}));
  t.builder().output("seen", view_of(base, view).id());
  t.builder().output("after", write_through(base, view, written).id());
  expand_derived(graph, t.bundle(), [](const prims::Graph&, prims::NodeId) { return false; });

  std::vector<int64_t> view_sizes;
  for (const SymInt& s : g.sizes) view_sizes.push_back(s.constant());
  const std::vector<Array> inputs = {counted(w.sizes, 0), counted(view_sizes, 1000)};
  const auto result = prims::reference::run(graph, inputs, {});
  const std::vector<int64_t> at = places(g);
  Array after = inputs[0];
  for (size_t i = 0; i < at.size(); ++i) {
    EXPECT_EQ(result.outputs[0].data[i].integer, at[i]);
    after.data[static_cast<size_t>(at[i])].integer = inputs[1].data[i].integer;
  }
  for (size_t i = 0; i < after.data.size(); ++i)
    EXPECT_EQ(result.outputs[1].data[i].integer, after.data[i].integer) << "element " << i;
}

TEST(Views, WritesLandWhereTheViewStands) {
  const std::vector<Written> cases = {
      {"select", {3, 4}, {0, 1}},
      {"select", {3, 4}, {1, -1}},
      {"slice", {5, 4}, {0, SymInt(1), SymInt(4), 1}},
      {"slice", {5, 4}, {0, SymInt(0), SymInt(5), 2}},
      {"slice", {3, 7}, {1, SymInt(1), SymInt(7), 3}},
      {"transpose", {3, 4}, {0, 1}},
      {"permute", {2, 3, 4}, {SymInts{2, 0, 1}}},
      {"view", {2, 6}, {SymInts{3, -1}}},
      {"unsqueeze", {2, 3}, {1}},
      {"squeeze_all", {2, 1, 3}, {}},
      {"diagonal", {3, 4}, {0, 0, 1}},
      {"diagonal", {3, 4}, {1, 1, 0}},
      {"diagonal", {4, 3}, {-1, 0, 1}},
      {"narrow", {5}, {0, 1, 3}},
      {"unfold", {6}, {0, 2, 2}},
      {"as_strided", {12}, {SymInts{2, 3}, SymInts{6, 2}, Tracer::Argument()}},
  };
  for (const Written& w : cases) expect_written(w);
}

TEST(Views, WritingThroughAnExpandedViewIsRefused) {
  prims::Graph graph;
  Tracer t(graph, specs::embedded_bundle());
  const Val base = t.wrap(t.builder().tensor_input("base", {DType::f32, {3, 1}}));
  const View view =
      find_view("expand")(t, {{meta_of(base)}}, {Tracer::Argument(base), SymInts{3, 4}, false})[0];
  EXPECT_THROW(write_through(base, view, t.constant(1, DType::f32, {3, 4})), Error);
}

}  // namespace
}  // namespace primset::decomps
