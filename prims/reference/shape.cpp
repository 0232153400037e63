// Making and moving values.
#include <algorithm>

#include "prims/reference/float_format.h"
#include "prims/reference/interpreter.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

std::vector<Array> constant(NodeRun& run) {
  Array r = run.result(0);
  std::fill(r.data.begin(), r.data.end(), constant_element(run.interpreter, run.node));
  return {std::move(r)};
}

std::vector<Array> iota(NodeRun& run) {
  Array r = run.result(0);
  auto dim = static_cast<size_t>(run.integer("dim"));
  for_each_index(r.shape, [&](const Ints& index, size_t at) {
    r.data[at] = convert(integer_element(index[dim]), DType::i64, r.dtype);
  });
  return {std::move(r)};
}

std::vector<Array> broadcast_in_dim(NodeRun& run) {
  Array r = run.result(0);
  const Ints& dims = run.ints("dims");
  rearrange(run.x(0), r, [&](const Ints& index, Ints& from) {
    for (size_t d = 0; d < dims.size(); ++d) {
      from[d] = run.x(0).shape[d] == 1 ? 0 : index[static_cast<size_t>(dims[d])];
    }
    return true;
  });
  return {std::move(r)};
}

std::vector<Array> reshape(NodeRun& run) {
  Array r = run.result(0);
  r.data = run.x(0).data;
  return {std::move(r)};
}

std::vector<Array> transpose(NodeRun& run) {
  Array r = run.result(0);
  const Ints& permutation = run.ints("permutation");
  rearrange(run.x(0), r, [&](const Ints& index, Ints& from) {
    for (size_t d = 0; d < index.size(); ++d) from[static_cast<size_t>(permutation[d])] = index[d];
    return true;
  });
  return {std::move(r)};
}

std::vector<Array> reverse(NodeRun& run) {
  Array r = run.result(0);
  rearrange(run.x(0), r, [&](const Ints& index, Ints& from) {
    from = index;
    for (int64_t dim : run.ints("dims")) {
      auto d = static_cast<size_t>(dim);
      from[d] = r.shape[d] - 1 - index[d];
    }
    return true;
  });
  return {std::move(r)};
}

std::vector<Array> concatenate(NodeRun& run) {
  Array r = run.result(0);
  auto dim = static_cast<size_t>(run.integer("dim"));
  int64_t start = 0;
  for (const Array* x : run.operands) {
    for_each_index(x->shape, [&](const Ints& index, size_t at) {
      Ints to = index;
      to[dim] += start;
      r.data[static_cast<size_t>(offset_of(to, r.shape))] = x->data[at];
    });
    start += x->shape[dim];
  }
  return {std::move(r)};
}

// Behind `count` nothing is kept; a greater count than there are elements is an error.
std::vector<Array> set_dim(NodeRun& run) {
  const Array& x = run.x(0);
  auto dim = static_cast<size_t>(run.integer("dim"));
  int64_t count = run.x(1).data[0].integer;
  if (count < 0 || count > x.shape[dim]) {
    run.fail("runtime",
             "a run-time size of " + std::to_string(count) + " is outside of 0 to " +
                 std::to_string(x.shape[dim]),
             run.x(1).data[0]);
  }
  count = std::clamp<int64_t>(count, 0, x.shape[dim]);
  run.interpreter.set_size(run.interpreter.graph().type(run.node.results[0]).shape[dim], count);
  Array r = run.result(0);
  rearrange(x, r, [](const Ints& index, Ints& from) {
    from = index;
    return true;
  });
  return {std::move(r)};
}

}  // namespace

Element constant_element(const Interpreter& interpreter, const Node& node) {
  DType to = node.attr<DType>("dtype");
  const Attr& attr = node.find_attr("value");
  if (const auto* s = std::get_if<SymInt>(&attr.value)) {
    return convert(integer_element(interpreter.value(*s)), DType::i64, to);
  }
  const Scalar& s = std::get<Scalar>(attr.value);
  if (s.is_integral()) return convert(integer_element(s.to_int()), DType::i64, to);
  Element e = real_element(s.to_double());
  e.im = s.imag();
  return convert(e, s.is_complex() ? DType::c128 : DType::f64, to);
}

void add_shape_operations(OperationTable& t) {
  t.set(Prim::constant, constant);
  t.set(Prim::iota, iota);
  t.set(Prim::broadcast_in_dim, broadcast_in_dim);
  t.set(Prim::reshape, reshape);
  t.set(Prim::transpose, transpose);
  t.set(Prim::reverse, reverse);
  t.set(Prim::concatenate, concatenate);
  t.set(Prim::set_dim, set_dim);
}

}  // namespace primset::prims::reference
