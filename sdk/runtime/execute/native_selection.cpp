#include "sdk/runtime/execute/native_selection.h"

#include <algorithm>

#include "sdk/runtime/execute/native_primitive.h"
#include "sdk/runtime/execute/product_epilogue.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {
namespace {

std::vector<int64_t> hints(const prims::SymInts& values) {
  std::vector<int64_t> out;
  for (const prims::SymInt& v : values) out.push_back(v.hint());
  return out;
}

std::vector<int64_t> dense(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size());
  contiguous_strides(sizes, strides);
  return strides;
}

// Of a convolution or one of its gradients: each place of a window, and of a transposed one each
// image, is multiplied with the filters of its output.
prims::SymInt convolved_products(const prims::Graph& graph, const prims::Node& node) {
  const bool by_weight = node.prim == prims::Prim::convolution_backward_weight;
  const bool transposed = node.attr<bool>("transposed");
  const prims::ValueId result = node.results[0], first = node.operands[0],
                       filters = by_weight ? result : node.operands[1];
  prims::ValueId places = first;  // the gradient, or what is transposed
  if (node.prim == prims::Prim::convolution && !transposed) places = result;
  if (node.prim == prims::Prim::convolution_backward_input && transposed) places = result;
  if (by_weight && transposed) places = node.operands[1];
  prims::SymInt n = prims::product(graph.type(places).shape);
  const prims::SymInts& sizes = graph.type(filters).shape;
  for (size_t d = 1; d < sizes.size(); ++d) n *= sizes[d];
  return n;
}

// Of queries and keys. A tile of queries takes its time however few of them there are.
prims::SymInt attention_products(const prims::Graph& graph, const prims::Node& node) {
  constexpr int64_t kTile = 64;
  const prims::SymInts &q = graph.type(node.operands[0]).shape,
                       &k = graph.type(node.operands[1]).shape;
  const size_t row = q.size() - 2;
  prims::SymInt n = prims::ceil_div(q[row], prims::SymInt(kTile)) * kTile * k[row];
  for (size_t d = 0; d < q.size(); ++d)
    if (d != row) n *= q[d];
  return n;
}

// What least_products is about: the multiplications of a product of matrices for each index of its
// batch dims, those of a convolution, of queries and keys of attention, the elements of anything
// else's first operand.
prims::SymInt work_of(const prims::Graph& graph, const prims::Node& node) {
  if (node.prim == prims::Prim::convolution ||
      node.prim == prims::Prim::convolution_backward_input ||
      node.prim == prims::Prim::convolution_backward_weight)
    return convolved_products(graph, node);
  if (node.prim == prims::Prim::attention) return attention_products(graph, node);
  const bool matmul = node.prim == prims::Prim::matmul;
  if (!matmul && node.prim != prims::Prim::dot_general)
    return node.operands.empty() ? 1 : prims::product(graph.type(node.operands[0]).shape);
  using Ints = std::vector<int64_t>;
  const auto in = [](const Ints& dims, size_t d) {
    return std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end();
  };
  const prims::SymInts &a = graph.type(node.operands[0]).shape,
                       &b = graph.type(node.operands[1]).shape;
  if (matmul) return a[a.size() - 2] * a[a.size() - 1] * b[b.size() - 1];
  prims::SymInt n = 1;
  for (size_t d = 0; d < a.size(); ++d)
    if (!in(node.attr<Ints>("a_batch"), d)) n *= a[d];
  for (size_t d = 0; d < b.size(); ++d)
    if (!in(node.attr<Ints>("b_batch"), d) && !in(node.attr<Ints>("b_contract"), d)) n *= b[d];
  return n;
}

// The call of a node as the sizes of the traced call make it, without memory and with dense
// strides: what the plugin is asked about.
NativeCall call_with_hints(const prims::Graph& graph, const prims::Node& node) {
  NativeCall call;
  auto add = [&](prims::ValueId v, auto method) {
    if (v == prims::kNoValue) return;  // an optional operand that is absent
    const std::vector<int64_t> sizes = hints(graph.type(v).shape);
    (call.*method)(graph.type(v).dtype, sizes, dense(sizes), nullptr, 0);
  };
  for (prims::ValueId v : node.operands) add(v, &NativeCall::add_operand);
  for (prims::ValueId v : node.results) add(v, &NativeCall::add_result);
  for (const prims::Attr& a : node.attrs) {
    const std::string name(a.name);
    if (auto* s = std::get_if<std::string>(&a.value))
      call.add_text(name, *s);
    else if (auto* l = std::get_if<prims::Attr::Ints>(&a.value))
      call.add_ints(name, *l, true);
    else if (auto* l = std::get_if<prims::SymInts>(&a.value))
      call.add_ints(name, hints(*l), true);
    else if (auto* i = std::get_if<prims::SymInt>(&a.value))
      call.add_ints(name, {i->hint()}, false);
    else if (auto* i = std::get_if<int64_t>(&a.value))
      call.add_ints(name, {*i}, false);
    else if (auto* b = std::get_if<bool>(&a.value))
      call.add_ints(name, {*b}, false);
    else if (auto* t = std::get_if<DType>(&a.value))
      call.add_ints(name, {static_cast<int64_t>(*t)}, false);
    else if (auto* s = std::get_if<Scalar>(&a.value)) {
      if (s->is_integral())
        call.add_ints(name, {s->to_int()}, false);
      else
        call.add_float(name, s->to_double());
    }
  }
  if (node.prim == prims::Prim::check) {
    call.add_result(DType::i64, {2}, {1});
    call.add_ints(std::string(kSlotCode), {1}, false);
  }
  return call;
}

}  // namespace

bool runs_natively(const plugin::PluginDevice& device, const prims::Graph& graph,
                   prims::NodeId id) {
  if (!device.primitives()) return false;
  const bool has_kernels = device.properties().kernel_format != PRIMSET_FORMAT_NONE;
  if (has_kernels && !options_native()) return false;
  const prims::Node& node = graph.node(id);
  if (!node.regions.empty()) return false;
  NativeCall call = call_with_hints(graph, node);
  primset_primitive found;
  if (!call.find(device, std::string(prims::info(node.prim).name), &found)) return false;
  if (has_kernels && is_faster_with_epilogue(device.properties(), graph, id)) return false;
  if (!has_kernels || found.least_products == 0) return true;
  // The plan holds for the calls on this side of the number.
  return work_of(graph, node) >= prims::SymInt(static_cast<int64_t>(found.least_products));
}

}  // namespace primset::runtime
