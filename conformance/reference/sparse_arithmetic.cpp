// Statements of operators on sparse tensors that compute with what is stored, element by element,
// in long double, with a bound of what a device's roundings may come to.
#include <algorithm>
#include <cmath>
#include <complex>

#include "conformance/reference/sparse_statements.h"
#include "prims/reference/array.h"
#include "prims/reference/element.h"
#include "prims/reference/float_format.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using Ints = std::vector<int64_t>;
using Number = std::complex<long double>;

// A tensor made dense, and which of its elements are stored: all of a strided one.
struct StoredMatrix {
  Array dense, stored;

  size_t at(const Ints& index) const {
    return static_cast<size_t>(ref::offset_of(index, dense.shape));
  }
  bool has(size_t i) const { return stored.data[i].integer != 0; }
  Number operator[](size_t i) const {
    const Element& e = dense.data[i];
    return is_integral(dense.dtype) || is_bool(dense.dtype) ? Number(e.integer)
                                                            : Number(e.re, e.im);
  }
};

StoredMatrix matrix(const StatedCall& c, const HostTensor& t) {
  StoredMatrix m{dense_values(c.test.storages, t), ref::make_array(DType::i64, t.sizes)};
  if (t.is_sparse())
    m.stored = stored_elements(read_sparse(c.test.storages, t));
  else
    for (Element& e : m.stored.data) e.integer = 1;
  return m;
}

StoredMatrix matrix(const StatedCall& c, std::string_view name) {
  return matrix(c, *c.find<HostTensor>(name));
}

// `error` bounds how far a device may be, in units of the dtype's roundoff.
void store(Array& to, size_t at, Number v, long double error = 0) {
  Element& e = to.data[at];
  if (is_bool(to.dtype)) {
    e.integer = v != Number(0);
  } else if (is_integral(to.dtype)) {
    e.integer = static_cast<int64_t>(v.real());
  } else {
    e.re = v.real();
    e.im = v.imag();
    e = ref::convert(e, is_complex(to.dtype) ? DType::c128 : DType::f64, to.dtype);
    if (error != 0) e.error += error * ref::unit_roundoff(real_type(to.dtype));
  }
}

ExpectedTensor result_of(Array values, Layout layout) {
  ExpectedTensor r;
  r.dtype = values.dtype;
  r.sizes = values.shape;
  r.values = std::move(values);
  r.layout = layout;
  r.anywhere = true;
  return r;
}

Expected only(ExpectedTensor r) {
  Expected out;
  out.results.push_back(std::move(r));
  return out;
}

int64_t wrapped(int64_t dim, size_t rank) {
  return dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
}

// --- geometry ------------------------------------------------------------------------------------

// The same elements where they are inside of these sizes.
Expected resized(const StatedCall& c, const Ints& sizes, bool cleared) {
  const StoredMatrix self = matrix(c, c.tensor(0));
  Array out = nothing_stored(self.dense.dtype, sizes);
  ref::for_each_index(self.dense.shape, [&](const Ints& index, size_t at) {
    if (!cleared && self.has(at))
      out.data[static_cast<size_t>(ref::offset_of(index, sizes))] = self.dense.data[at];
  });
  return only(result_of(std::move(out), c.tensor(0).layout));
}

// diagonals[k, j] stands in column j of the offsets[k]-th diagonal.
Expected matrix_of_diagonals(const StatedCall& c) {
  const StoredMatrix diagonals = matrix(c, "diagonals"), offsets = matrix(c, "offsets");
  const auto* layout = c.find<Layout>("layout");
  Array out = ref::make_array(diagonals.dense.dtype, *c.find<Ints>("shape"));
  ref::for_each_index(diagonals.dense.shape, [&](const Ints& index, size_t at) {
    const int64_t column = index[1];
    const int64_t row = column - offsets.dense.data[static_cast<size_t>(index[0])].integer;
    if (row < 0 || row >= out.shape[0] || column >= out.shape[1]) return;
    out.data[static_cast<size_t>(ref::offset_of({row, column}, out.shape))] =
        diagonals.dense.data[at];
  });
  return only(result_of(std::move(out), layout ? *layout : Layout::sparse_coo));
}

// --- sums ----------------------------------------------------------------------------------------

// An element without entries is 0, of a product as of a sum.
Expected reduce_csr(const StatedCall& c) {
  const StoredMatrix self = matrix(c, "self");
  const bool product = c.overload.op == "_sparse_csr_prod";
  Ints dims;
  for (int64_t d : *c.find<Ints>("dim")) dims.push_back(wrapped(d, self.dense.shape.size()));
  Ints sizes = self.dense.shape;
  for (int64_t d : dims) sizes[static_cast<size_t>(d)] = 1;
  const auto* named = c.find<DType>("dtype");
  const DType own = self.dense.dtype;
  const DType wide = is_integral(own) || is_bool(own) ? DType::i64 : own;
  Array out = ref::make_array(named ? *named : wide, sizes);
  ref::for_each_group(self.dense.shape, dims, [&](size_t group, const std::vector<size_t>& at) {
    Number total = product ? 1 : 0;
    long double terms = 0, magnitude = 0;
    for (size_t i : at) {
      if (!self.has(i)) continue;
      terms += 1;
      magnitude += std::abs(self[i]);
      total = product ? total * self[i] : total + self[i];
    }
    const long double error = terms * (product ? 4 * std::abs(total) : magnitude);
    store(out, group, terms > 0 ? total : Number(0), error);
  });
  return only(result_of(std::move(out), c.tensor(0).layout));
}

// An entry's gradient is that of the place which it was summed to.
Expected sum_gradient(const StatedCall& c) {
  const StoredMatrix grad = matrix(c, "grad"), self = matrix(c, "self");
  Ints dims;
  for (int64_t d : *c.find<Ints>("dim")) dims.push_back(wrapped(d, self.dense.shape.size()));
  Array out = ref::make_array(self.dense.dtype, self.dense.shape);
  ref::for_each_index(out.shape, [&](const Ints& index, size_t at) {
    if (!self.has(at)) return;
    Ints place;
    for (size_t d = 0; d < index.size(); ++d) {
      if (!ref::contains(dims, static_cast<int64_t>(d))) place.push_back(index[d]);
    }
    out.data[at] = grad.dense.data[grad.at(place)];
  });
  return only(result_of(std::move(out), Layout::sparse_coo));
}

// output * (grad - sum(grad * output)), or grad - exp(output) * sum(grad), over what is stored
// along dim.
Expected softmax_gradient(const StatedCall& c) {
  const StoredMatrix grad = matrix(c, "grad_output"), output = matrix(c, "output");
  const bool log = c.overload.op == "_sparse_log_softmax_backward_data";
  const int64_t dim = wrapped(c.integer("dim", 0), output.dense.shape.size());
  Array out = ref::make_array(output.dense.dtype, output.dense.shape);
  ref::for_each_group(out.shape, {dim}, [&](size_t, const std::vector<size_t>& at) {
    Number sum = 0;
    for (size_t i : at) {
      if (output.has(i)) sum += log ? grad[i] : grad[i] * output[i];
    }
    for (size_t i : at) {
      if (!output.has(i)) continue;
      const Number taken = log ? std::exp(output[i]) * sum : sum;
      const Number v = log ? grad[i] - taken : output[i] * (grad[i] - taken);
      store(out, i, v, 8 * (std::abs(v) + std::abs(taken)));
    }
  });
  return only(result_of(std::move(out), Layout::sparse_coo));
}

// Each element of grad is added to where it was gathered.
Expected gather_gradient(const StatedCall& c) {
  const StoredMatrix self = matrix(c, "self"), index = matrix(c, "index"), grad = matrix(c, "grad");
  const int64_t dim = wrapped(c.integer("dim", 0), self.dense.shape.size());
  StoredMatrix out{nothing_stored(grad.dense.dtype, self.dense.shape), {}};
  ref::for_each_index(index.dense.shape, [&](const Ints& place, size_t at) {
    Ints target = place;
    target[static_cast<size_t>(dim)] = index.dense.data[at].integer;
    const size_t to = out.at(target);
    store(out.dense, to, out[to] + grad[grad.at(place)]);
  });
  return only(result_of(std::move(out.dense), Layout::sparse_coo));
}

// --- products ------------------------------------------------------------------------------------

Number reduced(const std::vector<Number>& products, std::string_view how) {
  if (products.empty()) return 0;
  Number out = products[0];
  for (size_t i = 1; i < products.size(); ++i) {
    const bool takes =
        how == "amax" ? products[i].real() > out.real() : products[i].real() < out.real();
    if (how == "sum" || how == "mean")
      out += products[i];
    else if (takes)
      out = products[i];
  }
  return how == "mean" ? out / static_cast<long double>(products.size()) : out;
}

// Each row's products with a column of the strided factor, reduced.
Expected reduce_products(const StatedCall& c) {
  const StoredMatrix a = matrix(c, c.tensor(0)), b = matrix(c, c.tensor(1));
  Array out = ref::make_array(a.dense.dtype, {a.dense.shape[0], b.dense.shape[1]});
  ref::for_each_index(out.shape, [&](const Ints& index, size_t at) {
    std::vector<Number> products;
    for (int64_t k = 0; k < a.dense.shape[1]; ++k) {
      const size_t i = a.at({index[0], k});
      if (a.has(i)) products.push_back(a[i] * b[b.at({k, index[1]})]);
    }
    long double magnitude = 0;
    for (const Number& p : products) magnitude += std::abs(p);
    store(out, at, reduced(products, *c.find<std::string>("reduce")),
          static_cast<long double>(products.size()) * magnitude + magnitude);
  });
  Expected e = only(result_of(std::move(out), Layout::strided));
  if (c.overload.returns.size() == 1) return e;
  // Which entry was taken, of sums none.
  e.results.push_back(result_of(ref::make_array(DType::i64, {0}), Layout::strided));
  return e;
}

// Of sums: at each entry the product of grad and the weight, and the transpose times grad.
Expected reduce_products_backward(const StatedCall& c) {
  const StoredMatrix self = matrix(c, "self"), grad = matrix(c, "grad_out"),
                     weight = matrix(c, "weight");
  Array by_self = ref::make_array(self.dense.dtype, self.dense.shape);
  StoredMatrix by_weight{ref::make_array(weight.dense.dtype, weight.dense.shape), {}};
  const int64_t columns = weight.dense.shape[1];
  ref::for_each_index(self.dense.shape, [&](const Ints& index, size_t at) {
    if (!self.has(at)) return;
    Number sum = 0;
    long double magnitude = 0;
    for (int64_t n = 0; n < columns; ++n) {
      const Number g = grad[grad.at({index[0], n})];
      const size_t w = weight.at({index[1], n});
      sum += g * weight[w];
      magnitude += std::abs(g * weight[w]);
      store(by_weight.dense, w, by_weight[w] + g * self[at], 8 * std::abs(g * self[at]));
    }
    store(by_self, at, sum, static_cast<long double>(columns + 1) * magnitude);
  });
  Expected e = only(result_of(std::move(by_self), Layout::sparse_csr));
  e.results.push_back(result_of(std::move(by_weight.dense), Layout::strided));
  return e;
}

constexpr std::pair<std::string_view, SparseStatement> kArithmetic[] = {
    {"resize_coo", [](const StatedCall& c) { return resized(c, *c.find<Ints>("size"), false); }},
    {"resize_and_clear",
     [](const StatedCall& c) { return resized(c, *c.find<Ints>("size"), true); }},
    {"resize_as_template",
     [](const StatedCall& c) { return resized(c, c.tensor(1).sizes, false); }},
    {"matrix_of_diagonals", matrix_of_diagonals},
    {"reduce_csr", reduce_csr},
    {"sum_gradient", sum_gradient},
    {"softmax_gradient", softmax_gradient},
    {"gather_gradient", gather_gradient},
    {"reduce_products", reduce_products},
    {"reduce_products_backward", reduce_products_backward},
};

}  // namespace

SparseStatement find_sparse_arithmetic(std::string_view function) {
  const auto* s = std::ranges::find(kArithmetic, function,
                                    &std::pair<std::string_view, SparseStatement>::first);
  return s == std::end(kArithmetic) ? nullptr : s->second;
}

}  // namespace primset::conformance
